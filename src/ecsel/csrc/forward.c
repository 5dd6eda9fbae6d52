/* The forward pass of a block: t = ⟨s, v⟩, the terms with their first and second derivatives (forms.py), the scores,
   and the loss with its residual and probabilities (links.py), in chunks of rows that stay in the first-level cache. */
#include "exponential.h"
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256 };

typedef struct {
    double t[CHUNK], a[CHUNK], slope[CHUNK];
} Scratch;

/* e^a for a ≤ 700 to the last digit or so. */
INLINE double exponential(double a) {
    return exp_series(a, 1);
}

/* slope = exp(a), held at the largest exponent. */
INLINE void capped_exp(const double *a, ptrdiff_t n, double largest, double *slope) {
    for (ptrdiff_t i = 0; i < n; i++) slope[i] = exponential(a[i] > largest ? largest : a[i]);
}

/* exp(a), continued linearly beyond the largest exponent. */
INLINE double continued(double slope, double a, double largest) {
    return slope * (1 + (a > largest ? a - largest : 0.0));
}

/* z = κ cos φ·q and its derivatives, q = (e^a − 1)/sin φ with q′, q″ its derivatives by sin φ; see AngleForm. */
INLINE void angle_term(const Shape *s, double shape, const Scratch *restrict x, ptrdiff_t n, double *const out[PLANES],
                       double *restrict z) {
    const double sine = sin(shape), cosine = cos(shape), knee = s->knee, largest = s->largest_exponent;
    const double outer = knee * cosine, inverse = sine == 0 ? 1.0 : 1 / sine;
    const int near = fabs(sine) < s->series_below;
    double *restrict by_shape = out[BY_SHAPE], *restrict by_t = out[BY_T];
    double *restrict shape_2 = out[SHAPE_2], *restrict shape_t = out[SHAPE_T];
    for (ptrdiff_t i = 0; i < n; i++) {
        const double t = x->t[i], a = x->a[i], slope = x->slope[i];
        double q = (continued(slope, a, largest) - 1) * inverse;
        double q1 = (t * slope - q) * inverse;
        double q2 = (t * t * slope - 2 * q1) * inverse;
        if (near) {
            const int series = fabs(a) < 0.05;
            q = series ? t * (1 + a * (0.5 + a * (1.0 / 6 + a / 24))) : q;
            q1 = series ? t * t * (0.5 + a * (1.0 / 3 + a / 8)) : (t * slope - q) * inverse;
            q2 = t * t * t * (1.0 / 3 + a / 4);
        }
        z[i] += outer * q;
        by_shape[i] = knee * cosine * cosine * q1 - knee * sine * q;
        by_t[i] = outer * slope;
        shape_2[i] = -outer * q - 3 * knee * sine * cosine * q1 + knee * cosine * cosine * cosine * q2;
        shape_t[i] = knee * (cosine * cosine * t - sine) * slope;
    }
}

/* z = α·e^t; see PowerForm. */
INLINE void power_term(const Shape *s, double shape, const Scratch *restrict x, ptrdiff_t n, double *const out[PLANES],
                       double *restrict z) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const double slope = x->slope[i], e = continued(slope, x->a[i], s->largest_exponent);
        z[i] += shape * e;
        out[BY_SHAPE][i] = e;
        out[BY_T][i] = shape * slope;
        out[SHAPE_2][i] = 0;
        out[SHAPE_T][i] = slope;
    }
}

/* ℓ = log(1 + exp(−y·z)), P(error) and the residual −w·y·P(error). */
FAST static double sigmoid(const double *z, const int64_t *codes, const double *w, ptrdiff_t n, Scratch *x,
                           double *restrict residual, double *restrict error) {
    double loss = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double y = codes[i] == 1 ? 1.0 : -1.0, margin = y * z[i], t = exponential(-fabs(margin));
        x->a[i] = margin < 0 ? margin : 0.0;
        x->t[i] = t;
        error[i] = (margin > 0 ? t : 1.0) / (1 + t);
        residual[i] = -w[i] * y * error[i];
    }
    for (ptrdiff_t i = 0; i < n; i++) loss += w[i] * (log1p(x->t[i]) - x->a[i]);
    return loss;
}

