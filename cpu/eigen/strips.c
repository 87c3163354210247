/*
 * Idea:     rotations of 32 steps are kept, and then go through the vectors in strips of 16 columns (with AVX-512), which stay in the
 *           first-level cache; the lower line of a pair stays in registers, for it is the upper one of the next (Van Zee, van de
 *           Geijn, Quintana-Ortí 2014).
 * Changed:  the diagonals run ahead by 32 steps; lines of vectors are padded to whole strips, which threads share.
 * Expect:   n = 198: half the loads and stores, none of them from the second level, on two cores, so that rotations take a third of
 *           their time, which is two fifths of the whole: 1.4 times cpu/tridiagonal. Small matrices stay on one core: 1.1 times for
 *           n = 31, less than 1 for n = 6, whose strips are padded to 16 columns.
 * Result:   1.2 times tridiagonal for n = 198, within the noise (results/cpu2/eigen/eigen_198x198.json), and no difference for
 *           n = 31; 0.85 times for n = 6, as predicted.
 * From:     cpu/tridiagonal
 */
/* Try: make bench-eigen VERSIONS=cpu/kept,cpu/tridiagonal,cpu/strips,peer/openblas SIZE=198x198 */
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

static double product(const double *p, const double *q, int n)
{
    double sum = 0;

    for (int k = 0; k < n; k++)
        sum += p[k] * q[k];
    return sum;
}

/* Reflects all axes behind k so that line k has one entry, beside[k], right of its diagonal. */
static void reduce(double *matrix, double *vectors, int n, int stride, double *beside, double norm)
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
            add(parts, vectors + y * stride, n, twice * u[y]);
        }
        add(w + first, u + first, rest, -twice / 2 * product(w + first, u + first, rest));
        for (int y = first; y < n; y++) {
            add(matrix + y * n + first, w + first, rest, -u[y]);
            add(matrix + y * n + first, u + first, rest, -w[y]);
            add(vectors + y * stride, parts, n, -u[y]);
        }
    }
}

static void solve(double *matrix, double *vectors, int n, int stride, double norm, struct turn *turns)
{
    const double scale = qr_scale(matrix, n, &norm);
    double diagonal[EIGEN_MAX_SIDE], beside[EIGEN_MAX_SIDE];
    struct step steps[STEPS];
    int count, low, high = n - 1, left = EIGEN_MAX_SWEEPS * n;

    reduce(matrix, vectors, n, stride, beside, norm);
    for (int k = 0; k < n; k++)
        diagonal[k] = matrix[k * n + k];
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
        matrix[k * n + k] = diagonal[k] / scale;
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
        const double norm = eigen_begin(in, index, matrix, matrix + entries);
        matrix[0] += norm - norm; /* no number where not all is finite */
        for (int k = 0; k < n * stride; k++)
            lines[k] = k % stride == k / stride;
        solve(matrix, lines, n, stride, sqrt(norm), (struct turn *)(matrix + 2 * entries));
        for (int y = 0; y < n; y++)
            memcpy(matrix + entries + y * n, lines + y * stride, (size_t)n * sizeof *lines);
        TRY(eigen_finish(matrix, matrix + entries, n, index, out));
    }
out:
    free(lines);
    return status;
}

RUNGS_CPU_VERSION(eigen, .instruction_set = SIMD_NAME)
