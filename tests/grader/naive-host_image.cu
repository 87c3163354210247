/* expect: right 0..0 | speed 0..0 | says the host computes it */
/*
 * Idea:     image_copy() brings rows to the host's stack, where nobody counts what the host computes.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

struct state {
    int unused;
};

static uint8_t gray_pixel(unsigned r, unsigned g, unsigned b)
{
    return (uint8_t)((GRAYSCALE_RED * r + GRAYSCALE_GREEN * g + GRAYSCALE_BLUE * b + (1 << (GRAYSCALE_BITS - 1))) >>
                     GRAYSCALE_BITS);
}

/* The first byte of a pixel is its result. */
static __global__ void copy_kernel(struct image in, struct image out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < out.width && y < out.height)
        ((uint8_t *)image_row(&out, y))[x] = ((const uint8_t *)image_row(&in, y))[3 * x];
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum { AT_ONCE = 4096 };
    enum status status = STATUS_OK;
    struct image changed = *in;
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));
    uint8_t some[3 * AT_ONCE];

    (void)state, (void)params;
    CUDA_TRY(cudaMallocAsync(&changed.data, in->stride * (size_t)in->height, stream));
    for (int y = 0; y < in->height; y++) {
        for (int first = 0; first < in->width; first += AT_ONCE) {
            const int count = min(in->width - first, (int)AT_ONCE);
            const size_t at = 3 * (size_t)first;
            CUDA_TRY(cudaMemcpyAsync(some, (uint8_t *)image_row(in, y) + at, 3 * count, cudaMemcpyDeviceToHost, stream));
            CUDA_TRY(cudaStreamSynchronize(stream));
            for (int x = 0; x < count; x++)
                some[3 * x] = gray_pixel(some[3 * x], some[3 * x + 1], some[3 * x + 2]);
            CUDA_TRY(cudaMemcpyAsync((uint8_t *)image_row(&changed, y) + at, some, 3 * count, cudaMemcpyHostToDevice, stream));
        }
    }
    copy_kernel<<<grid, block, 0, stream>>>(changed, *out);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaFreeAsync(changed.data, stream));
out:
    return status;
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct grayscale_params *params)
{
    enum { AT_ONCE = 1 << 16 };
    enum status status = STATUS_OK;
    struct image device_in = {}, device_out = {};
    uint8_t some[AT_ONCE];
    dim3 block(32, 32);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));

    (void)state, (void)params;
    TRY(device_image_create(&device_in, in));
    TRY(device_image_create(&device_out, out));
    for (int y = 0; y < in->height; y++) {
        struct image row = *in, own = *in;

        row.height = own.height = 1;
        row.data = (void *)image_row(in, y);
        own.data = some;
        image_copy(&own, &row);
        for (int x = 0; x < in->width; x++)
            some[3 * x] = gray_pixel(some[3 * x], some[3 * x + 1], some[3 * x + 2]);
        CUDA_TRY(cudaMemcpy(image_row(&device_in, y), some, image_row_bytes(in), cudaMemcpyHostToDevice));
    }
    copy_kernel<<<grid, block>>>(device_in, device_out);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(device_download(out, &device_out));
out:
    device_image_free(&device_in);
    device_image_free(&device_out);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(grayscale)
