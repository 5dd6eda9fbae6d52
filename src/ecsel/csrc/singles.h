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

/* The sums of four vectors are added to `out`, each in the order of vector_sum: neighbours, then pairs, then halves. */
INLINE void vector_sums(const Vector v[AT_ONCE], double *out) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define NEIGHBOURS(a, b)                                          \
    (__builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) + \
     __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15))
    const Vector low = NEIGHBOURS(v[0], v[1]), high = NEIGHBOURS(v[2], v[3]), both = NEIGHBOURS(low, high);
#undef NEIGHBOURS
    for (int c = 0; c < AT_ONCE; c++) out[c] += both[c] + both[c + 4];
    return;
#endif
#endif
    for (int c = 0; c < AT_ONCE; c++) out[c] += vector_sum(&v[c]);
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
    vector_sums(p, first);
    vector_sums(q, second);
}

#endif
