/*
 * Problem:  cpu/serial is compute-bound and uses one core.
 * Idea:     Each thread assigns its rows. Privatization: reduction() makes private sums, 32 KB for
 *           16 centroids of 256 features, and adds them up at the end.
 * Expect:   The speedup over cpu/serial is the number of cores.
 * Result:   11 times as fast as cpu/serial with 16 threads, 65 ms
 *           (results/h100/kmeans/kmeans_252x189_climb.json); the reason is not known. 1.8 times
 *           with 2 threads (results/cpu2/kmeans/kmeans_252x189.json).
 * Run:      make diff-kmeans A=cpu/serial B=cpu/omp
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
#pragma omp parallel for schedule(static) reduction(+ : sums[:size], counts[:assignment->k])
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
