/* A pass over packed rows in single precision that keeps nothing but sums: loss, gradient, or the error of every row.

   The formulas are those of forward.c with vectors of eight floats. Rows are unpacked (stored.py) strip by strip into
   the first-level cache; what a strip adds is summed in single precision, the strips in double. Nothing that is
   multiplied lies below e^−45, so that no product is a subnormal number, which some processors handle slowly. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRIP = 512, LANES = 8 };
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

static const float MIN_EXPONENT = -45.0f, MIN_ERROR = -40.0f;

/* The room of a strip. */
typedef struct {
    float *v; /* features × STRIP: standardised logs */
    float *w, *t, *a, *slope;
    float *z;        /* scores × STRIP, then residuals */
    float *by_shape; /* scores × terms × STRIP */
    float *by_t;
    float *errors;
    int32_t *codes;
} Strip;

/* e^a for −87 < a ≤ 40 to about the last digit: see `exponential` in forward.c. */
INLINE float exponential(float a) {
    const float shifted = a * 1.44269504f + 12582912.0f, n = shifted - 12582912.0f;
    const float r = (a - n * 0.693359375f) + n * 2.12194440e-4f;
    float e = 1.0f / 5040;
    e = e * r + 1.0f / 720;
    e = e * r + 1.0f / 120;
    e = e * r + 1.0f / 24;
    e = e * r + 1.0f / 6;
    e = e * r + 0.5f;
    e = e * r + 1.0f;
    e = e * r + 1.0f;
    int32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (int32_t)((uint32_t)(bits + 127) << 23);
    float power;
    memcpy(&power, &bits, sizeof power);
    return e * power;
}

/* log(1 + t) for 0 ≤ t ≤ 1: 2 artanh(t/(2 + t)). */
INLINE float log_one_plus(float t) {
    const float s = t / (2 + t), q = s * s;
    float sum = 1.0f / 15;
    sum = sum * q + 1.0f / 13;
    sum = sum * q + 1.0f / 11;
    sum = sum * q + 1.0f / 9;
    sum = sum * q + 1.0f / 7;
    sum = sum * q + 1.0f / 5;
    sum = sum * q + 1.0f / 3;
    sum = sum * q + 1.0f;
    return 2 * s * sum;
}

INLINE double total(const float *x) {
    Lanes sum = {0};
    for (ptrdiff_t l = 0; l < STRIP; l += LANES) sum += *(const Lanes *)(x + l);
    double all = 0;
    for (int l = 0; l < LANES; l++) all += sum[l];
    return all;
}

INLINE double product(const float *x, const float *y) {
    Lanes sum = {0}, more = {0};
    for (ptrdiff_t l = 0; l < STRIP; l += 2 * LANES) {
        sum += *(const Lanes *)(x + l) * *(const Lanes *)(y + l);
        more += *(const Lanes *)(x + l + LANES) * *(const Lanes *)(y + l + LANES);
    }
    sum += more;
    double all = 0;
    for (int l = 0; l < LANES; l++) all += sum[l];
    return all;
}

/* Standardised logs, weights and codes of `n` rows from `first` on; rows beyond them weigh nothing. */
INLINE void unpack(const Shape *s, const Packed *packed, ptrdiff_t first, ptrdiff_t n, Strip *x) {
    const float *wide = (const float *)packed->data;
    const uint8_t *codes = packed->data + (packed->wide + packed->weighted) * packed->stride * (ptrdiff_t)sizeof(float);
    const uint8_t *narrow = codes + packed->stride;
    if (n < STRIP) {
        memset(x->v, 0, sizeof(float) * (size_t)(s->features * STRIP));
        memset(x->codes, 0, sizeof(int32_t) * STRIP);
        memset(x->w, 0, sizeof(float) * STRIP);
    }
    for (ptrdiff_t j = 0; j < s->features; j++) {
        float *restrict v = x->v + j * STRIP;
        const float *table = packed->tables + 256 * j;
        if (packed->coded[j] == 0) {
            const float *u = wide + first, centre = packed->centre[j], scale = packed->scale[j];
            for (ptrdiff_t i = 0; i < n; i++) v[i] = (u[i] - centre) * scale;
            wide += packed->stride;
        } else {
            const uint8_t *at = narrow + first;
            const float low = table[0], step = table[1] - table[0];
            if (packed->coded[j] == 2)
                for (ptrdiff_t i = 0; i < n; i++) v[i] = low + step * (float)at[i];
            else
                for (ptrdiff_t i = 0; i < n; i++) v[i] = table[at[i]];
            narrow += packed->stride;
        }
    }
    for (ptrdiff_t i = 0; i < n; i++) x->codes[i] = codes[first + i];
    for (ptrdiff_t i = 0; i < n; i++) x->w[i] = packed->weighted ? wide[first + i] : 1.0f;
}

