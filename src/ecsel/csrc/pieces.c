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

INLINE void square(const float *x, ptrdiff_t n, float *out) {
    for (ptrdiff_t i = 0; i < n; i += WIDE) {
        const Vector u = *(const Vector *)(x + i);
        *(Vector *)(out + i) = u * u;
    }
}

/* For every place p of `places` the products of piece p with all columns, and its squares under the first `heavy`
   columns: out[p] = (⟨x, column_0⟩, …, Σ column_0 x², …). Sums of a chunk are single, their sum is double. */
FAST static int piece_products(const float *values, ptrdiff_t n, const int64_t *places, ptrdiff_t count, const float *columns,
                        ptrdiff_t width, ptrdiff_t heavy, double *out) {
    const ptrdiff_t padded = (width + AT_ONCE - 1) / AT_ONCE * AT_ONCE, line = padded + heavy;
    /* columns of zeros fill the last group; the last chunk is copied, padded by zeros */
    float *tail = calloc((size_t)((padded + 4) * SINGLE_CHUNK), sizeof(float));
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
        float *const squares = right + SINGLE_CHUNK, *const others = squares + SINGLE_CHUNK;
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
            if (heavy == 1) {
                sums[p * line + padded] += weighted_square(x, tail, length);
                if (two) sums[(p + 1) * line + padded] += weighted_square(y, tail, length);
                continue;
            }
            square(x, length, squares);
            square(y, length, others);
            for (ptrdiff_t c = 0; c < heavy; c += AT_ONCE) {
                const float *group[AT_ONCE];
                for (int k = 0; k < AT_ONCE; k++) group[k] = tail + (c + k < heavy ? c + k : c) * SINGLE_CHUNK;
                double one[AT_ONCE] = {0}, another[AT_ONCE] = {0};
                inner_block(squares, others, group, length, one, another);
                for (int k = 0; k < AT_ONCE && c + k < heavy; k++) {
                    sums[p * line + padded + c + k] += one[k];
                    if (two) sums[(p + 1) * line + padded + c + k] += another[k];
                }
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

/* The inverse of a symmetric, positive definite matrix by Cholesky's factor, which overwrites it; `room` is as large. */
static void invert(double *matrix, ptrdiff_t m, double *room) {
    for (ptrdiff_t i = 0; i < m; i++)
        for (ptrdiff_t j = 0; j <= i; j++) {
            double s = matrix[i * m + j];
            for (ptrdiff_t k = 0; k < j; k++) s -= matrix[i * m + k] * matrix[j * m + k];
            matrix[i * m + j] = i == j ? sqrt(s > 1e-300 ? s : 1e-300) : s / matrix[j * m + j];
        }
    for (ptrdiff_t c = 0; c < m; c++) { /* the columns of L⁻¹ */
        for (ptrdiff_t i = 0; i < m; i++) {
            double s = i == c;
            for (ptrdiff_t k = c; k < i; k++) s -= matrix[i * m + k] * room[k * m + c];
            room[i * m + c] = i < c ? 0 : s / matrix[i * m + i];
        }
    }
    for (ptrdiff_t i = 0; i < m; i++)
        for (ptrdiff_t j = 0; j < m; j++) {
            double s = 0;
            for (ptrdiff_t k = i > j ? i : j; k < m; k++) s += room[k * m + i] * room[k * m + j];
            matrix[i * m + j] = s;
        }
}

FAST static double weighted_inner(const double *restrict a, const float *restrict b, ptrdiff_t n) {
    double s[8] = {0};
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) s[l] += a[i + l] * b[i + l];
    double total = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    for (; i < n; i++) total += a[i] * b[i];
    return total;
}

/* M⁻¹ of one score: the Hessian of its intercept and members, ridge included. `room` holds m² + rows numbers. */
FAST static void inverse_of(const Look *look, ptrdiff_t score, const ptrdiff_t *members, ptrdiff_t k, double *room,
                            double *out) {
    const ptrdiff_t n = look->rows, m = k + 1;
    const double *h = look->curvatures + score * n;
    double *weighed = room + m * m, sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) sum += h[i];
    out[0] = sum * (1 + look->intercept_ridge);
    for (ptrdiff_t s = 0; s < k; s++) {
        const float *restrict x = look->values + look->atoms[members[s]] * n;
        sum = 0;
        for (ptrdiff_t i = 0; i < n; i++) sum += weighed[i] = h[i] * x[i];
        out[s + 1] = out[(s + 1) * m] = sum;
        for (ptrdiff_t t = 0; t <= s; t++) {
            const double product = weighted_inner(weighed, look->values + look->atoms[members[t]] * n, n);
            out[(s + 1) * m + t + 1] = out[(t + 1) * m + s + 1] = product + (s == t ? look->own_ridge[members[s]] : 0);
        }
    }
    invert(out, m, room);
}

/* Keeps the best swaps in order; of equally good ones the first by member and candidate. */
INLINE void remember(double *swaps, ptrdiff_t considered, double gain, ptrdiff_t member, ptrdiff_t place) {
    ptrdiff_t at = considered;
    while (at > 0) {
        const double *other = swaps + 3 * (at - 1);
        if (other[0] > gain) break;
        if (other[0] == gain && (other[1] < member || (other[1] == member && other[2] < place))) break;
        at--;
    }
    if (at == considered) return;
    memmove(swaps + 3 * (at + 1), swaps + 3 * at, sizeof(double) * 3 * (size_t)(considered - 1 - at));
    swaps[3 * at] = gain;
    swaps[3 * at + 1] = (double)member;
    swaps[3 * at + 2] = (double)place;
}

