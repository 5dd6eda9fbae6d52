/* What a block adds to the gradient, to Gauss–Newton's matrix and to the residual's curvature (sums.py).

   The slopes of a score are numbers of the row times 1 (intercept, shapes) or times v (exponents). Two terms therefore
   meet in Σ_i ω_i v_ij v_il, which is symmetric in j and l: the products of the columns are made once, and each pair of
   terms needs their sums with its own weights ω alone, at best half the work of multiplying the Jacobian by itself.
   The residual's curvature is a sum of the same kind.

   Rows are taken in chunks that stay in the second-level cache. All sums over rows are one operation, the products of
   two sets of vectors along the rows, computed in register tiles of TALL × WIDE. */
#include "kernel.h"
#include "simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TALL = 4, WIDE = 3, CACHE = 256 * 1024, MIN_ROWS = 96, MAX_ROWS = 512 };

/* How many of a kind there are. */
typedef struct {
    ptrdiff_t width;   /* 1 and the features */
    ptrdiff_t flats;   /* parameters of a score whose slope has no v: intercept and shapes */
    ptrdiff_t terms;   /* of all scores */
    ptrdiff_t squares; /* products of two features */
    ptrdiff_t pairs;   /* of terms */
    ptrdiff_t mixed;   /* pairs of a flat parameter and a term */
} Counts;

typedef struct {
    ptrdiff_t rows;    /* of a chunk: a multiple of LANES, beyond the last row filled with zeros */
    double *v;         /* width × rows: ones, then the standardised logs */
    double *pulls;     /* PLANES × rows: the derivatives of a term times the residual */
    double *flat;      /* scores × flats × rows: ∂z by intercept and shapes */
    double *steep;     /* terms × rows: ∂z/∂t */
    double *link;      /* rows: the link's curvature in two scores */
    double *weighted;  /* the larger of flats and TALL × rows: slopes of a score times that, or products of features */
    double *outer;     /* (pairs + terms) × rows: weights of v_j v_l; those of the residual's curvature come last */
    double *straight;  /* mixed × rows: weights of v_j */
    double *small;     /* for sums of one score: (1 + features) × PLANES or flats × flats */
    double *outer_sums; /* (pairs + terms) × squares, over all chunks */
    double *straight_sums; /* features × mixed */
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

/* sums[q][p] of a tile: ⟨a_p, b_q⟩; `wide` is known when this is compiled. */
INLINE void add_tile(const Lanes *const a[TALL], const double *B, int wide, ptrdiff_t n, ptrdiff_t tall, double *C,
                     ptrdiff_t stride) {
    Lanes sum[WIDE][TALL];
    for (int q = 0; q < wide; q++)
        for (int p = 0; p < TALL; p++) sum[q][p] = (Lanes){0, 0, 0, 0};
    for (ptrdiff_t l = 0; l < n / LANES; l++)
        for (int p = 0; p < TALL; p++)
            for (int q = 0; q < wide; q++) sum[q][p] += a[p][l] * ((const Lanes *)(B + q * n))[l];
    for (int q = 0; q < wide; q++) {
        Lanes each;
        totals(sum[q], &each);
        if (tall >= TALL)
            for (int p = 0; p < TALL; p++) C[q * stride + p] += each[p];
        else
            for (int p = 0; p < tall; p++) C[q * stride + p] += each[p];
    }
}

/* C[j][i] += ⟨A_i, B_j⟩ for at most TALL vectors A_i and all B_j. Not inlined: tiles need all registers. */
FAST static void add_strip(const double *A, ptrdiff_t tall, const double *B, ptrdiff_t wide, ptrdiff_t n, double *C,
                           ptrdiff_t stride) {
    const Lanes *a[TALL];
    for (int p = 0; p < TALL; p++) a[p] = (const Lanes *)(A + (p < tall ? p : tall - 1) * n);
    ptrdiff_t j = 0;
    for (; j + 3 <= wide; j += 3) add_tile(a, B + j * n, 3, n, tall, C + j * stride, stride);
    if (wide - j == 2) add_tile(a, B + j * n, 2, n, tall, C + j * stride, stride);
    if (wide - j == 1) add_tile(a, B + j * n, 1, n, tall, C + j * stride, stride);
}

/* C[j][i] += ⟨A_i, B_j⟩ over n rows. */
static void add_products(const double *A, ptrdiff_t tall, const double *B, ptrdiff_t wide, ptrdiff_t n, double *C,
                         ptrdiff_t stride) {
    for (ptrdiff_t i = 0; i < tall; i += TALL) add_strip(A + i * n, tall - i, B, wide, n, C + i, stride);
}

/* Copy the upper triangle to the lower. */
INLINE void mirror(double *A, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < i; j++) A[i * n + j] = A[j * n + i];
}

