/*
 * Idea:     |x - c|^2 = |x|^2 - 2 x c + |c|^2, and |x|^2 is the same for all centroids: what decides are products of 16-bit
 *           numbers, which vectors have 32 at a time.
 * Changed:  nearest() multiplies and adds up to 32 bits; the compiler finds the vectors. Rows are read as they are, not as
 *           X of 32 bits, and their sums are of 32 bits for 4096 rows (kmeans_assign_chunks()).
 * Expect:   10 times omp: half the memory, a sixteenth of the instructions for a difference; what is left is a sum over the
 *           lanes of a vector for each row and centroid.
 * Result:   3.1 times omp, not 10 (results/cpu2/kmeans/kmeans_252x189.json), probably because the compiler makes vectors of omp
 *           as well; the start by k-means++ counts in.
 * From:     cpu/omp
 */
/* Try: make bench-kmeans VERSIONS=cpu P="start=rows iterations=10" */
#include "common/algo/kmeans.h"

/* The smallest of |C|^2 - 128 x C. */
static int nearest(const struct kmeans_table *table, const struct kmeans_assignment *assignment, const uint16_t *x)
{
    const int features = assignment->rows->features;
    int32_t smallest = INT32_MAX;
    int label = 0;

    for (int j = 0; j < assignment->k; j++) {
        const int16_t *piece = table->pieces + j * 2 * table->pairs;
        int32_t product = 0, score;
        for (int f = 0; f < features; f++)
            product += (int16_t)x[f] * piece[f];
        score = kmeans_score(table->norms[j], product);
        if (score < smallest) {
            smallest = score;
            label = j;
        }
    }
    return label;
}

static void assign_chunk(const struct kmeans_assignment *assignment, const struct kmeans_table *table, int64_t first,
                         int64_t last, int32_t *partial, int64_t *counts)
{
    const int features = assignment->rows->features;
    uint16_t room[KMEANS_MAX_FEATURES + 1];

    for (int64_t i = first; i < last; i++) {
        const uint16_t *x = kmeans_narrow_row(assignment->rows, i, room);
        const int label = nearest(table, assignment, x);
        int32_t *sum = partial + label * features;
        assignment->labels[i] = label;
        counts[label]++;
        for (int f = 0; f < features; f++)
            sum[f] += x[f];
    }
}

static enum status assign(void *state, const struct kmeans_assignment *assignment)
{
    (void)state;
    return kmeans_assign_chunks(assignment, assign_chunk, 1, false);
}

static enum status run(const struct image *in, struct image *out, const struct kmeans_params *params)
{
    return kmeans_solve(in, out, params, assign, NULL, false);
}

RUNGS_CPU_VERSION(kmeans)
