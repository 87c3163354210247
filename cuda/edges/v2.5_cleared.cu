/*
 * Idea:     the kernel that marks pixels also sets the table to 0. Rows that are not in use hold zeros, 16 bytes of
 *           each 64, and to write a million of them takes longer than to find the points; while pixels are marked the
 *           memory has little else to do.
 * Changed:  edges_mark_and_clear() (shared/planted.cu) in place of a loop at the end of list_kernel().
 * Expect:   nothing at 1920x1080, where 37,000 rows are not in use. At 3840x2160 with a table of a million rows 20 us less than
 *           v2.4's 60.6: zeros take 26 us by themselves (clear_kernel of v2.2, results/h100/edges/profile_3840x2160_v2.2.txt), and
 *           the 19 us of marking are computing.
 */
/* Try: make bench-edges VERSIONS=cuda/v2.4,cuda/v2.5,peer/cub SIZE=3840x2160 P="outputs=points maximum=1048576"
 *      make tune-edges V=cuda/v2.5 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"
#include "cuda/edges/shared/edges.h"
#include "cuda/edges/shared/stretches.h"

struct state {
    struct edges_step step;
    unsigned *counts; /* of points, of each block's pixels */
};

enum { THREADS = 256, WARPS = THREADS / 32, PLACES = THREADS * (int)STRETCH };

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
    __shared__ uint16_t places[PLACES]; /* of points, in the block's pixels */
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, place = blockIdx.x * THREADS + threadIdx.x;
    const struct stretch own = stretch_read(mask, place);
    const unsigned count = (unsigned)__popc(own.points), up_to = warp_sum_up_to(count);
    unsigned total = 0, before = 0, row = 1, packed = 0, slot = up_to - count;

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
        row += befores[i];
        slot += i < warp ? sums[i] : 0;
        packed += sums[i];
    }
    for (unsigned left = own.points; left; left &= left - 1)
        places[slot++] = (uint16_t)(threadIdx.x * STRETCH + (unsigned)__ffs((int)left) - 1);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < packed; i += THREADS) {
        const unsigned stretch = blockIdx.x * THREADS + places[i] / STRETCH, columns = stretches_of_row(in.width);
        const int x = (int)(stretch % columns * STRETCH + places[i] % STRETCH), y = (int)(stretch / columns);
        stretch_write(in, points, x, y, row + i);
    }
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
    TRY(edges_mark_and_clear(&state->step, in, &mask, out[1], params, block, stream));
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
