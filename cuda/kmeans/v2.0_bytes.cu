/*
 * Idea:     |x - c|^2 = |x|^2 - 2 x c + |c|^2, and |x|^2 is the same for all centroids: what decides are products of bytes, four
 *           of which are one instruction.
 * Changed:  samples are packed into bytes once a call, centroids into two planes of bytes in shared memory, 16 of them at a
 *           time; a thread has a row and all 16 sums. A warp adds up rows that moved. Rows that do not fit go as in v1.4.
 * Expect:   5 times v1.4: 2048 __dp4a() a row in the place of 4096 differences in 64 bits, half the memory, and no shuffles.
 *           47,628 rows are 100 million of these, 7 us at 64 a cycle and multiprocessor.
 * Result:   13.8 ms, 1.2 times v1.4 (results/h200/kmeans/kmeans_252x189.json). v2.1, whose assignment is another again,
 *           takes as long: what is left is in the start and in the updates, which no rung up to here has touched.
 */
/* Try: make bench-kmeans VERSIONS=cuda P="start=rows iterations=10" */
#include "cuda/kmeans/shared/bytes.h"

struct state {
    struct kmeans_memory memory;
    struct kmeans_bytes bytes;
};

enum { THREADS = 128 };

/* Rows behind the end are computed like the last one. */
static __global__ void assign_kernel(struct kmeans_task task, struct kmeans_bytes bytes, bool first)
{
    __shared__ struct kmeans_moves moves;
    extern __shared__ uint4 shared[];
    __shared__ int norms[KMEANS_GROUP];
    const int i = blockIdx.x * THREADS + threadIdx.x, stride = kmeans_plane_stride(bytes.pitch);
    const size_t row = (size_t)min(i, task.count - 1);
    const uint4 *x = (const uint4 *)(bytes.samples + row * (size_t)bytes.pitch);
    int smallest = INT32_MAX, label = 0;

    if (kmeans_finished(task))
        return;
    for (int group = 0; group < task.k; group += KMEANS_GROUP) {
        unsigned lower[KMEANS_GROUP] = {}, upper[KMEANS_GROUP] = {};
        kmeans_load_planes(task, bytes.pitch, group, (uint8_t *)shared, norms);
        __syncthreads();
        for (int at = 0; at < bytes.pitch / 16; at++) {
            const uint4 samples = x[at];
#pragma unroll
            for (int j = 0; j < KMEANS_GROUP; j++) {
                lower[j] = kmeans_dot(samples, shared[j * stride / 16 + at], lower[j]);
                upper[j] = kmeans_dot(samples, shared[(KMEANS_GROUP + j) * stride / 16 + at], upper[j]);
            }
        }
#pragma unroll
        for (int j = 0; j < KMEANS_GROUP; j++) {
            const int wide =
                kmeans_wide_product(bytes.wide[row], (const uint8_t *)shared + j * stride, KMEANS_GROUP * stride);
            const int score = kmeans_score(norms[j], (int)(lower[j] + 256 * upper[j]) + wide);
            if (score < smallest) {
                smallest = score;
                label = group + j;
            }
        }
        __syncthreads();
    }
    kmeans_move_rows(task, first, i < task.count ? i : -1, label, &moves);
}

static enum status assign(void *erased, const struct kmeans_task *task, bool first, cudaStream_t stream)
{
    const struct kmeans_bytes *bytes = &((struct state *)erased)->bytes;
    enum status status = STATUS_OK;

    TRY(kmeans_bytes_begin(bytes, task, first, stream));
    if (!task->small)
        return STATUS_OK;
    assign_kernel<<<ceiling_divide(task->count, THREADS), THREADS, kmeans_planes_bytes(bytes->pitch), stream>>>(
        *task, *bytes, first);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct kmeans_params *params)
{
    return kmeans_bytes_create(&state->bytes, &state->memory, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct kmeans_params *params, cudaStream_t stream)
{
    return kmeans_device_solve(&state->memory, in, out, params, assign, state, stream);
}

static void teardown(struct state *state)
{
    kmeans_memory_free(&state->memory);
    kmeans_bytes_free(&state->bytes);
}

RUNGS_CUDA_VERSION(kmeans, .declines = kmeans_all_rows)
