/*
 * Idea:     a row whose centroid is nearer than all others by more than they have moved since needs no distances: two bounds
 *           for each row say so (Hamerly 2010).
 * Changed:  assign_chunk() moves the bounds and collects the rows that they do not decide; nearest() gives the second smallest
 *           score too, from which the bounds of these rows are new. Bounds are rounded to the safe side.
 * Expect:   2 times moved over ten iterations, more over fifty: the later ones move centroids by little, and most rows of
 *           histograms lie far from the border of two clusters. No gain for the first three.
 * Result:   missed: no different from moved over ten iterations, start included (results/cpu2/kmeans/kmeans_252x189.json).
 * From:     cpu/moved
 */
/* Try: make bench-kmeans VERSIONS=cpu P="start=rows iterations=10" */
#include <string.h>

#include "common/simd/simd.h"
#include "cpu/kmeans/shared/bounds.h"

enum { LANES = SIMD_BYTES / 4, BLOCK = 8 };

/* For BLOCK rows the smallest of |C|^2 - 128 x C, and the second smallest. */
static void nearest(const struct kmeans_table *table, const uint16_t *x[BLOCK], const char *next[BLOCK],
                    int labels[BLOCK], int32_t smallest[BLOCK], int32_t second[BLOCK])
{

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
                    second[r] = group == 0 && lane == 0 ? INT32_MAX : smallest[r];
                    smallest[r] = score;
                    labels[r] = group * LANES + lane;
                } else if (score < second[r]) {
                    second[r] = score;
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
    int64_t rows[KMEANS_BOUNDS_CHUNK];
    const int count = kmeans_undecided(assignment, first, last, rows);

    for (int i = 0; i < count; i += BLOCK) {
        const uint16_t *x[BLOCK];
        const char *next[BLOCK];
        int labels[BLOCK];
        int32_t smallest[BLOCK], second[BLOCK];
        for (int r = 0; r < BLOCK; r++) { /* behind the end the last row again */
            const int behind = i + BLOCK + r;
            x[r] = kmeans_narrow_row(assignment->rows, rows[i + r < count ? i + r : count - 1], room[r]);
            next[r] = kmeans_row(assignment->rows->in, rows[behind < count ? behind : count - 1]);
        }
        nearest(table, x, next, labels, smallest, second);
        for (int r = 0; r < BLOCK && i + r < count; r++) {
            const int64_t row = rows[i + r];
            const int before = assignment->first ? -1 : assignment->labels[row];
            kmeans_bounds_set(assignment, row, x[r], smallest[r], second[r]);
            if (before == labels[r])
                continue;
            assignment->labels[row] = labels[r];
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
    enum status status = STATUS_OK;

    TRY(kmeans_bounds_begin(state, assignment));
    TRY(kmeans_assign_chunks(assignment, assign_chunk, LANES, true));
out:
    return status;
}

static enum status run(const struct image *in, struct image *out, const struct kmeans_params *params)
{
    struct kmeans_bounds bounds = {.rows = NULL};
    const enum status status = kmeans_solve(in, out, params, assign, &bounds, false);

    kmeans_bounds_free(&bounds);
    return status;
}

RUNGS_CPU_VERSION(kmeans, .instruction_set = SIMD_NAME)
