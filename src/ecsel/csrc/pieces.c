/* The dictionary of a search: standardised products of two functions, and the look at all of them that a round takes;
   the twins of `standardised` in search/dictionary.py and `piece_products` in search/scan.py.
   What they cost stands in glm.c. */
#include "glm.h"
#include "simd.h"
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

/* Inner products of four vectors with up to three columns: twelve sums fill the registers, and a column that comes from
   the second cache is read once for four pieces. The products with a column lie beside each other. */
INLINE void inner_columns(const float *const x[LANES], const float *columns, ptrdiff_t stride, int count, ptrdiff_t n,
                          double *out) {
    Vector sums[3][LANES] = {{{0}}};
    for (ptrdiff_t i = 0; i < n; i += WIDE) {
        Vector v[LANES];
        for (int l = 0; l < LANES; l++) v[l] = *(const Vector *)(x[l] + i);
        for (int c = 0; c < count; c++) {
            const Vector w = *(const Vector *)(columns + c * stride + i);
            for (int l = 0; l < LANES; l++) sums[c][l] += v[l] * w;
        }
    }
    for (int c = 0; c < count; c++) vector_sums(sums[c], out + c * LANES);
}

/* The same with any number of columns. */
INLINE void inner_all(const float *const x[LANES], const float *columns, ptrdiff_t stride, ptrdiff_t count, ptrdiff_t n,
                      double *out) {
    ptrdiff_t c = 0;
    for (; c + 3 <= count; c += 3) inner_columns(x, columns + c * stride, stride, 3, n, out + c * LANES);
    if (count - c == 2) inner_columns(x, columns + c * stride, stride, 2, n, out + c * LANES);
    if (count - c == 1) inner_columns(x, columns + c * stride, stride, 1, n, out + c * LANES);
}

/* Columns of so many numbers stay in the second cache while pieces pass by. */
enum { CACHED = 1 << 17 };

/* Rows that a fold holds out have no curvature and no residual, and lie together: chunks (start and end) of the others,
   whole vectors up to the last rows. Returns how many there are; `chunks` has room for two numbers a vector. */
static ptrdiff_t used_chunks(const float *columns, ptrdiff_t stride, ptrdiff_t width, ptrdiff_t n, ptrdiff_t *chunks) {
    ptrdiff_t count = 0;
    int open = 0;
    for (ptrdiff_t start = 0; start < n; start += WIDE) {
        const ptrdiff_t end = start + WIDE < n ? start + WIDE : n;
        int empty = 1;
        for (ptrdiff_t c = 0; empty && c < width; c++)
            for (ptrdiff_t i = start; empty && i < end; i++) empty = columns[c * stride + i] == 0;
        if (empty) {
            open = 0;
        } else if (open && end - chunks[2 * count - 2] <= SINGLE_CHUNK) {
            chunks[2 * count - 1] = end;
        } else {
            chunks[2 * count] = start;
            chunks[2 * count + 1] = end;
            count++;
            open = 1;
        }
    }
    return count;
}

/* For every four places the products of their pieces with all columns (`stride` apart, zero beyond the rows), and their
   squares under the first `heavy` of them: out[block] = (⟨x, column_0⟩ of four, …, Σ column_0 x² of four, …). Sums of a
   chunk are single, their sum is double. */
