/*
 * Problem:  cpu/register_tile reads the tensor from memory twice per iteration, for u and for P.
 * Idea:     Loop fusion: a row of factor u needs only its slice (24 x 24 samples). 8 slices are
 *           read for their rows of u and are still in L1 when they are added to P (one per thread).
 * Expect:   1.25 times as fast with rank 16: 38 MB of traffic, not 76; more where memory is slow.
 * Result:   2.7 times as fast as cpu/register_tile with rank 16
 *           (results/cpu2/ntf/ntf_24x16520_rank16.json, there cpu/registers); the reason is not
 *           known.
 * Run:      make diff-ntf A=cpu/register_tile B=cpu/fused
 */
#include <stdlib.h>
#include <string.h>

#include "common/algo/ntf.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4, RUN = 256 };
enum { ROWS = 8 /* slices of a tile */ };

struct tree {
    float *sums;            /* P */
    float *products, *copy; /* v(s,k) w(t,k), a row for each sample of a slice; the tensor in f32 */
    const float *slices;
    size_t step;
};

/* Pointers to ROWS slices from r on, the last one for those that are missing; how many there are. */
static int take_slices(const struct tree *tree, const struct ntf_work *work, int r, const float *slices[ROWS])
{
    const int left = work->sides[0] - r, count = left < ROWS ? left : ROWS;

    for (int row = 0; row < ROWS; row++)
        slices[row] = tree->slices + (size_t)(r + (row < count ? row : count - 1)) * tree->step;
    return count;
}

/* The numerators of u's rows for `count` slices. */
static void sum_rows(const struct tree *tree, struct ntf_work *work, const float *const slices[ROWS], int r, int count)
{
    const int samples = work->sides[1] * work->sides[2], stride = work->stride;

    for (int k = 0; k < stride; k += LANES) {
        simd_f32 totals[ROWS] = {{0}};
        for (int begin = 0; begin < samples; begin += RUN) {
            simd_f32 sums[ROWS] = {{0}};
            for (int i = begin; i < samples && i < begin + RUN; i++) {
                const simd_f32 product = (simd_f32)simd_load(tree->products + (size_t)i * (size_t)stride + (size_t)k);
#pragma GCC unroll 8
                for (int row = 0; row < ROWS; row++)
                    sums[row] = simd_multiply_add(sums[row], slices[row][i] - (simd_f32){0}, product);
            }
            for (int row = 0; row < ROWS; row++)
                totals[row] += sums[row];
        }
        for (int row = 0; row < count; row++)
            simd_store(work->numerators[0] + (size_t)(r + row) * (size_t)stride + k, (simd_u8)totals[row]);
    }
}

/* Adds the samples of `count` slices, times rows of u, to as many rows of P. */
SIMD_INLINE void add_slices(const float *const slices[ROWS], const float *u, int count, int samples, int stride,
                            float *run)
{
    for (int k = 0; k < stride; k += LANES) {
        simd_f32 rows[ROWS];
        for (int row = 0; row < ROWS; row++)
            rows[row] = row < count ? (simd_f32)simd_load(u + row * stride + k) : (simd_f32){0};
        for (int i = 0; i < samples; i++) {
            float *to = run + (size_t)i * (size_t)stride + k;
            simd_f32 sum = (simd_f32)simd_load(to);
#pragma GCC unroll 8
            for (int row = 0; row < ROWS; row++)
                sum = simd_multiply_add(sum, slices[row][i] - (simd_f32){0}, rows[row]);
            simd_store(to, (simd_u8)sum);
        }
    }
}

static enum status update_u(const struct tree *tree, struct ntf_work *work)
{
    const int samples = work->sides[1] * work->sides[2], stride = work->stride;
    const size_t entries = (size_t)samples * (size_t)stride;
    /* P goes with the new rows, and with the old ones where all factors come from old ones. */
    const float *u = work->params->update == NTF_DAMPED ? work->factors[0] : work->next[0];
    enum status status = STATUS_OK;

    ntf_products(work, tree->products);
    memset(tree->sums, 0, entries * sizeof *tree->sums);
#pragma omp parallel if (work->parallel)
    {
        float *run = ntf_floats(2 * entries), *sums = run + entries;
#pragma omp for schedule(static)
        for (int begin = 0; begin < work->sides[0]; begin += RUN) {
            for (int r = begin; run && r < work->sides[0] && r < begin + RUN; r += ROWS) {
                const float *slices[ROWS];
                const int count = take_slices(tree, work, r, slices);
                sum_rows(tree, work, slices, r, count);
                ntf_update(work, 0, r, count);
                add_slices(slices, u + (size_t)r * (size_t)stride, count, samples, stride, run);
            }
            for (size_t i = 0; run && i < entries; i++) {
                sums[i] += run[i];
                run[i] = 0;
            }
        }
#pragma omp critical
        {
            for (size_t i = 0; run && i < entries; i++)
                tree->sums[i] += sums[i];
            if (!run)
                status = STATUS_NO_MEMORY;
        }
        free(run);
    }
    return status == STATUS_OK ? status : status_set(status, "no memory for %zu sums", entries);
}

static enum status pass(void *state, struct ntf_work *work, int mode)
{
    const struct tree *tree = state;

    if (mode == 0)
        return update_u(tree, work);
    ntf_contract(work, mode, tree->sums);
    return STATUS_OK;
}

static enum status run(const struct image *in, struct image *out, const struct ntf_params *params)
{
    const size_t entries = (size_t)in->width * (size_t)in->channels * ntf_stride(params);
    struct tree tree = {.sums = ntf_floats(entries), .products = ntf_floats(entries)};
    enum status status = STATUS_OK;

    if (!tree.sums || !tree.products)
        status = status_set(STATUS_NO_MEMORY, "no memory for %zu sums", entries);
    if (status == STATUS_OK)
        status = ntf_take_floats(in, &tree.slices, &tree.step, &tree.copy);
    if (status == STATUS_OK)
        status = ntf_solve(in, out, params, pass, &tree, true);
    free(tree.sums);
    free(tree.products);
    free(tree.copy);
    return status;
}

RUNGS_CPU_VERSION(ntf, .instruction_set = SIMD_NAME)
