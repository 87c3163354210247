/*
 * Idea:     the yardstick for the list of points: CUB's DeviceSelect, NVIDIA's compaction in one pass, picks the places
 *           of marked pixels.
 * Changed:  pixels are marked as in cuda/v2.0; the list is CUB's, and a kernel makes rows of the table out of places.
 * Expect:   the time of cuda/v2.1 with outputs=points: one pass over the mask in place of two, but with a chain of
 *           blocks that wait.
 */
/* Try: make bench-edges VERSIONS=cuda/v2.0,cuda/v2.1,peer/cub P="outputs=points" */
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "common/algo/edges.h"
#include "common/cuda/device.h"
#include "cuda/edges/shared/walk.cuh"

struct state {
    struct image mask; /* with outputs=points, for the caller has no such image */
    void *scratch;     /* CUB's, so many bytes */
    size_t bytes;
    unsigned *places, *count; /* of the points in raster order */
};

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 4, THREADS = 256, BLOCKS = 1024, POINT = 255 };

/* Whether the pixel at a place in raster order is an edge point. */
struct is_point {
    struct image mask;

    __device__ bool operator()(unsigned place) const
    {
        const unsigned width = (unsigned)mask.width;
        return ((const uint8_t *)image_row(&mask, (int)(place / width)))[place % width] == POINT;
    }
};

template <bool THIN> static __global__ void mark_kernel(struct image in, struct image mask, int high)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * PIXELS;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
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
            bool kept = m[(k + 2) % 3][i] > high;
            if (kept && THIN)
                kept = edges_is_ridge(g[(k + 1) % 2][i], m[(k + 1) % 3], m[(k + 2) % 3], m[k % 3], i);
            marks |= (kept ? (unsigned)POINT : 0u) << (i - 1) * 8;
        }
        uint8_t *out = (uint8_t *)image_row(&mask, y + r - 1) + x;
        if (x + PIXELS <= in.width)
            *(unsigned *)out = marks;
        else
            for (int i = 0; x + i < in.width; i++)
                out[i] = (uint8_t)(marks >> 8 * i);
    }
}

static __global__ void table_kernel(struct image in, struct image points, const unsigned *places, const unsigned *count)
{
    const unsigned total = *count, width = (unsigned)in.width, rows = (unsigned)points.height;

    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < rows; i += gridDim.x * THREADS) {
        int4 row = {i == 0 ? (int)total : 0, 0, 0, 0};
        if (i >= 1 && i <= total) {
            const int x = (int)(places[i - 1] % width), y = (int)(places[i - 1] / width);
            const struct hough_gradient g = hough_sobel(&in, x, y);
            row = make_int4(x, y, g.x, g.y);
        }
        *(int4 *)image_row(&points, (int)i) = row;
    }
}

/* With scratch NULL CUB says how many bytes it needs, and does nothing. */
static enum status list_places(void *scratch, size_t *bytes, const struct state *state, const struct image *mask,
                               cudaStream_t stream)
{
    const int pixels = mask->width * mask->height;
    enum status status = STATUS_OK;

    CUDA_TRY(cub::DeviceSelect::If(scratch, *bytes, thrust::counting_iterator<unsigned>(0), state->places, state->count,
                                   pixels, is_point{*mask}, stream));
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    enum status status = STATUS_OK;

    if (state->scratch)
        return STATUS_OK;
    if (params->outputs == EDGES_POINTS)
        TRY(device_image_create(&state->mask, in));
    TRY(device_allocate((void **)&state->places, (size_t)in->width * (size_t)in->height * sizeof *state->places));
    TRY(device_allocate((void **)&state->count, sizeof *state->count));
    TRY(list_places(NULL, &state->bytes, state, in, 0));
    TRY(device_allocate(&state->scratch, state->bytes));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image mask = out[0].data ? out[0] : state->mask;
    const auto kernel = params->thin == EDGES_CANNY ? mark_kernel<true> : mark_kernel<false>;
    dim3 block(BLOCK_WIDTH, BLOCK_HEIGHT);
    dim3 grid(ceiling_divide(in->width, block.x * PIXELS), ceiling_divide(in->height, block.y * ROWS));

    kernel<<<grid, block, 0, stream>>>(*in, mask, params->high);
    CUDA_TRY(cudaGetLastError());
    TRY(list_places(state->scratch, &state->bytes, state, &mask, stream));
    table_kernel<<<BLOCKS, THREADS, 0, stream>>>(*in, out[1], state->places, state->count);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_image_free(&state->mask);
    device_free(state->scratch);
    device_free(state->places);
    device_free(state->count);
}

static const char *declines(const struct image in[], const void *params_erased)
{
    const struct edges_params *params = (const struct edges_params *)params_erased;

    if ((int64_t)in->width * in->height > INT32_MAX)
        return "CUB counts with 31 bits here";
    if (params->outputs == EDGES_MASK)
        return "CUB makes the list of points (outputs=points, outputs=both)";
    if (params->high == EDGES_OTSU || params->low != EDGES_NO_LOW)
        return "it lists what one fixed threshold marks (high=H low=none)";
    return NULL;
}

RUNGS_CUDA_VERSION(edges, .declines = declines)
