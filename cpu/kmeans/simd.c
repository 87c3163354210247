/*
 * Idea:     the scores are a product of matrices, rows by centroids, with the centroids side by side: sixteen of them
 *           are a vector, and one instruction multiplies two samples of a row with two features of all sixteen.
 * Changed:  the table's layout, and nearest(), in which BLOCK rows share each load of it.
 * Expect:   2 times narrow: no sums over lanes, and one load of centroids for eight products. 195 million products, 32 a
 *           cycle and core, are 1 ms with two threads; adding up the rows is half as much.
 * Result:   the same time as narrow (results/cpu2/kmeans/kmeans_252x189.json), not half: both wait for memory, as the next rung
 *           shows.
 * From:     cpu/narrow
 */
/* Try: make bench-kmeans VERSIONS=cpu P="start=rows iterations=10" */
#include <string.h>

#include "common/algo/kmeans.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4, BLOCK = 8 };

/* For BLOCK rows the smallest of |C|^2 - 128 x C. */
static void nearest(const struct kmeans_table *table, const uint16_t *x[BLOCK], int labels[BLOCK])
{
    int32_t smallest[BLOCK];

    for (int group = 0; group < table->groups; group++) {
        const simd_i16 *pieces = (const simd_i16 *)table->pieces + group * table->pairs;
        const int32_t *norms = table->norms + group * LANES;
        simd_i32 sums[BLOCK] = {{0}};
        for (int p = 0; p < table->pairs; p++)
            for (int r = 0; r < BLOCK; r++) {
                uint32_t pair;
                memcpy(&pair, x[r] + 2 * p, sizeof pair);
                sums[r] = simd_dot2(sums[r], (simd_i16)simd_splat(pair), pieces[p]);
            }
        for (int r = 0; r < BLOCK; r++)
            for (int lane = 0; lane < LANES; lane++) {
                const int32_t score = kmeans_score(norms[lane], sums[r][lane]);
                if ((group == 0 && lane == 0) || score < smallest[r]) {
                    smallest[r] = score;
                    labels[r] = group * LANES + lane;
                }
            }
    }
}

static void assign_chunk(const struct kmeans_assignment *assignment, const struct kmeans_table *table, int64_t first,
                         int64_t last, int32_t *partial, int64_t *counts)
{
    const int features = assignment->rows->features;
    uint16_t room[BLOCK][KMEANS_MAX_FEATURES + 1];

    for (int64_t i = first; i < last; i += BLOCK) {
        const uint16_t *x[BLOCK];
        int labels[BLOCK];
        for (int r = 0; r < BLOCK; r++) /* behind the end the last row again */
            x[r] = kmeans_narrow_row(assignment->rows, i + r < last ? i + r : last - 1, room[r]);
        nearest(table, x, labels);
        for (int r = 0; r < BLOCK && i + r < last; r++) {
            int32_t *sum = partial + labels[r] * features;
            assignment->labels[i + r] = labels[r];
            counts[labels[r]]++;
            for (int f = 0; f < features; f++)
                sum[f] += x[r][f];
        }
    }
}

static enum status assign(void *state, const struct kmeans_assignment *assignment)
{
    (void)state;
    return kmeans_assign_chunks(assignment, assign_chunk, LANES, false);
}

static enum status run(const struct image *in, struct image *out, const struct kmeans_params *params)
{
    return kmeans_solve(in, out, params, assign, NULL, false);
}

RUNGS_CPU_VERSION(kmeans, .instruction_set = SIMD_NAME)
