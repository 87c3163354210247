#include "common/cuda/early.cuh"
#include "cuda/hough/shared/lines.h"

enum { THREADS = 256, ROWS = 4 /* that a thread looks at, one below the other */ };

/* hough_is_line() for window=cross, of ROWS cells one below the other, whose loads do not wait for each other. A block
 * reserves places for all its lines at once, for L2 adds to one counter once a cycle at best (atomic contention). */
static __global__ void cross_kernel(const __grid_constant__ struct lines_step step, struct image accumulator,
                                    int threshold)
{
    __shared__ unsigned total, begin;
    const int r = step.space.centre - step.space.reach + blockIdx.x * blockDim.x + threadIdx.x;
    const int first = blockIdx.y * ROWS;
    int votes[ROWS + 2] = {}, left[ROWS] = {}, right[ROWS] = {};
    unsigned found = 0, at = 0;

    if (threadIdx.x == 0)
        total = 0;
    allow_next();
    wait_for_last();
    for (int k = 0; k < ROWS + 2 && r <= step.space.centre + step.space.reach; k++) {
        const int n = first + k - 1;
        if (n < 0 || n >= step.space.rows)
            continue;
        const int *row = (const int *)image_row(&accumulator, n);
        votes[k] = row[r];
        if (k > 0 && k <= ROWS) {
            left[k - 1] = r > 0 ? row[r - 1] : 0;
            right[k - 1] = r + 1 < step.space.cells ? row[r + 1] : 0;
        }
    }
    for (int k = 0; k < ROWS; k++) {
        const int own = votes[k + 1];
        if (own > threshold && own > left[k] && own >= right[k] && own > votes[k] && own >= votes[k + 2])
            found |= 1u << k;
    }
    __syncthreads();
    if (found)
        at = atomicAdd(&total, (unsigned)__popc(found));
    __syncthreads();
    if (threadIdx.x == 0 && total > 0)
        begin = atomicAdd(step.count, total);
    __syncthreads();
    at += found ? begin : 0; /* without lines it is not set */
    for (int k = 0; k < ROWS; k++)
        if (found >> k & 1) {
            step.keys[at++] = hough_key(step.space, first + k, r, votes[k + 1]);
            atomicAdd(&step.votes[votes[k + 1]], 1u);
        }
}

/* A thread looks at one cell in each of ROWS rows; beyond the reach there are no votes. */
static __global__ void search_kernel(const __grid_constant__ struct lines_step step, struct image accumulator,
                                     const __grid_constant__ struct hough_params params)
{
    int r = step.space.centre - step.space.reach + blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.y * ROWS, last = min(first + ROWS, step.space.rows);

    if (r > step.space.centre + step.space.reach)
        return;
    for (int n = first; n < last; n++)
        if (hough_is_line(&accumulator, step.space, n, r, &params))
            lines_found(step, n, r, ((const int *)image_row(&accumulator, n))[r]);
}

static enum status make_tables(struct lines_step *step, const struct hough_params *params)
{
    const size_t rows = (size_t)params->theta_steps;
    struct hough_angle *angles = (struct hough_angle *)malloc(rows * sizeof *angles);
    struct hough_direction *directions = (struct hough_direction *)malloc((rows + 1) * sizeof *directions);
    enum status status = STATUS_OK;

    if (!angles || !directions) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d angles", params->theta_steps);
        goto out;
    }
    hough_make_angles(params, angles);
    hough_make_directions(params, directions);
    TRY(device_allocate((void **)&step->angles, rows * sizeof *angles));
    TRY(device_upload_bytes(step->angles, angles, rows * sizeof *angles));
    TRY(device_allocate((void **)&step->directions, (rows + 1) * sizeof *directions));
    TRY(device_upload_bytes(step->directions, directions, (rows + 1) * sizeof *directions));
out:
    free(angles);
    free(directions);
    return status;
}

enum status lines_allocate(struct lines_step *step, const struct image *in, const struct hough_params *params)
{
    struct image accumulator = {};
    enum status status = STATUS_OK;

    accumulator.width = step->space.cells;
    accumulator.height = step->space.rows;
    accumulator.channels = 1;
    accumulator.type = PIXEL_I32;
    if (params->outputs == HOUGH_LINES && !step->accumulator.data)
        TRY(device_image_create(&step->accumulator, &accumulator));
    if (params->outputs != HOUGH_ACCUMULATOR && !step->keys)
        TRY(lines_sort_setup(step, in, params));
out:
    return status;
}

enum status lines_setup(struct lines_step *step, const struct image *in, const struct hough_params *params)
{
    enum status status = STATUS_OK;

    if (step->angles)
        return STATUS_OK;
    step->space = hough_make_space(in->width, in->height, params);
    TRY(make_tables(step, params));
    TRY(lines_allocate(step, in, params));
out:
    return status;
}

struct image lines_accumulator(const struct lines_step *step, const struct image out[])
{
    return out[1].data ? out[1] : step->accumulator;
}

enum status lines_clear(struct lines_step *step, const struct image out[], cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image accumulator = lines_accumulator(step, out);

    CUDA_TRY(cudaMemset2DAsync(accumulator.data, accumulator.stride, 0, (size_t)accumulator.width * sizeof(int),
                               (size_t)accumulator.height, stream));
out:
    return status;
}

enum status lines_search(struct lines_step *step, const struct image out[], const struct hough_params *params,
                         cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image accumulator = lines_accumulator(step, out);
    const dim3 grid(ceiling_divide(2 * step->space.reach + 1, THREADS), ceiling_divide(step->space.rows, ROWS));
    cudaLaunchAttribute early;
    cudaLaunchConfig_t config = {grid, THREADS, 0, stream, &early, early_attributes(&early)};

    if (!step->count)
        return STATUS_OK;
    if (params->window == HOUGH_CROSS) {
        CUDA_TRY(cudaLaunchKernelEx(&config, cross_kernel, *step, accumulator, params->threshold));
    } else {
        search_kernel<<<grid, THREADS, 0, stream>>>(*step, accumulator, *params);
        CUDA_TRY(cudaGetLastError());
    }
out:
    return status;
}

enum status lines_launch(struct lines_step *step, const struct image out[], const struct hough_params *params,
                         cudaStream_t stream)
{
    enum status status = STATUS_OK;

    TRY(lines_begin(step, stream));
    TRY(lines_search(step, out, params, stream));
    TRY(lines_end(step, out, params, stream));
out:
    return status;
}

void lines_teardown(struct lines_step *step)
{
    device_free(step->angles);
    device_free(step->directions);
    device_free(step->keys);
    device_free(step->count);
    device_image_free(&step->accumulator);
    *step = {};
}
