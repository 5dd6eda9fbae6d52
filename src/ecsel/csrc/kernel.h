/* The compiled twins of NumPy functions in `fitting` and `tables`: what the bindings in module.c call, free of Python. */
#ifndef ECSEL_KERNEL_H
#define ECSEL_KERNEL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(__GNUC__)
#error "the kernel is written with the vector types of GCC and Clang; without them the package runs on NumPy"
#endif

/* Where the loader can choose (glibc on x86-64), loops are compiled again for wider vectors and fused multiply-add. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12
#define FAST __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define FAST
#endif
#define INLINE static inline __attribute__((always_inline))

enum { ANGLE_FORM = 0, POWER_FORM = 1 };
enum { SIGMOID = 0, SOFTMAX = 1 };
enum { BY_SHAPE = 0, BY_T, SHAPE_2, SHAPE_T, PLANES }; /* what the forward pass leaves of every term and row */

typedef struct {
    ptrdiff_t scores, terms, features, rows;
    int intercept, form, link;
    double knee, largest_exponent, series_below;
} Shape;

typedef struct {
    const double *v; /* features × rows, `stride` apart */
    ptrdiff_t stride;
    const int64_t *codes;
    const double *w;
} Rows;

/* Rows from `first` up to `end`. */
typedef struct {
    ptrdiff_t first, end;
} Range;

/* A chunk of rows as stored.py packs it, in single precision. */
typedef struct {
    const uint8_t *data;         /* features kept as floats, weights, class codes, features kept as bytes */
    const uint8_t *coded;        /* of each feature: 0 floats, 1 places in its table, 2 in a table of two values */
    const float *tables;         /* features × 256: standardised values */
    const float *centre, *scale; /* of features kept as floats */
    ptrdiff_t wide;              /* how many of them there are */
    ptrdiff_t stride, first;     /* rows of the chunk, and which of them comes first here */
    int weighted;
} Packed;

/* What a row is drawn with: see importance_sampling.py. */
typedef struct {
    double each, rooted;
} Chances;

typedef struct {
    double *planes;        /* PLANES × scores × terms × rows */
    double *residual;      /* scores × rows, weighted */
    double *probabilities; /* scores × rows; of an error where the link is a sigmoid */
} State;

typedef struct {
    const double *l1, *lower, *upper;
    double price; /* of a fully curved term, twice; see fitting/penalties/l1.py */
} PenaltyParts;

typedef struct {
    double tol, kkt, first_damping, largest_damping, exact_below, worth_a_retry, timid, noise;
    int max_iter, max_active_sets;
} Rules;

/* How Adam goes: rows of a batch, rate, largest norm of a gradient, memories of both moments. */
typedef struct {
    ptrdiff_t batch;
    double rate, clip, first, second;
} Pace;

typedef struct {
    double *first, *second;
    ptrdiff_t steps;
} Moments;

enum { CONVERGED = 0, STALLED, MAX_ITER, INTERRUPTED };

typedef struct {
    double objective, loss, residual;
    int status;
    long iterations, evaluations;
} Ending;

enum { GLM_LOGISTIC = 0, GLM_SOFTMAX, GLM_SQUARED };

/* A generalised linear model of given pieces: see glm.c. */
typedef struct {
    int kind, intercept, max_iter;
    ptrdiff_t scores, pieces, rows;
    double tol, intercept_ridge;
    const double *x;      /* pieces × rows, or NULL: */
    const float *single;  /* the same in single precision */
    const int64_t *owner; /* the score that each piece belongs to */
    const double *y, *w, *ridge;
    const double *offset; /* scores × rows, or NULL */
} Glm;

/* A look at the pieces of a search: see pieces.c. */
typedef struct {
    ptrdiff_t rows, scores, count, active, considered;
    double collinear, intercept_ridge, min_gain;
    const float *values;                                 /* atoms × rows */
    const int64_t *places;                               /* count: the candidates, sorted */
    const double *curvatures, *residuals;                /* scores × rows, weighted */
    const int64_t *atoms, *owners;                       /* active */
    const double *coefficients, *own_ridge, *own_prices; /* active */
    const double *ridge, *prices;                        /* count */
    const uint8_t *usable;                               /* scores × count */
    const double *signs;                                 /* scores × count, or NULL */
} Look;

