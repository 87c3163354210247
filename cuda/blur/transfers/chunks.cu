/*
 * Problem:  In cuda/staged the bus has one direction at a time, and none while the kernel runs.
 * Idea:     Pipelining: a band is computed once its rows and ksize / 2 below it have arrived, and
 *           goes back at once. Uploads, kernels, downloads: a stream each, in order by events.
 * Expect:   1.6 times as fast, 0.34 ms: kernels and the way back are done soon after the upload,
 *           0.18 ms; then the threads still have 8 bands of 1 MB to copy, 0.02 ms each.
 * Result:   1.5 times, 0.54 ms (results/h200/blur/blur_3840x2160_staged.json).
 * Run:      make diff-blur A=cuda/staged B=cuda/chunks
 * From:     cuda/staged
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
    char *locked;           /* page-locked memory of the host, for in and then for out */
    cudaStream_t up, kernels, down;
    cudaEvent_t uploaded[BANDS], computed[BANDS], arrived[BANDS];
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

/* Rows from `first` to before `end`. */
static __global__ void blur_kernel(struct image in, struct image out, const __grid_constant__ struct weights w,
                                   int ksize, int first, int end)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = first + blockIdx.y * blockDim.y + threadIdx.y;
    int last = min(end + ksize / 2, in.height) - 1; /* that is needed, and has arrived */
    extern __shared__ uint8_t tile[];
    int tile_width = (blockDim.x + ksize - 1) * in.channels, tile_height = blockDim.y + ksize - 1;

    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < tile_width * tile_height; k += blockDim.x * blockDim.y) {
        int column = clamp(x - (int)threadIdx.x + k % tile_width / in.channels - ksize / 2, in.width - 1);
        int line = clamp(y - (int)threadIdx.y + k / tile_width - ksize / 2, last);
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
    if (x >= out.width || y >= end)
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

static enum status launch_rows(struct state *state, const struct image &in, const struct image &out,
                               const struct blur_params *params, int first, int end, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(block_width, block_height);
    dim3 grid(ceiling_divide(out.width, block.x), ceiling_divide(end - first, block.y));
    size_t shared = shared_bytes(&in, params);

    blur_kernel<<<grid, block, shared, stream>>>(in, out, state->weights, params->ksize, first, end);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct blur_params *params, cudaStream_t stream)
{
    return launch_rows(state, *in, *out, params, 0, out->height, stream);
}

/* What run() needs on the device and between it and the host. */
static enum status make_images(struct state *state, const struct image *in)
{
    enum status status = STATUS_OK;

    if (state->locked)
        return STATUS_OK;
    TRY(device_image_create(&state->in, in));
    TRY(device_image_create(&state->out, in));
    for (cudaStream_t *stream : {&state->up, &state->kernels, &state->down})
        CUDA_TRY(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (int band = 0; band < BANDS; band++)
        for (cudaEvent_t *event : {&state->uploaded[band], &state->computed[band], &state->arrived[band]})
            CUDA_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    CUDA_TRY(cudaMallocHost(&state->locked, 2 * state->in.stride * in->height));
out:
    return status;
}

/* The band that has the last row of the halo of this one. */
static int last_needed(int band, int rows, int height, const struct blur_params *params)
{
    return (min((band + 1) * rows + params->ksize / 2, height) - 1) / rows;
}

/* All threads share a band's rows out among them. */
static void copy_rows(char *to, size_t to_stride, const char *from, size_t from_stride, size_t bytes, int rows)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < rows; y++)
        memcpy(to + y * to_stride, from + y * from_stride, bytes);
}

/* Computes a band when the upload of the last row that it needs has ended, and sends it back when it is computed. */
static enum status compute_band(struct state *state, const struct blur_params *params, int band, int rows)
{
    const int height = state->out.height, first = band * rows, end = min(first + rows, height);
    const size_t stride = state->out.stride;
    char *const locked = state->locked + (height + first) * stride;
    enum status status = STATUS_OK;

    CUDA_TRY(cudaStreamWaitEvent(state->kernels, state->uploaded[last_needed(band, rows, height, params)], 0));
    TRY(launch_rows(state, state->in, state->out, params, first, end, state->kernels));
    CUDA_TRY(cudaEventRecord(state->computed[band], state->kernels));
    CUDA_TRY(cudaStreamWaitEvent(state->down, state->computed[band], 0));
    CUDA_TRY(cudaMemcpyAsync(locked, image_row(&state->out, first), (end - first) * stride, cudaMemcpyDeviceToHost,
                             state->down));
    CUDA_TRY(cudaEventRecord(state->arrived[band], state->down));
out:
    return status;
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct blur_params *params)
{
    const int height = in->height, rows = ceiling_divide(height, BANDS), bands = ceiling_divide(height, rows);
    enum status status = STATUS_OK;
    int computed = 0;

    TRY(setup(state, in, params));
    TRY(make_images(state, in));
    phase_begin(PHASE_OTHER, 0);
    phase_count(PHASE_UPLOAD, image_pixel_bytes(in)); /* beside other things: its time is no phase's */
    phase_count(PHASE_DOWNLOAD, image_pixel_bytes(out));
    for (int band = 0; band < bands; band++) {
        const int first = band * rows, count = min(rows, height - first);
        char *const locked = state->locked + first * state->in.stride;

        copy_rows(locked, state->in.stride, (char *)image_row(in, first), in->stride, image_row_bytes(in), count);
        CUDA_TRY(cudaMemcpyAsync(image_row(&state->in, first), locked, count * state->in.stride, cudaMemcpyHostToDevice,
                                 state->up));
        CUDA_TRY(cudaEventRecord(state->uploaded[band], state->up));
        while (computed < bands && last_needed(computed, rows, height, params) <= band)
            TRY(compute_band(state, params, computed++, rows));
    }
    for (int band = 0; band < bands; band++) {
        const int first = band * rows, count = min(rows, height - first);

        CUDA_TRY(cudaEventSynchronize(state->arrived[band]));
        copy_rows((char *)image_row(out, first), out->stride, state->locked + (height + first) * state->out.stride,
                  state->out.stride, image_row_bytes(out), count);
    }
out:
    for (cudaStream_t stream : {state->up, state->kernels, state->down})
        if (status != STATUS_OK && stream)
            cudaStreamSynchronize(stream); /* what is left on it still reads or writes the page-locked memory */
    return status;
}

static void teardown(struct state *state)
{
    cudaFreeHost(state->locked);
    for (int band = 0; band < BANDS; band++)
        for (cudaEvent_t event : {state->uploaded[band], state->computed[band], state->arrived[band]})
            if (event)
                cudaEventDestroy(event);
    for (cudaStream_t stream : {state->up, state->kernels, state->down})
        if (stream)
            cudaStreamDestroy(stream);
    device_image_free(&state->in);
    device_image_free(&state->out);
    *state = {};
}

RUNGS_CUDA_VERSION_WITH_RUN(blur, .tunables = tunables, .illegal = illegal)
