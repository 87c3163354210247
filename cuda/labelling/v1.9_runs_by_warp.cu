/*
 * Idea:     nodes are runs. A warp sweeps along a whole row and carries the length of the run that it is in, so it knows
 *           where a run begins across words too, and only that pixel is a node.
 * Changed:  a warp for a row in place of one for 32 pixels; blocks join strips of 4 rows, a second kernel the strips; a
 *           run's first lane walks to the root for all.
 * Expect:   kernel 3 times faster than v1.1's on photographs, which have one run for 20 pixels; yet a row of 3840
 *           pixels is a chain of 120 steps, and 2160 warps are a quarter of what an H200 can hold: v2.0 shows what that
 *           costs.
 * From:     cuda/v1.8
 */
/* Try: make bench-labelling VERSIONS=cuda/v1.1,cuda/v1.8,cuda/v1.9,cuda/v2.0
 * Paper:    Hennequin, Lacassagne, Cabaret and Meunier, A new Direct Connected Component Labeling and Analysis
 *           Algorithms for GPUs, DASIP 2018: HA4; with the diagonals as in HA8. All lanes stay in the loop, so that each
 *           reaches the barriers. */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "cuda/labelling/shared/rows.cuh"

struct state {
    int *parent; /* device: of each pixel, by raster index; that of a root is itself */
};

enum { STRIP = 4 }; /* rows of a block, a warp for each */

/* Joins the rows of a strip. Masks have two buffers, so that one barrier for 32 pixels is enough: who writes one again
 * has passed a barrier behind which nobody reads it. */
static __global__ void strip_kernel(struct image in, int *parent, int connectivity)
{
    __shared__ unsigned masks[2][STRIP];
    int lane = threadIdx.x, y = blockIdx.x * STRIP + threadIdx.y;
    struct row row = {}, up = {};

    for (int left = 0; left < in.width; left += 32, row = next_row(row), up = next_row(up)) {
        int i = y * in.width + left + lane;
        row.mask = masks[left / 32 % 2][threadIdx.y] = row_mask(in, left + lane, y);
        if ((row.mask >> lane & 1) && run_before(row, lane) == 0)
            parent[i] = i;
        __syncthreads();
        up.mask = threadIdx.y > 0 ? masks[left / 32 % 2][threadIdx.y - 1] : 0;
        join(parent, i, in.width, row, up, lane, connectivity);
    }
}

/* Joins the first row of each strip but the top one with the row above. */
static __global__ void border_kernel(struct image in, int *parent, int connectivity)
{
    int lane = threadIdx.x, y = (blockIdx.x + 1) * STRIP;
    struct row row = {}, up = {};

    for (int left = 0; left < in.width; left += 32, row = next_row(row), up = next_row(up)) {
        row.mask = row_mask(in, left + lane, y);
        up.mask = row_mask(in, left + lane, y - 1);
        join(parent, y * in.width + left + lane, in.width, row, up, lane, connectivity);
    }
}

/* The first lane of each run finds the root and hands it to the others. */
static __global__ void compress_kernel(struct image in, struct image out, const int *parent)
{
    int lane = threadIdx.x, y = blockIdx.x * STRIP + threadIdx.y;
    struct row row = {};

    for (int left = 0; left < in.width; left += 32, row = next_row(row)) {
        row.mask = row_mask(in, left + lane, y);
        int before = run_before(row, lane), start = lane - min(before, lane), label = 0;
        if (row.mask >> lane & 1 && start == lane)
            label = root_of(parent, y * in.width + left + lane - before) + 1;
        label = __shfl_sync(0xffffffff, label, start);
        if (left + lane < in.width && y < in.height)
            ((int *)image_row(&out, y))[left + lane] = row.mask >> lane & 1 ? label : 0;
    }
}

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    (void)params;
    if (!state->parent)
        TRY(device_allocate((void **)&state->parent, (size_t)in->width * in->height * sizeof(int)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const unsigned strips = ceiling_divide(in->height, STRIP);
    dim3 block(32, STRIP);

    strip_kernel<<<strips, block, 0, stream>>>(*in, state->parent, params->connectivity);
    CUDA_TRY(cudaGetLastError());
    if (strips > 1)
        border_kernel<<<strips - 1, 32, 0, stream>>>(*in, state->parent, params->connectivity);
    CUDA_TRY(cudaGetLastError());
    compress_kernel<<<strips, block, 0, stream>>>(*in, *out, state->parent);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->parent);
}

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only)
