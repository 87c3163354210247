/*
 * Problem:  cpu/tridiagonal reads all eigenvectors from L2 per reflection and QR step, on one core.
 * Idea:     Cache blocking: a strip of 16 columns stays in L1 for all reflections and for 32 QR
 *           steps (Van Zee 2014). Threads share the strips. A reflection passes over the matrix
 *           once.
 * Expect:   2.2 times as fast: 1.4 by rotations times 1.3 by reflections times 1.2 by the one pass.
 * Result:   2.5 times as fast as cpu/tridiagonal at n=198 with 16 threads, 4.3 ms
 *           (results/h100/eigen/eigen_198x198.json).
 * Run:      make diff-eigen A=cpu/tridiagonal B=cpu/cache_blocking SIZE=198x198
 */
#include <stdlib.h>
#include <string.h>

#include "common/simd/simd.h"
#include "cpu/eigen/shared/qr.h"

enum { LANES = SIMD_BYTES / 8, WIDTH = 2 * LANES /* columns of a strip */ };
enum { STEPS = 32, WORTH_THREADS = 48 /* columns: below, the barriers cost more than they gain */ };

struct step {
    int low, high;
    struct turn *turns;
};

/* The rotations of a step in a strip of columns. The lower line of a pair is the upper one of the next. */
static void rotate(double *strip, int stride, const struct step *step)
{
    double *line = strip + step->low * stride;
    simd_f64 a = (simd_f64)simd_load(line), b = (simd_f64)simd_load(line + LANES);

    for (const struct turn *turn = step->turns; turn < step->turns + step->high - step->low; turn++, line += stride) {
        const simd_f64 cosine = turn->cosine - (simd_f64){0}, sine = turn->sine - (simd_f64){0};
        const simd_f64 c = (simd_f64)simd_load(line + stride), d = (simd_f64)simd_load(line + stride + LANES);
        simd_store(line, (simd_u8)simd_multiply_add_f64(cosine * a, -sine, c));
        simd_store(line + LANES, (simd_u8)simd_multiply_add_f64(cosine * b, -sine, d));
        a = simd_multiply_add_f64(cosine * c, sine, a);
        b = simd_multiply_add_f64(cosine * d, sine, b);
    }
    simd_store(line, (simd_u8)a);
    simd_store(line + LANES, (simd_u8)b);
}

/* Adds `times` a line to another one. */
static void add(double *to, const double *line, int n, double times)
{
    for (int k = 0; k < n; k++)
        to[k] += times * line[k];
}

/* Subtracts v times its entry of w and w times its entry of v from a line, then adds `times` the line to a sum. */
static void update(double *restrict line, const double *v, const double *w, int n, int entry, double *restrict sum,
                   double times)
{
    const double of_v = v[entry], of_w = w[entry];

    for (int k = 0; k < n; k++) {
        line[k] -= of_v * w[k] + of_w * v[k];
        sum[k] += times * line[k];
    }
}

static double product(const double *p, const double *q, int n)
{
    double sum = 0;

    for (int k = 0; k < n; k++)
        sum += p[k] * q[k];
    return sum;
}

/* Reflects all axes behind k so that line k has one entry, beside[k], right of its diagonal. */
static void reduce(double *matrix, int n, double *beside, double *twice, double norm)
{
    double sums[2][EIGEN_MAX_SIDE] = {{0}};

    for (int k = 0; k < n - 1; k++) {
        double *u = matrix + k * n, *w = sums[k % 2];
        const double *v = k > 0 ? u - n : sums[1], *before = sums[(k + 1) % 2];
        const int first = k + 1, rest = n - first;
        update(u + k, v + k, before + k, n - k, 0, w + k, 0);
        const double length = sqrt(product(u + first, u + first, rest));
        beside[k] = u[first] > 0 ? -length : length;
        u[first] -= beside[k];
        twice[k] = length > QR_NOTHING * norm ? 2 / product(u + first, u + first, rest) : 0;
        memset(w, 0, (size_t)n * sizeof *w);
        for (int y = first; y < n; y++)
            update(matrix + y * n + first, v + first, before + first, rest, y - first, w + first, twice[k] * u[y]);
        add(w + first, u + first, rest, -twice[k] / 2 * product(w + first, u + first, rest));
    }
}

