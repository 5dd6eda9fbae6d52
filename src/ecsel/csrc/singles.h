/* Eight floats that are computed with at once, and inner products of vectors of them. */
#ifndef ECSEL_SINGLES_H
#define ECSEL_SINGLES_H

#include "kernel.h"

/* Rows are taken in chunks, within which sums are single. */
enum { WIDE = 8, AT_ONCE = 4, SINGLE_CHUNK = 256 };
typedef float Vector __attribute__((vector_size(WIDE * sizeof(float)), aligned(4)));

INLINE double vector_sum(const Vector *of) {
    const Vector v = *of;
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* Inner products of two vectors with `AT_ONCE` columns are added to `first` and `second`; n is a multiple of WIDE. */
INLINE void inner_block(const float *x, const float *y, const float *const columns[AT_ONCE], ptrdiff_t n,
                        double *first, double *second) {
    Vector p[AT_ONCE] = {{0}}, q[AT_ONCE] = {{0}};
    for (ptrdiff_t i = 0; i < n; i += WIDE) {
        const Vector u = *(const Vector *)(x + i), v = *(const Vector *)(y + i);
        for (int c = 0; c < AT_ONCE; c++) {
            const Vector w = *(const Vector *)(columns[c] + i);
            p[c] += u * w;
            q[c] += v * w;
        }
    }
    for (int c = 0; c < AT_ONCE; c++) {
        first[c] += vector_sum(&p[c]);
        second[c] += vector_sum(&q[c]);
    }
}

#endif
