/* Four doubles that are computed with at once. */
#ifndef ECSEL_LANES_H
#define ECSEL_LANES_H

enum { LANES = 4 };
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));

#endif
