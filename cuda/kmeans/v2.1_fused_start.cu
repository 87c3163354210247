/*
 * Problem:  The start, k-means++, is half of cuda/v2.0: 15 steps of two kernels, 32 and 11 us.
 * Idea:     Kernel fusion: one kernel per step. Its distances are products of packed bytes (dp4a),
 *           so it reads less, and the last block to end chooses the next centroid (last-block
 *           reduction).
 * Expect:   2 times as fast as cuda/v2.0: a step reads 12 MB, 16 bytes per load.
 * Result:   1.8 times as fast as cuda/v2.0, 755 us (results/h100/kmeans/kmeans_252x189_climb.json).
 * Run:      make diff-kmeans A=cuda/v2.0 B=cuda/v2.1
 */
#include "cuda/kmeans/shared/race.h"

struct state {
    struct kmeans_memory memory;
    struct kmeans_bytes bytes;
};

enum { THREADS = 256, ROWS = THREADS / 32 * 8 };

/* A warp has 8 rows; those behind the end are computed like the last one. */
static __global__ void assign_kernel(struct kmeans_task task, struct kmeans_bytes bytes, bool first)
{
    __shared__ struct kmeans_moves moves;
    extern __shared__ uint4 shared[];
    __shared__ int norms[KMEANS_GROUP];
    const int top = blockIdx.x * ROWS + threadIdx.x / 32 * 8, stride = kmeans_plane_stride(bytes.pitch);
    const int group = threadIdx.x % 32 / 4, member = threadIdx.x % 4; /* as in mma.cuh */
    const size_t row = (size_t)min(top + group, task.count - 1);
    const uint8_t *planes = (const uint8_t *)shared, *own = planes + group * stride + 16 * member;
    const uint4 *x = (const uint4 *)(bytes.samples + row * (size_t)bytes.pitch) + member;
    int smallest[2] = {INT32_MAX, INT32_MAX}, labels[2] = {}; /* of rows 2 member and 2 member + 1 */

    if (kmeans_finished(task))
        return;
    for (int cluster = 0; cluster < task.k; cluster += KMEANS_GROUP) {
        int lower[4] = {}, upper[4] = {};
        kmeans_load_planes(task, bytes.pitch, cluster, (uint8_t *)shared, norms);
        __syncthreads();
        for (int at = 0; at < bytes.pitch; at += 64) {
            const uint4 samples = x[at / 16];
            kmeans_multiply(lower, own + at, stride, samples);
            kmeans_multiply(upper, own + KMEANS_GROUP * stride + at, stride, samples);
        }
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int j = group + 8 * (r / 2), its_row = min(top + 2 * member + r % 2, task.count - 1);
            const int wide = kmeans_wide_product(bytes.wide[its_row], planes + j * stride, KMEANS_GROUP * stride);
            const int score = kmeans_score(norms[j], lower[r] + 256 * upper[r] + wide);
            if (score < smallest[r % 2]) {
                smallest[r % 2] = score;
                labels[r % 2] = cluster + j;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int at = 0; at < 6; at++) { /* among the groups, for both rows */
        const int score = __shfl_xor_sync(0xffffffff, smallest[at % 2], 4 << at / 2);
        const int label = __shfl_xor_sync(0xffffffff, labels[at % 2], 4 << at / 2);
        if (score < smallest[at % 2] || (score == smallest[at % 2] && label < labels[at % 2])) {
            smallest[at % 2] = score;
            labels[at % 2] = label;
        }
    }
    const int i = top + 2 * member + group;
    if (group < 2 && i < task.count)
        task.distances[i] = 1 + (unsigned long long)(((long long)bytes.squares[i] << (2 * KMEANS_SHIFT)) +
                                                     (group == 0 ? smallest[0] : smallest[1]));
    kmeans_move_rows(task, first, group < 2 && i < task.count ? i : -1, group == 0 ? labels[0] : labels[1], &moves);
}

static enum status assign(void *erased, const struct kmeans_task *task, bool first, cudaStream_t stream)
{
    const struct kmeans_bytes *bytes = &((struct state *)erased)->bytes;
    enum status status = STATUS_OK;

    TRY(kmeans_bytes_begin(bytes, task, first, stream));
    if (!task->small)
        return STATUS_OK;
    assign_kernel<<<ceiling_divide(task->count, ROWS), THREADS, kmeans_planes_bytes(bytes->pitch), stream>>>(
        *task, *bytes, first);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status race(void *erased, const struct kmeans_task *task, const struct kmeans_params *params, int attempt,
                        int cluster, cudaStream_t stream)
{
    return kmeans_bytes_race(&((struct state *)erased)->bytes, task, params, attempt, cluster, stream);
}

static enum status setup(struct state *state, const struct image in[], const struct kmeans_params *params)
{
    state->memory.task.knows_distances = true;
    state->memory.race = race;
    state->bytes.packed = params->start == KMEANS_PLUSPLUS && params->k > 1;
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

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(kmeans, .unavailable = unavailable, .declines = kmeans_all_rows)
