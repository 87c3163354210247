#include "cuda/pclines/shared/pclines.h"

enum { THREADS = 256, BLOCKS = 16 /* there are some thousand lines */ };

static __global__ void write_kernel(const __grid_constant__ struct lines_step step, const struct pclines_row *rows,
                                    struct image in, struct image accumulator, struct image lines,
                                    const __grid_constant__ struct pclines_params params)
{
    const unsigned count = *step.count, maximum = (unsigned)lines.height - 1;
    const unsigned used = count < maximum ? count : maximum;

    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
        const uint64_t key = step.keys[i];
        const unsigned row = lines_row(step, key, maximum);
        if (row < maximum)
            pclines_write_row(key, step.space, rows, &in, &accumulator, &params,
                              (float *)image_row(&lines, (int)row + 1));
    }
    for (unsigned i = used + 1 + blockIdx.x * THREADS + threadIdx.x; i <= maximum; i += gridDim.x * THREADS)
        for (int column = 0; column < PCLINES_COLUMNS; column++)
            ((float *)image_row(&lines, (int)i))[column] = 0;
    if (blockIdx.x == 0 && threadIdx.x < PCLINES_COLUMNS)
        ((float *)lines.data)[threadIdx.x] = threadIdx.x == 0 ? (float)count : 0;
}

static __global__ void global_kernel(struct image in, struct hough_space space, struct image accumulator,
                                     const __grid_constant__ struct pclines_params params, struct points_step points)
{
    const int n = blockIdx.x;
    int *row = (int *)image_row(&accumulator, n) + space.centre;

    for (unsigned i = blockIdx.y * THREADS + threadIdx.x; i < *points.count; i += gridDim.y * THREADS) {
        const int x = points.items[i].place & 0xffff, y = points.items[i].place >> 16;
        if (pclines_votes_for(&params, (int)points.items[i].bin, n))
            atomicAdd(&row[pclines_offset(x - in.width / 2, y - in.height / 2, n, &params)], 1);
    }
}

enum status pclines_setup(struct pclines_step *step, const struct image *in, const struct pclines_params *params)
{
    const size_t bytes = (size_t)params->hough.theta_steps * sizeof *step->rows;
    struct pclines_row *rows = NULL;
    enum status status = STATUS_OK;

    if (step->rows)
        return STATUS_OK;
    rows = (struct pclines_row *)malloc(bytes);
    if (!rows)
        return status_set(STATUS_NO_MEMORY, "no memory for %d rows", params->hough.theta_steps);
    for (int n = 0; n < params->hough.theta_steps; n++)
        rows[n] = pclines_make_row(n, in, params);
    step->lines.space = pclines_make_space(in->width, in->height, params);
    TRY(lines_allocate(&step->lines, in, &params->hough));
    TRY(device_allocate((void **)&step->rows, bytes));
    TRY(device_upload_bytes(step->rows, rows, bytes));
out:
    free(rows);
    return status;
}

enum status pclines_tiles_setup(struct tiles_step *tiles, const struct image *in, const struct pclines_params *params,
                                int side, int groups)
{
    const int most = max(params->d / TILES_LANES, 1);
    enum status status = STATUS_OK;

    TRY(tiles_setup(tiles, in, &params->hough, side, min(groups, most)));
    tiles->cells = tiles->side; /* not its diagonal: X (d - |u|) + Y u grows by d a pixel at most */
out:
    return status;
}

enum status pclines_vote_globally(const struct lines_step *lines, const struct image *in,
                                  const struct points_step *points, const struct image out[],
                                  const struct pclines_params *params, unsigned slices, cudaStream_t stream)
{
    const dim3 grid((unsigned)lines->space.rows, slices);
    enum status status = STATUS_OK;

    global_kernel<<<grid, THREADS, 0, stream>>>(*in, lines->space, lines_accumulator(lines, out), *params, *points);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status pclines_launch(struct pclines_step *step, const struct image *in, const struct image out[],
                           const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (params->hough.outputs == HOUGH_ACCUMULATOR)
        return STATUS_OK;
    TRY(lines_begin(&step->lines, stream));
    TRY(lines_search(&step->lines, out, &params->hough, stream));
    TRY(pclines_end(step, in, out, params, stream));
out:
    return status;
}

enum status pclines_end(struct pclines_step *step, const struct image *in, const struct image out[],
                        const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    TRY(lines_sort(&step->lines, &params->hough, stream));
    write_kernel<<<BLOCKS, THREADS, 0, stream>>>(step->lines, step->rows, *in, lines_accumulator(&step->lines, out),
                                                 out[0], *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void pclines_teardown(struct pclines_step *step)
{
    lines_teardown(&step->lines);
    device_free(step->rows);
    *step = {};
}
