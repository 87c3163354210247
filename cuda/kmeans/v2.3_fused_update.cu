/*
 * Problem:  An iteration of cuda/v2.2 is two launches; one block makes the means while others wait.
 * Idea:     Kernel fusion: every block makes all means from the sums of the assignment before, 64
 *           KB from L2, so an iteration is one launch. 132 blocks of 512 threads instead of 264 of
 *           256 halve these reads.
 * Expect:   1.5 times as fast as cuda/v2.2: an iteration is one launch, and no block makes means
 *           alone.
 * Result:   1.3 times as fast as cuda/v2.2, 457 us (results/h100/kmeans/kmeans_252x189_climb.json).
 * Run:      make diff-kmeans A=cuda/v2.2 B=cuda/v2.3
 */
#include "cuda/kmeans/shared/means.h"

struct state {
    struct kmeans_small small;
};

static int most_blocks = 132;
static const int some_blocks[] = {132, 264, 396, 528, 0};
static struct tunable tunables[] = {{"blocks", &most_blocks, some_blocks, "blocks that share out all rows"}, {}};

enum { THREADS = 512, ROWS = THREADS / 32 * 8 };

/* A block; a warp has 8 rows from block + 8 warp on; those behind the end are computed like the last one. The distance
 * of the thread's own row, 0 of none. */
static __device__ unsigned long long assign_rows(const struct kmeans_task &task, const struct kmeans_bytes &bytes,
                                                 const struct kmeans_step &step, struct kmeans_means_room *means,
                                                 int block, bool loads, uint4 *shared, const struct kmeans_sums &sums)
{
    __shared__ struct kmeans_moves moves;
    __shared__ int norms[KMEANS_GROUP];
    const int top = block + threadIdx.x / 32 * 8, stride = kmeans_plane_stride(bytes.pitch);
    const int group = threadIdx.x % 32 / 4, member = threadIdx.x % 4; /* as in mma.cuh */
    const size_t row = (size_t)min(top + group, task.count - 1);
    const uint8_t *planes = (const uint8_t *)shared, *own = planes + group * stride + 16 * member;
    const uint4 *x = (const uint4 *)(bytes.samples + row * (size_t)bytes.pitch) + member;
    const int i = top + 2 * member + group, mine = group < 2 && i < task.count ? i : -1, last = task.count - 1;
    const unsigned wides[2] = {bytes.wide[min(top + 2 * member, last)], bytes.wide[min(top + 2 * member + 1, last)]};
    const int squares = bytes.squares[min(i, last)], before = kmeans_label_before(task, step.number == 0, mine);
    int smallest[2] = {INT32_MAX, INT32_MAX}, labels[2] = {}; /* of rows 2 member and 2 member + 1 */

    for (int cluster = 0; cluster < task.k; cluster += KMEANS_GROUP) {
        int lower[4] = {}, upper[4] = {};
        if (loads) {
            __syncthreads();
            if (step.number == 0)
                kmeans_load_planes(task, bytes.pitch, cluster, (uint8_t *)shared, norms);
            else
                kmeans_load_means(task, bytes, step, cluster, (uint8_t *)shared, norms, means);
            __syncthreads();
        }
        for (int at = 0; at < bytes.pitch; at += 64) {
            const uint4 samples = x[at / 16];
            kmeans_multiply(lower, own + at, stride, samples);
            kmeans_multiply(upper, own + KMEANS_GROUP * stride + at, stride, samples);
        }
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int j = group + 8 * (r / 2);
            const int wide = kmeans_wide_product(wides[r % 2], planes + j * stride, KMEANS_GROUP * stride);
            const int score = kmeans_score(norms[j], lower[r] + 256 * upper[r] + wide);
            if (score < smallest[r % 2]) {
                smallest[r % 2] = score;
                labels[r % 2] = cluster + j;
            }
        }
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
    const unsigned long long distance =
        (unsigned long long)(((long long)squares << (2 * KMEANS_SHIFT)) + (group == 0 ? smallest[0] : smallest[1]));
    if (mine >= 0)
        task.distances[i] = 1 + distance;
    kmeans_for_moved(
        task, mine, before, group == 0 ? labels[0] : labels[1], &moves,
        [&](int moved, int cluster, int sign) { kmeans_sums_add(task, bytes, sums, moved, cluster, sign); });
    return mine >= 0 ? distance : 0;
}

static __global__ void assign_kernel(struct kmeans_task task, struct kmeans_bytes bytes, struct kmeans_step step,
                                     bool has_room)
{
    extern __shared__ uint4 shared[];
    __shared__ struct kmeans_means_room means;
    __shared__ int counts[KMEANS_MAX_K];
    int *room = (int *)((uint8_t *)shared + 2 * KMEANS_GROUP * kmeans_plane_stride(bytes.pitch));
    const struct kmeans_sums sums = {has_room ? room : NULL, counts};
    unsigned long long inertia = 0;

    if (kmeans_stayed(step))
        return;
    kmeans_sums_clear(task, bytes.pitch, sums);
    for (int tile = blockIdx.x; tile * ROWS < task.count; tile += gridDim.x)
        inertia += assign_rows(task, bytes, step, &means, tile * ROWS, tile == (int)blockIdx.x || task.k > KMEANS_GROUP,
                               shared, sums);
    kmeans_add_inertia(step, inertia, &means);
    __syncthreads();
    kmeans_sums_hand_over(task, bytes.pitch, sums);
}

static enum status assign(const struct kmeans_task *task, const struct kmeans_bytes *bytes,
                          const struct kmeans_step *step, cudaStream_t stream)
{
    const size_t planes = kmeans_planes_bytes(bytes->pitch), sums = kmeans_sums_bytes(task, bytes);
    const int tiles = (int)ceiling_divide(task->count, ROWS),
              most = task->count / KMEANS_BLOCK_ROWS + (int)device_blocks(most_blocks);
    enum status status = STATUS_OK;

    assign_kernel<<<min(tiles, most), THREADS, planes + sums, stream>>>(*task, *bytes, *step, sums > 0);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct kmeans_params *params)
{
    state->small.assign = assign;
    return kmeans_small_create(&state->small, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct kmeans_params *params, cudaStream_t stream)
{
    return kmeans_small_solve(&state->small, in, out, params, stream);
}

static void teardown(struct state *state)
{
    kmeans_small_free(&state->small);
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(kmeans, .unavailable = unavailable, .declines = kmeans_all_rows, .tunables = tunables,
                   .staged = true)
