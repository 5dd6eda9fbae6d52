/* The convex fit of given pieces: Newton's method for generalised linear models with a ridge, the twin of
   search/glm.py. Scores z_c = b_c + Σ_{k of c} θ_k x_k (+ offset); θ holds the intercepts first.
   A search on the twins of this file and pieces.c takes 3 to 5 times the processor seconds
   (`python -m benchmarks twins`). */
#include "exponential.h"
#include "glm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 512 };

/* e^a for a ≤ 0, of which a probability needs no last digit. */
INLINE double exp_negative(double a) {
    return exp_series(a, 0);
}

/* log(1 + t) for 0 ≤ t ≤ 1: 2 artanh(t/(2 + t)) halved once more by 1 + t = (1 + u)², so that the series is short. */
INLINE double log1p_unit(double t) {
    const double root = sqrt(1 + t), u = t / (1 + root), s = u / (2 + u), q = s * s;
    double sum = 1.0 / 19;
    sum = sum * q + 1.0 / 17;
    sum = sum * q + 1.0 / 15;
    sum = sum * q + 1.0 / 13;
    sum = sum * q + 1.0 / 11;
    sum = sum * q + 1.0 / 9;
    sum = sum * q + 1.0 / 7;
    sum = sum * q + 1.0 / 5;
    sum = sum * q + 1.0 / 3;
    sum = sum * q + 1;
    return 4 * s * sum;
}

INLINE double fmax_plain(double a, double b) { return a > b ? a : b; }

FAST void glm_score(const Glm *g, const double *theta, double *restrict z) {
    for (ptrdiff_t c = 0; c < g->scores; c++) {
        double *restrict own = z + c * g->rows;
        if (g->offset != NULL)
            for (ptrdiff_t i = 0; i < g->rows; i++) own[i] = g->offset[c * g->rows + i] + theta[c];
        else
            for (ptrdiff_t i = 0; i < g->rows; i++) own[i] = theta[c];
    }
    for (ptrdiff_t k = 0; k < g->pieces; k++) {
        const double t = theta[g->scores + k];
        double *restrict own = z + g->owner[k] * g->rows;
        if (g->x == NULL) {
            const float *restrict x = g->single + k * g->rows;
            for (ptrdiff_t i = 0; i < g->rows; i++) own[i] += t * x[i];
        } else {
            const double *restrict x = g->x + k * g->rows;
            for (ptrdiff_t i = 0; i < g->rows; i++) own[i] += t * x[i];
        }
    }
}

FAST double glm_values(const Glm *g, const double *restrict z, double *restrict mean) {
    const ptrdiff_t n = g->rows;
    double total = 0;
    if (g->kind == GLM_LOGISTIC) {
        for (ptrdiff_t first = 0; first < n; first += CHUNK) {
            const ptrdiff_t end = first + CHUNK < n ? first + CHUNK : n;
            double part[CHUNK];
            for (ptrdiff_t i = first; i < end; i++) {
                const double t = exp_negative(-fabs(z[i]));
                const double near = 1 / (1 + t);
                mean[i] = z[i] >= 0 ? near : t * near;
                part[i - first] = g->w[i] * (log1p_unit(t) + (z[i] > 0 ? z[i] : 0) - g->y[i] * z[i]);
            }
            for (ptrdiff_t i = 0; i < end - first; i++) total += part[i];
        }
    } else if (g->kind == GLM_SQUARED) {
        for (ptrdiff_t i = 0; i < n; i++) {
            const double r = g->y[i] - z[i];
            mean[i] = z[i];
            total += 0.5 * g->w[i] * r * r;
        }
    } else {
        for (ptrdiff_t first = 0; first < n; first += CHUNK) {
            const ptrdiff_t rows = first + CHUNK < n ? CHUNK : n - first;
            double top[CHUNK], sum[CHUNK], part[CHUNK];
            memcpy(top, z + first, sizeof(double) * (size_t)rows);
            memset(sum, 0, sizeof sum);
            for (ptrdiff_t c = 1; c < g->scores; c++)
                for (ptrdiff_t i = 0; i < rows; i++) top[i] = fmax_plain(top[i], z[c * n + first + i]);
            for (ptrdiff_t c = 0; c < g->scores; c++) {
                const double *restrict own = z + c * n + first;
                double *restrict out = mean + c * n + first;
                for (ptrdiff_t i = 0; i < rows; i++) sum[i] += out[i] = exp_negative(own[i] - top[i]);
            }
            for (ptrdiff_t i = 0; i < rows; i++) {
                part[i] = log(sum[i]) + top[i] - z[(ptrdiff_t)g->y[first + i] * n + first + i];
                sum[i] = 1 / sum[i];
            }
            for (ptrdiff_t c = 0; c < g->scores; c++)
                for (ptrdiff_t i = 0; i < rows; i++) mean[c * n + first + i] *= sum[i];
            for (ptrdiff_t i = 0; i < rows; i++) total += g->w[first + i] * part[i];
        }
    }
    return total;
}

