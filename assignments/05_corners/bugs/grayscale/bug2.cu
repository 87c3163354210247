/*
 * Idea:     bands of rows go to the device by way of two page-locked buffers: while the bus empties one, the host fills
 *           the other.
 * Changed:  two buffers, two streams; bands go to them in turn.
 * Expect:   the host's copying hides behind the bus, for the price of two small buffers in place of one large one.
 */
#include <cstring>

#include "common/algo/grayscale.h"
#include "common/cuda/device.h"

enum { ROWS = 8 /* of a band */, BUFFERS = 2 };

struct state {
    struct image in, out;
    char *buffers[BUFFERS]; /* page-locked, ROWS rows each */
    cudaStream_t streams[BUFFERS];
    cudaEvent_t emptied[BUFFERS];
};

static __global__ void grayscale_kernel(struct image in, struct image out, int first, int end)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = first + blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= out.width || y >= end)
        return;
    const uint8_t *rgb = (const uint8_t *)image_row(&in, y) + 3 * x;
    unsigned sum = GRAYSCALE_RED * rgb[0] + GRAYSCALE_GREEN * rgb[1] + GRAYSCALE_BLUE * rgb[2];
    ((uint8_t *)image_row(&out, y))[x] = (uint8_t)((sum + (1 << (GRAYSCALE_BITS - 1))) >> GRAYSCALE_BITS);
}

static enum status launch_rows(const struct image *in, const struct image *out, int first, int end, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(end - first, block.y));

    grayscale_kernel<<<grid, block, 0, stream>>>(*in, *out, first, end);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    (void)state, (void)params;
    return launch_rows(in, out, 0, in->height, stream);
}

static enum status allocate(struct state *state, const struct image *in, const struct image *out)
{
    enum status status = STATUS_OK;

    if (state->in.data)
        return STATUS_OK;
    for (int i = 0; i < BUFFERS; i++) {
        CUDA_TRY(cudaMallocHost(&state->buffers[i], ROWS * image_row_bytes(in)));
        CUDA_TRY(cudaStreamCreate(&state->streams[i]));
        CUDA_TRY(cudaEventCreateWithFlags(&state->emptied[i], cudaEventDisableTiming));
    }
    TRY(device_image_create(&state->in, in));
    TRY(device_image_create(&state->out, out));
out:
    return status;
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct grayscale_params *params)
{
    enum status status = STATUS_OK;
    const size_t row_bytes = image_row_bytes(in);

    (void)params;
    TRY(allocate(state, in, out));
    for (int first = 0, band = 0; first < in->height; first += ROWS, band++) {
        const int end = min(first + ROWS, in->height), turn = band % BUFFERS;
        if (band >= BUFFERS)
            CUDA_TRY(cudaEventSynchronize(state->emptied[(band - 1) % BUFFERS]));
        for (int y = first; y < end; y++)
            memcpy(state->buffers[turn] + (size_t)(y - first) * row_bytes, image_row(in, y), row_bytes);
        CUDA_TRY(cudaMemcpy2DAsync(image_row(&state->in, first), state->in.stride, state->buffers[turn], row_bytes,
                                   row_bytes, (size_t)(end - first), cudaMemcpyHostToDevice, state->streams[turn]));
        CUDA_TRY(cudaEventRecord(state->emptied[turn], state->streams[turn]));
        TRY(launch_rows(&state->in, &state->out, first, end, state->streams[turn]));
    }
    for (int i = 0; i < BUFFERS; i++)
        CUDA_TRY(cudaStreamSynchronize(state->streams[i]));
    TRY(device_download(out, &state->out));
out:
    return status;
}

static void teardown(struct state *state)
{
    for (int i = 0; i < BUFFERS; i++) {
        if (state->streams[i])
            cudaStreamDestroy(state->streams[i]);
        if (state->emptied[i])
            cudaEventDestroy(state->emptied[i]);
        if (state->buffers[i])
            cudaFreeHost(state->buffers[i]);
    }
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

RUNGS_CUDA_VERSION_WITH_RUN(grayscale)