/* What it sees. Products have scores columns of ⟨x, h⟩, scores of ⟨x, r⟩, active of ⟨x, h x_s⟩ (score by score) and
   scores of ⟨x, h x⟩, each for four candidates side by side; inverses lie one behind the other; a swap is gain, member
   and candidate. */
typedef struct {
    double *products, *inverses;      /* (3 scores + active) × 4 for every four of count; Σ (members + 1)² */
    double *additions, *steps, *best; /* scores × count, scores × count, count */
    double *swaps;                    /* scores × considered × 3 */
} Seen;

/* Whether the fit is to stop where it is. */
typedef int Poll(void *context);

INLINE ptrdiff_t per_score(const Shape *s) {
    return s->intercept + s->terms * (1 + s->features);
}

/* Where the shape of a term lies in θ. */
INLINE ptrdiff_t shape_place(const Shape *s, ptrdiff_t at) {
    return at / s->terms * per_score(s) + s->intercept + at % s->terms * (1 + s->features);
}

/* The penalty of a shape with two derivatives: price/2·sin²φ in the angle form, price/2·α² in the power form. */
INLINE void shape_penalty(const Shape *s, double price, double shape, double out[3]) {
    if (s->form == ANGLE_FORM) {
        const double sine = sin(shape), cosine = cos(shape);
        out[0] = price / 2 * sine * sine;
        out[1] = price * sine * cosine;
        out[2] = price * (cosine * cosine - sine * sine);
    } else {
        out[0] = price / 2 * shape * shape;
        out[1] = price * shape;
        out[2] = price;
    }
}

/* All return 0, or −1 where memory has run out. */
int forward(const Shape *shape, const double *theta, const Rows *rows, Range part, const State *state, double *loss);
int derivatives(const Shape *shape, const double *theta, const Rows *rows, Range part, const State *state,
                double *gradient, double *matrix, double *residual_hessian);
void mirror_all(const Shape *shape, double *matrix, double *residual_hessian);
int sweep(const Shape *shape, const double *theta, const Packed *packed, double *loss, double *gradient, float *errors);
double draw(uint64_t start, ptrdiff_t n, const float *errors, const float *w, const Chances *chances, int32_t *rows,
            double *numbers, ptrdiff_t *count);
void log_image(const double *x, ptrdiff_t n, double scale, double offset, float *out, double extremes[2]);
ptrdiff_t places(const float *u, ptrdiff_t n, const float *values, ptrdiff_t count, uint8_t *at, int64_t *counts);
void deviations(const float *u, ptrdiff_t n, float reference, double sums[2]);
void uniforms(uint64_t start, ptrdiff_t n, double *numbers);
int solve_active_set(ptrdiff_t n, const double *H, const double *g, double *x, const double *l1, const double *lower,
                     const double *upper, double tol, int max_active_sets, double *fall);
void positive_part(const double *matrix, ptrdiff_t n, double *room, double *out);
ptrdiff_t positive_part_room(ptrdiff_t n);
int adam_epoch(const Shape *shape, const Rows *rows, const PenaltyParts *penalty, const Pace *pace,
               const int64_t *order, Moments *moments, double *theta);
int glm_fit_weighted(const Glm *g, const int64_t *places, ptrdiff_t ridges, double *theta, double *z, double *losses);
/* w (y − μ) and w ∂μ/∂z of every score and row at scores z. */
void glm_moments(const Glm *g, const double *z, double *residuals, double *curvatures);
int standardise_pieces(const double *parts, const int64_t *pairs, ptrdiff_t pieces, ptrdiff_t n, const double *share,
                       float *out, double *numbers);
int piece_scan(const Look *look, const Seen *seen);
int minimise(const Shape *shape, const Rows *rows, const PenaltyParts *penalty, const Rules *rules, Poll *poll,
             void *context, int n_threads, double *theta, Ending *ending);

#endif