FAST void glm_moments(const Glm *g, const double *restrict z, double *restrict residuals, double *restrict curvatures) {
    const ptrdiff_t n = g->rows;
    const double *restrict y = g->y, *restrict w = g->w;
    if (g->kind == GLM_LOGISTIC) {
        for (ptrdiff_t i = 0; i < n; i++) {
            const double t = exp_negative(-fabs(z[i])), near = 1 / (1 + t), mean = z[i] >= 0 ? near : t * near;
            residuals[i] = w[i] * (y[i] - mean);
            curvatures[i] = w[i] * (t * near * near);
        }
    } else if (g->kind == GLM_SQUARED) {
        for (ptrdiff_t i = 0; i < n; i++) {
            residuals[i] = w[i] * (y[i] - z[i]);
            curvatures[i] = w[i];
        }
    } else {
        glm_values(g, z, residuals); /* the probabilities, for the moment */
        for (ptrdiff_t c = 0; c < g->scores; c++)
            for (ptrdiff_t i = 0; i < n; i++) {
                const double mean = residuals[c * n + i];
                residuals[c * n + i] = w[i] * (((ptrdiff_t)y[i] == c) - mean);
                curvatures[c * n + i] = w[i] * mean * (1 - mean);
            }
    }
}

double glm_penalised(const Glm *g, const double *penalty, const double *theta, double plain) {
    for (ptrdiff_t k = 0; k < g->scores + g->pieces; k++) plain += 0.5 * penalty[k] * theta[k] * theta[k];
    return plain;
}

FAST static double inner(const double *restrict a, const double *restrict b, ptrdiff_t n) {
    double s[8] = {0};
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) s[l] += a[i + l] * b[i + l];
    double total = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    for (; i < n; i++) total += a[i] * b[i];
    return total;
}

FAST double weighted_inner(const double *restrict a, const float *restrict b, ptrdiff_t n) {
    double s[8] = {0};
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) s[l] += a[i + l] * b[i + l];
    double total = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    for (; i < n; i++) total += a[i] * b[i];
    return total;
}

FAST static double sum_of(const double *a, ptrdiff_t n) {
    double s[8] = {0};
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) s[l] += a[i + l];
    double total = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    for (; i < n; i++) total += a[i];
    return total;
}

/* Four inner products of one column with others at once: the column is read once. */
FAST static void inner4(const double *restrict a, const double *const b[4], ptrdiff_t n, double out[4]) {
    double s[4][4] = {{0}};
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            for (int l = 0; l < 4; l++) s[k][l] += a[i + l] * b[k][i + l];
    for (int k = 0; k < 4; k++) {
        out[k] = (s[k][0] + s[k][1]) + (s[k][2] + s[k][3]);
        for (ptrdiff_t j = i; j < n; j++) out[k] += a[j] * b[k][j];
    }
}

FAST static void weigh(const double *restrict weight, const double *restrict x, ptrdiff_t n, double *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = weight[i] * x[i];
}

/* The weight of the pair of scores (c, d), times w. */
FAST static void curvature(const Glm *g, const double *restrict mean, ptrdiff_t c, ptrdiff_t d, double *restrict out) {
    const ptrdiff_t n = g->rows;
    if (g->kind == GLM_SQUARED) {
        memcpy(out, g->w, sizeof(double) * (size_t)n);
    } else if (c == d) {
        for (ptrdiff_t i = 0; i < n; i++) out[i] = g->w[i] * mean[c * n + i] * (1 - mean[c * n + i]);
    } else {
        for (ptrdiff_t i = 0; i < n; i++) out[i] = -g->w[i] * mean[c * n + i] * mean[d * n + i];
    }
}