/* Gains to second order of adding each candidate to one score, and of exchanging one of its k members for it: see
   search/scan.py. `first` is where the products with the members begin, `room` holds k + 1 numbers. */
FAST static void gains_of(const Look *look, const Seen *seen, ptrdiff_t score, const ptrdiff_t *members, ptrdiff_t k,
                          ptrdiff_t first, const double *inverse, const uint8_t *usable, double *room) {
    const ptrdiff_t m = k + 1, count = look->count, line = 3 * look->scores + look->active;
    const double *signs = look->signs == NULL ? NULL : look->signs + score * count;
    double *additions = seen->additions + score * count, *steps = seen->steps + score * count;
    double *swaps = seen->swaps + 3 * look->considered * score;
    for (ptrdiff_t at = 0; at < look->considered; at++) swaps[3 * at] = look->min_gain, swaps[3 * at + 1] = -1;
    for (ptrdiff_t p = 0; p < count; p++) {
        const double *own = seen->products + p * line, *cross = own + first;
        additions[p] = -INFINITY;
        steps[p] = 0;
        if (!usable[p]) continue;
        const double constant = own[score], whole = own[line - look->scores + score] + look->ridge[p];
        double q = whole;
        for (ptrdiff_t i = 0; i < m; i++) {
            const double *row = inverse + i * m;
            double sum = row[0] * constant;
            for (ptrdiff_t j = 0; j < k; j++) sum += row[j + 1] * cross[j];
            room[i] = sum;
            q -= sum * (i == 0 ? constant : cross[i - 1]);
        }
        if (!(q > look->collinear * whole)) continue;
        const double gradient = own[look->scores + score], step = gradient / q;
        const double gain = 0.5 * gradient * step - look->prices[p];
        steps[p] = step;
        if (signs == NULL || signs[p] * step >= 0) additions[p] = gain;
        double best = additions[p];
        for (ptrdiff_t s = 0; s < k; s++) {
            const double v = room[s + 1], leaving = look->coefficients[members[s]] - v * step;
            const double change = gain - 0.5 * leaving * leaving / (inverse[(s + 1) * m + s + 1] + v * v / q) +
                                  look->own_prices[members[s]];
            best = change > best ? change : best;
            if (look->considered > 0 && change > swaps[3 * look->considered - 3])
                remember(swaps, look->considered, change, members[s], p);
        }
        seen->best[p] = best > seen->best[p] ? best : seen->best[p];
    }
}

/* Looks at all candidates; −1 where memory has run out. */
FAST int piece_scan(const Look *look, const Seen *seen) {
    const ptrdiff_t n = look->rows, scores = look->scores, active = look->active, width = 2 * scores + active;
    float *columns = calloc((size_t)(width * n + 1), sizeof(float));
    ptrdiff_t *members = malloc(sizeof(ptrdiff_t) * (size_t)(active + scores + 1));
    double *room = malloc(sizeof(double) * (size_t)((active + 1) * (active + 1) + n + 1));
    uint8_t *usable = malloc((size_t)(look->count + 1));
    int status = columns == NULL || members == NULL || room == NULL || usable == NULL ? -1 : 0;
    if (status == 0) {
        ptrdiff_t *begin = members + active, filled = 0;
        for (ptrdiff_t c = 0; c < scores; c++) {
            begin[c] = filled;
            for (ptrdiff_t k = 0; k < active; k++)
                if (look->owners[k] == c) members[filled++] = k;
        }
        begin[scores] = filled;
        for (ptrdiff_t i = 0; i < scores * n; i++) {
            columns[i] = (float)look->curvatures[i];
            columns[scores * n + i] = (float)look->residuals[i];
        }
        for (ptrdiff_t k = 0; k < filled; k++) {
            const float *restrict x = look->values + look->atoms[members[k]] * n;
            const float *restrict h = columns + look->owners[members[k]] * n;
            float *restrict out = columns + (2 * scores + k) * n;
            for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] * h[i];
        }
        status = piece_products(look->values, n, look->places, look->count, columns, width, scores, seen->products);
        for (ptrdiff_t p = 0; p < look->count; p++) seen->best[p] = -INFINITY;
        double *inverse = seen->inverses;
        for (ptrdiff_t c = 0; status == 0 && c < scores; c++) {
            const ptrdiff_t k = begin[c + 1] - begin[c];
            const ptrdiff_t *own = members + begin[c];
            inverse_of(look, c, own, k, room, inverse);
            memcpy(usable, look->usable + c * look->count, (size_t)look->count);
            for (ptrdiff_t s = 0; s < k; s++) { /* a member is no candidate */
                ptrdiff_t low = 0, high = look->count;
                while (low < high) {
                    const ptrdiff_t middle = (low + high) / 2;
                    if (look->places[middle] < look->atoms[own[s]])
                        low = middle + 1;
                    else
                        high = middle;
                }
                if (low < look->count && look->places[low] == look->atoms[own[s]]) usable[low] = 0;
            }
            gains_of(look, seen, c, own, k, 2 * scores + begin[c], inverse, usable, room);
            inverse += (k + 1) * (k + 1);
        }
    }
    free(columns);
    free(members);
    free(room);
    free(usable);
    return status;
}
