/* The positive part Σ_{λ > 0} λ z zᵀ of a small symmetric matrix A = Σ λ z zᵀ.

   Householder's reflections make A tridiagonal, implicit QL steps with Wilkinson's shift make that diagonal (Golub and
   Van Loan, Matrix Computations, chapter 8). Matrices are as wide as a table has features; of width 14 this takes less
   than half the time of LAPACK's dsyev, because everything is loops along padded rows, which become vectors. */
#include "kernel.h"
#include "simd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 40 };

typedef struct {
    ptrdiff_t n, stride; /* the stride is a multiple of LANES; what lies beyond n is zero */
    double *A, *Z;       /* the matrix; the eigenvectors as rows */
    double *diagonal, *beside;
    double *u, *image;
} Eigen;

INLINE void add_multiple(double factor, const double *restrict from, ptrdiff_t n, double *restrict to) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] += factor * from[i];
}

/* out = factor · Σ_i u_i row_i, over rows from `first` on and columns from `column` on, a multiple of LANES. */
INLINE void combine(const Eigen *e, const double *M, double factor, ptrdiff_t first, ptrdiff_t column, double *out) {
    for (ptrdiff_t j = column; j < e->stride; j += LANES) {
        Lanes sum = {0, 0, 0, 0};
        for (ptrdiff_t i = first; i < e->n; i++) sum += e->u[i] * *(const Lanes *)(M + i * e->stride + j);
        *(Lanes *)(out + j) = factor * sum;
    }
}

/* A becomes tridiagonal, Z the product of the reflections I − u uᵀ/half that did it. */
INLINE void tridiagonalise(Eigen *e) {
    const ptrdiff_t n = e->n, stride = e->stride;
    memset(e->Z, 0, sizeof(double) * (size_t)(n * stride));
    for (ptrdiff_t i = 0; i < n; i++) e->Z[i * stride + i] = 1;
    for (ptrdiff_t k = 0; k + 1 < n; k++) {
        const double *row = e->A + k * stride;
        e->diagonal[k] = row[k];
        memset(e->u, 0, sizeof(double) * (size_t)stride);
        memcpy(e->u + k + 1, row + k + 1, sizeof(double) * (size_t)(n - k - 1));
        const double head = e->u[k + 1], square = dot(e->u, e->u, stride), length = copysign(sqrt(square), head);
        if (k + 2 == n || square - head * head <= DBL_EPSILON * DBL_EPSILON * square) {
            e->beside[k] = head; /* nothing to reflect but rounding */
            continue;
        }
        e->beside[k] = -length;
        e->u[k + 1] += length;
        const double half = square + length * head;
        const ptrdiff_t column = (k + 1) / LANES * LANES;
        memset(e->image, 0, sizeof(double) * (size_t)stride);
        combine(e, e->A, 1 / half, k + 1, column, e->image);
        add_multiple(-dot(e->image, e->u, stride) / (2 * half), e->u, stride, e->image);
        for (ptrdiff_t i = k + 1; i < n; i++) {
            double *restrict below = e->A + i * stride;
            const double x = e->image[i], y = e->u[i];
            for (ptrdiff_t j = column; j < stride; j++) below[j] -= x * e->u[j] + y * e->image[j];
        }
        combine(e, e->Z, 1 / half, k + 1, 0, e->image);
        for (ptrdiff_t i = k + 1; i < n; i++) add_multiple(-e->u[i], e->image, stride, e->Z + i * stride);
    }
    e->diagonal[n - 1] = e->A[(n - 1) * stride + n - 1];
    e->beside[n - 1] = 0;
}

INLINE void rotate(double *restrict upper, double *restrict lower, double c, double s, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const double x = upper[i], y = lower[i];
        upper[i] = c * x - s * y;
        lower[i] = s * x + c * y;
    }
}

