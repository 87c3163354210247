/*
 * Idea:     the list of points in two passes without a chain. What one pass saves (v2.2), to read the mask a second time, is little
 *           while the mask lies in second-level cache; what it costs is that blocks wait for blocks, one look back after the other.
 *           Here blocks of one kernel count, and in the next one each adds up by itself what all before it have counted.
 * Changed:  count_kernel() and list_kernel() in place of three kernels of shared/list.cu. A thread has 32 pixels, as bits of a word
 *           (shared/stretches.h), a block 8192, so that at 1920x1080 there are 254 counts to add up, one for each thread.
 * Expect:   20 us where v2.1 takes 38.7 and v2.2 36.7 at 1920x1080 with outputs=points: marks 7.8, counts 2.5, and 10 for rows of
 *           the table, which the thread that has them writes one after the other. Less than half of v2.2's 75 at 3840x2160, where
 *           v2.2 looks back through 4050 words, 32 at a time and some 0.5 us each. What is read of counts grows with the square
 *           of the picture: 4 MB in all at 3840x2160.
 * Result:   28.7 us on an H100, where v2.1 takes 38.7 and v2.2 39.0 (results/h100/edges/edges_1920x1080_points.json). At 3840x2160
 *           missed: 67.9 in place of 81.9 (results/h100/edges/edges_3840x2160_points.json), for 26 us of v2.2 are zeros in a million
 *           rows of the table (results/h100/edges/profile_3840x2160_v2.2.txt), and they remain.
 * From:     cuda/v2.1
 */
/* Try: make bench-edges VERSIONS=cuda/v2.1,cuda/v2.2,cuda/v2.3,peer/cub P="outputs=points"
 *      make tune-edges V=cuda/v2.3 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"
#include "cuda/edges/shared/edges.h"
#include "cuda/edges/shared/stretches.h"

struct state {
    struct edges_step step;
    unsigned *counts; /* of points, of each block's pixels */
};

enum { THREADS = 256, WARPS = THREADS / 32 };

static int block_width = 32, block_height = 4;
static const int widths[] = {8, 16, 32, 64, 128, 0}, heights[] = {1, 2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"block_width", &block_width, widths, "threads along x"},
                                    {"block_height", &block_height, heights, "threads along y"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in;
    (void)params;
    return device_block_illegal(block_width * block_height, 0);
}

static __global__ void count_kernel(struct image mask, unsigned *counts)
{
    __shared__ unsigned sums[WARPS];
    const struct stretch own = stretch_read(mask, blockIdx.x * THREADS + threadIdx.x);
    const unsigned sum = warp_sum((unsigned)__popc(own.points));

    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned count = 0;
        for (int i = 0; i < WARPS; i++)
            count += sums[i];
        counts[blockIdx.x] = count;
    }
}

/* A thread adds up counts of others, and each warp says its sums: of all blocks, of those before, of its own points. */
static __global__ void list_kernel(struct image in, struct image mask, struct image points, const unsigned *counts)
{
    __shared__ unsigned totals[WARPS], befores[WARPS], sums[WARPS];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, place = blockIdx.x * THREADS + threadIdx.x;
    const struct stretch own = stretch_read(mask, place);
    const unsigned count = (unsigned)__popc(own.points), up_to = warp_sum_up_to(count);
    unsigned total = 0, before = 0, row = 1 + up_to - count;

    for (unsigned i = threadIdx.x; i < gridDim.x; i += THREADS) {
        total += counts[i];
        before += i < blockIdx.x ? counts[i] : 0;
    }
    total = warp_sum(total);
    before = warp_sum(before);
    if (lane == 31) {
        totals[warp] = total;
        befores[warp] = before;
        sums[warp] = up_to;
    }
    __syncthreads();
    total = 0;
    for (unsigned i = 0; i < WARPS; i++) {
        total += totals[i];
        row += befores[i] + (i < warp ? sums[i] : 0);
    }
    for (unsigned left = own.points; left; left &= left - 1)
        stretch_write(in, points, own.x + __ffs((int)left) - 1, own.y, row++);
    for (unsigned i = total + 1 + place; i < (unsigned)points.height; i += gridDim.x * THREADS)
        *(int4 *)image_row(&points, (int)i) = make_int4(0, 0, 0, 0);
    if (place == 0)
        *(int4 *)points.data = make_int4((int)total, 0, 0, 0);
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    enum status status = STATUS_OK;

    if (params->outputs != EDGES_MASK && !state->counts)
        TRY(device_allocate((void **)&state->counts, stretches_blocks(in, THREADS) * sizeof *state->counts));
    TRY(edges_setup(&state->step, in, params));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image mask = edges_mask(&state->step, out);
    const dim3 block(block_width, block_height);

    TRY(edges_begin(&state->step, in, params, stream));
    TRY(edges_mark_and_plant(&state->step, in, &mask, params, block, stream));
    if (params->low != EDGES_NO_LOW)
        TRY(edges_follow(&state->step, &mask, stream));
    if (params->outputs == EDGES_MASK)
        return STATUS_OK;
    count_kernel<<<stretches_blocks(in, THREADS), THREADS, 0, stream>>>(mask, state->counts);
    CUDA_TRY(cudaGetLastError());
    list_kernel<<<stretches_blocks(in, THREADS), THREADS, 0, stream>>>(*in, mask, out[1], state->counts);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    edges_teardown(&state->step);
    device_free(state->counts);
}

RUNGS_CUDA_VERSION(edges, .tunables = tunables, .illegal = illegal)
