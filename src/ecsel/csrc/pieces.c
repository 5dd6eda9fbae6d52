/* The dictionary of a search: standardised products of two functions, and the look at all of them that a round takes;
   the twins of `standardised` in search/dictionary.py and `piece_products` in search/scan.py. */
#include "singles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One piece: v = a·b (b may be NULL) under row weights that sum to one; out = (v − mean)/width in single precision.
   Returns the width, 0 where the piece does not vary; `room` holds a row of doubles. */
FAST static double standardise(const double *restrict a, const double *restrict b, const double *restrict share,
                               ptrdiff_t n, double *restrict room, float *restrict out, double *mean, double *top) {
    if (b == NULL)
        memcpy(room, a, sizeof(double) * (size_t)n);
    else
        for (ptrdiff_t i = 0; i < n; i++) room[i] = a[i] * b[i];
    double s[8] = {0};
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) s[l] += share[i + l] * room[i + l];
    double middle = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    for (; i < n; i++) middle += share[i] * room[i];
    double q[8] = {0};
    for (i = 0; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) {
            const double d = room[i + l] - middle;
            q[l] += share[i + l] * d * d;
        }
    double square = ((q[0] + q[1]) + (q[2] + q[3])) + ((q[4] + q[5]) + (q[6] + q[7]));
    for (; i < n; i++) square += share[i] * (room[i] - middle) * (room[i] - middle);
    *mean = middle;
    *top = 0;
    const double width = sqrt(square);
    if (!isfinite(width) || width <= 1e-9 * fabs(middle) || width < 1e-300) return 0;
    const double scale = 1 / width;
    double most[8] = {0};
    for (i = 0; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) {
            const double z = (room[i + l] - middle) * scale, size = share[i + l] > 0 ? fabs(z) : 0;
            out[i + l] = (float)z;
            most[l] = size > most[l] ? size : most[l];
        }
    for (; i < n; i++) {
        const double z = (room[i] - middle) * scale, size = share[i] > 0 ? fabs(z) : 0;
        out[i] = (float)z;
        most[0] = size > most[0] ? size : most[0];
    }
    for (int l = 0; l < 8; l++) *top = most[l] > *top ? most[l] : *top;
    return width;
}

int standardise_pieces(const double *parts, const int64_t *pairs, ptrdiff_t pieces, ptrdiff_t n, const double *share,
                       float *out, double *numbers) {
    double *room = malloc(sizeof(double) * (size_t)(n > 0 ? n : 1));
    if (room == NULL) return -1;
    for (ptrdiff_t p = 0; p < pieces; p++) {
        const double *second = pairs[2 * p + 1] < 0 ? NULL : parts + pairs[2 * p + 1] * n;
        double *own = numbers + 3 * p;
        own[1] = standardise(parts + pairs[2 * p] * n, second, share, n, room, out + p * n, &own[0], &own[2]);
    }
    free(room);
    return 0;
}

/* Σ h x² over such a chunk. */
INLINE double weighted_square(const float *x, const float *h, ptrdiff_t n) {
    Vector s = {0};
    for (ptrdiff_t i = 0; i < n; i += WIDE) {
        const Vector u = *(const Vector *)(x + i);
        s += u * u * *(const Vector *)(h + i);
    }
    return vector_sum(&s);
}

/* For every place p of `places` the products of piece p with all columns, and its squares under the first `heavy`
   columns: out[p] = (⟨x, column_0⟩, …, Σ column_0 x², …). Sums of a chunk are single, their sum is double. */
