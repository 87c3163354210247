/* expect: right 2..2 | counters in shared memory 0..0 | says lane steps */
/*
 * Idea:     a thread a cell looks at all points, and what it has counted goes through shared memory.
 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"

enum { THREADS = 128 };

struct state {
    struct hough_angle *angles; /* all of this on the device */
    struct image accumulator;   /* for outputs=lines */
    unsigned *places, *counts;  /* points, y in the upper half; how many there are, and how many lines */
    uint64_t *keys;             /* of the lines, in no order */
};

static __global__ void list_kernel(struct image in, unsigned *places, unsigned *counts)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height && ((const uint8_t *)image_row(&in, y))[x])
        places[atomicAdd(&counts[0], 1u)] = (unsigned)y << 16 | (unsigned)x;
}

/* Task 5: a block a row, in shared memory. */
static __global__ void vote_kernel(const unsigned *places, const unsigned *counts, struct hough_space space,
                                   const struct hough_angle *angles, struct image accumulator)
{
    __shared__ int carried[THREADS];
    const int n = blockIdx.x;

    for (int first = 0; first < space.cells; first += THREADS) { /* a thread a cell: it looks at all points, and counts its own */
        int cell = first + threadIdx.x, votes = 0;
        for (unsigned i = 0; i < counts[0] && cell < space.cells; i++)
            votes += space.centre + hough_offset(places[i] & 0xffff, places[i] >> 16, angles[n]) == cell;
        carried[threadIdx.x] = votes;
        __syncthreads();
        if (cell < space.cells)
            ((int *)image_row(&accumulator, n))[cell] = carried[threadIdx.x];
        __syncthreads();
    }
}

static __global__ void search_kernel(struct image accumulator, struct hough_space space, uint64_t *keys,
                                     unsigned *counts, const __grid_constant__ struct hough_params params)
{
    int n = blockIdx.x, last = space.centre + space.reach;

    for (int r = space.centre - space.reach + threadIdx.x; r <= last; r += THREADS)
        if (hough_is_line(&accumulator, space, n, r, &params))
            keys[atomicAdd(&counts[1], 1u)] = hough_key(space, n, r, ((const int *)image_row(&accumulator, n))[r]);
}

/* A line's row of the table is how many keys are greater than its own, and 1. */
static __global__ void table_kernel(const uint64_t *keys, const unsigned *counts, struct hough_space space,
                                    struct image lines, const __grid_constant__ struct hough_params params)
{
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < counts[1]; i += gridDim.x * THREADS) {
        int place = 1;
        for (unsigned k = 0; k < counts[1]; k++)
            place += keys[k] > keys[i];
        if (place < lines.height)
            hough_write_row(keys[i], space, hough_step(&params), (float)params.rho, (float *)image_row(&lines, place));
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *(float *)lines.data = (float)counts[1];
}

static enum status setup(struct state *state, const struct image in[], const struct hough_params *params)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    const size_t rows = (size_t)space.rows, pixels = (size_t)in->width * (size_t)in->height;
    struct image like = {};
    struct hough_angle *angles = NULL;
    enum status status = STATUS_OK;

    if (state->angles)
        return STATUS_OK;
    angles = (struct hough_angle *)malloc(rows * sizeof *angles);
    if (!angles)
        return status_set(STATUS_NO_MEMORY, "no memory for %d angles", space.rows);
    hough_make_angles(params, angles);
    like.width = space.cells;
    like.height = space.rows;
    like.channels = 1;
    like.type = PIXEL_I32;
    TRY(device_image_create(&state->accumulator, &like));
    TRY(device_allocate((void **)&state->places, pixels * sizeof(unsigned)));
    TRY(device_allocate((void **)&state->counts, 2 * sizeof(unsigned)));
    TRY(device_allocate((void **)&state->keys, rows * (size_t)space.cells * sizeof(uint64_t)));
    TRY(device_allocate((void **)&state->angles, rows * sizeof *angles));
    TRY(device_upload_bytes(state->angles, angles, rows * sizeof *angles));
out:
    free(angles);
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct hough_params *params, cudaStream_t stream)
{
    const struct hough_space space = hough_make_space(in->width, in->height, params);
    const struct image accumulator = out[1].data ? out[1] : state->accumulator;
    const dim3 block(32, 8), grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(state->counts, 0, 2 * sizeof(unsigned), stream));
    CUDA_TRY(cudaMemset2DAsync(accumulator.data, accumulator.stride, 0, space.cells * sizeof(int), space.rows, stream));
    list_kernel<<<grid, block, 0, stream>>>(*in, state->places, state->counts);
    CUDA_TRY(cudaGetLastError());
    vote_kernel<<<space.rows, THREADS, 0, stream>>>(state->places, state->counts, space, state->angles, accumulator);
    CUDA_TRY(cudaGetLastError());
    if (out[0].data) {
        CUDA_TRY(cudaMemset2DAsync(out[0].data, out[0].stride, 0, out[0].width * sizeof(float), out[0].height, stream));
        search_kernel<<<space.rows, THREADS, 0, stream>>>(accumulator, space, state->keys, state->counts, *params);
        CUDA_TRY(cudaGetLastError());
        table_kernel<<<4, THREADS, 0, stream>>>(state->keys, state->counts, space, out[0], *params);
        CUDA_TRY(cudaGetLastError());
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->angles);
    device_free(state->places);
    device_free(state->counts);
    device_free(state->keys);
    device_image_free(&state->accumulator);
}

RUNGS_CUDA_VERSION(hough)
