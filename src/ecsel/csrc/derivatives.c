/* What a block adds to the gradient, to Gauss–Newton's matrix and to the residual's curvature (contributions.py).

   Rows are taken in chunks whose Jacobian stays in the second-level cache. All sums over rows are one operation, the
   products of two sets of vectors along the rows, computed in register tiles of TALL × WIDE. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 4, TALL = 4, WIDE = 3, CACHE = 256 * 1024 };
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));

typedef struct {
    ptrdiff_t rows;   /* of a chunk: a multiple of LANES, beyond the last row filled with zeros */
    double *v;        /* (1 + features) × rows: ones, then the standardised logs */
    double *weights;  /* rows: what the Jacobian of a score is multiplied by */
    double *own;      /* parameters of a score × rows: the Jacobian times √(w p (1 − p)) */
    double *mixed;    /* parameters × rows: the Jacobian times √w p; softmax alone */
    double *pulls;    /* PLANES × rows: the derivatives of a term times the residual */
    double *bent;     /* features × rows: r (∂z/∂t) v */
    double *sums;     /* (1 + features) × PLANES */
} Chunk;

#if defined(__clang__) || __GNUC__ >= 12
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int64_t Places __attribute__((vector_size(LANES * sizeof(int64_t))));
#define PICK(a, b, ...) __builtin_shuffle(a, b, (Places){__VA_ARGS__})
#endif

/* The sums over the lanes of four vectors, as one vector. */
INLINE void totals(const Lanes x[TALL], Lanes *out) {
    const Lanes ab = PICK(x[0], x[1], 0, 4, 2, 6) + PICK(x[0], x[1], 1, 5, 3, 7);
    const Lanes cd = PICK(x[2], x[3], 0, 4, 2, 6) + PICK(x[2], x[3], 1, 5, 3, 7);
    *out = PICK(ab, cd, 0, 1, 4, 5) + PICK(ab, cd, 2, 3, 6, 7);
}

/* C[j][i] += sign · ⟨A_i, B_j⟩ over n rows; where `upper`, tiles with i < j throughout are left out. */
INLINE void add_products(const double *A, ptrdiff_t tall, const double *B, ptrdiff_t wide, ptrdiff_t n, int upper,
                         double sign, double *C, ptrdiff_t stride) {
    for (ptrdiff_t i = 0; i < tall; i += TALL) {
        const Lanes *a[TALL];
        for (int p = 0; p < TALL; p++) a[p] = (const Lanes *)(A + (i + p < tall ? i + p : tall - 1) * n);
        const ptrdiff_t last = upper && i + TALL < wide ? i + TALL : wide;
        for (ptrdiff_t j = 0; j < last; j += WIDE) {
            const Lanes *b[WIDE];
            for (int q = 0; q < WIDE; q++) b[q] = (const Lanes *)(B + (j + q < wide ? j + q : wide - 1) * n);
            Lanes sum[WIDE][TALL];
            memset(sum, 0, sizeof sum);
            for (ptrdiff_t l = 0; l < n / LANES; l++)
                for (int p = 0; p < TALL; p++)
                    for (int q = 0; q < WIDE; q++) sum[q][p] += a[p][l] * b[q][l];
            for (int q = 0; q < WIDE && j + q < wide; q++) {
                Lanes each;
                double *row = C + (j + q) * stride + i;
                totals(sum[q], &each);
                if (i + TALL <= tall)
                    for (int p = 0; p < TALL; p++) row[p] += sign * each[p];
                else
                    for (int p = 0; p < tall - i; p++) row[p] += sign * each[p];
            }
        }
    }
}

INLINE double product(const double *a, const double *b, ptrdiff_t n) {
    Lanes sum = {0, 0, 0, 0};
    for (ptrdiff_t l = 0; l < n / LANES; l++) sum += ((const Lanes *)a)[l] * ((const Lanes *)b)[l];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Copy the upper triangle to the lower. */
INLINE void mirror(double *A, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < i; j++) A[i * n + j] = A[j * n + i];
}

