/*
 * Problem:  In cuda/v2.0 a call takes 2.2 ms, its kernel 0.17 ms: one thread copies it all.
 * Idea:     Page-locked memory of our own: all threads copy a band of rows, one of 8, while the bus
 *           carries the band before it; on the way back they copy the one that has arrived.
 * Expect:   4 times as fast, 0.55 ms: 8.3 MB take the bus 0.15 ms each way; one band of copying
 *           each way is not hidden, 0.02 ms, nor is the kernel, 0.17 ms.
 * Result:   2.8 times, 0.81 ms (results/h200/blur/blur_3840x2160_staged.json).
 * Run:      make diff-blur A=cuda/v2.0 B=cuda/staged
 * From:     cuda/v2.0
 */
#include <string.h>

#include "common/algo/blur.h"
#include "common/cuda/device.h"

enum { BANDS = 8 /* of rows, copied one after the other */ };

struct weights {
    uint16_t at[BLUR_MAX_KSIZE];
};

struct state {
    struct weights weights; /* no __constant__ symbol: two states would overwrite each other's */
    struct image in, out;   /* on the device */
    char *locked;           /* page-locked memory of the host, rows as far apart as those of in and out */
    cudaStream_t stream;
    cudaEvent_t arrived[BANDS];
};

static int block_width = 32, block_height = 32;
static const int block_widths[] = {8, 16, 32, 64, 128, 256, 0}, block_heights[] = {1, 2, 4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

/* Bytes of the tile, rounded up to even, and of the sums of its rows. */
static size_t shared_bytes(const struct image *in, const struct blur_params *params)
{
    size_t tile_height = block_height + params->ksize - 1, tile_width = block_width + params->ksize - 1;

    return (tile_width * tile_height + 1) * in->channels + block_width * tile_height * in->channels * sizeof(uint16_t);
}

static const char *illegal(const struct image in[], const void *params)
{
    return device_block_illegal(block_width * block_height, shared_bytes(in, (const struct blur_params *)params));
}

static __device__ int clamp(int value, int maximum)
{
    return min(max(value, 0), maximum);
}

static __global__ void blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights w,
                                   int ksize)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    extern __shared__ uint8_t tile[];
    int tile_width = (blockDim.x + ksize - 1) * in.channels, tile_height = blockDim.y + ksize - 1;

    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < tile_width * tile_height; k += blockDim.x * blockDim.y) {
        int column = clamp(x - (int)threadIdx.x + k % tile_width / in.channels - ksize / 2, in.width - 1);
        int line = clamp(y - (int)threadIdx.y + k / tile_width - ksize / 2, in.height - 1);
        tile[k] = ((const uint8_t *)image_row(&in, line))[column * in.channels + k % in.channels];
    }
    __syncthreads();
    int samples = blockDim.x * in.channels;
    uint16_t *along = (uint16_t *)(tile + (tile_width * tile_height + 1) / 2 * 2); /* at most 255 * 256 each */
    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < samples * tile_height; k += blockDim.x * blockDim.y) {
        const uint8_t *row = tile + k / samples * tile_width + k % samples;
        uint32_t sum = 0;
        for (int i = 0; i < ksize; i++)
            sum += w.at[i] * row[i * in.channels];
        along[k] = (uint16_t)sum;
    }
    __syncthreads();
    if (x >= out.width || y >= out.height)
        return;
    for (int c = 0; c < out.channels; c++) {
        uint32_t sum = 1 << (2 * BLUR_WEIGHT_BITS - 1);
        for (int j = 0; j < ksize; j++)
            sum += w.at[j] * along[(threadIdx.y + j) * samples + threadIdx.x * in.channels + c];
        ((uint8_t *)image_row(&out, y))[x * out.channels + c] = (uint8_t)(sum >> (2 * BLUR_WEIGHT_BITS));
    }
}

static enum status setup(struct state *state, const struct image in[], const struct blur_params *params)
{
    (void)in;
    blur_weights(params, state->weights.at);
    return STATUS_OK;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));
    size_t shared = shared_bytes(in, params);

    blur_kernel<<<grid, block, shared, stream>>>(*in, *out, state->weights, params->ksize);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

/* What run() needs on the device and between it and the host. */
static enum status make_images(struct state *state, const struct image *in)
{
    enum status status = STATUS_OK;

    if (state->locked)
        return STATUS_OK;
    TRY(device_image_create(&state->in, in));
    TRY(device_image_create(&state->out, in));
    CUDA_TRY(cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking));
    for (cudaEvent_t &event : state->arrived)
        CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CUDA_TRY(cudaMallocHost(&state->locked, state->in.stride * in->height));
out:
    return status;
}

/* All threads share a band's rows out among them. */
static void copy_rows(char *to, size_t to_stride, const char *from, size_t from_stride, size_t bytes, int rows)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < rows; y++)
        memcpy(to + y * to_stride, from + y * from_stride, bytes);
}

/* Returns when all has left the host's image and is on the stream. */
static enum status upload(struct state *state, const struct image *host)
{
    const size_t stride = state->in.stride;
    const int rows = ceiling_divide(host->height, BANDS);
    enum status status = STATUS_OK;

    phase_begin(PHASE_UPLOAD, image_pixel_bytes(host));
    for (int first = 0; first < host->height; first += rows) {
        const int count = min(rows, host->height - first);
        char *const locked = state->locked + first * stride;

        copy_rows(locked, stride, (char *)image_row(host, first), host->stride, image_row_bytes(host), count);
        CUDA_TRY(cudaMemcpyAsync(image_row(&state->in, first), locked, count * stride, cudaMemcpyHostToDevice,
                                 state->stream)); /* at once: the bus carries it while the next band is copied */
    }
out:
    return status;
}

/* Returns when all is in the host's image. */
static enum status download(struct state *state, struct image *host)
{
    const size_t stride = state->out.stride;
    const int rows = ceiling_divide(host->height, BANDS);
    enum status status = STATUS_OK;

    phase_begin(PHASE_DOWNLOAD, image_pixel_bytes(host));
    for (int first = 0; first < host->height; first += rows) {
        CUDA_TRY(cudaMemcpyAsync(state->locked + first * stride, image_row(&state->out, first),
                                 min(rows, host->height - first) * stride, cudaMemcpyDeviceToHost, state->stream));
        CUDA_TRY(cudaEventRecord(state->arrived[first / rows], state->stream));
    }
    for (int first = 0; first < host->height; first += rows) {
        CUDA_TRY(cudaEventSynchronize(state->arrived[first / rows]));
        copy_rows((char *)image_row(host, first), host->stride, state->locked + first * stride, stride,
                  image_row_bytes(host), min(rows, host->height - first));
    }
out:
    return status;
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct blur_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    TRY(make_images(state, in));
    TRY(upload(state, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, &state->out, params, state->stream));
    TRY(download(state, out));
out:
    if (status != STATUS_OK && state->stream)
        cudaStreamSynchronize(state->stream); /* what is left on it still reads or writes the page-locked memory */
    return status;
}

static void teardown(struct state *state)
{
    cudaFreeHost(state->locked);
    for (cudaEvent_t event : state->arrived)
        if (event)
            cudaEventDestroy(event);
    if (state->stream)
        cudaStreamDestroy(state->stream);
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

RUNGS_CUDA_VERSION_WITH_RUN(blur, .tunables = tunables, .illegal = illegal)
