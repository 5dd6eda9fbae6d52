/* Proximal Gauss–Newton on one block of rows: the compiled twin of newton.py, decision by decision.
   A fit on the twins of this file, forward.c, derivatives.c and active_set.c takes 2 times the processor seconds
   (`python -m benchmarks twins`): the steps are short, and Python would spend them on calls.

   Where it pays, sums over the rows are those of two halves, which two threads may share: the bits are the same. */
#include "kernel.h"
#include "team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double WORTH_TWO = 2e6; /* rows × parameters²: about a tenth of a millisecond */

typedef struct {
    double *theta, objective, loss;
    State state;
} Point;

typedef struct {
    double *gradient, *matrix, *residual_hessian;
} Sums;

typedef struct {
    const Shape *s;
    const Rows *rows;
    const PenaltyParts *c;
    const Rules *rules;
    ptrdiff_t n;
    ptrdiff_t cut; /* where the second half of the rows begins; their number where they are not halved */
    Team *team;
    Point point, candidate;
    Sums sums, second;
    double *convex, *H, *scale, *room;
    int convex_known;
    long evaluations;
} Fit;

/* The arguments of both halves of a sum, and where they leave what is theirs alone. */
typedef struct {
    Fit *f;
    Point *p;
    int curvature, failed[2];
    double loss[2];
} Halves;

static Range half_range(const Fit *f, int which) {
    return which == 0 ? (Range){0, f->cut} : (Range){f->cut, f->s->rows};
}

static void forward_half(void *work, int which) {
    Halves *h = work;
    h->failed[which] =
        forward(h->f->s, h->p->theta, h->f->rows, half_range(h->f, which), &h->p->state, &h->loss[which]);
}

static void derivatives_half(void *work, int which) {
    Halves *h = work;
    const Sums *out = which == 0 ? &h->f->sums : &h->f->second;
    h->failed[which] =
        derivatives(h->f->s, h->p->theta, h->f->rows, half_range(h->f, which), &h->p->state, out->gradient,
                    h->curvature ? out->matrix : NULL, h->curvature ? out->residual_hessian : NULL);
}

/* Both halves, or the first alone where it is all rows; whether memory ran out. */
static int over_rows(Fit *f, Half *half, Halves *h) {
    if (f->cut < f->s->rows) do_halves(f->team, half, h);
    else half(h, 0);
    return h->failed[0] != 0 || h->failed[1] != 0;
}

INLINE void add(const double *from, ptrdiff_t n, double *to) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] += from[i];
}

static int evaluate(Fit *f, Point *p) {
    double penalty = 0, curving = 0, value[3];
    Halves h = {.f = f, .p = p};
    if (over_rows(f, forward_half, &h)) return -1;
    p->loss = h.loss[0] + h.loss[1];
    for (ptrdiff_t i = 0; i < f->n; i++) penalty += f->c->l1[i] * fabs(p->theta[i]);
    for (ptrdiff_t at = 0; at < f->s->scores * f->s->terms; at++) {
        shape_penalty(f->s, f->c->price, p->theta[shape_place(f->s, at)], value);
        curving += value[0];
    }
    p->objective = p->loss + (penalty + curving);
    f->evaluations++;
    return 0;
}

/* The gradient of the smooth part at the point and, where `curvature`, Gauss–Newton's matrix and the residual's Hessian. */
static int differentiate(Fit *f, int curvature) {
    const ptrdiff_t width = 1 + f->s->features;
    double value[3];
    Halves h = {.f = f, .p = &f->point, .curvature = curvature};
    if (over_rows(f, derivatives_half, &h)) return -1;
    if (f->cut < f->s->rows) {
        add(f->second.gradient, f->n, f->sums.gradient);
        if (curvature) {
            add(f->second.matrix, f->n * f->n, f->sums.matrix);
            add(f->second.residual_hessian, f->s->scores * f->s->terms * width * width, f->sums.residual_hessian);
        }
    }
    if (curvature) mirror_all(f->s, f->sums.matrix, f->sums.residual_hessian);
    for (ptrdiff_t at = 0; at < f->s->scores * f->s->terms; at++) {
        const ptrdiff_t place = shape_place(f->s, at);
        shape_penalty(f->s, f->c->price, f->point.theta[place], value);
        f->sums.gradient[place] += value[1];
        if (curvature) f->sums.residual_hessian[at * width * width] += value[2];
    }
    f->convex_known = 0;
    return 0;
}