/* One implicit QL step on the part from `first` to `last`, which is not yet decoupled. */
INLINE void chase(Eigen *e, ptrdiff_t first, ptrdiff_t last) {
    double *d = e->diagonal, *b = e->beside;
    const double ratio = (d[first + 1] - d[first]) / (2 * b[first]);
    const double shift = d[first] - b[first] / (ratio + copysign(sqrt(ratio * ratio + 1), ratio));
    double c = 1, s = 1, moved = 0, bulge = d[last] - shift;
    for (ptrdiff_t i = last - 1; i >= first; i--) {
        const double over = s * b[i], along = c * b[i], length = sqrt(over * over + bulge * bulge);
        b[i + 1] = length;
        if (length == 0) { /* it has come apart on the way */
            d[i + 1] -= moved;
            b[last] = 0;
            return;
        }
        s = over / length;
        c = bulge / length;
        const double base = d[i + 1] - moved, turned = (d[i] - base) * s + 2 * c * along;
        moved = s * turned;
        d[i + 1] = base + moved;
        bulge = c * turned - along;
        rotate(e->Z + i * e->stride, e->Z + (i + 1) * e->stride, c, s, e->stride);
    }
    d[first] -= moved;
    b[first] = bulge;
    b[last] = 0;
}

/* The largest number of A was 1: what rounding did to it is not worth a step. */
INLINE int coupled(const Eigen *e, ptrdiff_t i) {
    return fabs(e->beside[i]) > DBL_EPSILON * (1 + fabs(e->diagonal[i]) + fabs(e->diagonal[i + 1]));
}

/* Eigenvalues in `diagonal`, eigenvectors in the rows of Z; 0 where QL does not converge. */
FAST static int diagonalise(Eigen *e) {
    tridiagonalise(e);
    for (ptrdiff_t first = 0; first < e->n; first++)
        for (int steps = 0;; steps++) {
            ptrdiff_t last = first;
            while (last + 1 < e->n && coupled(e, last)) last++;
            if (last == first) break;
            if (steps == MAX_STEPS) return 0;
            chase(e, first, last);
        }
    return 1;
}

/* out = scale · Σ_{λ > 0} λ z zᵀ, n × n; Z's rows become √λ z. */
FAST static void take_positive(Eigen *e, double scale, double *out) {
    ptrdiff_t kept = 0;
    for (ptrdiff_t k = 0; k < e->n; k++) {
        if (!(e->diagonal[k] > 0)) continue;
        const double root = sqrt(scale * e->diagonal[k]);
        double *to = e->Z + kept++ * e->stride;
        for (ptrdiff_t j = 0; j < e->stride; j++) to[j] = root * e->Z[k * e->stride + j];
    }
    for (ptrdiff_t i = 0; i < e->n; i++) {
        for (ptrdiff_t j = i / LANES * LANES; j < e->stride; j += LANES) {
            Lanes sum = {0, 0, 0, 0};
            for (const double *z = e->Z; z < e->Z + kept * e->stride; z += e->stride)
                sum += z[i] * *(const Lanes *)(z + j);
            *(Lanes *)(e->image + j) = sum;
        }
        for (ptrdiff_t j = i; j < e->n; j++) out[i * e->n + j] = out[j * e->n + i] = e->image[j];
    }
}

ptrdiff_t positive_part_room(ptrdiff_t n) {
    return (2 * n + 4) * in_lanes(n) + LANES;
}

/* The positive part of A, n × n; none where QL does not converge. `room` holds positive_part_room(n) numbers. */
void positive_part(const double *A, ptrdiff_t n, double *room, double *out) {
    const ptrdiff_t stride = in_lanes(n);
    double *aligned = (double *)(((uintptr_t)room + sizeof(Lanes) - 1) / sizeof(Lanes) * sizeof(Lanes));
    double *vectors = aligned + 2 * n * stride;
    Eigen e = {n,
               stride,
               aligned,
               aligned + n * stride,
               vectors,
               vectors + stride,
               vectors + 2 * stride,
               vectors + 3 * stride};
    double largest = 0;
    for (ptrdiff_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(A[i]));
    memset(out, 0, sizeof(double) * (size_t)(n * n));
    if (!(largest > 0) || !isfinite(largest)) return;
    memset(e.A, 0, sizeof(double) * (size_t)(n * stride));
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) e.A[i * stride + j] = A[i * n + j] / largest;
    if (diagonalise(&e)) take_positive(&e, largest, out);
}
