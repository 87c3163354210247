/*
 * Idea:     threads share the groups of matrices.
 * Changed:  the loop over groups is a parallel one, dynamic, since some groups take more sweeps; each thread has room of its own.
 * Expect:   1.9 times cpu/lanes on two cores where there are more than two groups.
 * Result:   for one matrix the same work as lanes and the same time (results/cpu2/eigen/eigen_198x198.json); a batch is not in
 *           this file.
 * From:     cpu/lanes
 */
/* Try: make bench-eigen VERSIONS=cpu/simd,cpu/lanes,cpu/batch,peer/openblas SIZE=6x6000 */
#include <stdlib.h>

#include "common/algo/eigen.h"
#include "cpu/eigen/shared/rotation.h"

static const double at_right_angles =
    1e-13; /* of |R|^2: 100 times what rounding leaves, 1/100 of the contract's residual */

static simd_f64 product(const simd_f64 *p, const simd_f64 *q, int n)
{
    simd_f64 sum = {0};

    for (int k = 0; k < n; k++)
        sum += p[k] * q[k];
    return sum;
}

/* Two lines as their rotated combinations. */
static void rotate(simd_f64 *p, simd_f64 *q, int n, simd_f64 cosine, simd_f64 sine)
{
    for (int k = 0; k < n; k++) {
        const simd_f64 a = p[k], b = q[k];
        p[k] = cosine * a - sine * b;
        q[k] = sine * a + cosine * b;
    }
}

static void solve(simd_f64 *lines, int n, simd_f64 norm)
{
    bool turned = true;

    for (int sweep = 0; sweep < EIGEN_MAX_SWEEPS && turned; sweep++) {
        turned = false;
        for (int p = 0; p < n - 1; p++)
            for (int q = p + 1; q < n; q++) {
                simd_f64 *a = lines + p * n, *b = lines + q * n, cosine, sine;
                const simd_f64 ab = product(a, b, n);
                const simd_i64 wanted = (simd_f64)((simd_i64)ab & INT64_MAX) > at_right_angles * norm;
                if (!any(wanted))
                    continue;
                rotation(product(a, a, n), product(b, b, n), ab, wanted, &cosine, &sine);
                rotate(a, b, n, cosine, sine);
                turned = true;
            }
    }
}

/* Lines of length 1 are the vectors; what lengths have above the shift are the values, on a diagonal. */
static void finish(const simd_f64 *lines, double *matrix, double *vectors, int n, int lane, double shift)
{
    for (int k = 0; k < n; k++) {
        const double length = sqrt(product(lines + k * n, lines + k * n, n)[lane]);
        for (int y = 0; y < n; y++)
            vectors[k * n + y] = lines[k * n + y][lane] / length;
        matrix[k * n + k] = length - shift;
    }
}

/* Matrices first to first + count - 1. */
static enum status run_group(const struct image *in, struct image *out, int first, int count, double *matrix,
                             simd_f64 *lines)
{
    const int n = in->width;
    double *vectors = matrix + (size_t)n * (size_t)n;
    simd_f64 norm = {0}, shift = {0};
    enum status status = STATUS_OK;

    for (int lane = 0; lane < LANES; lane++) {
        norm[lane] = eigen_begin(in, first + (lane < count ? lane : 0), matrix, vectors);
        shift[lane] = norm[lane] > 0 ? 2 * sqrt(norm[lane]) : 1;
        for (int k = 0; k < n * n; k++)
            lines[k][lane] = matrix[k] + (k % (n + 1) == 0 ? shift[lane] : 0);
    }
    solve(lines, n, norm);
    for (int lane = 0; lane < count; lane++) {
        finish(lines, matrix, vectors, n, lane, shift[lane]);
        TRY(eigen_finish(matrix, vectors, n, first + lane, out));
    }
out:
    return status;
}

static enum status run(const struct image *in, struct image *out, const struct eigen_params *params)
{
    const int n = in->width, count = in->height / n;
    const size_t entries = (size_t)n * (size_t)n;
    enum status status = STATUS_OK;

    (void)params;
#pragma omp parallel
    {
        double *matrix = malloc(2 * entries * sizeof *matrix);
        simd_f64 *lines = aligned_alloc(SIMD_BYTES, entries * sizeof *lines);
        enum status own = matrix && lines ? STATUS_OK : STATUS_NO_MEMORY;
#pragma omp for schedule(dynamic)
        for (int first = 0; first < count; first += LANES)
            if (own == STATUS_OK)
                own = run_group(in, out, first, count - first < LANES ? count - first : LANES, matrix, lines);
#pragma omp critical
        status = status == STATUS_OK ? own : status;
        free(matrix);
        free(lines);
    }
    if (status == STATUS_NO_MEMORY)
        return status_set(status, "no memory for matrices of %d columns", n);
    if (status != STATUS_OK) /* the message may be another thread's */
        return status_set(status, "the Jacobi rotations do not converge: not all of a matrix is finite");
    return STATUS_OK;
}

RUNGS_CPU_VERSION(eigen, .instruction_set = SIMD_NAME)