/* z += κ cos φ·q and, where `wanted`, ∂z/∂φ and ∂z/∂t; see `angle_term` in forward.c. */
INLINE void angle_term(const Shape *s, double shape, const Strip *x, int wanted, float *restrict by_shape,
                       float *restrict by_t, float *restrict z) {
    const float sine = (float)sin(shape), cosine = (float)cos(shape), largest = (float)s->largest_exponent;
    const float knee = (float)s->knee, outer = knee * cosine, inverse = sine == 0 ? 1.0f : 1 / sine;
    const int near = fabsf(sine) < (float)s->series_below;
    for (ptrdiff_t i = 0; i < STRIP; i++) {
        const float t = x->t[i], a = x->a[i], slope = x->slope[i];
        const float e = slope * (1 + (a > largest ? a - largest : 0.0f));
        const int series = near && fabsf(a) < 0.05f;
        float q = (e - 1) * inverse;
        if (near) q = series ? t * (1 + a * (0.5f + a * (1.0f / 6 + a / 24))) : q;
        z[i] += outer * q;
        if (!wanted) continue;
        float q1 = (t * slope - q) * inverse;
        if (near) q1 = series ? t * t * (0.5f + a * (1.0f / 3 + a / 8)) : q1;
        by_shape[i] = knee * cosine * cosine * q1 - knee * sine * q;
        by_t[i] = outer * slope;
    }
}

/* z += α·e^t. */
INLINE void power_term(const Shape *s, double shape, const Strip *x, int wanted, float *restrict by_shape,
                       float *restrict by_t, float *restrict z) {
    const float alpha = (float)shape, largest = (float)s->largest_exponent;
    for (ptrdiff_t i = 0; i < STRIP; i++) {
        const float a = x->a[i], slope = x->slope[i], e = slope * (1 + (a > largest ? a - largest : 0.0f));
        z[i] += alpha * e;
        if (!wanted) continue;
        by_shape[i] = e;
        by_t[i] = alpha * slope;
    }
}

INLINE void scores(const Shape *s, const double *theta, const Strip *x, int wanted) {
    const float largest = (float)s->largest_exponent;
    for (ptrdiff_t c = 0; c < s->scores; c++) {
        const double *own = theta + c * per_score(s);
        float *z = x->z + c * STRIP;
        for (ptrdiff_t i = 0; i < STRIP; i++) z[i] = s->intercept ? (float)own[0] : 0.0f;
        for (ptrdiff_t k = 0; k < s->terms; k++) {
            const double *term = own + s->intercept + k * (1 + s->features);
            const ptrdiff_t at = (c * s->terms + k) * STRIP;
            const float inner = s->form == ANGLE_FORM ? (float)sin(term[0]) : 1.0f;
            memset(x->t, 0, sizeof(float) * STRIP);
            for (ptrdiff_t j = 0; j < s->features; j++) {
                const float slope = (float)term[1 + j], *v = x->v + j * STRIP;
                if (slope != 0)
                    for (ptrdiff_t i = 0; i < STRIP; i++) x->t[i] += slope * v[i];
            }
            for (ptrdiff_t i = 0; i < STRIP; i++) {
                const float a = inner * x->t[i], capped = a > largest ? largest : a;
                x->a[i] = a;
                x->slope[i] = exponential(capped < MIN_EXPONENT ? MIN_EXPONENT : capped);
            }
            if (s->form == ANGLE_FORM) angle_term(s, term[0], x, wanted, x->by_shape + at, x->by_t + at, z);
            else power_term(s, term[0], x, wanted, x->by_shape + at, x->by_t + at, z);
        }
    }
}

/* The loss of a strip; scores become weighted residuals, and errors 1 − p(true class). */
INLINE double sigmoid(const Strip *x) {
    for (ptrdiff_t i = 0; i < STRIP; i++) {
        const float y = x->codes[i] == 1 ? 1.0f : -1.0f, margin = y * x->z[i], far = -fabsf(margin);
        const float t = exponential(far < MIN_ERROR ? MIN_ERROR : far), error = (margin > 0 ? t : 1.0f) / (1 + t);
        x->t[i] = x->w[i] * (log_one_plus(t) - (margin < 0 ? margin : 0.0f));
        x->errors[i] = error;
        x->z[i] = -x->w[i] * y * error;
    }
    return total(x->t);
}

INLINE double softmax(const Shape *s, const Strip *x) {
    float *top = x->t, *sum = x->a, *own = x->slope;
    memcpy(top, x->z, sizeof(float) * STRIP);
    for (ptrdiff_t c = 1; c < s->scores; c++)
        for (ptrdiff_t i = 0; i < STRIP; i++) top[i] = x->z[c * STRIP + i] > top[i] ? x->z[c * STRIP + i] : top[i];
    memset(sum, 0, sizeof(float) * STRIP);
    for (ptrdiff_t c = 0; c < s->scores; c++) {
        float *z = x->z + c * STRIP;
        for (ptrdiff_t i = 0; i < STRIP; i++) {
            const float far = z[i] - top[i], e = exponential(far < MIN_ERROR ? MIN_ERROR : far);
            own[i] = x->codes[i] == c ? far : own[i];
            sum[i] += e;
            z[i] = e;
        }
    }
    double loss = 0;
    for (ptrdiff_t i = 0; i < STRIP; i++) loss += (double)(x->w[i] * (logf(sum[i]) - own[i]));
    memset(x->errors, 0, sizeof(float) * STRIP);
    for (ptrdiff_t c = 0; c < s->scores; c++) {
        float *z = x->z + c * STRIP;
        for (ptrdiff_t i = 0; i < STRIP; i++) {
            const float share = z[i] / sum[i];
            const int is = x->codes[i] == c;
            x->errors[i] += is ? 0.0f : share;
            z[i] = x->w[i] * (share - (is ? 1.0f : 0.0f));
        }
    }
    return loss;
}

