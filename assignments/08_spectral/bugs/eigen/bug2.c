/*
 * Idea:     cyclic Jacobi, one pair of axes after the other. The matrix is read pair by pair of its upper triangle, in
 *           one loop, and its norm is formed on the way.
 * Changed:  one loop over pairs in place of two over rows and columns.
 * Expect:   half of the reads; the rotations take what they took.
 */
#include <stdlib.h>
#include <string.h>

#include "common/algo/eigen.h"

/* Matrix `index` of the input, both triangles of it, divided by `unit`, and the unit matrix; returns the sum of the
 * squares. */
static double read_pairs(const struct image *in, int index, double unit, double *matrix, double *vectors)
{
    const int n = in->width, pairs = n * (n - 1) / 2;
    double norm = 0;

    memset(matrix, 0, sizeof *matrix * (size_t)n * (size_t)n);
    memset(vectors, 0, sizeof *vectors * (size_t)n * (size_t)n);
    for (int k = 0, x = 0, y = 0; k < pairs; k++) {
        const double value = ((const double *)image_row(in, index * n + y))[x] / unit;
        matrix[y * n + x] = matrix[x * n + y] = value;
        norm += (x == y ? 1 : 2) * value * value;
        if (++x == n)
            x = ++y;
    }
    for (int k = 0; k < n; k++)
        vectors[k * n + k] = 1;
    return norm;
}

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
    for (int sweep = 0; sweep < EIGEN_MAX_SWEEPS && rest(matrix, n) > EIGEN_REST * norm; sweep++)
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
        const double unit = eigen_find_unit(in, index), norm = read_pairs(in, index, unit, matrix, matrix + entries);
        solve(matrix, matrix + entries, n, norm);
        TRY(eigen_finish(matrix, matrix + entries, n, unit, index, out));
    }
out:
    free(matrix);
    return status;
}

RUNGS_CPU_VERSION(eigen)
