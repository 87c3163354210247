/*
 * Idea:     The definition, Lloyd's algorithm: the squared distance of every row to every centroid,
 *           difference by difference. It is the reference of all other versions.
 * Expect:   47,628 rows x 16 centroids x 256 features are 195 million differences per assignment, 4
 *           in a vector of 64-bit numbers: 100 ms.
 * Run:      make bench-kmeans VERSIONS=cpu
 */
#include <string.h>

#include "common/algo/kmeans.h"

static int nearest(const int32_t *row, const struct kmeans_assignment *assignment)
{
    const int features = assignment->rows->features;
    int64_t smallest = INT64_MAX;
    int label = 0;

    for (int j = 0; j < assignment->k; j++) {
        const int32_t *centroid = assignment->centroids + j * features;
        int64_t sum = 0;
        for (int f = 0; f < features; f++)
            sum += (int64_t)(row[f] - centroid[f]) * (row[f] - centroid[f]);
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    return label;
}

static enum status assign(void *state, const struct kmeans_assignment *assignment)
{
    const int features = assignment->rows->features;
    const size_t size = (size_t)assignment->k * (size_t)features;
    int64_t *sums = assignment->sums, *counts = assignment->counts;

    (void)state;
    memset(sums, 0, size * sizeof *sums);
    memset(counts, 0, (size_t)assignment->k * sizeof *counts);
    for (int64_t i = 0; i < assignment->rows->count; i++) {
        const int32_t *row = assignment->rows->fixed + i * features;
        const int label = nearest(row, assignment);
        assignment->labels[i] = label;
        counts[label]++;
        for (int f = 0; f < features; f++)
            sums[label * features + f] += row[f];
    }
    return STATUS_OK;
}

static enum status run(const struct image *in, struct image *out, const struct kmeans_params *params)
{
    return kmeans_solve(in, out, params, assign, NULL, true);
}

RUNGS_CPU_VERSION(kmeans)
