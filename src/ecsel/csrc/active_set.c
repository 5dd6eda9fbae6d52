/* The ℓ1-penalised quadratic in a box, solved on its active face: the compiled twin of active_set.py, step by step.
   What the twin costs stands in newton.c. */
#include "kernel.h"
#include "simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAND = LANES, TILE = 3 };

typedef struct {
    ptrdiff_t n;
    const double *H, *l1, *lower, *upper;
    double *x, *gradient, *sign, *excess, *step, *hessian_step, *moved, *stops;
    double *solution, *factor; /* aligned; see cholesky_solve */
    ptrdiff_t *face;
    char *inside, *entering;
} Work;

INLINE double sign_of(double x) {
    return (double)((x > 0) - (x < 0));
}

/* Whether a bound keeps coordinate p from going that way. */
INLINE int is_constrained(const Work *w, ptrdiff_t p, double direction) {
    return (w->x[p] <= w->lower[p] && direction < 0) || (w->x[p] >= w->upper[p] && direction > 0);
}

/* Take the earlier rows of Cholesky's factor out of BAND rows from `first` on, in `wide` vectors of columns from
   `column` on; `wide` is known when this is compiled. */
INLINE void reduce_tile(double *A, ptrdiff_t stride, ptrdiff_t first, ptrdiff_t column, int wide) {
    Lanes rest[BAND][TILE];
    for (int r = 0; r < BAND; r++)
        for (int q = 0; q < wide; q++) rest[r][q] = ((const Lanes *)(A + (first + r) * stride + column))[q];
    for (ptrdiff_t k = 0; k < first; k++) {
        const double *u = A + k * stride;
        for (int r = 0; r < BAND; r++)
            for (int q = 0; q < wide; q++) rest[r][q] -= u[first + r] * ((const Lanes *)(u + column))[q];
    }
    for (int r = 0; r < BAND; r++)
        for (int q = 0; q < wide; q++) ((Lanes *)(A + (first + r) * stride + column))[q] = rest[r][q];
}

/* Not inlined: tiles need all registers. */
FAST static void reduce_band(double *A, ptrdiff_t stride, ptrdiff_t first) {
    ptrdiff_t column = first;
    for (; column + 3 * LANES <= stride; column += 3 * LANES) reduce_tile(A, stride, first, column, 3);
    if (stride - column == 2 * LANES) reduce_tile(A, stride, first, column, 2);
    if (stride - column == LANES) reduce_tile(A, stride, first, column, 1);
}

/* Cholesky's factor UᵀU in place of the n rows of A, of which the parts from the diagonal on count; a right-hand side
   that follows in column n becomes the solution of Uᵀy = b, and then x with U x = y in `x`. n is a multiple of BAND,
   the stride n + LANES. Returns 0 where A is not positive definite. */
FAST static int cholesky_solve(double *A, ptrdiff_t n, double *x) {
    const ptrdiff_t stride = n + LANES;
    for (ptrdiff_t first = 0; first < n; first += BAND) {
        reduce_band(A, stride, first);
        for (ptrdiff_t i = first; i < first + BAND; i++) {
            double *restrict row = A + i * stride;
            for (ptrdiff_t k = first; k < i; k++) {
                const double *u = A + k * stride, a = u[i];
                for (ptrdiff_t j = first; j < stride; j++) row[j] -= a * u[j];
            }
            if (!(row[i] > 0)) return 0;
            const double scale = 1 / sqrt(row[i]);
            for (ptrdiff_t j = first; j < stride; j++) row[j] *= scale;
        }
    }
    for (ptrdiff_t i = n - 1; i >= 0; i--) {
        const double *row = A + i * stride;
        const ptrdiff_t next = i / BAND * BAND + BAND;
        double rest = row[n] - dot(row + next, x + next, n - next);
        for (ptrdiff_t j = i + 1; j < next; j++) rest -= row[j] * x[j];
        x[i] = rest / row[i];
    }
    return 1;
}

