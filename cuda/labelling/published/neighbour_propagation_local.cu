/*
 * Problem:  Each pass of cuda/neighbour_propagation reads global memory and moves labels little.
 * Idea:     Before each pass a block moves labels in its tile (32x8 pixels) in shared memory until
 *           nothing changes (KTH 2016). So a pass only carries labels across the borders of tiles.
 * Expect:   4 times as fast: fewer passes, though each takes longer.
 * Result:   1.6 times as fast as cuda/neighbour_propagation, 133 ms
 *           (results/h100/labelling/labelling_3840x2160.json); the reason is not known.
 * Run:      make study-labelling
 * From:     cuda/neighbour_propagation
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "common/cuda/relaxed.h"

static int block_width = 32, block_height = 8;
static const int block_widths[] = {8, 16, 32, 64, 0}, block_heights[] = {4, 8, 16, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

struct state {
    int *changed; /* device: whether the last pass wrote a label */
};

/* 0 outside the image, as in the background. */
static __device__ int label_at(const struct image &out, int x, int y)
{
    return x >= 0 && y >= 0 && x < out.width && y < out.height ? load_relaxed((const int *)image_row(&out, y) + x) : 0;
}

static __global__ void init_kernel(struct image in, struct image out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height)
        ((int *)image_row(&out, y))[x] = ((const uint8_t *)image_row(&in, y))[x] ? y * in.width + x + 1 : 0;
}

/* Plus propagation inside a tile, in shared memory, until nothing changes there. Labels beyond the tile are not seen.
 * */
static __global__ void local_kernel(struct image out, int connectivity)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int dx[8] = {-1, 1, 0, 0, -1, 1, -1, 1}, dy[8] = {0, 0, -1, 1, -1, -1, 1, 1}; /* the sides come first */
    int width = blockDim.x, height = blockDim.y, at = threadIdx.y * width + threadIdx.x;
    int own = label_at(out, x, y), least = own;
    extern __shared__ int tile[];

    do {
        tile[at] = own = least;
        __syncthreads(); /* written before it is read */
        for (int k = 0; own > 0 && k < connectivity; k++)
            for (int u = threadIdx.x + dx[k], v = threadIdx.y + dy[k];
                 u >= 0 && u < width && v >= 0 && v < height && tile[v * width + u] > 0; u += dx[k], v += dy[k])
                least = min(least, tile[v * width + u]);
    } while (__syncthreads_or(least < own)); /* read before it is written again */
    if (own > 0)
        ((int *)image_row(&out, y))[x] = own;
}

/* Races, all benign: a neighbour's label may be the one before or after it is written here. Both are labels of the
 * component, and the writer set `changed`, so another pass looks again. All writers of `changed` write 1. */
static __global__ void propagate_kernel(struct image out, int connectivity, int *changed)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int dx[8] = {-1, 1, 0, 0, -1, 1, -1, 1}, dy[8] = {0, 0, -1, 1, -1, -1, 1, 1}; /* the sides come first */
    int own = label_at(out, x, y), least = own;

    if (own == 0)
        return;
    for (int k = 0; k < connectivity; k++) {
        int label = label_at(out, x + dx[k], y + dy[k]);
        if (label > 0)
            least = min(least, label);
    }
    if (least < own) {
        store_relaxed((int *)image_row(&out, y) + x, least);
        *changed = 1;
    }
}

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    (void)in, (void)params;
    if (!state->changed)
        TRY(device_allocate((void **)&state->changed, sizeof(int)));
out:
    return status;
}

/* Waits for each pass, for it says whether another one follows: not to be recorded in a graph. Labels fall or stay,
 * so that as many passes as there are pixels are enough; more would mean an error of this file. */
static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    int limit = in->width * in->height, changed = 1;

    init_kernel<<<grid, block, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
    for (int pass = 0; changed; pass++) {
        if (pass == limit)
            return status_set(STATUS_FAILED, "labels still change after %d passes", pass);
        CUDA_TRY(cudaMemsetAsync(state->changed, 0, sizeof(int), stream));
        local_kernel<<<grid, block, block.x * block.y * sizeof(int), stream>>>(*out, params->connectivity);
        CUDA_TRY(cudaGetLastError());
        propagate_kernel<<<grid, block, 0, stream>>>(*out, params->connectivity, state->changed);
        CUDA_TRY(cudaGetLastError());
        CUDA_TRY(cudaMemcpyAsync(&changed, state->changed, sizeof(int), cudaMemcpyDeviceToHost, stream));
        CUDA_TRY(cudaStreamSynchronize(stream));
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->changed);
}

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only, .tunables = tunables)
