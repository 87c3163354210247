/*
 * qr.h: the QR algorithm on three diagonals, without the vectors: a step's rotations are left for the versions to
 * apply.
 */
#ifndef RUNGS_CPU_EIGEN_QR_H
#define RUNGS_CPU_EIGEN_QR_H

#include "common/algo/eigen.h"

/* What is below these shares of |R| is taken for 0: beside the diagonal, and as the length of a pair or line to be
 * turned. */
#define QR_REST    1e-16
#define QR_NOTHING 1e-18

struct turn {
    double cosine, sine;
};

/* The last block low to high that is not diagonal yet: false where all is. beside[k] is the entry between k and k +
 * 1. */
static inline bool qr_block(double *beside, double norm, int *low, int *high)
{
    for (; *high > 0 && fabs(beside[*high - 1]) <= QR_REST * norm; --*high)
        ;
    for (*low = *high; *low > 0 && fabs(beside[*low - 1]) > QR_REST * norm; --*low)
        ;
    return *low < *high;
}

/* An implicit step with Wilkinson's shift (Golub and Van Loan 2013, 8.3.5). turns[0] is that of the first two. */
static inline void qr_step(double *diagonal, double *beside, double norm, int low, int high, struct turn *turns)
{
    const double half = (diagonal[high - 1] - diagonal[high]) / 2, last = beside[high - 1];
    const double root = sqrt(half * half + last * last), share = last / (half + (half < 0 ? -root : root));
    double x = diagonal[low] - diagonal[high] + share * last, z = beside[low];

    for (int k = low; k < high; k++) {
        const double length = sqrt(x * x + z * z), difference = diagonal[k] - diagonal[k + 1];
        const bool worth = length > QR_NOTHING * norm;
        const double cosine = worth ? x / length : 1, sine = worth ? -z / length : 0;
        const double moved = sine * (sine * difference + 2 * cosine * beside[k]);
        if (k > low)
            beside[k - 1] = length;
        x = cosine * sine * difference + (cosine - sine) * (cosine + sine) * beside[k];
        z = k + 1 < high ? -sine * beside[k + 1] : 0;
        if (k + 1 < high)
            beside[k + 1] *= cosine;
        beside[k] = x;
        diagonal[k] -= moved;
        diagonal[k + 1] += moved;
        turns[k - low] = (struct turn){cosine, sine};
    }
}

#endif
