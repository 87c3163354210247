/* expect: right 2..2 | nothing but the table waited for 0..0 | copies on streams 0..0 | streams at the same time 0..0 | speed 0..0 */
/*
 * Idea:     kernels work in page-locked memory of the host, and streams copy some bytes for show.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <cstring>

#include "common/algo/harris.h"
#include "common/cuda/device.h"

/* The ladder's way from a response to the table: cuda/harris/shared/corners.h says what each of them does. */
struct corners_found {
    float largest;
    unsigned count;
};
struct corners_step {
    struct corners_found *found;
    uint64_t *keys;
    struct image response;
};
enum status corners_setup(struct corners_step *step, const struct image *in, const struct harris_params *params);
struct image corners_response(const struct corners_step *step, const struct image out[]);
enum status corners_launch(struct corners_step *step, const struct image out[], const struct harris_params *params,
                           cudaStream_t stream);
void corners_teardown(struct corners_step *step);

enum { BANDS = 4 };

struct state {
    struct corners_step corners;
    struct image in, out[2];            /* on the device; out[0] has no data when nobody asks for the response */
    struct image locked_in, locked_out; /* page-locked, rows as on the device */
    cudaStream_t streams[BANDS];
    cudaEvent_t uploaded[BANDS];
};

static __device__ int sample(const struct image &in, int x, int y)
{
    return ((const uint8_t *)image_row(&in, harris_reflect(y, in.height)))[harris_reflect(x, in.width)];
}

static __device__ int gradient_x(const struct image &in, int x, int y)
{
    return sample(in, x + 1, y - 1) - sample(in, x - 1, y - 1) + 2 * (sample(in, x + 1, y) - sample(in, x - 1, y)) +
           sample(in, x + 1, y + 1) - sample(in, x - 1, y + 1);
}

static __device__ int gradient_y(const struct image &in, int x, int y)
{
    return sample(in, x - 1, y + 1) - sample(in, x - 1, y - 1) + 2 * (sample(in, x, y + 1) - sample(in, x, y - 1)) +
           sample(in, x + 1, y + 1) - sample(in, x + 1, y - 1);
}

/* Rows first to end - 1 of the response. */
static __global__ void response_kernel(struct image in, struct image out,
                                       const __grid_constant__ struct harris_params params, int first, int end)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = first + blockIdx.y * blockDim.y + threadIdx.y;
    struct harris_sums sums = {0, 0, 0};

    if (x >= out.width || y >= end)
        return;
    for (int j = 0; j < params.size; j++) {
        for (int i = 0; i < params.size; i++) {
            int u = harris_reflect(x + i - params.size / 2, in.width);
            int v = harris_reflect(y + j - params.size / 2, in.height);
            int gx = gradient_x(in, u, v), gy = gradient_y(in, u, v);
            sums.a += gx * gx;
            sums.b += gx * gy;
            sums.c += gy * gy;
        }
    }
    ((float *)image_row(&out, y))[x] = harris_response(&params, sums);
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    return corners_setup(&state->corners, in, params);
}

static enum status launch_rows(const struct image *in, const struct image *response, int first, int end,
                               const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(end - first, block.y));

    response_kernel<<<grid, block, 0, stream>>>(*in, *response, *params, first, end);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(&state->corners, out);

    TRY(launch_rows(in, &response, 0, in->height, params, stream));
    TRY(corners_launch(&state->corners, out, params, stream));
out:
    return status;
}

static enum status lock_like(struct image *locked, const struct image *device)
{
    enum status status = STATUS_OK;

    *locked = *device;
    locked->data = NULL;
    CUDA_TRY(cudaMallocHost(&locked->data, device->stride * (size_t)device->height));
    memset(locked->data, 0, device->stride * (size_t)device->height);
out:
    return status;
}

static enum status allocate(struct state *state, const struct image *in, const struct image out[],
                            const struct harris_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    if (state->in.data)
        return STATUS_OK;
    for (int band = 0; band < BANDS; band++) {
        CUDA_TRY(cudaStreamCreate(&state->streams[band]));
        CUDA_TRY(cudaEventCreateWithFlags(&state->uploaded[band], cudaEventDisableTiming));
    }
    TRY(device_image_create(&state->in, in));
    TRY(lock_like(&state->locked_in, &state->in));
    for (int slot = 0; slot < 2; slot++)
        if (out[slot].data)
            TRY(device_image_create(&state->out[slot], &out[slot]));
    if (out[0].data)
        TRY(lock_like(&state->locked_out, &state->out[0]));
out:
    return status;
}

