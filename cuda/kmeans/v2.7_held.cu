/*
 * Idea:     the rows wait in registers while the block makes the means: nothing that is read from them depends on these.
 * Changed:  a block has 384 rows once, a warp 24 of them, which it reads ahead, 256 features of each; a piece of a centroid that is
 *           loaded from shared memory is multiplied with three times 8 rows, and 24 lanes decide about a row each.
 * Expect:   1.3 times v2.6: an assignment takes 5 us in the place of 8, for the rows' way through the second-level cache, 2 us for 12
 *           MB, is hidden behind that of the sums, and a third is loaded from shared memory.
 */
/* Try: make bench-kmeans VERSIONS=cuda P="start=rows iterations=10" */
#include "cuda/kmeans/steps/means.h"

struct state {
    struct kmeans_small small;
};

enum { THREADS = 512, TILES = 3 /* of 8 rows, of a warp */, ROWS = THREADS / 32 * 8 * TILES };
enum { HELD = 4 /* times 64 features of a row, in registers */ };

static __device__ const uint4 *row_of(const struct kmeans_bytes &bytes, int row, int member)
{
    return (const uint4 *)(bytes.samples + (size_t)row * (size_t)bytes.pitch) + member;
}

/* A warp has 24 rows; those behind the end are computed like the last one. */
static __global__ void __launch_bounds__(THREADS) assign_kernel(struct kmeans_task task, struct kmeans_bytes bytes,
                                                                struct kmeans_step step, bool has_room)
{
    extern __shared__ uint4 shared[];
    __shared__ struct kmeans_means_room means;
    __shared__ struct kmeans_moves moves;
    __shared__ int counts[KMEANS_MAX_K], norms[KMEANS_GROUP];
    int *room = (int *)((uint8_t *)shared + 2 * KMEANS_GROUP * kmeans_plane_stride(bytes.pitch));
    const struct kmeans_sums sums = {has_room ? room : NULL, counts};
    const int top = blockIdx.x * ROWS + threadIdx.x / 32 * 8 * TILES, stride = kmeans_plane_stride(bytes.pitch);
    const int group = threadIdx.x % 32 / 4, member = threadIdx.x % 4, last = task.count - 1; /* as in mma.cuh */
    const uint8_t *planes = (const uint8_t *)shared, *own = planes + group * stride + 16 * member;
    const int i = top + 8 * (group / 2) + 2 * member + group % 2, mine = group < 2 * TILES && i < task.count ? i : -1;
    uint4 held[TILES][HELD];
    unsigned wides[TILES][2];
    int smallest[TILES][2], labels[TILES][2] = {}; /* of rows 2 member and 2 member + 1 of a tile */

#pragma unroll
    for (int t = 0; t < TILES; t++) {
        const uint4 *x = row_of(bytes, min(top + 8 * t + group, last), member);
#pragma unroll
        for (int at = 0; at < HELD; at++)
            held[t][at] = 64 * at < bytes.pitch ? x[4 * at] : uint4{};
#pragma unroll
        for (int r = 0; r < 2; r++) {
            wides[t][r] = bytes.wide[min(top + 8 * t + 2 * member + r, last)];
            smallest[t][r] = INT32_MAX;
        }
    }
    if (kmeans_stayed(step))
        return;
    const int squares = bytes.squares[min(i, last)], before = kmeans_label_before(task, step.number == 0, mine);
    kmeans_sums_clear(task, bytes.pitch, sums);
    for (int cluster = 0; cluster < task.k; cluster += KMEANS_GROUP) {
        int lower[TILES][4] = {}, upper[TILES][4] = {};
        __syncthreads();
        if (step.number == 0)
            kmeans_load_planes(task, bytes.pitch, cluster, (uint8_t *)shared, norms);
        else
            kmeans_load_means(task, bytes, step, cluster, (uint8_t *)shared, norms, &means);
        __syncthreads();
#pragma unroll
        for (int at = 0; at < HELD; at++)
#pragma unroll
            for (int t = 0; t < TILES && 64 * at < bytes.pitch; t++) {
                kmeans_multiply(lower[t], own + 64 * at, stride, held[t][at]);
                kmeans_multiply(upper[t], own + KMEANS_GROUP * stride + 64 * at, stride, held[t][at]);
            }
        for (int at = 64 * HELD; at < bytes.pitch; at += 64)
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                const uint4 samples = row_of(bytes, min(top + 8 * t + group, last), member)[at / 16];
                kmeans_multiply(lower[t], own + at, stride, samples);
                kmeans_multiply(upper[t], own + KMEANS_GROUP * stride + at, stride, samples);
            }
#pragma unroll
        for (int r = 0; r < 4 * TILES; r++) {
            const int t = r / 4, c = r % 4, j = group + 8 * (c / 2);
            const int wide = kmeans_wide_product(wides[t][c % 2], planes + j * stride, KMEANS_GROUP * stride);
            const int score = kmeans_score(norms[j], lower[t][c] + 256 * upper[t][c] + wide);
            if (score < smallest[t][c % 2]) {
                smallest[t][c % 2] = score;
                labels[t][c % 2] = cluster + j;
            }
        }
    }
    int score = 0, label = 0; /* of row i */
#pragma unroll
    for (int at = 0; at < 2 * TILES; at++) {
        int &lowest = smallest[at / 2][at % 2], &nearest = labels[at / 2][at % 2];
#pragma unroll
        for (int lanes = 4; lanes < 32; lanes *= 2) { /* among the groups */
            const int other = __shfl_xor_sync(0xffffffff, lowest, lanes);
            const int its = __shfl_xor_sync(0xffffffff, nearest, lanes);
            if (other < lowest || (other == lowest && its < nearest)) {
                lowest = other;
                nearest = its;
            }
        }
        score = group == at ? lowest : score;
        label = group == at ? nearest : label;
    }
    const unsigned long long distance = (unsigned long long)(((long long)squares << (2 * KMEANS_SHIFT)) + score);
    if (mine >= 0)
        task.distances[i] = 1 + distance;
    kmeans_for_moved(task, mine, before, label, &moves, [&](int moved, int cluster, int sign) {
        kmeans_sums_add(task, bytes, sums, moved, cluster, sign);
    });
    kmeans_add_inertia(step, mine >= 0 ? distance : 0, &means);
    __syncthreads();
    kmeans_sums_hand_over(task, bytes.pitch, sums);
}

static enum status assign(const struct kmeans_task *task, const struct kmeans_bytes *bytes,
                          const struct kmeans_step *step, cudaStream_t stream)
{
    const size_t planes = kmeans_planes_bytes(bytes->pitch), sums = kmeans_sums_bytes(task, bytes);
    enum status status = STATUS_OK;

    assign_kernel<<<ceiling_divide(task->count, ROWS), THREADS, planes + sums, stream>>>(*task, *bytes, *step, sums > 0);
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

RUNGS_CUDA_VERSION(kmeans, .unavailable = unavailable)
