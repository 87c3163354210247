/*
 * Problem:  With a list cuda/v2.0 takes 38 us, 8 us to mark pixels: one block sums 8100 counts.
 * Idea:     A thread counts 32 pixels as one bit mask: 254 counts are left, which each block adds
 *           up. It compacts its points in shared memory, so full warps compute gradients and store.
 * Expect:   1.9 times as fast at 1920x1080 with outputs=points, 20 us: 8 us to mark, 2.5 us to
 *           count, 10 us for the list.
 * Result:   2.9 times as fast as cuda/v2.0 at 3840x2160, 58.8 us
 *           (results/h100/edges/edges_3840x2160_points_climb.json).
 * Run:      make diff-edges A=cuda/v2.0 B=cuda/v2.1 P="outputs=points"
 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"
#include "common/cuda/warp.cuh"
#include "cuda/edges/shared/edges.h"
#include "cuda/edges/shared/walk.cuh"

struct state {
    struct edges_step step;
    unsigned *counts; /* of points, one of each block's pixels */
};

/* A segment is 32 pixels of a row, a thread's; segments in order are pixels in raster order. */
enum { SEGMENT = 32, THREADS = 256, WARPS = THREADS / 32 };

static int block_width = 32, block_height = 4;
static const int widths[] = {8, 16, 32, 64, 128, 0}, heights[] = {1, 2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"block_width", &block_width, widths, "threads along x"},
                                    {"block_height", &block_height, heights, "threads along y"},
                                    {}};

/* A thread holds 80 registers, and a multiprocessor has 65,536. */
static const char *illegal(const struct image in[], const void *params)
{
    (void)in;
    (void)params;
    return block_width * block_height > 768 ? "a block of more than 768 threads needs too many registers" : NULL;
}

/* With FOLLOW a marked pixel also becomes a tree of the union-find (shared/follow.cu). */
template <bool THIN, bool FOLLOW>
static __global__ void mark_kernel(struct image in, struct image mask, const struct edges_thresholds *thresholds,
                                   unsigned *parent)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * PIXELS;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    const struct edges_thresholds limits = *thresholds;
    int samples[3][FAR];
    int16_t m[3][NEAR];
    struct hough_gradient g[2][NEAR];

    if (x >= in.width || y >= in.height)
        return;
    const struct words words = words_around(x, in.width);
    load(in, words, x, y - 2, samples[0]);
    load(in, words, x, y - 1, samples[1]);
#pragma unroll
    for (int r = -1; r <= ROWS; r++) { /* magnitudes of row y + r; then the one above it has all its neighbours */
        const int k = r + 1;
        load(in, words, x, y + r + 1, samples[(k + 2) % 3]);
        find_magnitudes(in, x, y + r, samples[k % 3], samples[(k + 1) % 3], samples[(k + 2) % 3], g[k % 2], m[k % 3]);
        if (r < 1 || y + r - 1 >= in.height)
            continue;
        unsigned marks = 0;
#pragma unroll
        for (int i = 1; i <= PIXELS; i++) {
            const int own = m[(k + 2) % 3][i];
            bool kept = own > limits.weak;
            if (kept && THIN)
                kept = edges_is_ridge(g[(k + 1) % 2][i], m[(k + 1) % 3], m[(k + 2) % 3], m[k % 3], i);
            const int mark = kept ? own > limits.strong ? EDGES_STRONG : EDGES_WEAK : EDGES_NOTHING;
            const unsigned node = edges_node(in.width, x + i - 1, y + r - 1);
            if (FOLLOW && kept)
                parent[node] = edges_first_parent(mark, node);
            marks |= mark << (i - 1) * 8;
        }
        uint8_t *out = (uint8_t *)image_row(&mask, y + r - 1) + x;
        if (x + PIXELS <= in.width)
            *(unsigned *)out = marks;
        else
            for (int i = 0; x + i < in.width; i++)
                out[i] = (uint8_t)(marks >> 8 * i);
    }
}

static HOST_DEVICE unsigned segments_of_row(int width)
{
    return ((unsigned)width + SEGMENT - 1) / SEGMENT;
}

static unsigned blocks_of(const struct image *in)
{
    return ceiling_divide((int)segments_of_row(in->width) * in->height, THREADS);
}

/* The points of a segment as a bit mask. A segment at a row's end that has fewer than 32 pixels is read byte by byte:
 * the bytes behind an output's last pixel are not ours to read. */