/* The step to the minimiser of the face inside ∪ entering, in `step` (zero elsewhere); returns the size of the face. */
static ptrdiff_t newton_direction(Work *w) {
    ptrdiff_t size = 0;
    for (ptrdiff_t p = 0; p < w->n; p++) {
        w->step[p] = 0;
        if (w->inside[p] || w->entering[p]) w->face[size++] = p;
    }
    /* rows that fill the last band are those of the unit matrix */
    const ptrdiff_t filled = in_lanes(size), stride = filled + LANES;
    for (ptrdiff_t i = 0; i < filled; i++) {
        double *out = w->factor + i * stride;
        memset(out + i / BAND * BAND, 0, sizeof(double) * (size_t)(stride - i / BAND * BAND));
        if (i >= size) {
            out[i] = 1;
            continue;
        }
        const ptrdiff_t p = w->face[i];
        const double *row = w->H + p * w->n;
        for (ptrdiff_t j = i; j < size; j++) out[j] = row[w->face[j]];
        out[filled] = -(w->gradient[p] + w->l1[p] * w->sign[p]);
    }
    if (cholesky_solve(w->factor, filled, w->solution))
        for (ptrdiff_t i = 0; i < size; i++) w->step[w->face[i]] = w->solution[i];
    return size;
}

/* A face and the step to its minimiser; see active_set._face_direction. */
static void face_direction(Work *w, double worst) {
    ptrdiff_t largest = 0;
    for (ptrdiff_t p = 0; p < w->n; p++) {
        w->sign[p] = w->x[p] != 0 ? sign_of(w->x[p]) : -sign_of(w->gradient[p]);
        w->entering[p] = worst > 0 && w->excess[p] > 0.5 * worst;
        if (w->excess[p] > w->excess[largest]) largest = p;
    }
    for (int attempt = 0;; attempt++) {
        const ptrdiff_t size = newton_direction(w);
        int backwards = 0, outwards = 0, left = 0;
        for (ptrdiff_t i = 0; i < size; i++) {
            const ptrdiff_t p = w->face[i];
            const int back = w->entering[p] && w->step[p] * w->sign[p] <= 0, out = is_constrained(w, p, w->step[p]);
            if (back || out) w->entering[p] = 0;
            if (out) w->inside[p] = 0;
            backwards |= back;
            outwards |= out;
            left |= w->entering[p];
        }
        if (!backwards && !outwards) return;
        if (attempt == 0 && backwards && !left) w->entering[largest] = 1;
    }
}

/* The model's change of a part of the step, from ⟨g, d⟩ and dᵀHd. */
static double change(const Work *w, double length, double linear, double quadratic) {
    double penalty = 0;
    for (ptrdiff_t p = 0; p < w->n; p++) penalty += w->l1[p] * (fabs(w->x[p] + length * w->step[p]) - fabs(w->x[p]));
    return length * linear + 0.5 * length * length * quadratic + penalty;
}

/* out = H d; zeros of d cost nothing. */
FAST static void multiply(const double *H, const double *d, ptrdiff_t n, double *restrict out) {
    memset(out, 0, sizeof(double) * (size_t)n);
    for (ptrdiff_t p = 0; p < n; p++)
        if (d[p] != 0)
            for (ptrdiff_t q = 0; q < n; q++) out[q] += d[p] * H[p * n + q];
}

/* The share of the step that the box allows. */
static double room(const Work *w) {
    double limit = 1;
    for (ptrdiff_t p = 0; p < w->n; p++) {
        const double x = w->x[p], target = x + w->step[p];
        if (target < w->lower[p]) limit = fmin(limit, (w->lower[p] - x) / w->step[p]);
        if (target > w->upper[p]) limit = fmin(limit, (w->upper[p] - x) / w->step[p]);
    }
    return fmax(limit, 0);
}

/* Where the step of coordinate p ends: on zero or on a bound where rounding has left it beside. */
INLINE double settled(const Work *w, ptrdiff_t p, double length) {
    const double x = w->x[p], step = w->step[p], moved = x + length * step;
    if (w->l1[p] > 0 && x * (x + step) < 0 && fabs(moved) <= 1e-12 * fabs(step)) return 0;
    const double near = 1e-12 * (fabs(moved) + fabs(step));
    if (step < 0 && moved - w->lower[p] <= near) return w->lower[p];
    if (step > 0 && w->upper[p] - moved <= near) return w->upper[p];
    return moved;
}