/* The reflections in a strip of columns: a line is read for one and added to the product with the next. The diagonal
 * of the matrix is 0. */
static void reflect(const double *matrix, double *strip, int n, int stride, const double *twice)
{
    simd_f64 a = {0}, b = {0};

    for (int k = 0; k < n; k++) {
        const double *u = matrix + k * n, *before = k > 0 ? u - n : u;
        simd_f64 next_a = {0}, next_b = {0};
        for (int y = k; y < n; y++) {
            double *line = strip + y * stride;
            const simd_f64 times = before[y] - (simd_f64){0}, next = u[y] - (simd_f64){0};
            const simd_f64 c = simd_multiply_add_f64((simd_f64)simd_load(line), times, a);
            const simd_f64 d = simd_multiply_add_f64((simd_f64)simd_load(line + LANES), times, b);
            simd_store(line, (simd_u8)c);
            simd_store(line + LANES, (simd_u8)d);
            next_a = simd_multiply_add_f64(next_a, next, c);
            next_b = simd_multiply_add_f64(next_b, next, d);
        }
        a = -twice[k] * next_a;
        b = -twice[k] * next_b;
    }
}

static void solve(double *matrix, double *vectors, int n, int stride, double norm, struct turn *turns)
{
    double diagonal[EIGEN_MAX_SIDE], beside[EIGEN_MAX_SIDE], twice[EIGEN_MAX_SIDE];
    struct step steps[STEPS];
    int count, low, high = n - 1, left = EIGEN_MAX_SWEEPS * n;

    reduce(matrix, n, beside, twice, norm);
    twice[n - 1] = 0;
    for (int k = 0; k < n; k++) {
        diagonal[k] = matrix[k * n + k];
        matrix[k * n + k] = 0;
    }
#pragma omp parallel for schedule(static) if (n >= WORTH_THREADS)
    for (int x = 0; x < stride; x += WIDTH)
        reflect(matrix, vectors + x, n, stride, twice);
    do {
        for (count = 0; count < STEPS && left > 0 && qr_block(beside, norm, &low, &high); count++, left--) {
            steps[count] = (struct step){low, high, turns + count * n};
            qr_step(diagonal, beside, norm, low, high, steps[count].turns);
        }
#pragma omp parallel for schedule(static) if (n >= WORTH_THREADS)
        for (int x = 0; x < stride; x += WIDTH)
            for (int i = 0; i < count; i++)
                rotate(vectors + x, stride, &steps[i]);
    } while (count == STEPS);
    for (int k = 0; k < n; k++)
        matrix[k * n + k] = diagonal[k];
}

static enum status run(const struct image *in, struct image *out, const struct eigen_params *params)
{
    const int n = in->width, stride = (n + WIDTH - 1) / WIDTH * WIDTH;
    const size_t entries = (size_t)n * (size_t)n, room = (size_t)n * (size_t)(stride + 2 * n + 2 * STEPS);
    double *lines = aligned_alloc(64, (room * sizeof *lines + 63) / 64 * 64);
    double *matrix = lines ? lines + n * stride : NULL;
    enum status status = STATUS_OK;

    (void)params;
    if (!matrix)
        return status_set(STATUS_NO_MEMORY, "no memory for a matrix of %d columns", n);
    for (int index = 0; index < in->height / n; index++) {
        double unit;
        const double norm = eigen_begin(in, index, matrix, matrix + entries, &unit);
        matrix[0] += norm - norm; /* no number where not all is finite */
        for (int k = 0; k < n * stride; k++)
            lines[k] = k % stride == k / stride;
        solve(matrix, lines, n, stride, sqrt(norm), (struct turn *)(matrix + 2 * entries));
        for (int y = 0; y < n; y++)
            memcpy(matrix + entries + y * n, lines + y * stride, (size_t)n * sizeof *lines);
        TRY(eigen_finish(matrix, matrix + entries, n, unit, index, out));
    }
out:
    free(lines);
    return status;
}

RUNGS_CPU_VERSION(eigen, .instruction_set = SIMD_NAME)
