/* The convex fit of given pieces for softmaxes of many scores. The Hessian of S scores with K pieces each has (S K)²
   numbers, of which a Newton step needs none: conjugate gradients ask for its products with vectors, at the cost of a
   gradient, and its blocks on the diagonal, one a score, precondition them. Gradient and loss are double, the metric of
   a step is single. Parameters are sorted here: the intercept of a score, then its pieces. */
#include "glm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Conjugate gradients end at this share of the first residual: while sets are compared, and for the last digits. */
static const double ROUGH = 0.1, FINE = 1e-4;
enum { MAX_STEPS = 200, FEW_STEPS = 8 };

typedef struct {
    ptrdiff_t scores, size, padded;
    int intercept;
    ptrdiff_t *order, *begin;  /* parameters score by score, and where each score begins */
    float *x, *mean, *w;       /* pieces × padded, scores × padded, padded: rows up to a multiple of WIDE */
    float *room;               /* chunks of rows: 2 + the larger of scores and parameters of a score */
    double *penalty, *blocks;  /* sorted; Cholesky's factors one behind the other */
} Many;

INLINE const float *piece_of(const Many *m, ptrdiff_t score, ptrdiff_t p) { return m->x + (p - score - 1) * m->padded; }

/* out = H v. */
FAST static void curve(const Many *m, const double *v, double *out) {
    const ptrdiff_t scores = m->scores;
    for (ptrdiff_t p = 0; p < m->size; p++) out[p] = m->penalty[p] * v[p];
    for (ptrdiff_t first = 0; first < m->padded; first += SINGLE_CHUNK) {
        const ptrdiff_t n = m->padded - first < SINGLE_CHUNK ? m->padded - first : SINGLE_CHUNK;
        float *restrict middle = m->room + scores * SINGLE_CHUNK;
        memset(middle, 0, sizeof(float) * (size_t)n);
        for (ptrdiff_t c = 0; c < scores; c++) { /* the change of the scores, and its mean */
            float *restrict t = m->room + c * SINGLE_CHUNK;
            const float *restrict mean = m->mean + c * m->padded + first, constant = (float)v[m->begin[c]];
            for (ptrdiff_t i = 0; i < n; i++) t[i] = constant;
            for (ptrdiff_t p = m->begin[c] + 1; p < m->begin[c + 1]; p++) {
                const float *restrict x = piece_of(m, c, p) + first, by = (float)v[p];
                for (ptrdiff_t i = 0; i < n; i++) t[i] += by * x[i];
            }
            for (ptrdiff_t i = 0; i < n; i++) middle[i] += mean[i] * t[i];
        }
        for (ptrdiff_t c = 0; c < scores; c++) { /* times p (δ − p), and back to the parameters */
            float *restrict t = m->room + c * SINGLE_CHUNK;
            const float *restrict mean = m->mean + c * m->padded + first, *restrict w = m->w + first;
            Vector sum = {0};
            for (ptrdiff_t i = 0; i < n; i++) t[i] = w[i] * mean[i] * (t[i] - middle[i]);
            for (ptrdiff_t i = 0; i < n; i += WIDE) sum += *(const Vector *)(t + i);
            out[m->begin[c]] += vector_sum(&sum);
            for (ptrdiff_t p = m->begin[c] + 1; p < m->begin[c + 1]; p += AT_ONCE) {
                const ptrdiff_t count = m->begin[c + 1] - p < AT_ONCE ? m->begin[c + 1] - p : AT_ONCE;
                const float *columns[AT_ONCE];
                Vector s[AT_ONCE] = {{0}};
                double four[AT_ONCE] = {0};
                for (int k = 0; k < AT_ONCE; k++) columns[k] = piece_of(m, c, k < count ? p + k : p) + first;
                for (ptrdiff_t i = 0; i < n; i += WIDE) {
                    const Vector u = *(const Vector *)(t + i);
                    for (int k = 0; k < AT_ONCE; k++) s[k] += u * *(const Vector *)(columns[k] + i);
                }
                vector_sums(s, four);
                for (ptrdiff_t k = 0; k < count; k++) out[p + k] += four[k];
            }
        }
    }
    for (ptrdiff_t c = 0; !m->intercept && c < scores; c++) out[m->begin[c]] = 0;
}

