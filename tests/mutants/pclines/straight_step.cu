/*
 * Idea:     from row to row a vote moves by y - x, d times a cell, in the twisted space by y + x.
 * Changed:  by y - x in both.
 * Expect:   each row has the right sum
 */
#include "tests/mutants/pclines/mutant.cuh"

static __global__ void vote_kernel(struct image in, struct image accumulator, struct hough_space space,
                                   const __grid_constant__ struct pclines_params params)
{
    const int x = blockIdx.x * MUTANT_THREADS + threadIdx.x, y = blockIdx.y;

    if (x >= in.width || ((const uint8_t *)image_row(&in, y))[x] == 0)
        return;
    const int from_x = x - in.width / 2, from_y = y - in.height / 2;
    for (int n = 0, place = from_x + from_y * (1 - params.d) + params.d / 2; n < space.rows; n++) {
        const int cell = max(0, min(space.cells - 1, space.centre + (place >> params.shift)));
        atomicAdd((int *)image_row(&accumulator, n) + cell, 1);
        place += from_y - from_x;
    }
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct hough_space space = pclines_make_space(in->width, in->height, params);
    const dim3 grid(ceiling_divide(in->width, MUTANT_THREADS), in->height);

    (void)state;
    CUDA_TRY(cudaMemset2DAsync(out[1].data, out[1].stride, 0, (size_t)space.cells * sizeof(int), (size_t)space.rows,
                               stream));
    vote_kernel<<<grid, MUTANT_THREADS, 0, stream>>>(*in, out[1], space, *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(pclines, .declines = declines)