/* The residual w (y − μ) of score c. */
FAST static void residual(const Glm *g, const double *restrict mean, ptrdiff_t c, double *restrict out) {
    const ptrdiff_t n = g->rows;
    if (g->kind == GLM_SOFTMAX)
        for (ptrdiff_t i = 0; i < n; i++) out[i] = g->w[i] * (((ptrdiff_t)g->y[i] == c) - mean[c * n + i]);
    else
        for (ptrdiff_t i = 0; i < n; i++) out[i] = g->w[i] * (g->y[i] - mean[i]);
}

void glm_gradient(const Glm *g, const double *penalty, const double *theta, const double *mean, double *weight,
                  double *gradient) {
    const ptrdiff_t n = g->rows;
    for (ptrdiff_t k = 0; k < g->scores + g->pieces; k++) gradient[k] = penalty[k] * theta[k];
    for (ptrdiff_t c = 0; c < g->scores; c++) {
        residual(g, mean, c, weight);
        gradient[c] -= sum_of(weight, n);
        for (ptrdiff_t k = 0; k < g->pieces; k++)
            if (g->owner[k] == c)
                gradient[g->scores + k] -=
                    g->x == NULL ? weighted_inner(weight, g->single + k * n, n) : inner(weight, g->x + k * n, n);
    }
}

/* The Hessian of the penalised loss. */
static void hessian_of(const Glm *g, const double *penalty, const double *mean, double *weight, double *weighed,
                       double *hessian) {
    const ptrdiff_t n = g->rows, size = g->scores + g->pieces;
    memset(hessian, 0, sizeof(double) * (size_t)(size * size));
    for (ptrdiff_t k = 0; k < size; k++) hessian[k * size + k] = penalty[k];
    for (ptrdiff_t c = 0; c < g->scores; c++)
        for (ptrdiff_t d = c; d < g->scores; d++) {
            curvature(g, mean, c, d, weight);
            hessian[c * size + d] += sum_of(weight, n);
            for (ptrdiff_t k = 0; k < g->pieces; k++) {
                if (g->owner[k] == d) hessian[c * size + g->scores + k] += inner(weight, g->x + k * n, n);
                if (g->owner[k] != c) continue;
                weigh(weight, g->x + k * n, n, weighed);
                if (c != d) hessian[d * size + g->scores + k] += sum_of(weighed, n);
                double *row = hessian + (g->scores + k) * size + g->scores;
                const double *columns[4];
                ptrdiff_t at[4];
                int count = 0;
                for (ptrdiff_t l = c == d ? k : 0; l < g->pieces; l++) {
                    if (g->owner[l] != d) continue;
                    columns[count] = g->x + l * n;
                    at[count++] = l;
                    if (count < 4) continue;
                    double four[4];
                    inner4(weighed, columns, n, four);
                    for (int q = 0; q < 4; q++) row[at[q]] += four[q];
                    count = 0;
                }
                for (int q = 0; q < count; q++) row[at[q]] += inner(weighed, columns[q], n);
            }
        }
    /* fold what was written on either side of the diagonal into the upper triangle */
    for (ptrdiff_t i = 0; i < size; i++)
        for (ptrdiff_t j = 0; j < i; j++) {
            hessian[j * size + i] += hessian[i * size + j];
            hessian[i * size + j] = hessian[j * size + i];
        }
}

/* The same in single precision, by chunks of rows, which is several times as fast: a metric for the steps of a search,
   whose gradient and loss stay double. An intercept is a piece of ones. `room` holds (1 + size + longest score's) chunks. */
