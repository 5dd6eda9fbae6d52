/* What the two ways to fit a generalised linear model share. */
#ifndef ECSEL_GLM_H
#define ECSEL_GLM_H

#include "singles.h"

/* scores = offset + b + Xθ */
void glm_score(const Glm *g, const double *theta, double *z);
/* Σ w ℓ; means become probabilities (or stay scores). */
double glm_values(const Glm *g, const double *z, double *mean);
/* The loss with the ridge. */
double glm_penalised(const Glm *g, const double *penalty, const double *theta, double plain);
/* The gradient of the penalised loss; `weight` has room for a row. */
void glm_gradient(const Glm *g, const double *penalty, const double *theta, const double *mean, double *weight,
                  double *gradient);

/* θ moves along a step, halved until the objective falls by enough; z, objective and plain are then those of the new
   point. Returns how often it was halved, −1 where the fit ends: no length will do, or the step promised too little. The
   arrays before θ are room. */
int glm_line_search(const Glm *g, const double *penalty, const double *step, double slope, double *trial, double *there,
                    double *mean, double *theta, double *z, double *objective, double *plain);

/* Σ a b, b in single precision; the order of the sums does not depend on the processor. */
double weighted_inner(const double *restrict a, const float *restrict b, ptrdiff_t n);

/* From how many scores the fit by conjugate gradients is the faster one: see glm_many.c. */
enum { MANY_SCORES = 5 };
int glm_fit_many(const Glm *g, double *theta, double *z, double *objective, double *plain);

#endif
