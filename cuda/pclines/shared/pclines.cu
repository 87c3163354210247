#include "cuda/pclines/shared/pclines.h"

enum { THREADS = 256, BLOCKS = 128 /* there are some thousand lines */ };

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

enum status pclines_launch(struct pclines_step *step, const struct image *in, const struct image out[],
                           const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (params->hough.outputs == HOUGH_ACCUMULATOR)
        return STATUS_OK;
    TRY(lines_begin(&step->lines, stream));
    TRY(lines_search(&step->lines, out, &params->hough, stream));
    TRY(pclines_write(step, in, out, params, stream));
out:
    return status;
}

enum status pclines_write(struct pclines_step *step, const struct image *in, const struct image out[],
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    TRY(lines_sort(&step->lines, &params->hough, stream));
    write_kernel<<<device_blocks(BLOCKS), THREADS, 0, stream>>>(step->lines, step->rows, *in,
                                                                lines_accumulator(&step->lines, out), out[0], *params);
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
