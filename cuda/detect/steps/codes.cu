#include "cuda/detect/steps/codes.cuh"

enum {
    KINDS = 4,
    ROWS = 6,  /* of three cells of two pixels */
    WORDS = 3, /* of a row: four places, and five pixels behind them */
    SPARE = 64 /* bytes behind the last row that windows beside the last of a row read, and leave */
};

/* Four pixels of a row from column `column` on. */
static __device__ unsigned find_pixels(const unsigned row[WORDS], int column)
{
    return __funnelshift_r(row[column / 4], row[min(column / 4 + 1, WORDS - 1)], column % 4 * 8);
}

/* The means of cell c of size `kind` at four places side by side. */
static __device__ unsigned find_cells(const unsigned rows[ROWS][WORDS], int kind, int c)
{
    const unsigned even = 0x00ff00ff, two = 0x00020002;
    const int column = c % 3 * (1 + kind % 2), row = c / 3 * (1 + kind / 2);
    const unsigned own = find_pixels(rows[row], column), right = find_pixels(rows[row], column + kind % 2);
    const unsigned below = find_pixels(rows[row + kind / 2], column);
    const unsigned across = find_pixels(rows[row + kind / 2], column + kind % 2);

    if (kind < 3)
        return kind == 0 ? own : __vavgu4(own, across);
    const unsigned sums = (own & even) + (right & even) + (below & even) + (across & even) + two;
    const unsigned odd_sums =
        (own >> 8 & even) + (right >> 8 & even) + (below >> 8 & even) + (across >> 8 & even) + two;
    return (sums >> 2 & even) | (odd_sums >> 2 & even) << 8;
}

/* The highest bit of the bytes of `a` that are greater than those of `b`. */
static __device__ unsigned find_greater(unsigned a, unsigned b)
{
    const unsigned high = 0x80808080, rest = (b | high) - (a & ~high); /* high bits: the others of a are not greater */

    return ((a & ~b) | (~(a ^ b) & ~rest)) & high;
}

/* A thread makes four places of all planes. */
template <int FEATURE> static __global__ void codes_kernel(struct image levels, struct image planes)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int last = (levels.width - 1) / 4, border[] = {0, 1, 2, 5, 8, 7, 6, 3};
    unsigned rows[ROWS][WORDS];

    if (x > last || y >= levels.height)
        return;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            rows[i][k] = ((const unsigned *)image_row(&levels, min(y + i, levels.height - 1)))[min(x + k, last)];
#pragma unroll
    for (int kind = 0; kind < KINDS; kind++) {
        unsigned word = FEATURE == DETECT_LBP ? 0 : find_cells(rows, kind, 0);
#pragma unroll
        for (int i = 0; FEATURE == DETECT_LBP && i < 8; i++)
            word |= find_greater(find_cells(rows, kind, border[i]), find_cells(rows, kind, 4)) >> (7 - i);
        ((unsigned *)image_row(&planes, kind * levels.height + y))[x] = word;
    }
}

enum status codes_setup(struct codes_step *step, const struct image *levels)
{
    const size_t bytes = KINDS * levels->stride * levels->height + SPARE;
    enum status status = STATUS_OK;

    if (!step->planes.data) {
        void *planes = NULL;
        TRY(device_allocate(&planes, bytes));
        step->planes = *levels;
        step->planes.data = planes;
        CUDA_TRY(cudaMemset(planes, 0, bytes));
    }
out:
    return status;
}

enum status codes_make(const struct codes_step *step, int feature, const struct image *levels, cudaStream_t stream)
{
    typedef void kernel_function(struct image levels, struct image planes);
    kernel_function *const kernels[] = {codes_kernel<DETECT_LRD>, codes_kernel<DETECT_LRP>, codes_kernel<DETECT_LBP>};
    const dim3 block(32, 8), grid(ceiling_divide(levels->width, 4 * block.x), ceiling_divide(levels->height, block.y));
    enum status status = STATUS_OK;

    kernels[feature]<<<grid, block, 0, stream>>>(*levels, step->planes);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void codes_teardown(struct codes_step *step)
{
    device_free(step->planes.data);
    *step = {};
}