/* The block of a score, and Cholesky's factor of it in its lower triangle. */
FAST static void factorise_block(const Many *m, ptrdiff_t c, double *block) {
    const ptrdiff_t size = m->begin[c + 1] - m->begin[c];
    float *const ones = m->room, *const weight = ones + SINGLE_CHUNK, *const weighed = weight + SINGLE_CHUNK;
    memset(block, 0, sizeof(double) * (size_t)(size * size));
    for (ptrdiff_t i = 0; i < SINGLE_CHUNK; i++) ones[i] = 1;
    for (ptrdiff_t first = 0; first < m->padded; first += SINGLE_CHUNK) {
        const ptrdiff_t n = m->padded - first < SINGLE_CHUNK ? m->padded - first : SINGLE_CHUNK;
        const float *restrict mean = m->mean + c * m->padded + first, *restrict w = m->w + first;
        for (ptrdiff_t i = 0; i < n; i++) weight[i] = w[i] * mean[i] * (1 - mean[i]);
        for (ptrdiff_t p = 0; p < size; p++) {
            const float *restrict x = p == 0 ? ones : piece_of(m, c, m->begin[c] + p) + first;
            float *restrict out = weighed + p * SINGLE_CHUNK;
            for (ptrdiff_t i = 0; i < n; i++) out[i] = weight[i] * x[i];
        }
        for (ptrdiff_t p = 0; p < size; p += 2) {
            const ptrdiff_t second = p + 1 < size ? p + 1 : p;
            for (ptrdiff_t q = 0; q <= second; q += AT_ONCE) {
                const float *columns[AT_ONCE];
                double one[AT_ONCE] = {0}, two[AT_ONCE] = {0};
                for (int k = 0; k < AT_ONCE; k++) {
                    const ptrdiff_t at = q + k < size ? q + k : q;
                    columns[k] = at == 0 ? ones : piece_of(m, c, m->begin[c] + at) + first;
                }
                inner_block(weighed + p * SINGLE_CHUNK, weighed + second * SINGLE_CHUNK, columns, n, one, two);
                for (ptrdiff_t k = 0; k < AT_ONCE && q + k < size; k++) {
                    block[p * size + q + k] += one[k];
                    if (second > p) block[second * size + q + k] += two[k];
                }
            }
        }
    }
    for (ptrdiff_t p = 0; p < size; p++) block[p * size + p] += m->penalty[m->begin[c] + p];
    for (ptrdiff_t p = 0; !m->intercept && p < size; p++) block[p * size] = p == 0;
    for (ptrdiff_t i = 0; i < size; i++)
        for (ptrdiff_t j = 0; j <= i; j++) {
            double s = block[i * size + j];
            const double whole = s;
            for (ptrdiff_t k = 0; k < j; k++) s -= block[i * size + k] * block[j * size + k];
            /* collinear pieces of a score: any positive pivot makes a metric */
            if (i == j) block[i * size + i] = sqrt(s > 1e-6 * whole && s > 0 ? s : whole > 0 ? whole : 1);
            else block[i * size + j] = s / block[j * size + j];
        }
}

/* out = M⁻¹ r, block by block. */
static void precondition(const Many *m, const double *r, double *out) {
    const double *block = m->blocks;
    for (ptrdiff_t c = 0; c < m->scores; c++) {
        const ptrdiff_t size = m->begin[c + 1] - m->begin[c];
        double *own = out + m->begin[c];
        memcpy(own, r + m->begin[c], sizeof(double) * (size_t)size);
        for (ptrdiff_t i = 0; i < size; i++) {
            for (ptrdiff_t k = 0; k < i; k++) own[i] -= block[i * size + k] * own[k];
            own[i] /= block[i * size + i];
        }
        for (ptrdiff_t i = size - 1; i >= 0; i--) {
            for (ptrdiff_t k = i + 1; k < size; k++) own[i] -= block[k * size + i] * own[k];
            own[i] /= block[i * size + i];
        }
        block += size * size;
    }
}

static double product(const double *a, const double *b, ptrdiff_t n) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* step ≈ −H⁻¹ gradient; `room` holds 4 · size numbers. Returns the number of products. */
static int conjugate_gradients(const Many *m, const double *gradient, double share, double *room, double *step) {
    const ptrdiff_t size = m->size;
    double *r = room, *z = r + size, *d = z + size, *image = d + size;
    for (ptrdiff_t p = 0; p < size; p++) step[p] = 0, r[p] = -gradient[p];
    precondition(m, r, z);
    memcpy(d, z, sizeof(double) * (size_t)size);
    double rz = product(r, z, size);
    const double enough = share * share * rz;
    int steps = 0;
    while (steps < MAX_STEPS && rz > enough) {
        curve(m, d, image);
        const double curvature = product(d, image, size);
        if (!(curvature > 0)) break;
        const double by = rz / curvature;
        for (ptrdiff_t p = 0; p < size; p++) {
            step[p] += by * d[p];
            r[p] -= by * image[p];
        }
        precondition(m, r, z);
        const double next = product(r, z, size), turn = next / rz;
        for (ptrdiff_t p = 0; p < size; p++) d[p] = z[p] + turn * d[p];
        rz = next;
        steps++;
    }
    return steps;
}

static void sort_parameters(const Glm *g, Many *m) {
    ptrdiff_t filled = 0;
    for (ptrdiff_t c = 0; c < g->scores; c++) {
        m->begin[c] = filled;
        m->order[filled++] = c;
        for (ptrdiff_t k = 0; k < g->pieces; k++)
            if (g->owner[k] == c) m->order[filled++] = g->scores + k;
    }
    m->begin[g->scores] = filled;
}