FAST static int piece_products(const float *values, ptrdiff_t n, const int64_t *places, ptrdiff_t count,
                               const float *columns, ptrdiff_t stride, ptrdiff_t width, ptrdiff_t heavy, double *out) {
    const ptrdiff_t line = (width + heavy) * LANES, blocks = in_lanes(count) / LANES;
    ptrdiff_t at_once = CACHED / (width * SINGLE_CHUNK);
    if (at_once < 1) at_once = 1;
    ptrdiff_t *chunks = malloc(sizeof(ptrdiff_t) * (size_t)(2 * (n / WIDE) + 4));
    if (chunks == NULL) return -1;
    const ptrdiff_t used = used_chunks(columns, stride, width, n, chunks);
    memset(out, 0, sizeof(double) * (size_t)(blocks * line));
    for (ptrdiff_t begin = 0; begin < used; begin += at_once) {
        const ptrdiff_t end = begin + at_once < used ? begin + at_once : used;
        for (ptrdiff_t b = 0; b < blocks; b++) {
            double *own = out + b * line;
            const float *pieces[LANES];
            for (int l = 0; l < LANES; l++) /* the last block may lack some: the last piece fills it */
                pieces[l] = values + places[b * LANES + l < count ? b * LANES + l : count - 1] * n;
            for (ptrdiff_t k = begin; k < end; k++) {
                const ptrdiff_t start = chunks[2 * k], rows = chunks[2 * k + 1] - start;
                const ptrdiff_t length = (rows + WIDE - 1) / WIDE * WIDE;
                float room[2 * LANES * SINGLE_CHUNK];
                const float *x[LANES], *squares[LANES];
                for (int l = 0; l < LANES; l++) {
                    x[l] = pieces[l] + start;
                    if (length > rows) { /* beyond the last row lies another piece, or nothing */
                        float *copy = room + (LANES + l) * SINGLE_CHUNK;
                        memcpy(copy, x[l], sizeof(float) * (size_t)rows);
                        memset(copy + rows, 0, sizeof(float) * (size_t)(length - rows));
                        x[l] = copy;
                    }
                    float *square = room + l * SINGLE_CHUNK;
                    for (ptrdiff_t i = 0; i < length; i += WIDE) {
                        const Vector u = *(const Vector *)(x[l] + i);
                        *(Vector *)(square + i) = u * u;
                    }
                    squares[l] = square;
                }
                inner_all(x, columns + start, stride, width, length, own);
                inner_all(squares, columns + start, stride, heavy, length, own + width * LANES);
            }
        }
    }
    free(chunks);
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

/* Gains to second order of adding each candidate to one score, and of exchanging one of its k members for it, for four
   candidates at once: see search/scan.py. `first` is where the products with the members begin, `room` holds
   2 k + 1 vectors. */
FAST static void gains_of(const Look *look, const Seen *seen, ptrdiff_t score, const ptrdiff_t *members, ptrdiff_t k,
                          ptrdiff_t first, const double *inverse, const uint8_t *usable, Loose *room) {
    const ptrdiff_t m = k + 1, count = look->count, line = 3 * look->scores + look->active;
    const double *signs = look->signs == NULL ? NULL : look->signs + score * count;
    double *additions = seen->additions + score * count, *steps = seen->steps + score * count;
    double *swaps = seen->swaps + 3 * look->considered * score;
    Loose *changes = room + m;
    for (ptrdiff_t at = 0; at < look->considered; at++) swaps[3 * at] = look->min_gain, swaps[3 * at + 1] = -1;
    for (ptrdiff_t start = 0; start < count; start += LANES) {
        const int lanes = count - start < LANES ? (int)(count - start) : LANES;
        const Loose *own = (const Loose *)(seen->products + start * line), *cross = own + first;
        const Lanes constant = own[score], gradient = own[look->scores + score];
        Lanes whole = own[line - look->scores + score], price = {0}, q;
        int any = 0, able[LANES] = {0};
        for (int l = 0; l < lanes; l++) {
            whole[l] += look->ridge[start + l];
            price[l] = look->prices[start + l];
            additions[start + l] = -INFINITY;
            steps[start + l] = 0;
            any |= able[l] = usable[start + l];
        }
        if (!any) continue;
        q = whole;
        for (ptrdiff_t i = 0; i < m; i++) {
            const double *row = inverse + i * m;
            Lanes sum = row[0] * constant;
            for (ptrdiff_t j = 0; j < k; j++) sum += row[j + 1] * cross[j];
            room[i] = sum;
            q -= sum * (i == 0 ? constant : cross[i - 1]);
        }
        const Lanes step = gradient / q, gain = 0.5 * gradient * step - price, inverse_q = 1 / q;
        Lanes most = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
        for (ptrdiff_t s = 0; s < k; s++) {
            const Lanes v = room[s + 1], leaving = look->coefficients[members[s]] - v * step;
            const Lanes change = gain - 0.5 * leaving * leaving / (inverse[(s + 1) * m + s + 1] + v * v * inverse_q) +
                                 look->own_prices[members[s]];
            changes[s] = change;
            for (int l = 0; l < LANES; l++) most[l] = change[l] > most[l] ? change[l] : most[l];
        }
        for (int l = 0; l < lanes; l++) {
            const ptrdiff_t p = start + l;
            if (!able[l] || !(q[l] > look->collinear * whole[l])) continue;
            steps[p] = step[l];
            if (signs == NULL || signs[p] * step[l] >= 0) additions[p] = gain[l];
            const double best = most[l] > additions[p] ? most[l] : additions[p];
            seen->best[p] = best > seen->best[p] ? best : seen->best[p];
            for (ptrdiff_t s = 0; look->considered > 0 && most[l] > swaps[3 * look->considered - 3] && s < k; s++)
                if (changes[s][l] > swaps[3 * look->considered - 3])
                    remember(swaps, look->considered, changes[s][l], members[s], p);
        }
    }
}

/* Looks at all candidates; −1 where memory has run out. */
FAST int piece_scan(const Look *look, const Seen *seen) {
    const ptrdiff_t n = look->rows, scores = look->scores, active = look->active, width = 2 * scores + active;
    const ptrdiff_t stride = (n + WIDE - 1) / WIDE * WIDE; /* zeros beyond the last row, up to a whole vector */
    float *columns = calloc((size_t)(width * stride + 1), sizeof(float));
    ptrdiff_t *members = malloc(sizeof(ptrdiff_t) * (size_t)(active + scores + 1));
    double *room = malloc(sizeof(double) * (size_t)((active + 1) * (active + 1) + n + 1));
    Loose *lanes = malloc(sizeof(Loose) * (size_t)(2 * active + 1));
    uint8_t *usable = malloc((size_t)(look->count + 1));
    int status = columns == NULL || members == NULL || room == NULL || lanes == NULL || usable == NULL ? -1 : 0;
    if (status == 0) {
        ptrdiff_t *begin = members + active, filled = 0;
        for (ptrdiff_t c = 0; c < scores; c++) {
            begin[c] = filled;
            for (ptrdiff_t k = 0; k < active; k++)
                if (look->owners[k] == c) members[filled++] = k;
        }
        begin[scores] = filled;
        for (ptrdiff_t c = 0; c < scores; c++) {
            float *restrict h = columns + c * stride, *restrict r = columns + (scores + c) * stride;
            for (ptrdiff_t i = 0; i < n; i++) h[i] = (float)look->curvatures[c * n + i];
            for (ptrdiff_t i = 0; i < n; i++) r[i] = (float)look->residuals[c * n + i];
        }
        for (ptrdiff_t k = 0; k < filled; k++) {
            const float *restrict x = look->values + look->atoms[members[k]] * n;
            const float *restrict h = columns + look->owners[members[k]] * stride;
            float *restrict out = columns + (2 * scores + k) * stride;
            for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] * h[i];
        }
        status = piece_products(look->values, n, look->places, look->count, columns, stride, width, scores, seen->products);
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
            gains_of(look, seen, c, own, k, 2 * scores + begin[c], inverse, usable, lanes);
            inverse += (k + 1) * (k + 1);
        }
    }
    free(columns);
    free(members);
    free(room);
    free(lanes);
    free(usable);
    return status;
}
