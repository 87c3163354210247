/*
 * Idea:     cyclic Jacobi.
 * Changed:  it stops after three sweeps, when the largest matrices are not yet diagonal.
 * Expect:   does not have the property
 */
#include <stdlib.h>

#include "common/algo/eigen.h"

/* Two lines of entries, `step` apart, as their rotated combinations. */
static void rotate(double *p, double *q, int n, int step, double cosine, double sine)
{
    for (int k = 0; k < n * step; k += step) {
        const double a = p[k], b = q[k];
        p[k] = cosine * a - sine * b;
        q[k] = sine * a + cosine * b;
    }
}

static double rest(const double *matrix, int n)
{
    double sum = 0;

    for (int y = 0; y < n; y++)
        for (int x = y + 1; x < n; x++)
            sum += 2 * matrix[y * n + x] * matrix[y * n + x];
    return sum;
}

static void solve(double *matrix, double *vectors, int n, double norm)
{
    for (int sweep = 0; sweep < 3 && rest(matrix, n) > EIGEN_REST * norm; sweep++)
        for (int p = 0; p < n - 1; p++)
            for (int q = p + 1; q < n; q++) {
                double cosine, sine;
                eigen_rotation(matrix[p * n + p], matrix[q * n + q], matrix[p * n + q], &cosine, &sine);
                rotate(matrix + p, matrix + q, n, n, cosine, sine);
                rotate(matrix + p * n, matrix + q * n, n, 1, cosine, sine);
                rotate(vectors + p * n, vectors + q * n, n, 1, cosine, sine);
            }
}

static enum status run(const struct image *in, struct image *out, const struct eigen_params *params)
{
    const int n = in->width;
    const size_t entries = (size_t)n * (size_t)n;
    double *matrix = malloc(2 * entries * sizeof *matrix);
    enum status status = STATUS_OK;

    (void)params;
    if (!matrix)
        return status_set(STATUS_NO_MEMORY, "no memory for a matrix of %d columns", n);
    for (int index = 0; index < in->height / n; index++) {
        double unit;
        const double norm = eigen_begin(in, index, matrix, matrix + entries, &unit);
        solve(matrix, matrix + entries, n, norm);
        TRY(eigen_finish(matrix, matrix + entries, n, unit, index, out));
    }
out:
    free(matrix);
    return status;
}

RUNGS_CPU_VERSION(eigen)
