/*
 * codes.cuh: where the stages of a model look, as four pictures of the pyramid's shape, one for each size of cells: for LBP they
 * hold its bin at every pixel, for LRD and LRP, whose bins depend on two cells that differ from stage to stage, the means.
 */
#ifndef RUNGS_DETECT_STEPS_CODES_CUH
#define RUNGS_DETECT_STEPS_CODES_CUH

#include "cuda/detect/steps/four.cuh"

enum {
    CODES_KINDS = 4,
    CODES_ROWS = 6,  /* of three cells of two pixels */
    CODES_WORDS = 3, /* of a row: four places, and five pixels behind them */
    CODES_SPARE = 64 /* bytes behind the last row that windows beside the last of a row read, and leave */
};

/* Where the codes of a window are. */
struct code_planes {
    size_t bytes; /* of a plane */
    int skipped;  /* by so many bytes is the first of four windows behind a multiple of 4 */
};

/* Four pixels of a row from column `column` on. */
static inline __device__ unsigned codes_pixels(const unsigned row[CODES_WORDS], int column)
{
    return __funnelshift_r(row[column / 4], row[min(column / 4 + 1, CODES_WORDS - 1)], column % 4 * 8);
}

/* The means of cell c of size `kind` at four places side by side. */
static inline __device__ unsigned codes_cells(const unsigned rows[CODES_ROWS][CODES_WORDS], int kind, int c)
{
    const unsigned even = 0x00ff00ff, two = 0x00020002;
    const int column = c % 3 * (1 + kind % 2), row = c / 3 * (1 + kind / 2);
    const unsigned own = codes_pixels(rows[row], column), right = codes_pixels(rows[row], column + kind % 2);
    const unsigned below = codes_pixels(rows[row + kind / 2], column);
    const unsigned across = codes_pixels(rows[row + kind / 2], column + kind % 2);

    if (kind < 3)
        return kind == 0 ? own : __vavgu4(own, across);
    const unsigned sums = (own & even) + (right & even) + (below & even) + (across & even) + two;
    const unsigned odd_sums =
        (own >> 8 & even) + (right >> 8 & even) + (below >> 8 & even) + (across >> 8 & even) + two;
    return (sums >> 2 & even) | (odd_sums >> 2 & even) << 8;
}

/* The highest bit of the bytes of `a` that are greater than those of `b`. */
static inline __device__ unsigned codes_greater(unsigned a, unsigned b)
{
    const unsigned high = 0x80808080, rest = (b | high) - (a & ~high); /* high bits: the others of a are not greater */

    return ((a & ~b) | (~(a ^ b) & ~rest)) & high;
}

/* A thread makes four places of all planes. */
template <int FEATURE> static __global__ void codes_kernel(struct image levels, struct image planes)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int last = (levels.width - 1) / 4, border[] = {0, 1, 2, 5, 8, 7, 6, 3};
    unsigned rows[CODES_ROWS][CODES_WORDS];

    if (x > last || y >= levels.height)
        return;
#pragma unroll
    for (int i = 0; i < CODES_ROWS; i++)
#pragma unroll
        for (int k = 0; k < CODES_WORDS; k++)
            rows[i][k] = ((const unsigned *)image_row(&levels, min(y + i, levels.height - 1)))[min(x + k, last)];
#pragma unroll
    for (int kind = 0; kind < CODES_KINDS; kind++) {
        unsigned word = FEATURE == DETECT_LBP ? 0 : codes_cells(rows, kind, 0);
#pragma unroll
        for (int i = 0; FEATURE == DETECT_LBP && i < 8; i++)
            word |= codes_greater(codes_cells(rows, kind, border[i]), codes_cells(rows, kind, 4)) >> (7 - i);
        ((unsigned *)image_row(&planes, kind * levels.height + y))[x] = word;
    }
}

struct codes_step {
    struct image planes; /* the first; the others follow */
};

/* Allocates what is not there yet, for a pyramid like `levels`. */
static inline enum status codes_setup(struct codes_step *step, const struct image *levels)
{
    const size_t bytes = CODES_KINDS * levels->stride * levels->height + CODES_SPARE;
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

/* Enqueues the planes of a pyramid. */
static inline enum status codes_make(const struct codes_step *step, int feature, const struct image *levels,
                                     cudaStream_t stream)
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

static inline __device__ const uint8_t *codes_at(const struct detect_stage &stage, const uint8_t *window, int stride,
                                                 const struct code_planes &planes)
{
    return window + (stage.width - 1 + 2 * (stage.height - 1)) * planes.bytes + stage.y * stride + stage.x;
}

static inline __device__ int planes_bin(int feature, const struct detect_stage &stage, const uint8_t *window,
                                        int stride, const struct code_planes &planes)
{
    const uint8_t *from = codes_at(stage, window, stride, planes);

    return feature == DETECT_LBP ? *from : planes_bin_at(feature, stage, from, stride);
}

static inline __device__ unsigned four_bins(int feature, const struct detect_stage &stage, const uint8_t *window,
                                            int stride, const struct code_planes &planes)
{
    const uint8_t *from = codes_at(stage, window, stride, planes);
    const int skipped = (planes.skipped + stage.x) % 4;
    const unsigned *words = (const unsigned *)(from - skipped);

    return feature == DETECT_LBP ? __funnelshift_r(words[0], words[skipped > 0], 8 * skipped)
                                 : four_bins_at(feature, stage, from, skipped, stride);
}

#endif
