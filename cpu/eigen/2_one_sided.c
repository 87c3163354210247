/*
 * Problem:  A step of cpu/omp has three barriers and rotates rows, columns and eigenvectors.
 * Idea:     One-sided Jacobi (Hestenes): pairs of rows rotate until all are orthogonal. Then each
 *           is an eigenvector times its eigenvalue (a shift of the matrix makes all positive). A
 *           rotation needs its own two rows and no columns, so a step has one barrier.
 * Expect:   1.5 times as fast: 8 n loads and stores per pair instead of 12 n, 1 barrier, not 3.
 * Result:   4.5 times as fast as cpu/omp with 16 threads, 13 ms
 *           (results/h100/eigen/eigen_198x198.json); what the barriers gain is not measured.
 * Run:      make diff-eigen A=cpu/omp B=cpu/one_sided SIZE=198x198
 */
#include <stdlib.h>

#include "common/algo/eigen.h"

enum { WORTH_THREADS = 48 /* columns: below, the barriers cost more than they gain */ };

static const double at_right_angles =
    1e-13; /* of |R|^2: 100 times what rounding leaves, 1/100 of the contract's residual */

static double product(const double *p, const double *q, int n)
{
    double sum = 0;

    for (int k = 0; k < n; k++)
        sum += p[k] * q[k];
    return sum;
}

/* Two lines as their rotated combinations. */
static void rotate(double *p, double *q, int n, double cosine, double sine)
{
    for (int k = 0; k < n; k++) {
        const double a = p[k], b = q[k];
        p[k] = cosine * a - sine * b;
        q[k] = sine * a + cosine * b;
    }
}

/* Whether the pair had to be rotated. */
static bool turn(double *a, double *b, int n, double norm)
{
    const double ab = product(a, b, n);
    double cosine, sine;

    if (fabs(ab) <= at_right_angles * norm)
        return false;
    eigen_rotation(product(a, a, n), product(b, b, n), ab, &cosine, &sine);
    rotate(a, b, n, cosine, sine);
    return true;
}

static void solve(double *lines, int n, double norm)
{
    const int pairs = (n + 1) / 2;
    bool turned = isfinite(norm);

    for (int sweep = 0; sweep < EIGEN_MAX_SWEEPS && turned; sweep++) {
        turned = false;
#pragma omp parallel reduction(|| : turned) if (n >= WORTH_THREADS)
        for (int step = 0; step < 2 * pairs - 1; step++) {
#pragma omp for schedule(static)
            for (int k = 0; k < pairs; k++) {
                int p, q;
                eigen_pair(n, step, k, &p, &q);
                turned |= q < n && turn(lines + p * n, lines + q * n, n, norm);
            }
        }
    }
}

/* Lines of length 1 are the vectors; what lengths have above the shift are the values, on a diagonal. */
static void finish(double *lines, double *vectors, int n, double shift)
{
    for (int k = 0; k < n; k++) {
        const double length = sqrt(product(lines + k * n, lines + k * n, n));
        for (int y = 0; y < n; y++)
            vectors[k * n + y] = lines[k * n + y] / length;
        lines[k * n + k] = length - shift;
    }
}

static enum status run(const struct image *in, struct image *out, const struct eigen_params *params)
{
    const int n = in->width;
    const size_t entries = (size_t)n * (size_t)n;
    double *lines = malloc(2 * entries * sizeof *lines);
    enum status status = STATUS_OK;

    (void)params;
    if (!lines)
        return status_set(STATUS_NO_MEMORY, "no memory for a matrix of %d columns", n);
    for (int index = 0; index < in->height / n; index++) {
        double unit;
        const double norm = eigen_begin(in, index, lines, lines + entries, &unit);
        const double shift = norm > 0 ? 2 * sqrt(norm) : 1;
        for (int k = 0; k < n; k++)
            lines[k * n + k] += shift;
        solve(lines, n, norm);
        finish(lines, lines + entries, n, shift);
        TRY(eigen_finish(lines, lines + entries, n, unit, index, out));
    }
out:
    free(lines);
    return status;
}

RUNGS_CPU_VERSION(eigen)
