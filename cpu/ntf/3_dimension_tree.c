/*
 * Problem:  cpu/simd passes over the tensor once per factor; one pass has a stride of a cache line.
 * Idea:     Dimension tree: the tensor times u, one of the three factor matrices, gives a product
 *           P smaller than the tensor, from which the other two follow. So an iteration makes two
 *           passes, for u and for P, and no pass has the stride.
 * Expect:   3 times as fast as cpu/simd: one pass less, and none with the stride, the slowest.
 * Result:   1.2 times as fast as cpu/simd with rank 4 (results/cpu2/ntf/ntf_24x16520.json, there
 *           named cpu/tree), probably because each sample loads and stores a row of P.
 * Run:      make diff-ntf A=cpu/simd B=cpu/dimension_tree
 */
#include <stdlib.h>
#include <string.h>

#include "common/algo/ntf.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4, RUN = 256 };

struct tree {
    float *sums, *run; /* P, and a part of it over RUN slices */
};

/* The numerators of row i, of the columns from k on, over a run of the outer index. */
SIMD_INLINE simd_f32 sum_run(const struct ntf_work *work, int mode, int i, int begin, int end, int k)
{
    const int first = mode == 0, second = mode == 2 ? 1 : 2; /* the other two modes */
    const size_t stride = (size_t)work->stride;
    simd_f32 sum = {0};

    for (int a = begin; a < end; a++) {
        const float *inner = work->factors[second] + k;
        simd_f32 nested = {0};
        for (int b = 0; b < work->sides[second]; b++) {
            const simd_f32 g = ntf_sample(work->in, mode, i, a, b) - (simd_f32){0};
            nested = simd_multiply_add(nested, g, (simd_f32)simd_load(inner + (size_t)b * stride));
        }
        sum =
            simd_multiply_add(sum, nested, (simd_f32)simd_load(work->factors[first] + (size_t)a * stride + (size_t)k));
    }
    return sum;
}

/* Adds G(r,s,t) u(r,k) for one s to P's rows, over a run of slices. */
SIMD_INLINE void add_run(const struct ntf_work *work, int s, int begin, int end, float *run)
{
    const int stride = work->stride;

    for (int r = begin; r < end; r++) {
        const float *u = work->factors[0] + (size_t)r * (size_t)stride;
        for (int t = 0; t < work->sides[2]; t++)
            for (int k = 0; k < stride; k += LANES) {
                float *to = run + (size_t)t * (size_t)stride + k;
                const simd_f32 g = ntf_sample(work->in, 0, r, s, t) - (simd_f32){0};
                simd_store(to, (simd_u8)simd_multiply_add((simd_f32)simd_load(to), g, (simd_f32)simd_load(u + k)));
            }
    }
}

static void sum_slices(const struct tree *tree, const struct ntf_work *work)
{
    const size_t entries = (size_t)work->sides[2] * (size_t)work->stride;

    memset(tree->sums, 0, (size_t)work->sides[1] * entries * sizeof *tree->sums);
#pragma omp parallel for schedule(static) if (work->parallel)
    for (int s = 0; s < work->sides[1]; s++) {
        float *run = tree->run + (size_t)s * entries, *sums = tree->sums + (size_t)s * entries;
        for (int begin = 0; begin < work->sides[0]; begin += RUN) {
            memset(run, 0, entries * sizeof *run);
            add_run(work, s, begin, begin + RUN < work->sides[0] ? begin + RUN : work->sides[0], run);
            for (size_t i = 0; i < entries; i++)
                sums[i] += run[i];
        }
    }
}

static void update_u(struct ntf_work *work)
{
    const int outer = work->sides[1];

#pragma omp parallel for schedule(static) if (work->parallel)
    for (int i = 0; i < work->sides[0]; i++) {
        float *numerators = work->numerators[0] + (size_t)i * (size_t)work->stride;
        for (int k = 0; k < work->stride; k += LANES) {
            double sums[LANES] = {0};
            for (int begin = 0; begin < outer; begin += RUN) {
                const int end = begin + RUN < outer ? begin + RUN : outer;
                const simd_f32 sum = sum_run(work, 0, i, begin, end, k);
                for (int lane = 0; lane < LANES; lane++)
                    sums[lane] += (double)sum[lane];
            }
            for (int lane = 0; lane < LANES; lane++)
                numerators[k + lane] = (float)sums[lane];
        }
        ntf_update(work, 0, i, 1);
    }
}

static enum status pass(void *state, struct ntf_work *work, int mode)
{
    const struct tree *tree = state;

    if (mode == 0)
        update_u(work);
    if (mode == 1)
        sum_slices(tree, work);
    if (mode > 0)
        ntf_contract(work, mode, tree->sums);
    return STATUS_OK;
}

static enum status run(const struct image *in, struct image *out, const struct ntf_params *params)
{
    const size_t entries = (size_t)in->width * (size_t)in->channels * ntf_stride(params);
    struct tree tree = {.sums = ntf_floats(entries), .run = ntf_floats(entries)};
    enum status status = STATUS_OK;

    if (!tree.sums || !tree.run)
        status = status_set(STATUS_NO_MEMORY, "no memory for %zu sums", entries);
    if (status == STATUS_OK)
        status = ntf_solve(in, out, params, pass, &tree, true);
    free(tree.sums);
    free(tree.run);
    return status;
}

RUNGS_CPU_VERSION(ntf, .instruction_set = SIMD_NAME)
