#include "cuda/pclines/shared/diagonals.h"

enum { WARPS = 8 };

/* A warp looks at 32 pixels in the direction of the longer side, which are bits of a word. */
static __global__ void bits_kernel(struct image in, const __grid_constant__ struct diagonals_step step,
                                   const __grid_constant__ struct hough_params params)
{
    const int along = blockIdx.x * 32 + threadIdx.x, line = blockIdx.y * WARPS + threadIdx.y;
    const int x = step.across ? along : line, y = step.across ? line : along;
    struct hough_gradient gradient;
    const bool found = x < in.width && y < in.height && hough_is_point(&in, x, y, &params, &gradient);
    const unsigned bits = __ballot_sync(0xffffffff, found);

    if (threadIdx.x == 0 && line < step.shorter)
        step.bits[(size_t)line * step.row + blockIdx.x] = bits;
}

/* A warp makes a word of 32 diagonals, which is a piece of 32 by 32 bits turned over: a lane has a place of the
 * shorter side, whose 32 pixels on these diagonals are neighbours; then a lane has a diagonal. */
static __global__ void turn_kernel(const __grid_constant__ struct diagonals_step step)
{
    __shared__ unsigned rows[WARPS][32];
    const bool twisted = blockIdx.z == 0;
    const int lane = threadIdx.x, place = blockIdx.x * 32 + lane, first = (blockIdx.y * WARPS + threadIdx.y) * 32;
    const int line = twisted && step.across ? step.shorter - 1 - place : place;
    const int at = first + (twisted ? -line : line - (step.shorter - 1)), word = at >> 5;
    unsigned low = 0, high = 0, turned = 0;

    if (place < step.shorter) {
        const unsigned *bits = step.bits + (size_t)line * step.row;
        low = word >= 0 && word < step.row ? bits[word] : 0;
        high = word + 1 >= 0 && word + 1 < step.row ? bits[word + 1] : 0;
    }
    rows[threadIdx.y][lane] = __funnelshift_r(low, high, (unsigned)at);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 32; k++)
        turned |= (rows[threadIdx.y][k] >> lane & 1) << k;
    if (first + lane < step.count)
        (twisted ? step.twisted : step.straight)
            .words[(size_t)(first + lane) * step.stride + DIAGONALS_GUARD + blockIdx.x] = turned;
}

enum status diagonals_setup(struct diagonals_step *step, const struct image *in)
{
    const int left = in->width / 2, above = in->height / 2, below = in->height - 1 - above;
    const int right = in->width - 1 - left;
    size_t bytes;
    enum status status = STATUS_OK;

    if (step->bits)
        return STATUS_OK;
    step->across = in->width >= in->height;
    step->shorter = step->across ? in->height : in->width;
    step->longer = step->across ? in->width : in->height;
    step->count = step->shorter + step->longer - 1;
    while (1 << step->planes <= step->count)
        step->planes++;
    step->words = ceiling_divide(step->shorter, 32);
    step->stride = step->words + DIAGONALS_GUARD;
    step->row = ceiling_divide(step->longer, 32);
    step->twisted = {-left - above, 1, left, 0, NULL};
    step->straight = {-right - above, 1, left, 0, NULL};
    if (step->across) {
        step->twisted = {-left - above, 1, below, -1, NULL};
        step->straight = {below + left, -1, above, 1, NULL};
    }
    bytes = ((size_t)step->count + DIAGONALS_BATCH + 1) * (size_t)step->stride * sizeof(unsigned);
    for (struct diagonals_side *side : {&step->twisted, &step->straight}) {
        TRY(device_allocate((void **)&side->words, bytes));
        TRY(device_clear(side->words, bytes));
    }
    TRY(device_allocate((void **)&step->bits, (size_t)step->shorter * (size_t)step->row * sizeof *step->bits));
out:
    return status;
}

enum status diagonals_launch(struct diagonals_step *step, const struct image *in, const struct hough_params *params,
                             cudaStream_t stream)
{
    const dim3 block(32, WARPS), pixels((unsigned)step->row, ceiling_divide(step->shorter, WARPS));
    const dim3 pieces((unsigned)step->words, ceiling_divide(step->count, 32 * WARPS), 2);
    enum status status = STATUS_OK;

    bits_kernel<<<pixels, block, 0, stream>>>(*in, *step, *params);
    CUDA_TRY(cudaGetLastError());
    turn_kernel<<<pieces, block, 0, stream>>>(*step);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void diagonals_teardown(struct diagonals_step *step)
{
    device_free(step->twisted.words);
    device_free(step->straight.words);
    device_free(step->bits);
    *step = {};
}
