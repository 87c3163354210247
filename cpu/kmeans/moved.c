/*
 * Idea:     most rows stay in their cluster: only those that moved are taken from one sum and added to another.
 * Changed:  assign_chunk() compares the label with the one before; what it adds up are differences.
 * Expect:   1.2 times prefetch over ten iterations: after three of them one row in ten still moves, and what is left is the
 *           product.
 * Result:   1.2 times prefetch over start and eleven updates (results/cpu2/kmeans/kmeans_epita_11.json), as predicted. An
 *           iteration, ten more updates after the first (kmeans_epita_1.json), takes 0.84 ms: 12 times OpenCV and 5.4
 *           times scikit-learn.
 * From:     cpu/prefetch
 */
/* Try: make bench-kmeans VERSIONS=cpu P="start=rows iterations=10" */
#include <string.h>

#include "common/algo/kmeans.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4, BLOCK = 8 };

/* For BLOCK rows the smallest of |C|^2 - 128 x C; on the way the next ones come nearer, 4 bytes of a line at a time. */
static void nearest(const struct kmeans_table *table, const uint16_t *x[BLOCK], const char *next[BLOCK],
                    int labels[BLOCK])
{
    int32_t smallest[BLOCK];

    for (int group = 0; group < table->groups; group++) {
        const simd_i16 *pieces = (const simd_i16 *)table->pieces + group * table->pairs;
        const int32_t *norms = table->norms + group * LANES;
        simd_i32 sums[BLOCK] = {{0}};
        for (int p = 0; p < table->pairs; p++) {
            __builtin_prefetch(next[p % BLOCK] + 4 * p);
            for (int r = 0; r < BLOCK; r++) {
                uint32_t pair;
                memcpy(&pair, x[r] + 2 * p, sizeof pair);
                sums[r] = simd_dot2(sums[r], (simd_i16)simd_splat(pair), pieces[p]);
            }
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

static void add(int32_t *sum, const uint16_t *x, int features, int factor)
{
    for (int f = 0; f < features; f++)
        sum[f] += factor * x[f];
}

static void assign_chunk(const struct kmeans_assignment *assignment, const struct kmeans_table *table, int64_t first,
                         int64_t last, int32_t *partial, int64_t *counts)
{
    const int features = assignment->rows->features;
    uint16_t room[BLOCK][KMEANS_MAX_FEATURES + 1];

    for (int64_t i = first; i < last; i += BLOCK) {
        const uint16_t *x[BLOCK];
        const char *next[BLOCK];
        int labels[BLOCK];
        for (int r = 0; r < BLOCK; r++) { /* behind the end the last row again */
            const int64_t behind = i + BLOCK + r;
            x[r] = kmeans_narrow_row(assignment->rows, i + r < last ? i + r : last - 1, room[r]);
            next[r] = kmeans_row(assignment->rows->in, behind < last ? behind : last - 1);
        }
        nearest(table, x, next, labels);
        for (int r = 0; r < BLOCK && i + r < last; r++) {
            const int before = assignment->first ? -1 : assignment->labels[i + r];
            if (before == labels[r])
                continue;
            assignment->labels[i + r] = labels[r];
            add(partial + labels[r] * features, x[r], features, 1);
            counts[labels[r]]++;
            if (before < 0)
                continue;
            add(partial + before * features, x[r], features, -1);
            counts[before]--;
        }
    }
}

static enum status assign(void *state, const struct kmeans_assignment *assignment)
{
    (void)state;
    return kmeans_assign_chunks(assignment, assign_chunk, LANES, true);
}

static enum status run(const struct image *in, struct image *out, const struct kmeans_params *params)
{
    return kmeans_solve(in, out, params, assign, NULL, false);
}

RUNGS_CPU_VERSION(kmeans, .instruction_set = SIMD_NAME)