/* out[i] = a[i]·b[i] over a chunk. */
INLINE void multiply(const double *a, const double *b, ptrdiff_t n, double *out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = a[i] * b[i];
}

/* Rows of a block as those of a chunk: zeros follow the last. */
INLINE void pad(const double *from, ptrdiff_t n, ptrdiff_t padded, double *to) {
    memcpy(to, from, sizeof(double) * (size_t)n);
    for (ptrdiff_t i = n; i < padded; i++) to[i] = 0;
}

static Counts count(const Shape *s) {
    const ptrdiff_t terms = s->scores * s->terms, flats = s->intercept + s->terms;
    return (Counts){
        1 + s->features,          flats, terms, s->features * (s->features + 1) / 2, terms * (terms + 1) / 2,
        s->scores * flats * terms};
}

/* Where a flat parameter of a score lies in θ: the intercept, if there is one, then the shapes. */
INLINE ptrdiff_t flat_place(const Shape *s, ptrdiff_t score, ptrdiff_t flat) {
    const ptrdiff_t term = flat - s->intercept;
    return term < 0 ? score * per_score(s) : shape_place(s, score * s->terms + term);
}

/* Where the first exponent of a term lies. */
INLINE ptrdiff_t steep_place(const Shape *s, ptrdiff_t score, ptrdiff_t term) {
    return shape_place(s, score * s->terms + term) + 1;
}

/* The weights with which the terms of all pairs of scores d ≤ c meet, in the order in which `unpack` reads their sums;
   what has no v is summed into `matrix` at once. */
INLINE void meet(const Shape *s, const Counts *m, const Rows *rows, const State *state, ptrdiff_t first, ptrdiff_t n,
                 Chunk *k, double *matrix) {
    const ptrdiff_t all = s->scores * per_score(s), size = k->rows;
    double *outer = k->outer, *straight = k->straight;
    for (ptrdiff_t c = 0; c < s->scores; c++) {
        const double *flat_c = k->flat + c * m->flats * size, *steep_c = k->steep + c * s->terms * size;
        for (ptrdiff_t d = 0; d <= c; d++) {
            const double *flat_d = k->flat + d * m->flats * size, *steep_d = k->steep + d * s->terms * size;
            const double *p = state->probabilities + d * s->rows + first;
            const double *q = state->probabilities + c * s->rows + first;
            for (ptrdiff_t i = 0; i < n; i++) k->link[i] = rows->w[first + i] * p[i] * ((d == c) - q[i]);
            for (ptrdiff_t i = n; i < size; i++) k->link[i] = 0;
            for (ptrdiff_t f = 0; f < m->flats; f++) {
                double *own = k->weighted + f * size;
                multiply(flat_d + f * size, k->link, size, own);
                for (ptrdiff_t l = 0; l < s->terms; l++, straight += size)
                    multiply(own, steep_c + l * size, size, straight);
            }
            memset(k->small, 0, sizeof(double) * (size_t)(m->flats * m->flats));
            add_products(k->weighted, m->flats, flat_c, m->flats, size, k->small, m->flats);
            for (ptrdiff_t f = 0; f < m->flats; f++)
                for (ptrdiff_t g = 0; g < m->flats; g++)
                    matrix[flat_place(s, d, f) * all + flat_place(s, c, g)] += k->small[g * m->flats + f];
            for (ptrdiff_t t = 0; t < s->terms; t++) {
                double *own = k->weighted;
                multiply(steep_d + t * size, k->link, size, own);
                for (ptrdiff_t l = d == c ? t : 0; l < s->terms; l++, outer += size)
                    multiply(own, steep_c + l * size, size, outer);
                if (d == c) continue;
                for (ptrdiff_t g = 0; g < m->flats; g++, straight += size)
                    multiply(own, flat_c + g * size, size, straight);
            }
        }
    }
}

/* Σ ω v_j v_l for all weights of pairs of terms and of the residual's curvature, and Σ ω v_j for the others. */
INLINE void add_meetings(const Shape *s, const Counts *m, Chunk *k) {
    const double *v = k->v + k->rows;
    ptrdiff_t at = 0, filled = 0;
    for (ptrdiff_t j = 0; j < s->features; j++)
        for (ptrdiff_t l = j; l < s->features; l++) {
            multiply(v + j * k->rows, v + l * k->rows, k->rows, k->weighted + filled++ * k->rows);
            if (filled < TALL && at + filled < m->squares) continue;
            add_strip(k->weighted, filled, k->outer, m->pairs + m->terms, k->rows, k->outer_sums + at, m->squares);
            at += filled;
            filled = 0;
        }
    add_products(k->straight, m->mixed, v, s->features, k->rows, k->straight_sums, m->mixed);
}