/* ℓ = log Σ exp z_c − z_y, p, and the residual w·(p − [y = c]); `z` holds CHUNK rows of every score. */
FAST static double softmax(const Shape *s, double *restrict z, const int64_t *codes, const double *w, ptrdiff_t n,
                           Scratch *x, double *restrict residual, double *restrict p) {
    double loss = 0, *top = x->t, *sum = x->a, *own = x->slope;
    for (ptrdiff_t i = 0; i < n; i++) top[i] = z[i];
    for (ptrdiff_t c = 1; c < s->scores; c++)
        for (ptrdiff_t i = 0; i < n; i++) top[i] = z[c * CHUNK + i] > top[i] ? z[c * CHUNK + i] : top[i];
    memset(sum, 0, sizeof x->a);
    memset(own, 0, sizeof x->slope);
    for (ptrdiff_t c = 0; c < s->scores; c++)
        for (ptrdiff_t i = 0; i < n; i++) {
            const double e = exponential(z[c * CHUNK + i] - top[i]);
            sum[i] += e;
            own[i] = codes[i] == c ? z[c * CHUNK + i] : own[i];
            z[c * CHUNK + i] = e;
        }
    for (ptrdiff_t c = 0; c < s->scores; c++)
        for (ptrdiff_t i = 0; i < n; i++) {
            const double share = z[c * CHUNK + i] / sum[i];
            p[c * s->rows + i] = share;
            residual[c * s->rows + i] = w[i] * (share - (codes[i] == c ? 1.0 : 0.0));
        }
    for (ptrdiff_t i = 0; i < n; i++) loss += w[i] * (log(sum[i]) + top[i] - own[i]);
    return loss;
}

FAST static void terms_of_chunk(const Shape *s, const double *theta, const Rows *rows, ptrdiff_t first, ptrdiff_t n,
                                Scratch *x, double *planes, double *z) {
    const ptrdiff_t width = 1 + s->features, plane = s->scores * s->terms * s->rows;
    for (ptrdiff_t c = 0; c < s->scores; c++) {
        const double *own = theta + c * per_score(s);
        double *score = z + c * CHUNK;
        for (ptrdiff_t i = 0; i < n; i++) score[i] = s->intercept ? own[0] : 0.0;
        for (ptrdiff_t k = 0; k < s->terms; k++) {
            const double *term = own + s->intercept + k * width;
            const double inner = s->form == ANGLE_FORM ? sin(term[0]) : 1.0;
            memset(x->t, 0, sizeof x->t);
            for (ptrdiff_t j = 0; j < s->features; j++) {
                const double slope = term[1 + j], *v = rows->v + j * rows->stride + first;
                if (slope != 0)
                    for (ptrdiff_t i = 0; i < n; i++) x->t[i] += slope * v[i];
            }
            for (ptrdiff_t i = 0; i < n; i++) x->a[i] = inner * x->t[i];
            capped_exp(x->a, n, s->largest_exponent, x->slope);
            double *out[PLANES];
            for (int which = 0; which < PLANES; which++)
                out[which] = planes + which * plane + (c * s->terms + k) * s->rows + first;
            if (s->form == ANGLE_FORM) angle_term(s, term[0], x, n, out, score);
            else power_term(s, term[0], x, n, out, score);
        }
    }
}

int forward(const Shape *s, const double *theta, const Rows *rows, Range part, const State *state, double *loss) {
    double *z = malloc(sizeof(double) * CHUNK * (size_t)s->scores);
    if (z == NULL) return -1;
    Scratch x;
    *loss = 0;
    for (ptrdiff_t first = part.first; first < part.end; first += CHUNK) {
        const ptrdiff_t n = part.end - first < CHUNK ? part.end - first : CHUNK;
        const int64_t *codes = rows->codes + first;
        double *residual = state->residual + first, *p = state->probabilities + first;
        terms_of_chunk(s, theta, rows, first, n, &x, state->planes, z);
        *loss += s->link == SIGMOID ? sigmoid(z, codes, rows->w + first, n, &x, residual, p)
                                    : softmax(s, z, codes, rows->w + first, n, &x, residual, p);
    }
    free(z);
    return 0;
}