INLINE void add_gradient(const Shape *s, const Strip *x, double *gradient) {
    for (ptrdiff_t c = 0; c < s->scores; c++) {
        const float *residual = x->z + c * STRIP;
        double *own = gradient + c * per_score(s);
        if (s->intercept) own[0] += total(residual);
        for (ptrdiff_t k = 0; k < s->terms; k++) {
            double *term = own + s->intercept + k * (1 + s->features);
            const float *by_t = x->by_t + (c * s->terms + k) * STRIP;
            term[0] += product(x->by_shape + (c * s->terms + k) * STRIP, residual);
            for (ptrdiff_t i = 0; i < STRIP; i++) x->t[i] = by_t[i] * residual[i];
            for (ptrdiff_t j = 0; j < s->features; j++) term[1 + j] += product(x->t, x->v + j * STRIP);
        }
    }
}

FAST static double sweep_strip(const Shape *s, const double *theta, const Packed *packed, ptrdiff_t first, ptrdiff_t n,
                               const Strip *x, double *gradient) {
    Strip room = *x;
    unpack(s, packed, first, n, &room);
    if (gradient == NULL) scores(s, theta, &room, 0);
    else scores(s, theta, &room, 1);
    const double loss = s->link == SIGMOID ? sigmoid(&room) : softmax(s, &room);
    if (gradient != NULL) add_gradient(s, &room, gradient);
    return loss;
}

int sweep(const Shape *s, const double *theta, const Packed *packed, double *loss, double *gradient, float *errors) {
    const ptrdiff_t vectors = s->features + 6 + s->scores * (1 + 2 * s->terms);
    float *memory = aligned_alloc(64, sizeof(float) * STRIP * (size_t)vectors);
    if (memory == NULL) return -1;
    Strip x = {.v = memory};
    x.w = x.v + s->features * STRIP;
    x.t = x.w + STRIP;
    x.a = x.t + STRIP;
    x.slope = x.a + STRIP;
    x.errors = x.slope + STRIP;
    x.codes = (int32_t *)(x.errors + STRIP);
    x.z = x.errors + 2 * STRIP;
    x.by_shape = x.z + s->scores * STRIP;
    x.by_t = x.by_shape + s->scores * s->terms * STRIP;
    *loss = 0;
    if (gradient != NULL) memset(gradient, 0, sizeof(double) * (size_t)(s->scores * per_score(s)));
    for (ptrdiff_t first = 0; first < s->rows; first += STRIP) {
        const ptrdiff_t n = s->rows - first < STRIP ? s->rows - first : STRIP;
        *loss += sweep_strip(s, theta, packed, packed->first + first, n, &x, gradient);
        if (errors != NULL) memcpy(errors + first, x.errors, sizeof(float) * (size_t)n);
    }
    free(memory);
    return 0;
}

FAST void uniforms(uint64_t start, ptrdiff_t n, double *numbers) {
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t x = (start + (uint64_t)i) * 0x9E3779B97F4A7C15u;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        x ^= x >> 31;
        numbers[i] = (double)(int64_t)(x >> 11) * 0x1p-53;
    }
}

/* Rows whose number lies below w·(each + rooted·√error): their places and numbers; see importance_sampling.py. Returns
   Σ w·√error. */
FAST double draw(uint64_t start, ptrdiff_t n, const float *errors, const float *w, const Chances *chances,
                 int32_t *rows, double *numbers, ptrdiff_t *count) {
    double all = 0, drawn[STRIP];
    float chance[STRIP], root[STRIP];
    const float each = (float)chances->each, rooted = (float)chances->rooted;
    ptrdiff_t found = 0;
    for (ptrdiff_t first = 0; first < n; first += STRIP) {
        const ptrdiff_t m = n - first < STRIP ? n - first : STRIP;
        memset(root, 0, sizeof root);
        for (ptrdiff_t i = 0; i < m; i++) {
            const float weight = w[first + i], r = sqrtf(errors[first + i]);
            chance[i] = weight * (each + rooted * r);
            root[i] = weight * r;
        }
        all += total(root);
        uniforms(start + (uint64_t)first, m, drawn);
        for (ptrdiff_t i = 0; i < m; i++) {
            rows[found] = (int32_t)(first + i);
            numbers[found] = drawn[i];
            found += drawn[i] < (double)chance[i];
        }
    }
    *count = found;
    return all;
}