/* out[i] = a[i]·b[i] for the rows there are, zero up to the end of the chunk. */
INLINE void multiply(const double *a, const double *b, ptrdiff_t n, ptrdiff_t padded, double *out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = a[i] * b[i];
    for (ptrdiff_t i = n; i < padded; i++) out[i] = 0;
}

/* The Jacobian of a score times `weights`: 1, then ∂z/∂shape and (∂z/∂t) v of every term. */
INLINE void scaled_jacobian(const Shape *s, const double *by_shape, const double *by_t, ptrdiff_t n, Chunk *k,
                            double *out) {
    const ptrdiff_t m = k->rows;
    for (ptrdiff_t i = n; i < m; i++) k->weights[i] = 0;
    if (s->intercept) {
        memcpy(out, k->weights, sizeof(double) * (size_t)m);
        out += m;
    }
    for (ptrdiff_t term = 0; term < s->terms; term++, out += (1 + s->features) * m) {
        multiply(by_shape + term * s->rows, k->weights, n, m, out);
        /* the last row of the term holds ∂z/∂t until it is needed no more */
        double *slope = out + s->features * m;
        if (s->features > 0) multiply(by_t + term * s->rows, k->weights, n, m, slope);
        for (ptrdiff_t j = 0; j < s->features; j++) {
            const double *v = k->v + (1 + j) * m;
            double *row = out + (1 + j) * m;
            for (ptrdiff_t i = 0; i < m; i++) row[i] = slope[i] * v[i];
        }
    }
}

INLINE void gauss_newton(const Shape *s, const Rows *rows, const State *state, ptrdiff_t first, ptrdiff_t n, Chunk *k,
                         double *matrix) {
    const ptrdiff_t size = per_score(s), all = s->scores * size, plane = s->scores * s->terms * s->rows;
    for (ptrdiff_t c = 0; c < s->scores; c++) {
        const double *p = state->probabilities + c * s->rows + first, *w = rows->w + first;
        const double *by_shape = state->planes + BY_SHAPE * plane + c * s->terms * s->rows + first;
        const double *by_t = state->planes + BY_T * plane + c * s->terms * s->rows + first;
        for (ptrdiff_t i = 0; i < n; i++) k->weights[i] = sqrt(w[i] * p[i] * (1 - p[i]));
        scaled_jacobian(s, by_shape, by_t, n, k, k->own);
        add_products(k->own, size, k->own, size, k->rows, 1, 1.0, matrix + c * size * all + c * size, all);
        if (s->link == SIGMOID) continue;
        for (ptrdiff_t i = 0; i < n; i++) k->weights[i] = sqrt(w[i]) * p[i];
        double *mixed = k->mixed + c * size * k->rows;
        scaled_jacobian(s, by_shape, by_t, n, k, mixed);
        add_products(mixed, size, k->mixed, c * size, k->rows, 0, -1.0, matrix + c * size, all);
    }
}

/* Σ r ∂z/∂θ, and where `bend` is wanted the upper triangles of Σ r ∇²z, one (1 + features)² block a term. */
INLINE void residual_parts(const Shape *s, const double *theta, const State *state, ptrdiff_t first, ptrdiff_t n,
                           Chunk *k, double *gradient, double *bend) {
    const ptrdiff_t m = k->rows, width = 1 + s->features, plane = s->scores * s->terms * s->rows;
    const int planes = bend == NULL ? BY_T + 1 : PLANES;
    for (ptrdiff_t c = 0; c < s->scores; c++) {
        const double *residual = state->residual + c * s->rows + first;
        multiply(residual, k->v, n, m, k->weights);
        if (s->intercept) gradient[c * per_score(s)] += product(k->weights, k->v, m);
        for (ptrdiff_t term = 0; term < s->terms; term++) {
            const ptrdiff_t at = c * s->terms + term, place = c * per_score(s) + s->intercept + term * width;
            double *slopes = gradient + place;
            for (int which = 0; which < planes; which++)
                multiply(state->planes + which * plane + at * s->rows + first, k->weights, n, m, k->pulls + which * m);
            memset(k->sums, 0, sizeof(double) * (size_t)(PLANES * width));
            add_products(k->pulls, planes, k->v, width, m, 0, 1.0, k->sums, PLANES);
            slopes[0] += k->sums[BY_SHAPE];
            for (ptrdiff_t j = 1; j < width; j++) slopes[j] += k->sums[j * PLANES + BY_T];
            if (bend == NULL) continue;
            double *block = bend + at * width * width;
            block[0] += k->sums[SHAPE_2];
            for (ptrdiff_t j = 1; j < width; j++) block[j] += k->sums[j * PLANES + SHAPE_T];
            const double *pull = k->pulls + BY_T * m, factor = s->form == ANGLE_FORM ? sin(theta[place]) : 1.0;
            for (ptrdiff_t j = 0; j < s->features; j++)
                for (ptrdiff_t i = 0; i < m; i++) k->bent[j * m + i] = pull[i] * k->v[(1 + j) * m + i];
            add_products(k->bent, s->features, k->v + m, s->features, m, 1, factor, block + width + 1, width);
        }
    }
}

