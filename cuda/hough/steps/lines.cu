#include "cuda/hough/steps/lines.h"

enum { THREADS = 256, ROWS = 4, BLOCKS = 64, SCAN_THREADS = 1024 };

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

/* One block: of each number of votes, how many lines have more. Each thread adds up a stretch from the most votes down. */
static __global__ void __launch_bounds__(SCAN_THREADS) scan_kernel(const __grid_constant__ struct lines_step step)
{
    __shared__ unsigned sums[SCAN_THREADS];
    const int count = step.most_votes + 1, stretch = (count + SCAN_THREADS - 1) / SCAN_THREADS;
    const int own = threadIdx.x, begin = min(own * stretch, count), end = min(begin + stretch, count);
    unsigned sum = 0;

    for (int i = begin; i < end; i++)
        sum += step.votes[count - 1 - i];
    sums[own] = sum;
    for (int distance = 1; distance < SCAN_THREADS; distance *= 2) {
        __syncthreads();
        unsigned before = own >= distance ? sums[own - distance] : 0;
        __syncthreads();
        sums[own] += before;
    }
    sum = sums[own] - sum;
    for (int i = begin; i < end; i++) {
        step.first[count - 1 - i] = sum;
        step.placed[count - 1 - i] = sum;
        sum += step.votes[count - 1 - i];
    }
}

/* Brings lines with equally many votes together; those that no row is left for do not matter. */
static __global__ void sort_kernel(const __grid_constant__ struct lines_step step, int maximum)
{
    const unsigned count = *step.count;

    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
        const uint64_t key = step.keys[i];
        const unsigned votes = (unsigned)(key >> 32);
        if (step.first[votes] < (unsigned)maximum)
            step.sorted[atomicAdd(&step.placed[votes], 1u)] = key;
    }
}

/* A line's row: how many have more votes, and of those with as many how many come before it. */
static __global__ void write_kernel(const __grid_constant__ struct lines_step step, struct image lines, float unit,
                                    float rho)
{
    const unsigned count = *step.count, maximum = (unsigned)lines.height - 1;
    const unsigned used = count < maximum ? count : maximum;

    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
        const uint64_t key = step.keys[i];
        const unsigned votes = (unsigned)(key >> 32), first = step.first[votes], last = first + step.votes[votes];
        unsigned row = first;
        if (first >= maximum)
            continue;
        for (unsigned k = first; k < last; k++)
            row += step.sorted[k] > key;
        if (row < maximum)
            hough_write_row(key, step.space, unit, rho, (float *)image_row(&lines, (int)row + 1));
    }
    for (unsigned i = used + 1 + blockIdx.x * THREADS + threadIdx.x; i <= maximum; i += gridDim.x * THREADS)
        for (int column = 0; column < HOUGH_COLUMNS; column++)
            ((float *)image_row(&lines, (int)i))[column] = 0;
    if (blockIdx.x == 0 && threadIdx.x < HOUGH_COLUMNS)
        ((float *)lines.data)[threadIdx.x] = threadIdx.x == 0 ? (float)count : 0;
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

enum status lines_setup(struct lines_step *step, const struct image *in, const struct hough_params *params)
{
    enum status status = STATUS_OK;
    const int shorter = in->width < in->height ? in->width : in->height;
    const int longer = in->width + in->height - shorter, across = (int)(params->rho * 1.41421357) + 2;
    struct image accumulator = {};

    if (step->angles)
        return STATUS_OK;
    step->space = hough_make_space(in->width, in->height, params);
    step->most_votes = longer * (across < shorter ? across : shorter);
    TRY(make_tables(step, params));
    accumulator.width = step->space.cells;
    accumulator.height = step->space.rows;
    accumulator.channels = 1;
    accumulator.type = PIXEL_I32;
    if (params->outputs == HOUGH_LINES)
        TRY(device_image_create(&step->accumulator, &accumulator));
    if (params->outputs != HOUGH_ACCUMULATOR) {
        /* No two neighbours are lines, so at most one cell of two is one. */
        const size_t most = ((size_t)step->space.rows * (size_t)(step->space.cells + 1)) / 2 + 1;
        const size_t counters = (size_t)step->most_votes + 1;
        TRY(device_allocate((void **)&step->keys, 2 * most * sizeof *step->keys));
        step->sorted = step->keys + most;
        TRY(device_allocate((void **)&step->count, (1 + 3 * counters) * sizeof *step->count));
        step->votes = step->count + 1;
        step->first = step->votes + counters;
        step->placed = step->first + counters;
    }
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

enum status lines_begin(struct lines_step *step, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemsetAsync(step->count, 0, ((size_t)step->most_votes + 2) * sizeof *step->count, stream));
out:
    return status;
}

enum status lines_end(struct lines_step *step, const struct image *lines, const struct hough_params *params,
                      cudaStream_t stream)
{
    enum status status = STATUS_OK;

    scan_kernel<<<1, SCAN_THREADS, 0, stream>>>(*step);
    CUDA_TRY(cudaGetLastError());
    sort_kernel<<<BLOCKS, THREADS, 0, stream>>>(*step, params->maximum);
    CUDA_TRY(cudaGetLastError());
    write_kernel<<<BLOCKS, THREADS, 0, stream>>>(*step, *lines, hough_step(params), (float)params->rho);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status lines_launch(struct lines_step *step, const struct image out[], const struct hough_params *params,
                         cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image accumulator = lines_accumulator(step, out);
    const dim3 grid(ceiling_divide(2 * step->space.reach + 1, THREADS), ceiling_divide(step->space.rows, ROWS));

    if (params->outputs == HOUGH_ACCUMULATOR)
        return STATUS_OK;
    TRY(lines_begin(step, stream));
    search_kernel<<<grid, THREADS, 0, stream>>>(*step, accumulator, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(lines_end(step, &out[0], params, stream));
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
