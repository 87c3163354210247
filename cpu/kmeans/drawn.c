/*
 * Idea:     an update from a mini-batch (Sculley 2010) should cost what its own rows cost. Which rows are drawn is
 *           known before they are needed, so each is read once, where it lies, and fetched ahead.
 * Changed:  assign_chunk() asks for the number of the row at each place, fetches those of the next block, and writes down |x|^2 while
 *           the row is near: kmeans_solve_drawn() copies no rows and does not read them again for the inertia.
 * Expect:   1.5 times sixteen with batches of 1024 rows, whose copies are 1024 waits for memory and whose squares are half as much
 *           work as their products; the same time without batches.
 * Result:   1.36 times sixteen for 100 updates from 1024 rows each and the last assignment of all rows, not 1.5
 *           (results/cpu2_avx2/kmeans/kmeans_252x189_batch_1024.json), 9 times scikit-learn's MiniBatchKMeans. Without batches 0.86
 *           times sixteen (results/cpu2/kmeans/kmeans_epita_11.json).
 * From:     cpu/sixteen
 */
/* Try: make bench-kmeans VERSIONS=cpu P="start=rows iterations=100 batch=1024" */
#include <string.h>

#include "common/algo/kmeans.h"
#include "common/simd/simd.h"

/* Sums of BLOCK rows fill 12 of 16 registers, or those of 8 rows are in 8 of 32: then pointers are what there are few of. */
enum { LANES = 16, VECTORS = LANES * 4 / SIMD_BYTES, BLOCK = VECTORS == 1 ? 8 : 12 / VECTORS };

/* The label of the smallest score, ties to the lower. */
static int first_smallest(const simd_i32 scores[VECTORS], const simd_i32 labels[VECTORS])
{
    simd_i32 least = scores[0], found = {0};

    for (int v = 1; v < VECTORS; v++)
        least = simd_min_i32(least, scores[v]);
    least = (simd_i32)simd_splat((uint32_t)simd_smallest_i32(least));
    for (int v = 0; v < VECTORS; v++) /* negative where the score is the smallest */
        found = simd_min_i32(found, (scores[v] == least) & (labels[v] - KMEANS_MAX_K));
    return simd_smallest_i32(found) + KMEANS_MAX_K;
}

/* For BLOCK rows the smallest of |C|^2 - 128 x C; on the way the next ones come nearer, 4 bytes of a line at a time. */
static void nearest(const struct kmeans_table *table, const uint16_t *x[BLOCK], const char *next[BLOCK],
                    int found[BLOCK])
{
    simd_i32 smallest[BLOCK][VECTORS], labels[BLOCK][VECTORS] = {{{0}}}, own[VECTORS];

    for (int lane = 0; lane < LANES; lane++)
        own[lane * VECTORS / LANES][lane % (LANES / VECTORS)] = lane;
    for (int r = 0; r < BLOCK; r++)
        for (int v = 0; v < VECTORS; v++)
            smallest[r][v] = (simd_i32)simd_splat(INT32_MAX);
    for (int group = 0; group < table->groups; group++) {
        const simd_i16 *pieces = (const simd_i16 *)table->pieces + group * table->pairs * VECTORS;
        const simd_i32 *norms = (const simd_i32 *)table->norms + group * VECTORS;
        simd_i32 sums[BLOCK][VECTORS] = {{{0}}};
        for (int p = 0; p < table->pairs; p++) {
            simd_i16 piece[VECTORS];
            for (int v = 0; v < VECTORS; v++)
                piece[v] = pieces[p * VECTORS + v];
            __builtin_prefetch(next[p % BLOCK] + 4 * p);
            for (int r = 0; r < BLOCK; r++) {
                uint32_t pair;
                memcpy(&pair, x[r] + 2 * p, sizeof pair);
                for (int v = 0; v < VECTORS; v++)
                    sums[r][v] = simd_dot2(sums[r][v], (simd_i16)simd_splat(pair), piece[v]);
            }
        }
        for (int r = 0; r < BLOCK; r++)
            for (int v = 0; v < VECTORS; v++) {
                const simd_i32 scores = (simd_i32)((simd_u32)norms[v] - ((simd_u32)sums[r][v] << (KMEANS_SHIFT + 1)));
                const simd_i32 less = scores < smallest[r][v];
                smallest[r][v] = (scores & less) | (smallest[r][v] & ~less);
                labels[r][v] = ((own[v] + group * LANES) & less) | (labels[r][v] & ~less);
            }
    }
    for (int r = 0; r < BLOCK; r++)
        found[r] = first_smallest(smallest[r], labels[r]);
}

static uint64_t square(const uint16_t *x, int features)
{
    int32_t sum = 0;

    for (int f = 0; f < features; f++)
        sum += x[f] * x[f];
    return (uint64_t)sum << 2 * KMEANS_SHIFT;
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
            const int64_t own = i + r < last ? i + r : last - 1, later = own + BLOCK < last ? own + BLOCK : own;
            x[r] = kmeans_narrow_row(assignment->rows, kmeans_row_at(assignment, own), room[r]);
            next[r] = kmeans_row(assignment->rows->in, kmeans_row_at(assignment, later));
        }
        nearest(table, x, next, labels);
        for (int r = 0; r < BLOCK && i + r < last; r++) {
            const int before = assignment->first ? -1 : assignment->labels[i + r];
            if (assignment->squares)
                assignment->squares[i + r] = square(x[r], features);
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
    return kmeans_solve_drawn(in, out, params, assign, NULL);
}

RUNGS_CPU_VERSION(kmeans, .instruction_set = SIMD_NAME)