FAST static void hessian_single(const Glm *g, const double *penalty, const double *restrict mean, float *restrict room,
                                ptrdiff_t *restrict places, double *restrict sorted, double *restrict hessian) {
    const ptrdiff_t n = g->rows, size = g->scores + g->pieces;
    float *const weight = room, *const values = room + SINGLE_CHUNK, *const weighed = values + size * SINGLE_CHUNK;
    /* parameters score by score: places[begin of c …] are the intercept and the pieces of score c */
    ptrdiff_t *const begin = places + size;
    ptrdiff_t filled = 0;
    for (ptrdiff_t c = 0; c < g->scores; c++) {
        begin[c] = filled;
        places[filled++] = c;
        for (ptrdiff_t k = 0; k < g->pieces; k++)
            if (g->owner[k] == c) places[filled++] = g->scores + k;
    }
    begin[g->scores] = filled;
    memset(sorted, 0, sizeof(double) * (size_t)(size * size));
    for (ptrdiff_t first = 0; first < n; first += SINGLE_CHUNK) {
        const ptrdiff_t rows = n - first < SINGLE_CHUNK ? n - first : SINGLE_CHUNK, length = (rows + WIDE - 1) / WIDE * WIDE;
        for (ptrdiff_t p = 0; p < size; p++) {
            float *restrict out = values + p * SINGLE_CHUNK;
            if (places[p] < g->scores) {
                for (ptrdiff_t i = 0; i < rows; i++) out[i] = 1;
            } else if (g->x == NULL) {
                memcpy(out, g->single + (places[p] - g->scores) * n + first, sizeof(float) * (size_t)rows);
            } else {
                const double *restrict x = g->x + (places[p] - g->scores) * n + first;
                for (ptrdiff_t i = 0; i < rows; i++) out[i] = (float)x[i];
            }
            for (ptrdiff_t i = rows; i < length; i++) out[i] = 0;
        }
        for (ptrdiff_t c = 0; c < g->scores; c++)
            for (ptrdiff_t d = c; d < g->scores; d++) {
                const double *restrict w = g->w + first, *restrict mine = mean + c * n + first, *restrict yours = mean + d * n + first;
                if (g->kind == GLM_SQUARED)
                    for (ptrdiff_t i = 0; i < rows; i++) weight[i] = (float)w[i];
                else if (c == d)
                    for (ptrdiff_t i = 0; i < rows; i++) weight[i] = (float)(w[i] * mine[i] * (1 - mine[i]));
                else
                    for (ptrdiff_t i = 0; i < rows; i++) weight[i] = (float)(-w[i] * mine[i] * yours[i]);
                for (ptrdiff_t i = rows; i < length; i++) weight[i] = 0;
                const ptrdiff_t count = begin[c + 1] - begin[c];
                for (ptrdiff_t p = 0; p < count; p++) {
                    const float *restrict x = values + (begin[c] + p) * SINGLE_CHUNK;
                    float *restrict out = weighed + p * SINGLE_CHUNK;
                    for (ptrdiff_t i = 0; i < length; i++) out[i] = weight[i] * x[i];
                }
                for (ptrdiff_t p = 0; p < count; p += 2) {
                    const ptrdiff_t second = p + 1 < count ? p + 1 : p;
                    for (ptrdiff_t q = c == d ? begin[c] + p : begin[d]; q < begin[d + 1]; q += AT_ONCE) {
                        const float *columns[AT_ONCE];
                        for (int k = 0; k < AT_ONCE; k++)
                            columns[k] = values + (q + k < begin[d + 1] ? q + k : q) * SINGLE_CHUNK;
                        double one[AT_ONCE] = {0}, two[AT_ONCE] = {0};
                        inner_block(weighed + p * SINGLE_CHUNK, weighed + second * SINGLE_CHUNK, columns, length, one, two);
                        for (int k = 0; k < AT_ONCE && q + k < begin[d + 1]; k++) {
                            sorted[(begin[c] + p) * size + q + k] += one[k];
                            if (second > p) sorted[(begin[c] + second) * size + q + k] += two[k];
                        }
                    }
                }
            }
    }
    for (ptrdiff_t i = 0; i < size; i++)
        for (ptrdiff_t j = i; j < size; j++) {
            const ptrdiff_t p = places[i], q = places[j];
            hessian[p * size + q] = hessian[q * size + p] = sorted[i * size + j] + (p == q ? penalty[p] : 0);
        }
}

