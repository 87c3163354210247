/*
 * Problem:  In cpu/serial a Jacobi rotation needs the result of the last one: nothing is parallel.
 * Idea:     The order of a tournament: in a step n / 2 pairs without a common axis rotate at the
 *           same time, and after n - 1 steps every pair has met. Threads share rows, then columns.
 * Expect:   3 times as fast on one thread (no stride of n), 1.7 times that on two; small n: slower.
 * Result:   2.1 times as fast as cpu/serial at n=198 with 16 threads
 *           (results/h100/eigen/eigen_198x198.json), probably because each step has three barriers;
 *           at n=31 0.33 times (results/h100/eigen/eigen_31x31.json).
 * Run:      make diff-eigen A=cpu/serial B=cpu/omp SIZE=198x198
 */
#include <stdlib.h>

#include "common/algo/eigen.h"

enum { WORTH_THREADS = 48 /* columns: below, the barriers cost more than they gain */ };

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
    const int pairs = (n + 1) / 2;
    double turn[EIGEN_MAX_SIDE / 2][2];

    for (int sweep = 0; sweep < EIGEN_MAX_SWEEPS && rest(matrix, n) > EIGEN_REST * norm; sweep++)
#pragma omp parallel if (n >= WORTH_THREADS)
        for (int step = 0; step < 2 * pairs - 1; step++) {
#pragma omp for schedule(static)
            for (int k = 0; k < pairs; k++) {
                int p, q;
                eigen_pair(n, step, k, &p, &q);
                turn[k][0] = 1, turn[k][1] = 0;
                if (q < n)
                    eigen_rotation(matrix[p * n + p], matrix[q * n + q], matrix[p * n + q], &turn[k][0], &turn[k][1]);
            }
#pragma omp for schedule(static)
            for (int k = 0; k < pairs; k++) {
                int p, q;
                eigen_pair(n, step, k, &p, &q);
                if (q >= n)
                    continue;
                rotate(matrix + p * n, matrix + q * n, n, 1, turn[k][0], turn[k][1]);
                rotate(vectors + p * n, vectors + q * n, n, 1, turn[k][0], turn[k][1]);
            }
#pragma omp for schedule(static)
            for (int y = 0; y < n; y++)
                for (int k = 0; k < pairs; k++) {
                    int p, q;
                    eigen_pair(n, step, k, &p, &q);
                    if (q < n)
                        rotate(matrix + y * n + p, matrix + y * n + q, 1, 1, turn[k][0], turn[k][1]);
                }
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
