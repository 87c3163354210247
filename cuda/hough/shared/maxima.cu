#include "cuda/hough/shared/lines.h"

enum { WIDTH = 64, HEIGHT = 32, THREADS = 256, OWN = WIDTH * HEIGHT / THREADS };

/* Votes of cell r of row n, as the window sees them: rows go round with cells reversed, and there is nothing beyond a row. */
static __device__ int votes_at(const struct image &accumulator, struct hough_space space, int n, int r)
{
    const bool wraps = n < 0 || n >= space.rows;
    const int row = n < 0 ? n + space.rows : n >= space.rows ? n - space.rows : n;
    const int cell = wraps ? 2 * space.centre - r : r;

    return row < 0 || row >= space.rows || cell < 0 || cell >= space.cells
               ? 0
               : ((const int *)image_row(&accumulator, row))[cell];
}

/* A block looks at WIDTH cells of HEIGHT rows. The most votes of a window are the most of its columns' most: 2 n comparisons a
 * cell in place of n * n. Of equal ones, of which there are few, hough_is_line() decides. */
static __global__ void __launch_bounds__(THREADS)
    maxima_kernel(const __grid_constant__ struct lines_step step, struct image accumulator,
                  const __grid_constant__ struct hough_params params)
{
    extern __shared__ int votes[];
    __shared__ unsigned total, begin;
    const int radius = params.radius, across = WIDTH + 2 * radius, down = HEIGHT + 2 * radius;
    const int left = step.space.centre - step.space.reach + blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
    int *most = votes + across * down; /* of 2 radius + 1 cells of a row; WIDTH in each */
    unsigned found = 0, at = 0;
    bool any = false;

    if (threadIdx.x == 0)
        total = 0;
    for (int i = threadIdx.x; i < across * down; i += THREADS) {
        votes[i] = votes_at(accumulator, step.space, top + i / across - radius, left + i % across - radius);
        any = any || votes[i] > params.threshold;
    }
    if (!__syncthreads_or(any))
        return;
    for (int i = threadIdx.x; i < WIDTH * down; i += THREADS) {
        const int *from = &votes[i / WIDTH * across + i % WIDTH];
        int own = 0;
        for (int k = 0; k <= 2 * radius; k++)
            own = max(own, from[k]);
        most[i] = own;
    }
    __syncthreads();
    for (int k = 0; k < OWN; k++) {
        const int i = k * THREADS + threadIdx.x, n = top + i / WIDTH, r = left + i % WIDTH;
        const int own = votes[(i / WIDTH + radius) * across + i % WIDTH + radius];
        int other = 0;
        for (int j = 0; own > params.threshold && j <= 2 * radius; j++)
            other = max(other, most[i + j * WIDTH]);
        if (own > params.threshold && own == other && n < step.space.rows &&
            r <= step.space.centre + step.space.reach && hough_is_line(&accumulator, step.space, n, r, &params))
            found |= 1u << k;
    }
    if (found)
        at = atomicAdd(&total, (unsigned)__popc(found));
    __syncthreads();
    if (threadIdx.x == 0 && total > 0)
        begin = atomicAdd(step.count, total);
    __syncthreads();
    at += found ? begin : 0; /* without lines nobody has set it */
    for (int k = 0; k < OWN; k++)
        if (found >> k & 1) {
            const int i = k * THREADS + threadIdx.x;
            const int own = votes[(i / WIDTH + radius) * across + i % WIDTH + radius];
            step.keys[at++] = hough_key(step.space, top + i / WIDTH, left + i % WIDTH, own);
            atomicAdd(&step.votes[own], 1u);
        }
}

enum status lines_search_maxima(struct lines_step *step, const struct image out[], const struct hough_params *params,
                                cudaStream_t stream)
{
    const dim3 grid(ceiling_divide(2 * step->space.reach + 1, WIDTH), ceiling_divide(step->space.rows, HEIGHT));
    const size_t down = HEIGHT + 2 * (size_t)params->radius, across = WIDTH + 2 * (size_t)params->radius;
    enum status status = STATUS_OK;

    if (!step->count)
        return STATUS_OK;
    maxima_kernel<<<grid, THREADS, (across + WIDTH) * down * sizeof(int), stream>>>(*step, lines_accumulator(step, out),
                                                                                    *params);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
