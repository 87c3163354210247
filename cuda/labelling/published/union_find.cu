/*
 * Problem:  cuda/neighbour_propagation takes many passes: one may move a label by only one pixel.
 * Idea:     Whole trees are joined (Oliveira and Lotufo 2010): a pixel looks up its root and its
 *           neighbours' and hangs all under the least. Passes repeat, as plain stores may be lost.
 * Expect:   30 times as fast on photographs: 3 to 6 passes, but walks jump through memory.
 * Result:   20 times as fast as cuda/neighbour_propagation, 10.8 ms
 *           (results/h100/labelling/labelling_3840x2160.json).
 * Run:      make study-labelling
 * From:     cuda/neighbour_propagation
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/pixels.cuh"
#include "cuda/labelling/shared/trees.cuh"

static int block_width = 32, block_height = 8;
static const int block_widths[] = {8, 16, 32, 64, 0}, block_heights[] = {4, 8, 16, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

struct state {
    int *parent;  /* device: of each pixel, by raster index; that of a root is itself */
    int *changed; /* device: whether the last pass wrote a parent */
};

static __global__ void init_kernel(struct image in, int *parent)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height)
        parent[y * in.width + x] = y * in.width + x;
}

/* Races, all benign: of two stores to one root the later one stays, and a walk may see a parent before or after it
 * changes. Parents are smaller than their children either way, so every walk ends; a link that got lost is missed by
 * the pixel between the two trees in the next pass, which comes, for the writer also set `changed`. */
static __global__ void merge_kernel(struct image in, int *parent, int connectivity, int *changed)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int dx[8] = {-1, 1, 0, 0, -1, 1, -1, 1}, dy[8] = {0, 0, -1, 1, -1, -1, 1, 1}; /* the sides come first */
    int own = y * in.width + x, roots[9];

    if (!is_foreground(in, x, y))
        return;
    int least = roots[8] = find(parent, own);
    for (int k = 0; k < connectivity; k++) {
        roots[k] = is_foreground(in, x + dx[k], y + dy[k]) ? find(parent, own + dy[k] * in.width + dx[k]) : roots[8];
        least = min(least, roots[k]);
    }
    for (int k = 0; k < 9; k++)
        if ((k < connectivity || k == 8) && roots[k] != least) {
            store_relaxed(&parent[roots[k]], least);
            *changed = 1;
        }
    if (load_relaxed(&parent[own]) != least) {
        store_relaxed(&parent[own], least);
        *changed = 1;
    }
}

static __global__ void compress_kernel(struct image in, struct image out, const int *parent)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height)
        ((int *)image_row(&out, y))[x] = is_foreground(in, x, y) ? root_of(parent, y * in.width + x) + 1 : 0;
}

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    (void)params;
    if (!state->parent)
        TRY(device_allocate((void **)&state->parent, (size_t)in->width * in->height * sizeof(int)));
    if (!state->changed)
        TRY(device_allocate((void **)&state->changed, sizeof(int)));
out:
    return status;
}

/* Waits for each pass, for it says whether another one follows: not to be recorded in a graph. Parents fall or stay
 * but for lost links, so that as many passes as there are pixels are enough; more would mean an error of this file. */
static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    int limit = in->width * in->height, changed = 1;

    init_kernel<<<grid, block, 0, stream>>>(*in, state->parent);
    CUDA_TRY(cudaGetLastError());
    for (int pass = 0; changed; pass++) {
        if (pass == limit)
            return status_set(STATUS_FAILED, "parents still change after %d passes", pass);
        CUDA_TRY(cudaMemsetAsync(state->changed, 0, sizeof(int), stream));
        merge_kernel<<<grid, block, 0, stream>>>(*in, state->parent, params->connectivity, state->changed);
        CUDA_TRY(cudaGetLastError());
        CUDA_TRY(cudaMemcpyAsync(&changed, state->changed, sizeof(int), cudaMemcpyDeviceToHost, stream));
        CUDA_TRY(cudaStreamSynchronize(stream));
    }
    compress_kernel<<<grid, block, 0, stream>>>(*in, *out, state->parent);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->parent);
    device_free(state->changed);
}

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only, .tunables = tunables)
