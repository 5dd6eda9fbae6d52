/* Single columns on their way to packed rows: the log of an affine image (tables/quantities.py), and the places and
   moments of packed features (fitting/rows/chunks.py). */
#include "kernel.h"

#include <math.h>
#include <string.h>

/* log x of a normal x > 0 to about the last digit: x = 2^e·m with m in [√½, √2), log m = 2 artanh((m − 1)/(m + 1)). */
INLINE float logarithm(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    /* unsigned, because the bits of a negative x or a NaN, whose result nobody reads, would overflow */
    const uint32_t shifted = bits - 0x3f3504f3u, fraction = (shifted & 0x007fffffu) + 0x3f3504f3u;
    const float e = (float)((int32_t)shifted >> 23);
    float m;
    memcpy(&m, &fraction, sizeof m);
    const float f = m - 1, s = f / (2 + f), q = s * s;
    float sum = 1.0f / 9;
    sum = sum * q + 1.0f / 7;
    sum = sum * q + 1.0f / 5;
    sum = sum * q + 1.0f / 3;
    /* 2s·(1 + q·sum) with 2s = f − s·f, which keeps the digits of f */
    return e * 0.693359375f + (f - s * (f - 2 * q * sum) + e * -2.12194440e-4f);
}

enum { LANES = 16 };

/* Take some numbers into the extremes; a sum of differences x − x is NaN where one of them is NaN or infinite. */
INLINE void widen(const double *x, int n, double *low, double *high, double *invalid) {
    for (int l = 0; l < n; l++) {
        low[l] = x[l] < low[l] ? x[l] : low[l];
        high[l] = x[l] > high[l] ? x[l] : high[l];
        invalid[l] += x[l] - x[l];
    }
}

/* out = log(scale·x + offset); the extremes of x, of which the first is NaN where x has a number that is not finite. */
FAST void log_image(const double *x, ptrdiff_t n, double scale, double offset, float *restrict out,
                    double extremes[2]) {
    double low[LANES], high[LANES], invalid[LANES] = {0};
    for (int l = 0; l < LANES; l++) low[l] = INFINITY, high[l] = -INFINITY;
    const ptrdiff_t whole = n / LANES * LANES;
    for (ptrdiff_t i = 0; i < whole; i += LANES) {
        widen(x + i, LANES, low, high, invalid);
        for (int l = 0; l < LANES; l++) out[i + l] = (float)(scale * x[i + l] + offset);
    }
    widen(x + whole, (int)(n - whole), low, high, invalid);
    for (ptrdiff_t i = whole; i < n; i++) out[i] = (float)(scale * x[i] + offset);
    for (ptrdiff_t i = 0; i < n; i++) out[i] = logarithm(out[i]);
    for (int l = 1; l < LANES; l++) {
        low[0] = low[l] < low[0] ? low[l] : low[0];
        high[0] = high[l] > high[0] ? high[l] : high[0];
        invalid[0] += invalid[l];
    }
    extremes[0] = low[0] + invalid[0];
    extremes[1] = high[0];
}

enum { SLOTS = 1 << 16, TRIES = 32 };

INLINE uint32_t slot(float u, uint32_t factor) {
    uint32_t bits;
    memcpy(&bits, &u, sizeof bits);
    return (bits * factor) >> 16;
}

/* A factor under which all values have slots of their own, 0 where none is found soon. */
static uint32_t perfect_hash(const float *values, ptrdiff_t count, uint8_t *table) {
    uint32_t factor = 0x9e3779b1u;
    for (int t = 0; t < TRIES; t++, factor = factor * 0x85ebca6bu + 0xc2b2ae36u) {
        factor |= 1;
        ptrdiff_t k = 0;
        memset(table, 0, SLOTS);
        for (; k < count; k++) {
            uint8_t *own = &table[slot(values[k], factor)];
            if (*own != 0 || (k > 0 && slot(values[k], factor) == slot(values[0], factor))) break;
            *own = (uint8_t)k;
        }
        if (k == count) return factor;
    }
    return 0;
}

/* The place of every number among at most 256 different values, and how often each occurs; how many numbers are one of
   them, −1 where it cannot tell. */
FAST ptrdiff_t places(const float *u, ptrdiff_t n, const float *values, ptrdiff_t count, uint8_t *restrict at,
                      int64_t *counts) {
    ptrdiff_t known = 0;
    memset(counts, 0, sizeof(int64_t) * (size_t)count);
    if (count == 2) {
        const float zero = values[0], one = values[1];
        int32_t ones = 0, zeros = 0;
        for (ptrdiff_t i = 0; i < n; i++) {
            const int32_t is_one = u[i] == one, is_zero = u[i] == zero;
            at[i] = (uint8_t)is_one;
            ones += is_one;
            zeros += is_zero;
        }
        known = ones + zeros;
        counts[0] = n - ones;
        counts[1] = ones;
        return known;
    }
    uint8_t table[SLOTS];
    const uint32_t factor = perfect_hash(values, count, table);
    if (factor == 0) return -1;
    for (ptrdiff_t i = 0; i < n; i++) {
        at[i] = table[slot(u[i], factor)];
        known += u[i] == values[at[i]];
        counts[at[i]]++;
    }
    return known;
}

/* Σ (u − reference) and Σ (u − reference)². */
FAST void deviations(const float *u, ptrdiff_t n, float reference, double sums[2]) {
    double first[LANES] = {0}, second[LANES] = {0};
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) {
            const double d = (double)u[i + l] - (double)reference;
            first[l] += d;
            second[l] += d * d;
        }
    sums[0] = sums[1] = 0;
    for (int l = 0; l < LANES; l++) {
        sums[0] += first[l];
        sums[1] += second[l];
    }
    for (; i < n; i++) {
        const double d = (double)u[i] - (double)reference;
        sums[0] += d;
        sums[1] += d * d;
    }
}