FAST int piece_products(const float *values, ptrdiff_t n, const int64_t *places, ptrdiff_t count, const float *columns,
                        ptrdiff_t width, ptrdiff_t heavy, double *out) {
    const ptrdiff_t padded = (width + AT_ONCE - 1) / AT_ONCE * AT_ONCE, line = padded + heavy;
    /* columns of zeros fill the last group; the last chunk is copied, padded by zeros */
    float *tail = calloc((size_t)((padded + 2) * SINGLE_CHUNK), sizeof(float));
    double *sums = calloc((size_t)(count * line > 0 ? count * line : 1), sizeof(double));
    if (tail == NULL || sums == NULL) {
        free(tail);
        free(sums);
        return -1;
    }
    for (ptrdiff_t start = 0; start < n; start += SINGLE_CHUNK) {
        const ptrdiff_t rows = n - start < SINGLE_CHUNK ? n - start : SINGLE_CHUNK;
        /* rows that a fold holds out have no curvature and no residual: chunks of them alone add nothing */
        int empty = 1;
        for (ptrdiff_t c = 0; empty && c < width; c++)
            for (ptrdiff_t i = 0; empty && i < rows; i++) empty = columns[c * n + start + i] == 0;
        if (empty) continue;
        const int last = rows % WIDE != 0;
        const ptrdiff_t length = (rows + WIDE - 1) / WIDE * WIDE;
        for (ptrdiff_t c = 0; c < width; c++) {
            memcpy(tail + c * SINGLE_CHUNK, columns + c * n + start, sizeof(float) * (size_t)rows);
            if (last) memset(tail + c * SINGLE_CHUNK + rows, 0, sizeof(float) * (size_t)(length - rows));
        }
        float *const left = tail + padded * SINGLE_CHUNK, *const right = left + SINGLE_CHUNK;
        if (last) {
            memset(left + rows, 0, sizeof(float) * (size_t)(length - rows));
            memset(right + rows, 0, sizeof(float) * (size_t)(length - rows));
        }
        for (ptrdiff_t p = 0; p < count; p += 2) {
            const int two = p + 1 < count;
            const float *x = values + places[p] * n + start, *y = two ? values + places[p + 1] * n + start : x;
            if (last) {
                memcpy(left, x, sizeof(float) * (size_t)rows);
                memcpy(right, y, sizeof(float) * (size_t)rows);
                x = left;
                y = right;
            }
            double unused[AT_ONCE];
            for (ptrdiff_t c = 0; c < padded; c += AT_ONCE) {
                const float *group[AT_ONCE];
                for (int k = 0; k < AT_ONCE; k++) group[k] = tail + (c + k) * SINGLE_CHUNK;
                memset(unused, 0, sizeof unused);
                inner_block(x, y, group, length, sums + p * line + c, two ? sums + (p + 1) * line + c : unused);
            }
            for (ptrdiff_t k = 0; k < heavy; k++) {
                sums[p * line + padded + k] += weighted_square(x, tail + k * SINGLE_CHUNK, length);
                if (two) sums[(p + 1) * line + padded + k] += weighted_square(y, tail + k * SINGLE_CHUNK, length);
            }
        }
    }
    for (ptrdiff_t p = 0; p < count; p++) {
        memcpy(out + p * (width + heavy), sums + p * line, sizeof(double) * (size_t)width);
        memcpy(out + p * (width + heavy) + width, sums + p * line + padded, sizeof(double) * (size_t)heavy);
    }
    free(tail);
    free(sums);
    return 0;
}

/* Gains to second order of adding each of `count` pieces to a score and of exchanging one of its k pieces for it; see
   search/scan.py. `products` has lines of `line` numbers: the gradient at `gradient`, the products with the intercept and
   the active pieces at `cross`, the square at `square`. */
FAST void piece_gains(const Gains *g, const double *products, double *additions, double *steps, double *changes) {
    const ptrdiff_t k = g->active, m = k + 1;
    for (ptrdiff_t p = 0; p < g->count; p++) {
        const double *own = products + p * g->line;
        additions[p] = -INFINITY;
        steps[p] = 0;
        if (!g->usable[p]) {
            for (ptrdiff_t s = 0; s < k; s++) changes[s * g->count + p] = -INFINITY;
            continue;
        }
        const double whole = own[g->square] + g->ridge[p];
        double q = whole;
        double *v = g->room;
        for (ptrdiff_t i = 0; i < m; i++) {
            double sum = 0;
            for (ptrdiff_t j = 0; j < m; j++) sum += g->inverse[i * m + j] * own[g->cross[j]];
            v[i] = sum;
            q -= sum * own[g->cross[i]];
        }
        if (!(q > g->collinear * whole)) {
            for (ptrdiff_t s = 0; s < k; s++) changes[s * g->count + p] = -INFINITY;
            continue;
        }
        const double step = own[g->gradient] / q, gain = 0.5 * own[g->gradient] * step - g->prices[p];
        steps[p] = step;
        if (g->signs == NULL || g->signs[p] * step >= 0) additions[p] = gain;
        for (ptrdiff_t s = 0; s < k; s++) {
            const double leaving = g->coefficients[s] - v[s + 1] * step;
            const double free_variance = g->inverse[(s + 1) * m + s + 1] + v[s + 1] * v[s + 1] / q;
            changes[s * g->count + p] = gain - 0.5 * leaving * leaving / free_variance + g->own_prices[s];
        }
    }
}
