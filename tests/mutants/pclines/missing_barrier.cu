/*
 * Idea:     a block a row, with counters in shared memory (cuda/v1.2).
 * Changed:  no __syncthreads() between setting them to 0 and voting.
 * Expect:   race | differs between runs
 */
#include "tests/mutants/pclines/mutant.cuh"

static __global__ void vote_kernel(struct image in, struct image accumulator, struct hough_space space,
                                   const __grid_constant__ struct pclines_params params)
{
    __shared__ int counters[2 * 1025 + 1];
    const int n = blockIdx.x;

    for (int i = threadIdx.x; i < space.cells; i += MUTANT_THREADS)
        counters[i] = 0;
    for (int i = threadIdx.x; i < in.width * in.height; i += MUTANT_THREADS) {
        const int x = i % in.width, y = i / in.width;
        if (((const uint8_t *)image_row(&in, y))[x] != 0)
            atomicAdd(&counters[space.centre + pclines_offset(x - in.width / 2, y - in.height / 2, n, &params)], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < space.cells; i += MUTANT_THREADS)
        ((int *)image_row(&accumulator, n))[i] = counters[i];
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pclines_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct hough_space space = pclines_make_space(in->width, in->height, params);

    (void)state;
    vote_kernel<<<space.rows, MUTANT_THREADS, 0, stream>>>(*in, out[1], space, *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(pclines, .declines = declines)
