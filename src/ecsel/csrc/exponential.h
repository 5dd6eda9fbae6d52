/* e^a in a form that compilers turn into vectors: a = n log 2 + r with |r| ≤ log(2)/2, Taylor's series of e^r, and n
   added to the exponent's bits. 1.5·2⁵² pushes the fraction out, leaving n in the last bits. Below e^−700 nothing that
   is added to 1 is changed. */
#ifndef ECSEL_EXPONENTIAL_H
#define ECSEL_EXPONENTIAL_H

#include "kernel.h"

#include <string.h>

/* The series ends with r¹³/13! where `longer`, else with r¹²/12!. */
INLINE double exp_series(double a, int longer) {
    static const double ROUND = 6755399441055744.0;
    static const double LOG2_HIGH = 6.93147180369123816490e-01, LOG2_LOW = 1.90821492927058770002e-10;
    a = a < -700 ? -700 : a;
    const double shifted = a * 1.44269504088896340736 + ROUND, n = shifted - ROUND;
    const double r = (a - n * LOG2_HIGH) - n * LOG2_LOW;
    double e = longer ? (1.0 / 6227020800) * r + 1.0 / 479001600 : 1.0 / 479001600;
    e = e * r + 1.0 / 39916800;
    e = e * r + 1.0 / 3628800;
    e = e * r + 1.0 / 362880;
    e = e * r + 1.0 / 40320;
    e = e * r + 1.0 / 5040;
    e = e * r + 1.0 / 720;
    e = e * r + 1.0 / 120;
    e = e * r + 1.0 / 24;
    e = e * r + 1.0 / 6;
    e = e * r + 0.5;
    e = e * r + 1;
    e = e * r + 1;
    int64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (int64_t)((uint64_t)(bits + 1023) << 52);
    double power;
    memcpy(&power, &bits, sizeof power);
    return e * power;
}

#endif
