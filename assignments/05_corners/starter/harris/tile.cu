/*
 * Idea:     the definition's passes: both gradients, then three arrays of products, then the sums and the response.
 * Changed:  (what is new since the starter, which is this file)
 * Expect:   (how many bytes a pixel move, in place of how many; write it BEFORE you measure)
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
enum status corners_launch(struct corners_step *step, const struct image out[], const struct harris_params *params,
                           cudaStream_t stream);
void corners_teardown(struct corners_step *step);

struct state {
    struct corners_step corners;
    int *gx, *gy, *a, *b, *c; /* on the device, an entry for each pixel */
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

static __global__ void gradient_kernel(struct image in, int *gx, int *gy)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= in.width || y >= in.height)
        return;
    gx[(size_t)y * in.width + x] = gradient_x(in, x, y);
    gy[(size_t)y * in.width + x] = gradient_y(in, x, y);
}

static __global__ void product_kernel(const int *gx, const int *gy, int *a, int *b, int *c, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    a[i] = gx[i] * gx[i];
    b[i] = gx[i] * gy[i];
    c[i] = gy[i] * gy[i];
}

static __global__ void response_kernel(const int *a, const int *b, const int *c, struct image out,
                                       const __grid_constant__ struct harris_params params)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    struct harris_sums sums = {0, 0, 0};

    if (x >= out.width || y >= out.height)
        return;
    for (int j = 0; j < params.size; j++) {
        for (int i = 0; i < params.size; i++) {
            int u = harris_reflect(x + i - params.size / 2, out.width);
            int v = harris_reflect(y + j - params.size / 2, out.height);
            sums.a += a[(size_t)v * out.width + u];
            sums.b += b[(size_t)v * out.width + u];
            sums.c += c[(size_t)v * out.width + u];
        }
    }
    ((float *)image_row(&out, y))[x] = harris_response(&params, sums);
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    enum status status = STATUS_OK;
    const size_t bytes = (size_t)in->width * in->height * sizeof(int);

    TRY(corners_setup(&state->corners, in, params));
    for (int **array : {&state->gx, &state->gy, &state->a, &state->b, &state->c})
        if (!*array)
            TRY(device_allocate((void **)array, bytes));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(&state->corners, out);
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    int count = in->width * in->height;

    gradient_kernel<<<grid, block, 0, stream>>>(*in, state->gx, state->gy);
    CUDA_TRY(cudaGetLastError());
    product_kernel<<<ceiling_divide(count, 256), 256, 0, stream>>>(state->gx, state->gy, state->a, state->b, state->c,
                                                                   count);
    CUDA_TRY(cudaGetLastError());
    response_kernel<<<grid, block, 0, stream>>>(state->a, state->b, state->c, response, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_launch(&state->corners, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    corners_teardown(&state->corners);
    for (int *array : {state->gx, state->gy, state->a, state->b, state->c})
        device_free(array);
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