/* Move to the best point on the way to the face's minimiser; returns the fall. */
static double advance(Work *w) {
    const ptrdiff_t n = w->n;
    multiply(w->H, w->step, n, w->hessian_step);
    double linear = 0, quadratic = 0, best, length = 1;
    ptrdiff_t crossings = 0;
    const double limit = room(w);
    for (ptrdiff_t p = 0; p < n; p++) {
        linear += w->gradient[p] * w->step[p];
        quadratic += w->hessian_step[p] * w->step[p];
        if (w->l1[p] > 0 && w->x[p] * (w->x[p] + w->step[p]) < 0) w->stops[crossings++] = -w->x[p] / w->step[p];
    }
    if (crossings == 0 && limit == 1) {
        best = change(w, 1, linear, quadratic);
        for (ptrdiff_t p = 0; p < n; p++) {
            w->x[p] += w->step[p];
            w->gradient[p] += w->hessian_step[p];
        }
        return -best;
    }
    w->stops[crossings++] = limit;
    best = INFINITY;
    for (ptrdiff_t i = 0; i < crossings; i++) {
        if (w->stops[i] > limit) continue;
        const double value = change(w, w->stops[i], linear, quadratic);
        if (value < best) {
            best = value;
            length = w->stops[i];
        }
    }
    for (ptrdiff_t p = 0; p < n; p++) {
        const double moved = settled(w, p, length);
        w->moved[p] = moved - w->x[p];
        w->x[p] = moved;
    }
    multiply(w->H, w->moved, n, w->hessian_step);
    for (ptrdiff_t p = 0; p < n; p++) w->gradient[p] += w->hessian_step[p];
    return -best;
}

/* The largest slope on the face and the largest excess beside it; both go into `inside` and `excess`. */
static double residuals(Work *w, double *on_face) {
    double worst = *on_face = 0;
    for (ptrdiff_t p = 0; p < w->n; p++) {
        const double x = w->x[p], g = w->gradient[p], slope = g + w->l1[p] * sign_of(x);
        const int resting = x == 0 && w->l1[p] > 0;
        w->inside[p] = !resting && !is_constrained(w, p, -slope);
        w->excess[p] = resting && !is_constrained(w, p, -g) ? fabs(g) - w->l1[p] : 0;
        if (w->inside[p]) *on_face = fmax(*on_face, fabs(slope));
        worst = fmax(worst, w->excess[p]);
    }
    return worst;
}

int solve_active_set(ptrdiff_t n, const double *H, const double *g, double *x, const double *l1, const double *lower,
                     const double *upper, double tol, int max_active_sets, double *fall) {
    const ptrdiff_t filled = in_lanes(n);
    double *memory = malloc(sizeof(double) * (size_t)(7 * n + 1));
    double *aligned = aligned_alloc(sizeof(Lanes), sizeof(double) * (size_t)(filled * (filled + LANES + 1) + LANES));
    ptrdiff_t *places = malloc(sizeof(ptrdiff_t) * (size_t)(n + 1));
    char *flags = malloc((size_t)(2 * n + 1));
    const int failed = memory == NULL || aligned == NULL || places == NULL || flags == NULL;
    *fall = 0;
    if (!failed) {
        Work w = {n,
                  H,
                  l1,
                  lower,
                  upper,
                  x,
                  memory,
                  memory + n,
                  memory + 2 * n,
                  memory + 3 * n,
                  memory + 4 * n,
                  memory + 5 * n,
                  memory + 6 * n,
                  aligned,
                  aligned + filled,
                  places,
                  flags,
                  flags + n};
        memcpy(w.gradient, g, sizeof(double) * (size_t)n);
        for (int face = 0; face < max_active_sets; face++) {
            double on_face;
            const double worst = residuals(&w, &on_face);
            if (fmax(on_face, worst) <= tol) break;
            face_direction(&w, worst > 0.1 * on_face ? worst : 0.0);
            const double gain = advance(&w);
            *fall += gain;
            if (!(gain > 0)) break;
        }
    }
    free(memory);
    free(aligned);
    free(places);
    free(flags);
    return failed ? -1 : 0;
}