static __device__ unsigned read_segment(const struct image &mask, unsigned segment)
{
    const unsigned columns = segments_of_row(mask.width);
    const int x = (int)(segment % columns) * SEGMENT, y = (int)(segment / columns),
              count = min(mask.width - x, SEGMENT);
    const uint8_t *pixels = (const uint8_t *)image_row(&mask, y) + x;
    unsigned points = 0;

    if (y >= mask.height)
        return 0;
    for (int i = 0; count < SEGMENT && i < count; i++)
        points |= (unsigned)(pixels[i] >> 7) << i;
    for (int i = 0; count == SEGMENT && i < 2; i++) {
        const uint4 words = ((const uint4 *)pixels)[i];
        const unsigned four[] = {words.x, words.y, words.z, words.w};
        for (int k = 0; k < 4; k++) /* the upper bits of four bytes, moved side by side: only EDGES_STRONG has one */
            points |= ((four[k] & 0x80808080u) * 0x204081u >> 28) << 4 * (4 * i + k);
    }
    return points;
}

static __global__ void count_kernel(struct image mask, unsigned *counts)
{
    __shared__ unsigned sums[WARPS];
    const unsigned sum = warp_sum((unsigned)__popc(read_segment(mask, blockIdx.x * THREADS + threadIdx.x)));

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

/*
 * With segments of 8 pixels and 4 threads:
 *
 *      thread         0         1         2         3
 *      segment    ..#....#  ........  #.......  .##.....
 *      slot           0         2         2         3        prefix sum of the numbers of points
 *      places     2 7 16 25 26                               thread i writes points i, i + THREADS, ...
 *
 * Point i of the block is row `row` + i of the table: `row` is 1 + the counts of all blocks before this one.
 */
static __global__ void list_kernel(struct image in, struct image mask, struct image points, const unsigned *counts)
{
    __shared__ unsigned totals[WARPS], befores[WARPS], sums[WARPS];
    __shared__ uint16_t places[THREADS * SEGMENT]; /* of points, in the block's pixels */
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, place = blockIdx.x * THREADS + threadIdx.x;
    const unsigned own = read_segment(mask, place), count = (unsigned)__popc(own), up_to = warp_prefix_sum(count);
    const unsigned columns = segments_of_row(in.width), rows = (unsigned)points.height;
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
    for (unsigned left = own; left; left &= left - 1)
        places[slot++] = (uint16_t)(threadIdx.x * SEGMENT + (unsigned)__ffs((int)left) - 1);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < packed && row + i < rows; i += THREADS) {
        const unsigned segment = blockIdx.x * THREADS + places[i] / SEGMENT;
        const int x = (int)(segment % columns * SEGMENT + places[i] % SEGMENT), y = (int)(segment / columns);
        const struct hough_gradient g = hough_sobel(&in, x, y);
        *(int4 *)image_row(&points, (int)(row + i)) = make_int4(x, y, g.x, g.y);
    }
    for (unsigned i = total + 1 + place; i < rows; i += gridDim.x * THREADS)
        *(int4 *)image_row(&points, (int)i) = make_int4(0, 0, 0, 0);
    if (place == 0)
        *(int4 *)points.data = make_int4((int)total, 0, 0, 0);
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    enum status status = STATUS_OK;

    if (params->outputs != EDGES_MASK && !state->counts)
        TRY(device_allocate((void **)&state->counts, blocks_of(in) * sizeof *state->counts));
    TRY(edges_setup(&state->step, in, params));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image mask = edges_mask(&state->step, out);
    const bool follow = params->low != EDGES_NO_LOW;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(in->width, block.x * PIXELS), ceiling_divide(in->height, block.y * ROWS));
    auto kernel = mark_kernel<false, false>;

    if (params->thin == EDGES_CANNY)
        kernel = follow ? mark_kernel<true, true> : mark_kernel<true, false>;
    else if (follow)
        kernel = mark_kernel<false, true>;
    TRY(edges_begin(&state->step, in, params, stream));
    kernel<<<grid, block, 0, stream>>>(*in, mask, state->step.thresholds, state->step.parent);
    CUDA_TRY(cudaGetLastError());
    if (follow)
        TRY(edges_follow(&state->step, &mask, stream));
    if (params->outputs == EDGES_MASK)
        return STATUS_OK;
    count_kernel<<<blocks_of(in), THREADS, 0, stream>>>(mask, state->counts);
    CUDA_TRY(cudaGetLastError());
    list_kernel<<<blocks_of(in), THREADS, 0, stream>>>(*in, mask, out[1], state->counts);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    edges_teardown(&state->step);
    device_free(state->counts);
}

RUNGS_CUDA_VERSION(edges, .tunables = tunables, .illegal = illegal, .staged = true)
