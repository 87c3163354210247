/*
 * Problem:  The block of cuda/v1.2, 32 x 8 threads, is a guess.
 * Idea:     Width and height of the block are parameters of the launch; `rungs tune` tries their
 *           values.
 * Expect:   Little: in every shape a warp reads and writes rows of bytes; only the number of
 *           threads outside the borders of small levels (copies of the picture) changes.
 * Result:   29 us as cuda/v1.2: the default is the same 32 x 8
 *           (results/h100/pyramid/pyramid_1280x720.json).
 * Run:      build/rungs tune pyramid:cuda/v1.3
 */
#include "common/algo/pyramid.h"
#include "common/cuda/device.h"

static int block_width = 32, block_height = 8;
static const int widths[] = {16, 32, 64, 128, 256, 0}, heights[] = {1, 2, 4, 8, 16, 0};
static struct tunable tunables[] = {
    {.name = "block_width", .value = &block_width, .legal = widths, .help = "threads along x"},
    {.name = "block_height", .value = &block_height, .legal = heights, .help = "threads along y"},
    {},
};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in;
    (void)params;
    return device_block_illegal(block_width * block_height, 0);
}

struct state {
};

static __global__ void copy_kernel(struct image in, struct image out, int fill)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < out.width && y < out.height)
        ((uint8_t *)image_row(&out, y))[x] = y < in.height ? ((const uint8_t *)image_row(&in, y))[x] : fill;
}

/* Levels first + blockIdx.z. */
static __global__ void resample_kernel(struct image out, const __grid_constant__ struct pyramid_layout layout,
                                       int first)
{
    const struct pyramid_level &level = layout.levels[first + blockIdx.z], &source = layout.levels[level.source];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= level.width || y >= level.height)
        return;
    struct pyramid_tap row = pyramid_find_tap(y, level.relative, source.height);
    const uint8_t *upper = (const uint8_t *)image_row(&out, source.y + row.first) + source.x;
    const uint8_t *lower = (const uint8_t *)image_row(&out, source.y + row.second) + source.x;
    ((uint8_t *)image_row(&out, level.y + y))[level.x + x] =
        pyramid_blend(upper, lower, pyramid_find_tap(x, level.relative, source.width), row.weight);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pyramid_params *params, cudaStream_t stream)
{
    struct pyramid_layout layout;
    enum status status = STATUS_OK;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));

    (void)state;
    pyramid_lay_out(in->width, in->height, params, &layout);
    copy_kernel<<<grid, block, 0, stream>>>(*in, *out, params->fill);
    CUDA_TRY(cudaGetLastError());
    for (int first = 1, next; first < layout.count; first = next) {
        struct pyramid_level level = layout.levels[first];
        for (next = first + 1; next < layout.count && layout.levels[next].source < first;)
            next++;
        grid = dim3(ceiling_divide(level.width, block.x), ceiling_divide(level.height, block.y), next - first);
        resample_kernel<<<grid, block, 0, stream>>>(*out, layout, first);
        CUDA_TRY(cudaGetLastError());
    }
out:
    return status;
}

RUNGS_CUDA_VERSION(pyramid, .tunables = tunables, .illegal = illegal)