/* Σ r ∂z/∂θ, and where `residual_hessian` is wanted the shapes' part of Σ r ∇²z; the weights of the rest go to
   `outer`. */
INLINE void residual_parts(const Shape *s, const Counts *m, const State *state, ptrdiff_t first, ptrdiff_t n, Chunk *k,
                           double *gradient, double *residual_hessian) {
    const ptrdiff_t plane = m->terms * s->rows, size = k->rows;
    const int planes = residual_hessian == NULL ? BY_T + 1 : PLANES;
    for (ptrdiff_t c = 0; c < s->scores; c++) {
        pad(state->residual + c * s->rows + first, n, size, k->link);
        if (s->intercept) gradient[c * per_score(s)] += dot(k->link, k->v, size);
        for (ptrdiff_t term = 0; term < s->terms; term++) {
            const ptrdiff_t at = c * s->terms + term;
            double *slopes = gradient + shape_place(s, at);
            for (int which = 0; which < planes; which++) {
                pad(state->planes + which * plane + at * s->rows + first, n, size, k->pulls + which * size);
                multiply(k->pulls + which * size, k->link, size, k->pulls + which * size);
            }
            memset(k->small, 0, sizeof(double) * (size_t)(PLANES * m->width));
            add_products(k->pulls, planes, k->v, m->width, size, k->small, PLANES);
            slopes[0] += k->small[BY_SHAPE];
            for (ptrdiff_t j = 1; j < m->width; j++) slopes[j] += k->small[j * PLANES + BY_T];
            if (residual_hessian == NULL) continue;
            double *block = residual_hessian + at * m->width * m->width;
            block[0] += k->small[SHAPE_2];
            for (ptrdiff_t j = 1; j < m->width; j++) block[j] += k->small[j * PLANES + SHAPE_T];
            memcpy(k->outer + (m->pairs + at) * size, k->pulls + BY_T * size, sizeof(double) * (size_t)size);
        }
    }
}

/* The sums of v_j v_l as a symmetric block of a matrix. */
static const double *unpack_squares(const double *sums, ptrdiff_t features, double factor, double *corner,
                                    ptrdiff_t stride) {
    for (ptrdiff_t j = 0; j < features; j++)
        for (ptrdiff_t l = j; l < features; l++, sums++)
            corner[j * stride + l] = corner[l * stride + j] = factor * *sums;
    return sums;
}

/* The sums where they belong in the matrices, of which the upper triangles count. */
static void unpack(const Shape *s, const Counts *m, const double *theta, const Chunk *k, double *matrix,
                   double *residual_hessian) {
    const ptrdiff_t all = s->scores * per_score(s);
    const double *outer = k->outer_sums, *straight = k->straight_sums;
    for (ptrdiff_t c = 0; c < s->scores; c++)
        for (ptrdiff_t d = 0; d <= c; d++) {
            for (ptrdiff_t f = 0; f < m->flats; f++)
                for (ptrdiff_t l = 0; l < s->terms; l++, straight++) {
                    const ptrdiff_t row = flat_place(s, d, f), column = steep_place(s, c, l);
                    for (ptrdiff_t j = 0; j < s->features; j++) {
                        /* within a score a shape also follows exponents */
                        const ptrdiff_t upper = row < column + j ? row * all + column + j : (column + j) * all + row;
                        matrix[upper] = straight[j * m->mixed];
                    }
                }
            for (ptrdiff_t t = 0; t < s->terms; t++) {
                const ptrdiff_t row = steep_place(s, d, t);
                for (ptrdiff_t l = d == c ? t : 0; l < s->terms; l++)
                    outer = unpack_squares(outer, s->features, 1.0, matrix + row * all + steep_place(s, c, l), all);
                if (d == c) continue;
                for (ptrdiff_t g = 0; g < m->flats; g++, straight++)
                    for (ptrdiff_t j = 0; j < s->features; j++)
                        matrix[(row + j) * all + flat_place(s, c, g)] = straight[j * m->mixed];
            }
        }
    for (ptrdiff_t at = 0; at < m->terms; at++) {
        const double factor = s->form == ANGLE_FORM ? sin(theta[shape_place(s, at)]) : 1.0;
        outer = unpack_squares(outer, s->features, factor, residual_hessian + at * m->width * m->width + m->width + 1,
                              m->width);
    }
}

