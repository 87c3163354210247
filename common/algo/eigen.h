/*
 * eigen.h: eigenvalues and eigenvectors of symmetric matrices, the contract of every version in cpu/eigen, cuda/eigen
 * and peers/eigen.
 *
 * Input    an f64 matrix, n wide and B * n tall: B symmetric matrices of n x n, one below the other. Only the upper
 *          triangle of each is read. 1 to 1024 columns.
 * Output   values: f64, 1 wide, B * n tall: the eigenvalues of each matrix, the largest first;
 *          vectors: f64, as the input: column k of matrix b is the eigenvector of its k-th value, of length 1.
 *
 * Formula  R v = lambda v. Values may differ between versions by 1e-10 of the largest magnitude among them. Vectors are
 *          not compared, for they are free in sign, and where values are equal, in more: instead, with the version's
 *          own values, |R v - lambda v| <= 1e-10 |R| for every pair (|R| the Frobenius norm), and |v_i' v_j| and |v_i'
 *          v_i - 1| are at most 1e-10.
 *
 * Scale    Any, as long as the values are f64: squares of entries below 1e-154 would vanish and those above 1e154 be
 *          infinite, so every version divides a matrix by its unit first, a power of two (which rounds nothing) that
 *          makes the largest entry 1 to 2, and multiplies the values by it at last.
 *
 * Parameters   none
 *
 * Errors   not f64, a height that is no multiple of the width, more than 1024 columns: STATUS_BAD_INPUT. A matrix that
 *          holds NaN or infinity, or whose values are beyond f64, is STATUS_FAILED, or has values that are no numbers.
 *
 * Source   G. Golub, C. Van Loan, Matrix Computations, section 8.5 (Jacobi methods): the rotation, the cyclic and the
 *          parallel order.
 */
#ifndef RUNGS_EIGEN_H
#define RUNGS_EIGEN_H

#include <math.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EIGEN_MAX_SIDE = 1024, EIGEN_MAX_SWEEPS = 40 };

struct eigen_params {
    int none;
};

/* The share of |R|^2 that may remain off the diagonal. */
#define EIGEN_REST 1e-30

/* The unit of a matrix out of its largest magnitude; 1 of zeros, and where something is no number. */
static HOST_DEVICE inline double eigen_unit(double largest)
{
    int exponent;

    if (!(largest > 0 && isfinite(largest)))
        return 1;
    frexp(largest, &exponent);
    return ldexp(1.0, exponent - 1);
}

/* The rotation that makes entry (p, q) zero: the smaller of the two angles. */
static HOST_DEVICE inline void eigen_rotation(double pp, double qq, double pq, double *cosine, double *sine)
{
    double tau, tangent;

    *cosine = 1;
    *sine = 0;
    if (pq == 0)
        return;
    tau = (qq - pp) / (2 * pq);
    tangent = (tau < 0 ? -1 : 1) / (fabs(tau) + sqrt(1 + tau * tau));
    *cosine = 1 / sqrt(1 + tangent * tangent);
    *sine = tangent * *cosine;
}

/* Pair `k` of step `step` of a round in which all of n come together once, as in a tournament: n / 2 pairs (n rounded
 * up to even) that have no member in common, in n - 1 steps. *q is n where one sits out. */
static HOST_DEVICE inline void eigen_pair(int n, int step, int k, int *p, int *q)
{
    const int ring = (n + 1) / 2 * 2 - 1; /* all but the last one stand in a ring */
    const int a = k == 0 ? ring : (step + k) % ring, b = (step + ring - k) % ring;

    *p = a < b ? a : b;
    *q = a < b ? b : a;
}

/* The unit of matrix `index` of the input. */
double eigen_find_unit(const struct image *in, int index);
/* A full symmetric copy of matrix `index` of the input, divided by *unit, into matrix[n * n], and the unit matrix into
 * vectors[n * n]. Returns |R|^2 of the copy. */
double eigen_begin(const struct image *in, int index, double *matrix, double *vectors, double *unit);
/* Sorts: the diagonal of `matrix`, times `unit`, are the values, ROW k of `vectors` belongs to entry k. The largest
 * component of a vector becomes positive. STATUS_FAILED where a value is no number. */
enum status eigen_finish(const double *matrix, const double *vectors, int n, double unit, int index,
                         struct image out[]);

#ifdef __cplusplus
}
#endif

#endif
