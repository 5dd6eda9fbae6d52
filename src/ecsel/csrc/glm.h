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

/* Σ a b, b in single precision; the order of the sums does not depend on the processor. */
double weighted_inner(const double *restrict a, const float *restrict b, ptrdiff_t n);

/* From how many scores the fit by conjugate gradients is the faster one: see glm_many.c. */
enum { MANY_SCORES = 5 };
int glm_fit_many(const Glm *g, double *theta, double *z, double *objective, double *plain);

#endif