/* The largest minimal subgradient; see problem.kkt_residual. */
static double kkt_residual(const Fit *f) {
    double worst = 0;
    for (ptrdiff_t i = 0; i < f->n; i++) {
        const double x = f->point.theta[i], g = f->sums.gradient[i], l1 = f->c->l1[i], near = 1e-9 * fabs(x);
        double slope = x > 0 ? g + l1 : x < 0 ? g - l1 : g > l1 ? g - l1 : g < -l1 ? g + l1 : 0;
        if ((x - near <= f->c->lower[i] && slope > 0) || (x + near >= f->c->upper[i] && slope < 0)) slope = 0;
        worst = fmax(worst, fabs(slope));
    }
    return worst;
}

/* The positive parts of the blocks of the residual's Hessian. */
static void take_positive_parts(Fit *f) {
    const ptrdiff_t width = 1 + f->s->features, area = width * width;
    for (ptrdiff_t at = 0; at < f->s->scores * f->s->terms; at++)
        positive_part(f->sums.residual_hessian + at * area, width, f->room, f->convex + at * area);
    f->convex_known = 1;
}

/* H = Gauss–Newton's matrix + the residual's Hessian (or its positive parts) + damping·scale on the diagonal. */
static void damped_curvature(Fit *f, int exact, double damping) {
    const ptrdiff_t n = f->n, width = 1 + f->s->features;
    if (!exact && !f->convex_known) take_positive_parts(f);
    const double *blocks = exact ? f->sums.residual_hessian : f->convex;
    memcpy(f->H, f->sums.matrix, sizeof(double) * (size_t)(n * n));
    for (ptrdiff_t at = 0; at < f->s->scores * f->s->terms; at++) {
        double *corner = f->H + shape_place(f->s, at) * (n + 1);
        for (ptrdiff_t i = 0; i < width; i++)
            for (ptrdiff_t j = 0; j < width; j++) corner[i * n + j] += blocks[(at * width + i) * width + j];
    }
    for (ptrdiff_t i = 0; i < n; i++) f->H[i * (n + 1)] += damping * f->scale[i];
}

static void swap(Point *a, Point *b) {
    const Point kept = *a;
    *a = *b;
    *b = kept;
}

/* Double a step that was too short for as long as the objective falls. The accepted point is `candidate`; the state of
   the one it left is free for the trials, its θ is where the step began. */
static int stretch(Fit *f, double *begin) {
    const ptrdiff_t n = f->n;
    memcpy(begin, f->point.theta, sizeof(double) * (size_t)n);
    for (;;) {
        const double *now = f->candidate.theta;
        for (ptrdiff_t i = 0; i < n; i++) {
            double longer = now[i] + (now[i] - begin[i]);
            if (f->c->l1[i] > 0 && (longer * now[i] < 0 || now[i] == 0)) longer = 0;
            f->point.theta[i] = fmin(fmax(longer, f->c->lower[i]), f->c->upper[i]);
        }
        if (evaluate(f, &f->point) != 0) return -1;
        if (!(f->point.objective < f->candidate.objective)) return 0;
        swap(&f->point, &f->candidate);
    }
}

/* Leave an accepted point in `candidate` and return 1, or 0 where no step lowers the objective; see newton._step. */
static int step(Fit *f, double residual, double *damping, double *fall, double *begin) {
    const Rules *r = f->rules;
    const ptrdiff_t n = f->n;
    double mean = 0;
    for (ptrdiff_t i = 0; i < n; i++) mean += f->sums.matrix[i * (n + 1)];
    mean /= (double)n;
    for (ptrdiff_t i = 0; i < n; i++) f->scale[i] = f->sums.matrix[i * (n + 1)] + 1e-3 * mean;
    int exact = *damping <= r->exact_below;
    while (*damping < r->largest_damping) {
        damped_curvature(f, exact, *damping);
        memcpy(f->candidate.theta, f->point.theta, sizeof(double) * (size_t)n);
        if (solve_active_set(n, f->H, f->sums.gradient, f->candidate.theta, f->c->l1, f->c->lower, f->c->upper,
                             1e-2 * residual, r->max_active_sets, fall) != 0)
            return -1;
        if (*fall <= r->noise * fabs(f->point.objective)) {
            if (exact) {
                exact = 0;
                continue;
            }
            if (residual > r->worth_a_retry) {
                *damping = fmax(10 * *damping, 1e-6);
                continue;
            }
            return 0;
        }
        if (evaluate(f, &f->candidate) != 0) return -1;
        const double ratio = (f->point.objective - f->candidate.objective) / *fall;
        if (ratio > 1e-4) {
            *damping *= ratio > 0.75 ? 0.2 : ratio > 0.25 ? 1.0 : 3.0;
            if (*damping < 1e-6) *damping = 1e-8;
            if (ratio > r->timid && stretch(f, begin) != 0) return -1;
            return 1;
        }
        *damping = fmax(4 * *damping, 1e-4);
        exact = *damping <= r->exact_below;
    }
    *fall = 0;
    return 0;
}

