/* An epoch of the paper's trainer: Adam on mini-batches in a given order, the compiled twin of adam.py.
   On the twin a fit takes 10 times the processor seconds (`python -m benchmarks twins`): batches are small.

   g is the batch's gradient with λ·sign of the penalised parameters, clipped to a norm; with m ← β₁m + (1 − β₁)g and
   v ← β₂v + (1 − β₂)g², a step is rate · m̂/(√v̂ + ε), m̂ and v̂ corrected for their start at zero, kept within bounds.
 */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>

static const double EPSILON = 1e-8;

/* Rows of a batch beside each other, their weights scaled to sum to one. */
static void gather(const Shape *s, const Rows *from, const int64_t *order, ptrdiff_t n, double *v, int64_t *codes,
                   double *w) {
    double total = 0;
    for (ptrdiff_t i = 0; i < n; i++) total += from->w[order[i]];
    for (ptrdiff_t i = 0; i < n; i++) {
        codes[i] = from->codes[order[i]];
        w[i] = from->w[order[i]] / total;
    }
    for (ptrdiff_t j = 0; j < s->features; j++)
        for (ptrdiff_t i = 0; i < n; i++) v[j * n + i] = from->v[j * from->stride + order[i]];
}

static void step(const PenaltyParts *c, const Pace *pace, ptrdiff_t n, const double *g, Moments *m, double *theta) {
    double square = 0;
    for (ptrdiff_t i = 0; i < n; i++) square += g[i] * g[i];
    const double norm = sqrt(square), clip = norm > pace->clip ? pace->clip / norm : 1;
    m->steps++;
    const double first = 1 - pow(pace->first, (double)m->steps), second = 1 - pow(pace->second, (double)m->steps);
    for (ptrdiff_t i = 0; i < n; i++) {
        const double slope = clip * g[i];
        m->first[i] = pace->first * m->first[i] + (1 - pace->first) * slope;
        m->second[i] = pace->second * m->second[i] + (1 - pace->second) * slope * slope;
        const double moved = theta[i] - pace->rate * (m->first[i] / first) / (sqrt(m->second[i] / second) + EPSILON);
        theta[i] = fmin(fmax(moved, c->lower[i]), c->upper[i]);
    }
}

int adam_epoch(const Shape *s, const Rows *rows, const PenaltyParts *c, const Pace *pace, const int64_t *order,
               Moments *moments, double *theta) {
    const ptrdiff_t n = s->scores * per_score(s), most = pace->batch < s->rows ? pace->batch : s->rows;
    const ptrdiff_t state = (PLANES * s->terms + 2) * s->scores * most;
    double *memory = malloc(sizeof(double) * (size_t)(n + (s->features + 1) * most + state));
    int64_t *codes = malloc(sizeof(int64_t) * (size_t)(most + 1));
    int failed = memory == NULL || codes == NULL;
    for (ptrdiff_t first = 0; first < s->rows && !failed; first += pace->batch) {
        Shape batch = *s;
        batch.rows = s->rows - first < most ? s->rows - first : most;
        const ptrdiff_t scored = batch.scores * batch.rows;
        double *gradient = memory, *v = gradient + n, *w = v + s->features * batch.rows, *planes = w + batch.rows, loss;
        const State at = {planes, planes + PLANES * s->terms * scored, planes + (PLANES * s->terms + 1) * scored};
        const Rows taken = {v, batch.rows, codes, w};
        gather(s, rows, order + first, batch.rows, v, codes, w);
        failed = forward(&batch, theta, &taken, (Range){0, batch.rows}, &at, &loss) != 0 ||
                 derivatives(&batch, theta, &taken, (Range){0, batch.rows}, &at, gradient, NULL, NULL) != 0;
        if (failed) break;
        for (ptrdiff_t term = 0; term < s->scores * s->terms; term++) {
            double value[3];
            shape_penalty(s, c->price, theta[shape_place(s, term)], value);
            gradient[shape_place(s, term)] += value[1];
        }
        for (ptrdiff_t i = 0; i < n; i++) gradient[i] += c->l1[i] * (double)((theta[i] > 0) - (theta[i] < 0));
        step(c, pace, n, gradient, moments, theta);
    }
    free(memory);
    free(codes);
    return failed ? -1 : 0;
}
