/*
 * Idea:     the points are listed, a thread a pixel; then a thread a point goes through the rows and adds one to a
 *           counter of each, in global memory; a thread a cell compares it with its neighbourhood.
 * Changed:  the comparison is the version's own, and looks at the cells before and behind in one way.
 * Expect:   no other time: the loop is as long as the contract's.
 */
#include "common/algo/hough.h"
#include "common/cuda/device.h"

enum { THREADS = 128 };

struct state {
    struct hough_angle *angles; /* all of this on the device */
    struct hough_direction *directions;
    struct image accumulator; /* for outputs=lines */
    unsigned *places, *bins;  /* of points: y in the upper half; the row that the gradient points to */
    unsigned *counts;         /* points, lines */
    uint64_t *keys;           /* of the lines, in no order */
};

static __global__ void list_kernel(struct image in, unsigned *places, unsigned *bins, unsigned *counts,
                                   const struct hough_direction *directions,
                                   const __grid_constant__ struct hough_params params)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    struct hough_gradient gradient = {0, 0};

    if (x >= in.width || y >= in.height || !hough_is_point(&in, x, y, &params, &gradient))
        return;
    const unsigned at = atomicAdd(&counts[0], 1u);
    places[at] = (unsigned)y << 16 | (unsigned)x;
    bins[at] = (unsigned)hough_bin(directions, params.theta_steps, gradient);
}

static __global__ void vote_kernel(const unsigned *places, const unsigned *bins, const unsigned *counts,
                                   struct hough_space space, const struct hough_angle *angles, struct image accumulator,
                                   const __grid_constant__ struct hough_params params)
{
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < counts[0]; i += gridDim.x * THREADS)
        for (int n = 0; n < space.rows; n++)
            if (hough_votes_for(&params, bins[i], n))
                atomicAdd((int *)image_row(&accumulator, n) + space.centre +
                              hough_offset(places[i] & 0xffff, places[i] >> 16, angles[n]),
                          1);
}

/* Row n of the accumulator, from rows before the first to rows behind the last, which lie at the other end,
 * reversed. */
static __device__ int votes_at(const struct image &accumulator, struct hough_space space, int n, int r)
{
    const bool wraps = n < 0 || n >= space.rows;
    const int row = n < 0 ? n + space.rows : n >= space.rows ? n - space.rows : n;
    const int cell = wraps ? 2 * space.centre - r : r;

    return cell < 0 || cell >= space.cells ? 0 : ((const int *)image_row(&accumulator, row))[cell];
}

static __device__ bool is_line(const struct image &accumulator, struct hough_space space, int n, int r,
                               const struct hough_params &params)
{
    const int own = votes_at(accumulator, space, n, r);
    bool is_most = own > params.threshold;

    for (int j = -params.radius; j <= params.radius && is_most; j++)
        for (int i = -params.radius; i <= params.radius; i++) {
            const bool outside = n + j < 0 || n + j >= space.rows;
            if (params.window == HOUGH_CROSS && (outside || (i != 0) == (j != 0)))
                continue;
            if ((i != 0 || j != 0) && votes_at(accumulator, space, n + j, r + i) >= own)
                is_most = false;
        }
    return is_most;
}

static __global__ void search_kernel(struct image accumulator, struct hough_space space, uint64_t *keys,
                                     unsigned *counts, const __grid_constant__ struct hough_params params)
{
    int n = blockIdx.x, last = space.centre + space.reach;

    for (int r = space.centre - space.reach + threadIdx.x; r <= last; r += THREADS)
        if (is_line(accumulator, space, n, r, params))
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
    struct hough_direction *directions = NULL;
    enum status status = STATUS_OK;

    if (state->angles)
        return STATUS_OK;
    angles = (struct hough_angle *)malloc(rows * sizeof *angles);
    directions = (struct hough_direction *)malloc((rows + 1) * sizeof *directions);
    if (!angles || !directions) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d angles", space.rows);
        goto out;
    }
    hough_make_angles(params, angles);
    hough_make_directions(params, directions);
    like.width = space.cells;
    like.height = space.rows;
    like.channels = 1;
    like.type = PIXEL_I32;
    TRY(device_image_create(&state->accumulator, &like));
    TRY(device_allocate((void **)&state->places, pixels * sizeof(unsigned)));
    TRY(device_allocate((void **)&state->bins, pixels * sizeof(unsigned)));
    TRY(device_allocate((void **)&state->directions, (rows + 1) * sizeof *directions));
    TRY(device_upload_bytes(state->directions, directions, (rows + 1) * sizeof *directions));
    TRY(device_allocate((void **)&state->counts, 2 * sizeof(unsigned)));
    TRY(device_allocate((void **)&state->keys, rows * (size_t)space.cells * sizeof(uint64_t)));
    TRY(device_allocate((void **)&state->angles, rows * sizeof *angles));
    TRY(device_upload_bytes(state->angles, angles, rows * sizeof *angles));
out:
    free(angles);
    free(directions);
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
    list_kernel<<<grid, block, 0, stream>>>(*in, state->places, state->bins, state->counts, state->directions, *params);
    CUDA_TRY(cudaGetLastError());
    vote_kernel<<<16, THREADS, 0, stream>>>(state->places, state->bins, state->counts, space, state->angles,
                                            accumulator, *params);
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
    device_free(state->bins);
    device_free(state->directions);
    device_free(state->counts);
    device_free(state->keys);
    device_image_free(&state->accumulator);
}

RUNGS_CUDA_VERSION(hough)