static int iterate(Fit *f, double *begin, Poll *poll, void *context, Ending *end) {
    const Rules *r = f->rules;
    double damping = r->first_damping, fall = INFINITY;
    int stuck = 0;
    end->residual = INFINITY;
    end->status = MAX_ITER;
    if (evaluate(f, &f->point) != 0) return -1;
    for (;;) {
        if (stuck || fall <= r->tol * fabs(f->point.objective)) {
            if (differentiate(f, 0) != 0) return -1;
            end->residual = kkt_residual(f);
            if (stuck || end->residual <= r->kkt) {
                end->status = end->residual <= 2 * r->kkt ? CONVERGED : STALLED;
                return 0;
            }
        }
        if (end->iterations == r->max_iter) return 0;
        if (poll(context)) {
            end->status = INTERRUPTED;
            return 0;
        }
        if (differentiate(f, 1) != 0) return -1;
        end->residual = kkt_residual(f);
        const int found = step(f, end->residual, &damping, &fall, begin);
        if (found < 0) return -1;
        end->iterations++;
        stuck = !found;
        if (found) swap(&f->point, &f->candidate);
    }
}

/* From the nearest point to θ within bounds to a minimiser, in place. */
int minimise(const Shape *s, const Rows *rows, const PenaltyParts *penalty, const Rules *rules, Poll *poll,
             void *context, int n_threads, double *theta, Ending *end) {
    const ptrdiff_t n = s->scores * per_score(s), width = 1 + s->features, scored = s->scores * s->rows;
    const ptrdiff_t blocks = s->scores * s->terms * width * width;
    const ptrdiff_t state = (PLANES * s->terms + 2) * scored, room = positive_part_room(width);
    const ptrdiff_t own = 2 * state + 2 * n * n + 2 * blocks + 5 * n + room, sums = n + n * n + blocks;
    const int halved = (double)s->rows * (double)(n * n) >= WORTH_TWO;
    double *memory = malloc(sizeof(double) * (size_t)(own + (halved ? sums : 0)));
    if (memory == NULL) return -1;
    double *next = memory;
    Fit f = {.s = s, .rows = rows, .c = penalty, .rules = rules, .n = n};
    f.cut = halved ? s->rows / 2 : s->rows;
    f.team = halved && n_threads > 1 ? open_team() : NULL;
    for (int i = 0; i < 2; i++) {
        Point *p = i == 0 ? &f.point : &f.candidate;
        p->state.planes = next;
        p->state.residual = next + PLANES * s->terms * scored;
        p->state.probabilities = p->state.residual + scored;
        p->theta = next + state;
        next += state + n;
    }
    f.sums.matrix = next;
    f.H = f.sums.matrix + n * n;
    f.sums.residual_hessian = f.H + n * n;
    f.convex = f.sums.residual_hessian + blocks;
    f.sums.gradient = f.convex + blocks;
    f.scale = f.sums.gradient + n;
    f.room = f.scale + n;
    double *begin = f.room + room;
    f.second = (Sums){begin + n, begin + 2 * n, begin + 2 * n + n * n};
    for (ptrdiff_t i = 0; i < n; i++) f.point.theta[i] = fmin(fmax(theta[i], penalty->lower[i]), penalty->upper[i]);
    *end = (Ending){.iterations = 0};
    const int failed = iterate(&f, begin, poll, context, end);
    memcpy(theta, f.point.theta, sizeof(double) * (size_t)n);
    end->objective = f.point.objective;
    end->loss = f.point.loss;
    end->evaluations = f.evaluations;
    close_team(f.team);
    free(memory);
    return failed;
}