static double *lay_out(const Shape *s, const Counts *m, ptrdiff_t rows, int curvature, Chunk *k) {
    const ptrdiff_t weighted = m->flats > TALL ? m->flats : TALL, outer = m->pairs + m->terms;
    const ptrdiff_t second = curvature ? s->scores * m->flats + m->terms + weighted + outer + m->mixed : 0;
    const ptrdiff_t vectors = m->width + PLANES + 1 + second;
    const ptrdiff_t small = m->width * PLANES > m->flats * m->flats ? m->width * PLANES : m->flats * m->flats;
    const ptrdiff_t sums = curvature ? outer * m->squares + m->mixed * s->features : 0;
    ptrdiff_t most = CACHE / (ptrdiff_t)sizeof(double) / vectors;
    most = most < MIN_ROWS ? MIN_ROWS : most > MAX_ROWS ? MAX_ROWS : most;
    /* chunks of equal size: what the last one lacks would be computed on zeros */
    const ptrdiff_t chunks = rows > 0 ? (rows + most - 1) / most : 1, each = (rows + chunks - 1) / chunks;
    k->rows = in_lanes(each);
    const size_t bytes = sizeof(double) * (size_t)(k->rows * vectors + small + sums);
    double *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == NULL) return NULL;
    double *next = memory;
    k->v = next;
    k->pulls = next += m->width * k->rows;
    k->link = next += PLANES * k->rows;
    next += k->rows;
    if (curvature) {
        k->flat = next;
        k->steep = next += s->scores * m->flats * k->rows;
        k->weighted = next += m->terms * k->rows;
        k->outer = next += weighted * k->rows;
        k->straight = next += outer * k->rows;
        next += m->mixed * k->rows;
    }
    k->small = next;
    k->outer_sums = next + small;
    k->straight_sums = k->outer_sums + outer * m->squares;
    memset(k->outer_sums, 0, sizeof(double) * (size_t)sums);
    return memory;
}

FAST static void add_chunk(const Shape *s, const Counts *m, const Rows *rows, const State *state, ptrdiff_t first,
                           ptrdiff_t n, Chunk *k, double *gradient, double *matrix, double *residual_hessian) {
    const ptrdiff_t size = k->rows, plane = m->terms * s->rows;
    for (ptrdiff_t i = 0; i < size; i++) k->v[i] = i < n ? 1.0 : 0.0;
    for (ptrdiff_t j = 0; j < s->features; j++) pad(rows->v + j * rows->stride + first, n, size, k->v + (1 + j) * size);
    residual_parts(s, m, state, first, n, k, gradient, residual_hessian);
    if (matrix == NULL) return;
    for (ptrdiff_t at = 0; at < m->terms; at++) {
        double *flat = k->flat + (at / s->terms * m->flats + s->intercept + at % s->terms) * size;
        pad(state->planes + BY_SHAPE * plane + at * s->rows + first, n, size, flat);
        pad(state->planes + BY_T * plane + at * s->rows + first, n, size, k->steep + at * size);
    }
    if (s->intercept)
        for (ptrdiff_t c = 0; c < s->scores; c++)
            memcpy(k->flat + c * m->flats * size, k->v, sizeof(double) * (size_t)size);
    meet(s, m, rows, state, first, n, k, matrix);
    add_meetings(s, m, k);
}

/* Of the matrices the upper triangles; `matrix` and `residual_hessian` may both be NULL: the gradient alone. */
int derivatives(const Shape *s, const double *theta, const Rows *rows, Range part, const State *state, double *gradient,
                double *matrix, double *residual_hessian) {
    const Counts m = count(s);
    const ptrdiff_t all = s->scores * per_score(s);
    Chunk k;
    double *memory = lay_out(s, &m, part.end - part.first, matrix != NULL, &k);
    if (memory == NULL) return -1;
    memset(gradient, 0, sizeof(double) * (size_t)all);
    if (matrix != NULL) memset(matrix, 0, sizeof(double) * (size_t)(all * all));
    if (residual_hessian != NULL) memset(residual_hessian, 0, sizeof(double) * (size_t)(m.terms * m.width * m.width));
    for (ptrdiff_t first = part.first; first < part.end; first += k.rows) {
        const ptrdiff_t n = part.end - first < k.rows ? part.end - first : k.rows;
        add_chunk(s, &m, rows, state, first, n, &k, gradient, matrix, residual_hessian);
    }
    if (matrix != NULL) unpack(s, &m, theta, &k, matrix, residual_hessian);
    free(memory);
    return 0;
}

void mirror_all(const Shape *s, double *matrix, double *residual_hessian) {
    const ptrdiff_t width = 1 + s->features;
    mirror(matrix, s->scores * per_score(s));
    for (ptrdiff_t at = 0; at < s->scores * s->terms; at++) mirror(residual_hessian + at * width * width, width);
}
