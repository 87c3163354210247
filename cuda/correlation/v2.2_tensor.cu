/*
 * Idea:     the tensor cores multiply and add. A sample is the sum of two bfloat16 within 2^-17 of it, and three
 *           products of these are the product of two samples within 2^-15, where the contract allows 2^-12; a byte is
 *           one bfloat16.
 * Changed:  the kernel. A warp loads 16 pixels of 8 planes where the tensor cores want them, and multiplies 32 by 32 planes
 *           that lie split in shared memory; its sums stay in registers. Tiles below the diagonal are left out.
 * Expect:   31 bands of a million pixels: 18 instructions of 2048 products for 16 pixels, 5 us of the tensor cores and 8 of
 *           others to split samples, so that memory, 30 us, is the limit. 198 bands: 500 instructions for 16 pixels, 250 us.
 * Result:   34.5 us with 6 bands, 4.1 times v2.1 (results/h200/correlation/correlation_1024x1024x6.json). 198 bands take 1.55 ms,
 *           six times what was expected (kernels_v2.3.txt beside it: the kernel is the same).
 * From:     cuda/v1.2
 */
/* Try: make bench-correlation VERSIONS=cuda/v2.0,cuda/v2.1,cuda/v2.2,peer/cublas */
#include "common/algo/correlation.h"
#include "common/cuda/device.h"
#include "cuda/correlation/shared/operands.cuh"

struct state {
    double *totals; /* in device memory: sums of products of planes */
    int multiprocessors;
};

template <enum pixel_type TYPE>
static __global__ void __launch_bounds__(32 * WARPS, 2) sum_kernel(struct plan plan, double *totals)
{
    extern __shared__ __align__(16) uint4 panel[];
    const int pixels = plan.steps * STEP, warp = threadIdx.x / 32;
    const int64_t count = (int64_t)plan.in.width * plan.in.height, begin = (int64_t)blockIdx.x * plan.repeats * pixels;
    const int2 square = place_square(blockIdx.y * plan.squares + warp % plan.squares, plan.tiles);
    float sums[SQUARE / 2][SQUARE][4] = {};

    plan.in.type = TYPE;
    for (int64_t first = begin; first < min(begin + (int64_t)plan.repeats * pixels, count); first += pixels) {
        __syncthreads();
        load_panel(plan, first, panel);
        __syncthreads();
        for (int step = warp / plan.squares; step < plan.steps; step += plan.warps / plan.squares)
            multiply_square(sums, panel + step * plan.tiles * 32, square.x, square.y, plan.tiles, TYPE != PIXEL_F32);
    }
    add_squares(sums, square, plan, (float *)panel, totals);
}

static auto kernel_for(const struct image *in)
{
    return in->type == PIXEL_F32  ? sum_kernel<PIXEL_F32>
           : in->type == PIXEL_U8 ? sum_kernel<PIXEL_U8>
                                  : sum_kernel<PIXEL_U16>;
}

static __global__ void finish_kernel(struct image in, struct correlation_params params, const double *totals,
                                     struct image out)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int u = blockIdx.y * blockDim.y + threadIdx.y;

    if (v >= in.channels || u > v)
        return;
    const double entry = correlation_entry(totals, &in, &params, u, v);
    ((double *)image_row(&out, u))[v] = entry;
    ((double *)image_row(&out, v))[u] = entry;
}

static enum status setup(struct state *state, const struct image in[], const struct correlation_params *params)
{
    const size_t planes = correlation_planes(in, params);
    enum status status = STATUS_OK;
    int device;

    if (state->totals)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_TRY(cudaFuncSetAttribute(kernel_for(in), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  make_plan(in, params, state->multiprocessors, WARPS).shared));
    TRY(device_allocate((void **)&state->totals, planes * planes * sizeof *state->totals));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct correlation_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct plan plan = make_plan(in, params, state->multiprocessors, WARPS);
    const int planes = plan.planes;
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(planes, block.x), ceiling_divide(planes, block.y));

    CUDA_TRY(cudaMemsetAsync(state->totals, 0, (size_t)planes * planes * sizeof *state->totals, stream));
    kernel_for(in)<<<plan.blocks, 32 * plan.warps, plan.shared, stream>>>(plan, state->totals);
    CUDA_TRY(cudaGetLastError());
    finish_kernel<<<grid, block, 0, stream>>>(*in, *params, state->totals, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->totals);
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(correlation, .unavailable = unavailable)