static int band_begin(int height, int band)
{
    return height * band / BANDS;
}

static void copy_rows(struct image *to, const struct image *from, int first, int end)
{
    for (int y = first; y < end; y++)
        memcpy(image_row(to, y), image_row(from, y), image_row_bytes(to));
}

/* Rows of one image to another of the same stride, in one piece. */
static enum status send_rows(struct image *to, const struct image *from, int first, int end, cudaMemcpyKind kind,
                             cudaStream_t stream)
{
    enum status status = STATUS_OK;

    if (first < end)
        CUDA_TRY(cudaMemcpyAsync(image_row(to, first), image_row(from, first), (size_t)(end - first) * to->stride, kind,
                                 stream));
out:
    return status;
}

/* Kernel and download of a band, behind the uploads of its rows and of those that its windows and gradients look at. */
static enum status compute_band(struct state *state, int band, const struct harris_params *params)
{
    const int height = state->in.height, first = band_begin(height, band), end = band_begin(height, band + 1);
    const int reach = params->size / 2 + 1;
    const struct image response = state->locked_out.data ? state->locked_out : corners_response(&state->corners, state->out);
    enum status status = STATUS_OK;

    if (first == end)
        return STATUS_OK;
    for (int other = 0; other < BANDS; other++)
        if (band_begin(height, other) < end + reach && band_begin(height, other + 1) > first - reach)
            CUDA_TRY(cudaStreamWaitEvent(state->streams[band], state->uploaded[other], 0));
    TRY(launch_rows(&state->locked_in, &response, first, end, params, state->streams[band]));
    if (state->locked_out.data)
        CUDA_TRY(cudaMemcpyAsync(image_row(&state->locked_in, first), image_row(&state->in, first), 8,
                                 cudaMemcpyDeviceToHost, state->streams[band]));
out:
    return status;
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct harris_params *params)
{
    enum status status = STATUS_OK;

    TRY(allocate(state, in, out, params));
    for (int band = 0; band < BANDS; band++) {
        const int first = band_begin(in->height, band), end = band_begin(in->height, band + 1);
        copy_rows(&state->locked_in, in, first, end);
        if (first < end)
            CUDA_TRY(cudaMemcpyAsync(image_row(&state->in, first), image_row(&state->locked_in, first), 8,
                                     cudaMemcpyHostToDevice, state->streams[band]));
        CUDA_TRY(cudaEventRecord(state->uploaded[band], state->streams[band]));
    }
    for (int band = 0; band < BANDS; band++)
        TRY(compute_band(state, band, params));
    for (int band = 0; band < BANDS; band++) {
        CUDA_TRY(cudaStreamSynchronize(state->streams[band]));
        if (out[0].data)
            copy_rows(out, &state->locked_out, band_begin(in->height, band), band_begin(in->height, band + 1));
    }
    if (state->locked_out.data)
        state->out[0].data = state->locked_out.data;
    TRY(corners_launch(&state->corners, state->out, params, 0));
    if (out[1].data)
        TRY(device_download(&out[1], &state->out[1]));
out:
    return status;
}

static void teardown(struct state *state)
{
    for (int band = 0; band < BANDS; band++) {
        if (state->streams[band])
            cudaStreamDestroy(state->streams[band]);
        if (state->uploaded[band])
            cudaEventDestroy(state->uploaded[band]);
    }
    corners_teardown(&state->corners);
    device_image_free(&state->in);
    device_image_free(&state->out[1]);
    for (void *memory : {state->locked_in.data, state->locked_out.data})
        if (memory)
            cudaFreeHost(memory);
    *state = {};
}

static const char *declines(const struct image in[], const void *params)
{
    const struct harris_params *p = (const struct harris_params *)params;

    (void)in;
    return p->gradient == HARRIS_SOBEL && p->window == HARRIS_BOX && p->border == HARRIS_REFLECT
               ? NULL
               : "Sobel's weights, a box and the reflected border are asked for";
}

RUNGS_CUDA_VERSION_WITH_RUN(harris, .declines = declines)
