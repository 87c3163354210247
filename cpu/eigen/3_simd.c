/*
 * Problem:  C keeps the order of a sum: each addition of cpu/one_sided waits 4 cycles for the last.
 * Idea:     Vectors hold 8 f64 (AVX-512), and a dot product has four independent sums, which do not
 *           wait for each other. Rows are padded to whole vectors.
 * Expect:   5 times as fast at n=198: additions take 250 cycles per pair instead of 2400, but loads
 *           and stores of both rows stay.
 * Result:   1.4 times as fast as cpu/one_sided with 16 threads
 *           (results/h100/eigen/eigen_198x198.json): probably its barriers take most of the time.
 * Run:      make diff-eigen A=cpu/one_sided B=cpu/simd SIZE=198x198
 */
#include <stdlib.h>

#include "common/algo/eigen.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 8, SUMS = 4 };
enum { WORTH_THREADS = 48 /* columns: below, the barriers cost more than they gain */ };

static const double at_right_angles =
    1e-13; /* of |R|^2: 100 times what rounding leaves, 1/100 of the contract's residual */

/* n is a multiple of LANES, here and below. */
static double product(const double *p, const double *q, int n)
{
    simd_f64 sums[SUMS] = {{0}};
    double sum = 0;
    int k = 0;

    for (; k + SUMS * LANES <= n; k += SUMS * LANES)
        for (int i = 0; i < SUMS; i++)
            sums[i] = simd_multiply_add_f64(sums[i], (simd_f64)simd_load(p + k + i * LANES),
                                            (simd_f64)simd_load(q + k + i * LANES));
    for (; k < n; k += LANES)
        sums[0] = simd_multiply_add_f64(sums[0], (simd_f64)simd_load(p + k), (simd_f64)simd_load(q + k));
    sums[0] += sums[1] + (sums[2] + sums[3]);
    for (int lane = 0; lane < LANES; lane++)
        sum += sums[0][lane];
    return sum;
}

/* Two lines as their rotated combinations. */
static void rotate(double *p, double *q, int n, double cosine, double sine)
{
    const simd_f64 c = cosine - (simd_f64){0}, s = sine - (simd_f64){0};

    for (int k = 0; k < n; k += LANES) {
        const simd_f64 a = (simd_f64)simd_load(p + k), b = (simd_f64)simd_load(q + k);
        simd_store(p + k, (simd_u8)simd_multiply_add_f64(c * a, -s, b));
        simd_store(q + k, (simd_u8)simd_multiply_add_f64(s * a, c, b));
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

static void solve(double *lines, int n, int stride, double norm)
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
                turned |= q < n && turn(lines + p * stride, lines + q * stride, stride, norm);
            }
        }
    }
}

/* A copy with padded lines and `shift` added to the diagonal. */
static void pad(const double *matrix, double *lines, int n, int stride, double shift)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < stride; x++)
            lines[y * stride + x] = x < n ? matrix[y * n + x] + (x == y ? shift : 0) : 0;
}

/* Lines of length 1 are the vectors; what lengths have above the shift are the values, on a diagonal. */
static void finish(const double *lines, double *matrix, double *vectors, int n, int stride, double shift)
{
    for (int k = 0; k < n; k++) {
        const double length = sqrt(product(lines + k * stride, lines + k * stride, stride));
        for (int y = 0; y < n; y++)
            vectors[k * n + y] = lines[k * stride + y] / length;
        matrix[k * n + k] = length - shift;
    }
}

static enum status run(const struct image *in, struct image *out, const struct eigen_params *params)
{
    const int n = in->width, stride = (n + LANES - 1) / LANES * LANES;
    const size_t entries = (size_t)n * (size_t)n;
    double *matrix = malloc(2 * entries * sizeof *matrix), *vectors = matrix ? matrix + entries : NULL;
    double *lines = aligned_alloc(64, ((size_t)n * (size_t)stride * sizeof *lines + 63) / 64 * 64);
    enum status status = STATUS_OK;

    (void)params;
    if (!matrix || !lines)
        status = status_set(STATUS_NO_MEMORY, "no memory for a matrix of %d columns", n);
    for (int index = 0; status == STATUS_OK && index < in->height / n; index++) {
        double unit;
        const double norm = eigen_begin(in, index, matrix, vectors, &unit);
        const double shift = norm > 0 ? 2 * sqrt(norm) : 1;
        pad(matrix, lines, n, stride, shift);
        solve(lines, n, stride, norm);
        finish(lines, matrix, vectors, n, stride, shift);
        TRY(eigen_finish(matrix, vectors, n, unit, index, out));
    }
out:
    free(matrix);
    free(lines);
    return status;
}

RUNGS_CPU_VERSION(eigen, .instruction_set = SIMD_NAME)
