/*
 * mutant.cuh: what the mutants of k-means on the device share: all of cuda/v1.1 but the kernel and assign().
 */
#ifndef RUNGS_KMEANS_MUTANT_CUH
#define RUNGS_KMEANS_MUTANT_CUH

#include "common/cuda/kmeans_solve.h"

enum { MUTANT_THREADS = 128 };

struct state {
    struct kmeans_memory memory;
};

/* Of a row, in 64-bit integers; the first of equals. */
static __device__ int nearest_centroid(const struct kmeans_task &task, const void *row)
{
    long long smallest = INT64_MAX;
    int label = 0;

    for (int j = 0; j < task.k; j++) {
        long long sum = 0;
        for (int f = 0; f < task.features; f++) {
            const long long difference = kmeans_sample(task, row, f) - task.centroids[j * task.features + f];
            sum += difference * difference;
        }
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    return label;
}

static enum status assign(void *unused, const struct kmeans_task *task, bool last, cudaStream_t stream);

static enum status setup(struct state *state, const struct image in[], const struct kmeans_params *params)
{
    return kmeans_memory_create(&state->memory, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct kmeans_params *params, cudaStream_t stream)
{
    return kmeans_device_solve(&state->memory, in, out, params, assign, state, stream);
}

static void teardown(struct state *state)
{
    kmeans_memory_free(&state->memory);
}

#endif