/* Cholesky's factor of H without its first `fixed` parameters; 0 where H is not positive definite. */
static int factorise(const double *hessian, ptrdiff_t size, ptrdiff_t fixed, double *factor) {
    for (ptrdiff_t i = fixed; i < size; i++)
        for (ptrdiff_t j = fixed; j <= i; j++) {
            double s = hessian[i * size + j];
            for (ptrdiff_t k = fixed; k < j; k++) s -= factor[i * size + k] * factor[j * size + k];
            if (i == j) {
                if (!(s > 1e-12 * hessian[i * size + i])) return 0;
                factor[i * size + i] = sqrt(s);
            } else {
                factor[i * size + j] = s / factor[j * size + j];
            }
        }
    return 1;
}

/* step = −H⁻¹ gradient; parameters below `fixed` do not move. */
static void newton_step(const double *factor, const double *gradient, ptrdiff_t size, ptrdiff_t fixed, double *step) {
    memset(step, 0, sizeof(double) * (size_t)size);
    for (ptrdiff_t i = fixed; i < size; i++) {
        double s = -gradient[i];
        for (ptrdiff_t k = fixed; k < i; k++) s -= factor[i * size + k] * step[k];
        step[i] = s / factor[i * size + i];
    }
    for (ptrdiff_t i = size - 1; i >= fixed; i--) {
        double s = step[i];
        for (ptrdiff_t k = i + 1; k < size; k++) s -= factor[k * size + i] * step[k];
        step[i] = s / factor[i * size + i];
    }
}

/* The least share by which a step with an old Hessian must lower what the next one promises. */
static const double KEEPS_UP = 0.1;

/* Where little is promised, one more step is the end. */
int glm_line_search(const Glm *g, const double *penalty, const double *step, double slope, double *trial, double *there,
                    double *mean, double *theta, double *z, double *objective, double *plain) {
    const ptrdiff_t size = g->scores + g->pieces;
    const int last = !(-slope > g->tol * (fabs(*objective) + 1e-3)), tries = last ? 1 : 30;
    double length = 1, next = 0, bare = 0;
    int halved = 0;
    for (; halved < tries; halved++, length /= 2) {
        for (ptrdiff_t k = 0; k < size; k++) trial[k] = theta[k] + length * step[k];
        glm_score(g, trial, there);
        bare = glm_values(g, there, mean);
        next = glm_penalised(g, penalty, trial, bare);
        if (next <= *objective + 1e-4 * length * slope) break;
    }
    if (halved == tries) return -1;
    memcpy(theta, trial, sizeof(double) * (size_t)size);
    memcpy(z, there, sizeof(double) * (size_t)(g->scores * g->rows));
    *objective = next;
    *plain = bare;
    return last ? -1 : halved;
}

/* θ moves to the minimiser; `z` becomes its scores. `metric` holds the Hessian of the loss alone, without the ridge, where
   `*known` says so, and the last one that was computed afterwards: another ridge can start with it. Returns 0, or −1
   where memory has run out. */
