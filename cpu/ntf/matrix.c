/*
 * Idea:     the sums become a product of matrices: the tensor as R rows of S T samples of f32, and the Khatri-Rao
 *           product of v and w, formed once an iteration, as S T rows of K. Multiplied they are u's numerators.
 * Changed:  a u8 tensor becomes one of f32 first, and the loops over s and t one over samples, at most 1024 of them in one
 *           f32 sum.
 * Expect:   no faster by itself: a multiply-add of a vector for each sample, which waits for the one before it. It is what
 *           the next rung cuts into tiles.
 * Result:   1.4 times tree (results/cpu2/ntf/ntf_24x16520.json, rank 4), where nothing was predicted.
 * From:     cpu/tree
 */
/* Try: make bench-ntf VERSIONS=cpu/simd,cpu/tree,cpu/tiles,cpu/registers,cpu/fused */
#include <stdlib.h>
#include <string.h>

#include "common/algo/ntf.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4, RUN = 256 };

struct tree {
    float *sums, *run;      /* P, and a part of it over RUN slices */
    float *products, *copy; /* v(s,k) w(t,k), a row for each sample of a slice; the tensor in f32 */
    const float *slices;
    size_t step;
};

static void update_u(const struct tree *tree, struct ntf_work *work)
{
    const int samples = work->sides[1] * work->sides[2], stride = work->stride;

    ntf_products(work, tree->products);
#pragma omp parallel for schedule(static) if (work->parallel)
    for (int r = 0; r < work->sides[0]; r++) {
        const float *slice = tree->slices + (size_t)r * tree->step;
        for (int k = 0; k < stride; k += LANES) {
            simd_f32 total = {0};
            for (int begin = 0; begin < samples; begin += RUN) {
                simd_f32 sum = {0};
                for (int i = begin; i < samples && i < begin + RUN; i++) {
                    const simd_f32 product =
                        (simd_f32)simd_load(tree->products + (size_t)i * (size_t)stride + (size_t)k);
                    sum = simd_multiply_add(sum, slice[i] - (simd_f32){0}, product);
                }
                total += sum;
            }
            simd_store(work->numerators[0] + (size_t)r * (size_t)stride + k, (simd_u8)total);
        }
        ntf_update(work, 0, r, 1);
    }
}

/* Adds G(r,s,t) u(r,k) for one s to P's rows, over a run of slices. */
SIMD_INLINE void add_run(const struct tree *tree, const struct ntf_work *work, int s, int begin, int end, float *run)
{
    const int stride = work->stride;

    for (int r = begin; r < end; r++) {
        const float *slice = tree->slices + (size_t)r * tree->step + (size_t)s * (size_t)work->sides[2];
        const float *u = work->factors[0] + (size_t)r * (size_t)stride;
        for (int t = 0; t < work->sides[2]; t++)
            for (int k = 0; k < stride; k += LANES) {
                float *to = run + (size_t)t * (size_t)stride + k;
                const simd_f32 g = slice[t] - (simd_f32){0};
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
            add_run(tree, work, s, begin, begin + RUN < work->sides[0] ? begin + RUN : work->sides[0], run);
            for (size_t i = 0; i < entries; i++)
                sums[i] += run[i];
        }
    }
}

static enum status pass(void *state, struct ntf_work *work, int mode)
{
    const struct tree *tree = state;

    if (mode == 0)
        update_u(tree, work);
    if (mode == 1)
        sum_slices(tree, work);
    if (mode > 0)
        ntf_contract(work, mode, tree->sums);
    return STATUS_OK;
}

static enum status run(const struct image *in, struct image *out, const struct ntf_params *params)
{
    const size_t entries = (size_t)in->width * (size_t)in->channels * ntf_stride(params);
    struct tree tree = {.sums = ntf_floats(entries), .run = ntf_floats(entries), .products = ntf_floats(entries)};
    enum status status = STATUS_OK;

    if (!tree.sums || !tree.run || !tree.products)
        status = status_set(STATUS_NO_MEMORY, "no memory for %zu sums", entries);
    if (status == STATUS_OK)
        status = ntf_take_floats(in, &tree.slices, &tree.step, &tree.copy);
    if (status == STATUS_OK)
        status = ntf_solve(in, out, params, pass, &tree, true);
    free(tree.sums);
    free(tree.run);
    free(tree.products);
    free(tree.copy);
    return status;
}

RUNGS_CPU_VERSION(ntf, .instruction_set = SIMD_NAME)
