/*
 * Idea:     one-sided Jacobi (Hestenes): rotate lines of the matrix until all are at right angles to one another; then each is
 *           an eigenvector, as long as its value. Twice |R| added to the diagonal makes all values positive, so that
 *           values of two signs are not taken for one.
 * Changed:  no column is rotated and no vectors beside the matrix: a rotation is one product of two lines to find the angle, and
 *           their two combinations. A pair that is at right angles already is left alone.
 * Expect:   5 lines of n entries read or written side by side in place of 6, of which 2 are columns with a stride: 2 times
 *           serial for n = 198, whose columns miss the first-level cache, and less than that for n = 31.
 * Result:   missed: 1.1 times serial (results/cpu2/eigen/eigen_198x198.json), the same time for n = 31 (eigen_31x31.json beside
 *           it). The matrix fits the second-level cache, so the columns do not miss as was thought.
 * From:     cpu/serial
 */
/* Try: make bench-eigen VERSIONS=cpu/serial,cpu/lines,peer/openblas SIZE=198x198 */
#include <stdlib.h>

#include "common/algo/eigen.h"

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

static void solve(double *lines, int n, double norm)
{
    bool turned = isfinite(norm);

    for (int sweep = 0; sweep < EIGEN_MAX_SWEEPS && turned; sweep++) {
        turned = false;
        for (int p = 0; p < n - 1; p++)
            for (int q = p + 1; q < n; q++) {
                double *a = lines + p * n, *b = lines + q * n, cosine, sine;
                const double ab = product(a, b, n);
                if (fabs(ab) <= at_right_angles * norm)
                    continue;
                eigen_rotation(product(a, a, n), product(b, b, n), ab, &cosine, &sine);
                rotate(a, b, n, cosine, sine);
                turned = true;
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
        const double norm = eigen_begin(in, index, lines, lines + entries);
        const double shift = norm > 0 ? 2 * sqrt(norm) : 1;
        for (int k = 0; k < n; k++)
            lines[k * n + k] += shift;
        solve(lines, n, norm);
        finish(lines, lines + entries, n, shift);
        TRY(eigen_finish(lines, lines + entries, n, index, out));
    }
out:
    free(lines);
    return status;
}

RUNGS_CPU_VERSION(eigen)