static double *lay_out(const Shape *s, int curvature, Chunk *k) {
    const ptrdiff_t size = per_score(s), width = 1 + s->features, all = s->scores * size;
    const ptrdiff_t jacobian = curvature ? size + (s->link == SOFTMAX ? all : 0) : 0;
    const ptrdiff_t vectors = width + 1 + jacobian + PLANES + width;
    ptrdiff_t rows = CACHE / (ptrdiff_t)sizeof(double) / vectors / LANES * LANES;
    rows = rows < 32 ? 32 : rows > 512 ? 512 : rows;
    const ptrdiff_t whole = (s->rows + LANES - 1) / LANES * LANES;
    k->rows = rows < whole ? rows : whole;
    const size_t bytes = sizeof(double) * (size_t)(k->rows * vectors + PLANES * width);
    double *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == NULL) return NULL;
    k->v = memory;
    k->weights = k->v + width * k->rows;
    k->pulls = k->weights + k->rows;
    k->bent = k->pulls + PLANES * k->rows;
    k->own = k->bent + width * k->rows;
    k->mixed = k->own + (curvature ? size : 0) * k->rows;
    k->sums = memory + vectors * k->rows;
    return memory;
}

FAST static void add_chunk(const Shape *s, const double *theta, const Rows *rows, const State *state, ptrdiff_t first,
                           ptrdiff_t n, Chunk *k, double *gradient, double *matrix, double *bend) {
    const ptrdiff_t m = k->rows;
    for (ptrdiff_t i = 0; i < m; i++) k->v[i] = i < n ? 1.0 : 0.0;
    for (ptrdiff_t j = 0; j < s->features; j++) multiply(rows->v + j * rows->stride + first, k->v, n, m, k->v + (1 + j) * m);
    residual_parts(s, theta, state, first, n, k, gradient, bend);
    if (matrix != NULL) gauss_newton(s, rows, state, first, n, k, matrix);
}

/* Of the matrices the upper triangles; `matrix` and `bend` may both be NULL: the gradient alone. */
int derivatives(const Shape *s, const double *theta, const Rows *rows, Range part, const State *state, double *gradient,
                double *matrix, double *bend) {
    const ptrdiff_t all = s->scores * per_score(s), width = 1 + s->features;
    Chunk k;
    double *memory = lay_out(s, matrix != NULL, &k);
    if (memory == NULL) return -1;
    memset(gradient, 0, sizeof(double) * (size_t)all);
    if (matrix != NULL) memset(matrix, 0, sizeof(double) * (size_t)(all * all));
    if (bend != NULL) memset(bend, 0, sizeof(double) * (size_t)(s->scores * s->terms * width * width));
    for (ptrdiff_t first = part.first; first < part.end; first += k.rows) {
        const ptrdiff_t n = part.end - first < k.rows ? part.end - first : k.rows;
        add_chunk(s, theta, rows, state, first, n, &k, gradient, matrix, bend);
    }
    free(memory);
    return 0;
}

void mirror_all(const Shape *s, double *matrix, double *bend) {
    const ptrdiff_t width = 1 + s->features;
    mirror(matrix, s->scores * per_score(s));
    for (ptrdiff_t at = 0; at < s->scores * s->terms; at++) mirror(bend + at * width * width, width);
}
