/* Four doubles that are computed with at once, and vectors of them. */
#ifndef ECSEL_SIMD_H
#define ECSEL_SIMD_H

#include "kernel.h"

enum { LANES = 4 };
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));
/* The same anywhere in memory. */
typedef double Loose __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));

/* The next multiple of LANES. */
INLINE ptrdiff_t in_lanes(ptrdiff_t n) {
    return (n + LANES - 1) / LANES * LANES;
}

/* ⟨a, b⟩ of aligned vectors; n is a multiple of LANES. */
INLINE double dot(const double *a, const double *b, ptrdiff_t n) {
    Lanes sum = {0, 0, 0, 0};
    for (ptrdiff_t i = 0; i < n; i += LANES) sum += *(const Lanes *)(a + i) * *(const Lanes *)(b + i);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#endif