FAST static void narrow(const double *restrict from, ptrdiff_t n, float *restrict to) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] = (float)from[i];
}

/* Scores are free up to a common constant; the ridge of the intercepts is least where these add up to zero. */
static void centre(const Glm *g, double *theta) {
    double sum = 0;
    for (ptrdiff_t c = 0; c < g->scores; c++) sum += theta[c];
    for (ptrdiff_t c = 0; c < g->scores; c++) theta[c] -= sum / (double)g->scores;
}

/* θ moves to the minimiser; `z` becomes its scores. Returns 0, or −1 where memory has run out. */
int glm_fit_many(const Glm *g, double *theta, double *z, double *objective, double *plain) {
    const ptrdiff_t n = g->rows, size = g->scores + g->pieces, padded = (n + WIDE - 1) / WIDE * WIDE;
    Many m = {.scores = g->scores, .size = size, .padded = padded, .intercept = g->intercept};
    ptrdiff_t *places = malloc(sizeof(ptrdiff_t) * (size_t)(size + g->scores + 1));
    if (places == NULL) return -1;
    m.order = places;
    m.begin = places + size;
    sort_parameters(g, &m);
    ptrdiff_t cells = 0, longest = 0;
    for (ptrdiff_t c = 0; c < g->scores; c++) {
        const ptrdiff_t own = m.begin[c + 1] - m.begin[c];
        cells += own * own;
        longest = own > longest ? own : longest;
    }
    const ptrdiff_t chunks = 2 + (g->scores > longest ? g->scores : longest);
    float *singles = calloc((size_t)((g->pieces + g->scores + 1) * padded + chunks * SINGLE_CHUNK), sizeof(float));
    double *memory = malloc(sizeof(double) * (size_t)(10 * size + cells + n + 2 * g->scores * n));
    if (singles == NULL || memory == NULL) {
        free(places);
        free(singles);
        free(memory);
        return -1;
    }
    m.x = singles;
    m.mean = m.x + g->pieces * padded;
    m.w = m.mean + g->scores * padded;
    m.room = m.w + padded;
    m.penalty = memory;
    m.blocks = m.penalty + size;
    double *penalty = m.blocks + cells, *gradient = penalty + size, *sorted = gradient + size, *step = sorted + size;
    double *trial = step + size, *room = trial + size, *weight = room + 4 * size;
    double *mean = weight + n, *there = mean + g->scores * n;
    double all = 0;
    for (ptrdiff_t i = 0; i < n; i++) all += g->w[i];
    for (ptrdiff_t k = 0; k < size; k++) penalty[k] = k < g->scores ? g->intercept_ridge * all : g->ridge[k - g->scores];
    for (ptrdiff_t p = 0; p < size; p++) m.penalty[p] = penalty[m.order[p]];
    for (ptrdiff_t c = 0; c < g->scores; c++)
        for (ptrdiff_t p = m.begin[c] + 1; p < m.begin[c + 1]; p++) {
            const ptrdiff_t at = (m.order[p] - g->scores) * n;
            if (g->x == NULL) memcpy(m.x + (p - c - 1) * padded, g->single + at, sizeof(float) * (size_t)n);
            else narrow(g->x + at, n, m.x + (p - c - 1) * padded);
        }
    narrow(g->w, n, m.w);
    const double share = g->tol < 1e-8 ? FINE : ROUGH;
    if (g->intercept) centre(g, theta);
    glm_score(g, theta, z);
    *plain = glm_values(g, z, mean);
    *objective = glm_penalised(g, penalty, theta, *plain);
    int steps = MAX_STEPS;
    for (int iteration = 0; iteration < g->max_iter; iteration++) {
        glm_gradient(g, penalty, theta, mean, weight, gradient);
        for (ptrdiff_t c = 0; c < g->scores; c++) narrow(mean + c * n, n, m.mean + c * padded);
        if (steps > FEW_STEPS) { /* blocks of an earlier place serve while few products are enough */
            double *block = m.blocks;
            for (ptrdiff_t c = 0; c < g->scores; c++) {
                factorise_block(&m, c, block);
                block += (m.begin[c + 1] - m.begin[c]) * (m.begin[c + 1] - m.begin[c]);
            }
        }
        for (ptrdiff_t c = 0; !g->intercept && c < g->scores; c++) gradient[c] = 0;
        for (ptrdiff_t p = 0; p < size; p++) sorted[p] = gradient[m.order[p]];
        steps = conjugate_gradients(&m, sorted, share, room, trial);
        double slope = 0;
        for (ptrdiff_t p = 0; p < size; p++) step[m.order[p]] = trial[p];
        if (g->intercept) centre(g, step);
        for (ptrdiff_t k = 0; k < size; k++) slope += gradient[k] * step[k];
        if (glm_line_search(g, penalty, step, slope, trial, there, mean, theta, z, objective, plain) < 0) break;
    }
    free(places);
    free(singles);
    free(memory);
    return 0;
}