static int glm_fit(const Glm *g, double *theta, double *z, double *objective, double *plain, double *metric, int *known) {
    if (g->kind == GLM_SOFTMAX && g->scores >= MANY_SCORES) return glm_fit_many(g, theta, z, objective, plain);
    const ptrdiff_t n = g->rows, size = g->scores + g->pieces;
    const size_t room = (size_t)(4 * size + 2 * size * size + 2 * n + 2 * g->scores * n);
    const int exact = g->tol < 1e-8;  /* the last digits ask for a Hessian that is new and double */
    double *memory = malloc(sizeof(double) * (room > 0 ? room : 1));
    float *chunks = exact ? NULL : malloc(sizeof(float) * (size_t)(SINGLE_CHUNK * (2 * size + 1)));
    ptrdiff_t *places = exact ? NULL : malloc(sizeof(ptrdiff_t) * (size_t)(size + g->scores + 1));
    if (memory == NULL || (!exact && (chunks == NULL || places == NULL))) {
        free(memory);
        free(chunks);
        free(places);
        return -1;
    }
    double *penalty = memory, *gradient = penalty + size, *step = gradient + size, *trial = step + size;
    double *hessian = trial + size, *factor = hessian + size * size;
    double *weight = factor + size * size, *weighed = weight + n, *mean = weighed + n, *there = mean + g->scores * n;
    const double all = sum_of(g->w, n);
    for (ptrdiff_t k = 0; k < size; k++) penalty[k] = k < g->scores ? g->intercept_ridge * all : g->ridge[k - g->scores];
    glm_score(g, theta, z);
    *plain = glm_values(g, z, mean);
    *objective = glm_penalised(g, penalty, theta, *plain);
    const ptrdiff_t fixed = g->intercept ? 0 : g->scores;
    int fresh = 1;  /* whether the Hessian is to be computed anew: an old one serves while steps shrink fast */
    if (*known) {
        memcpy(hessian, metric, sizeof(double) * (size_t)(size * size));
        for (ptrdiff_t k = 0; k < size; k++) hessian[k * size + k] += penalty[k];
        fresh = !factorise(hessian, size, fixed, factor);
    }
    double before = INFINITY;
    for (int iteration = 0; iteration < g->max_iter; iteration++) {
        glm_gradient(g, penalty, theta, mean, weight, gradient);
        if (fresh) {
            if (exact) {
                hessian_of(g, penalty, mean, weight, weighed, hessian);
            } else {
                hessian_single(g, penalty, mean, chunks, places, factor, hessian);
                memcpy(metric, hessian, sizeof(double) * (size_t)(size * size));
                for (ptrdiff_t k = 0; k < size; k++) metric[k * size + k] -= penalty[k];
                *known = 1;
            }
            double damping = 0;
            while (!factorise(hessian, size, fixed, factor)) {
                const double more = damping == 0 ? 1e-10 : 9 * damping;
                for (ptrdiff_t k = 0; k < size; k++) hessian[k * size + k] *= 1 + more;
                damping += more;
                if (damping > 1e6) break;
            }
        }
        newton_step(factor, gradient, size, fixed, step);
        double slope = 0;
        for (ptrdiff_t k = 0; k < size; k++) slope += gradient[k] * step[k];
        if (!fresh && -slope > KEEPS_UP * before) {
            fresh = 1;
            before = INFINITY;
            continue;
        }
        before = -slope;
        fresh = exact;
        const int halved = glm_line_search(g, penalty, step, slope, trial, there, mean, theta, z, objective, plain);
        if (halved < 0) break;
        if (halved > 0) fresh = 1;
    }
    free(memory);
    free(chunks);
    free(places);
    return 0;
}

/* The numbers of one piece on the rows that have a weight: runs of these, begin and end. */
static void gather_single(const float *from, const ptrdiff_t *runs, ptrdiff_t count, float *to) {
    for (ptrdiff_t r = 0; r < count; r++) {
        const ptrdiff_t begin = runs[2 * r], length = runs[2 * r + 1] - begin;
        memcpy(to, from + begin, sizeof(float) * (size_t)length);
        to += length;
    }
}

static void gather_double(const double *from, const ptrdiff_t *runs, ptrdiff_t count, double *to) {
    for (ptrdiff_t r = 0; r < count; r++) {
        const ptrdiff_t begin = runs[2 * r], length = runs[2 * r + 1] - begin;
        memcpy(to, from + begin, sizeof(double) * (size_t)length);
        to += length;
    }
}

FAST static void gather_wide(const float *restrict from, const ptrdiff_t *runs, ptrdiff_t count, double *restrict to) {
    for (ptrdiff_t r = 0; r < count; r++)
        for (ptrdiff_t i = runs[2 * r]; i < runs[2 * r + 1]; i++) *to++ = from[i];
}

FAST static void add_single(const float *restrict x, double by, ptrdiff_t begin, ptrdiff_t end, double *restrict z) {
    for (ptrdiff_t i = begin; i < end; i++) z[i] += by * x[i];
}

FAST static void add_double(const double *restrict x, double by, ptrdiff_t begin, ptrdiff_t end, double *restrict z) {
    for (ptrdiff_t i = begin; i < end; i++) z[i] += by * x[i];
}

/* Fits under one ridge after another (`ridges` × pieces), each from where the one before has ended: θ, scores and both
   losses of each lie behind each other. Rows of weight zero take no part in the fit, but get their scores. The pieces
   are those at `places` of the matrix, all where it is NULL. In single precision they stay so, unless the last digits
   are wanted. */
