/*
 * Problem:  cpu/simd (Jacobi) makes some 24 n^3 multiply-adds in 8 sweeps: too much work.
 * Idea:     n - 1 Householder reflections leave a tridiagonal matrix. QR (shared/qr.h) then needs 2
 *           steps per eigenvalue (Golub and Van Loan 2013, 8.3). The work is 4.3 n^3.
 * Expect:   2.8 times as fast: a fifth to a sixth of the multiply-adds, on one core instead of two.
 * Result:   0.90 times as fast as cpu/simd at n=198, on one core instead of 16
 *           (results/h100/eigen/eigen_198x198.json); 3.3 times at n=31, where both use one core
 *           (results/h100/eigen/eigen_31x31.json).
 * Run:      make diff-eigen A=cpu/simd B=cpu/tridiagonal SIZE=198x198
 */
#include <stdlib.h>
#include <string.h>

#include "cpu/eigen/shared/qr.h"

/* Two lines as their rotated combinations. */
static void rotate(double *p, double *q, int n, double cosine, double sine)
{
    for (int k = 0; k < n; k++) {
        const double a = p[k], b = q[k];
        p[k] = cosine * a - sine * b;
        q[k] = sine * a + cosine * b;
    }
}

/* Adds `times` a line to another one. */
static void add(double *to, const double *line, int n, double times)
{
    for (int k = 0; k < n; k++)
        to[k] += times * line[k];
}

static double product(const double *p, const double *q, int n)
{
    double sum = 0;

    for (int k = 0; k < n; k++)
        sum += p[k] * q[k];
    return sum;
}

/* Reflects all axes behind k so that line k has one entry, beside[k], right of its diagonal. */
static void reduce(double *matrix, double *vectors, int n, double *beside, double norm)
{
    double sums[2][EIGEN_MAX_SIDE], *w = sums[0], *parts = sums[1];

    for (int k = 0; k < n - 1; k++) {
        double *u = matrix + k * n;
        const int first = k + 1, rest = n - first;
        const double length = sqrt(product(u + first, u + first, rest));
        beside[k] = u[first] > 0 ? -length : length;
        u[first] -= beside[k];
        const double twice = length > QR_NOTHING * norm ? 2 / product(u + first, u + first, rest) : 0;
        memset(w, 0, (size_t)n * sizeof *w);
        memset(parts, 0, (size_t)n * sizeof *parts);
        for (int y = first; y < n; y++) {
            add(w + first, matrix + y * n + first, rest, twice * u[y]);
            add(parts, vectors + y * n, n, twice * u[y]);
        }
        add(w + first, u + first, rest, -twice / 2 * product(w + first, u + first, rest));
        for (int y = first; y < n; y++) {
            add(matrix + y * n + first, w + first, rest, -u[y]);
            add(matrix + y * n + first, u + first, rest, -w[y]);
            add(vectors + y * n, parts, n, -u[y]);
        }
    }
}

static void solve(double *matrix, double *vectors, int n, double norm)
{
    double diagonal[EIGEN_MAX_SIDE], beside[EIGEN_MAX_SIDE];
    struct turn turns[EIGEN_MAX_SIDE];
    int low, high = n - 1;

    reduce(matrix, vectors, n, beside, norm);
    for (int k = 0; k < n; k++)
        diagonal[k] = matrix[k * n + k];
    for (int step = 0; step < EIGEN_MAX_SWEEPS * n && qr_block(beside, norm, &low, &high); step++) {
        qr_step(diagonal, beside, norm, low, high, turns);
        for (int k = low; k < high; k++)
            rotate(vectors + k * n, vectors + (k + 1) * n, n, turns[k - low].cosine, turns[k - low].sine);
    }
    for (int k = 0; k < n; k++)
        matrix[k * n + k] = diagonal[k];
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
        matrix[0] += norm - norm; /* no number where not all is finite */
        solve(matrix, matrix + entries, n, sqrt(norm));
        TRY(eigen_finish(matrix, matrix + entries, n, unit, index, out));
    }
out:
    free(matrix);
    return status;
}

RUNGS_CPU_VERSION(eigen)