int glm_fit_weighted(const Glm *g, const int64_t *places, ptrdiff_t ridges, double *theta, double *z, double *losses) {
    const ptrdiff_t n = g->rows, k = g->pieces, scores = g->scores, size = scores + k;
    const int offset = g->offset != NULL, single = g->x == NULL && !(g->tol < 1e-8);
    ptrdiff_t used = 0, count = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        used += g->w[i] > 0;
        count += g->w[i] > 0 && (i == 0 || !(g->w[i - 1] > 0));
    }
    const ptrdiff_t doubles = ((single ? 0 : k) + 2 + (offset + 1) * scores) * used;
    double *memory = malloc(sizeof(double) * (size_t)(doubles + 1));
    float *floats = single ? malloc(sizeof(float) * (size_t)(k * used + 1)) : NULL;
    ptrdiff_t *runs = malloc(sizeof(ptrdiff_t) * (size_t)(2 * count + 2));
    double *metric = malloc(sizeof(double) * (size_t)(size * size + 1));
    if (memory == NULL || metric == NULL || (single && floats == NULL) || runs == NULL) {
        free(metric);
        free(memory);
        free(floats);
        free(runs);
        return -1;
    }
    for (ptrdiff_t i = 0, r = 0; i < n; i++) {
        if (!(g->w[i] > 0)) continue;
        runs[r++] = i;
        while (i < n && g->w[i] > 0) i++;
        runs[r++] = i;
    }
    runs[2 * count] = runs[2 * count + 1] = n; /* where the rows without weight behind the last run end */
    double *y = memory, *w = y + used, *own = w + used, *given = own + scores * used, *x = given + offset * scores * used;
    for (ptrdiff_t p = 0; p < k; p++) {
        const ptrdiff_t at = (places == NULL ? p : places[p]) * n;
        if (single) gather_single(g->single + at, runs, count, floats + p * used);
        else if (g->x == NULL) gather_wide(g->single + at, runs, count, x + p * used);
        else gather_double(g->x + at, runs, count, x + p * used);
    }
    gather_double(g->y, runs, count, y);
    gather_double(g->w, runs, count, w);
    for (ptrdiff_t c = 0; offset && c < scores; c++) gather_double(g->offset + c * n, runs, count, given + c * used);
    Glm part = *g;
    part.rows = used;
    part.x = single ? NULL : x;
    part.single = floats;
    part.y = y;
    part.w = w;
    part.offset = offset ? given : NULL;
    int status = 0, known = 0;
    for (ptrdiff_t f = 0; status == 0 && f < ridges; f++, theta += size, z += scores * n, losses += 2) {
        if (f > 0) memcpy(theta, theta - size, sizeof(double) * (size_t)size);
        part.ridge = g->ridge + f * k;
        status = glm_fit(&part, theta, own, losses, losses + 1, metric, &known);
        for (ptrdiff_t c = 0; c < scores; c++) {
            const double *from = own + c * used;
            for (ptrdiff_t r = 0; r < count; r++) {
                const ptrdiff_t begin = runs[2 * r], length = runs[2 * r + 1] - begin;
                memcpy(z + c * n + begin, from, sizeof(double) * (size_t)length);
                from += length;
            }
        }
        for (ptrdiff_t r = 0, begin = 0; used < n && r <= count; begin = runs[2 * r + 1], r++) {
            const ptrdiff_t end = runs[2 * r];
            for (ptrdiff_t c = 0; c < scores; c++)
                for (ptrdiff_t i = begin; i < end; i++) z[c * n + i] = theta[c] + (offset ? g->offset[c * n + i] : 0);
            for (ptrdiff_t p = 0; p < k; p++) {
                const ptrdiff_t at = (places == NULL ? p : places[p]) * n;
                if (g->x == NULL) add_single(g->single + at, theta[scores + p], begin, end, z + g->owner[p] * n);
                else add_double(g->x + at, theta[scores + p], begin, end, z + g->owner[p] * n);
            }
        }
    }
    free(metric);
    free(memory);
    free(floats);
    free(runs);
    return status;
}
