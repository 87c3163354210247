/*
 * Idea:     one kernel. A block computes the products of its pixels and of the halo around them once, into three arrays
 *           in shared memory, and adds up the window in two steps: along the rows of the tile, then down its columns.
 * Changed:  five arrays in device memory became three tiles; the window's size^2 additions became 2 size.
 * Expect:   5 bytes a pixel in place of 1 + 5 * 8 + 4.
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

enum { SIDE = 16, MOST = SIDE + HARRIS_MAX_SIZE - 1, ARRAYS = 3 };

struct state {
    struct corners_step corners;
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

static __global__ void tile_kernel(struct image in, struct image out,
                                   const __grid_constant__ struct harris_params params)
{
    __shared__ int products[ARRAYS][MOST][MOST], rows[ARRAYS][MOST][SIDE];
    int left = blockIdx.x * SIDE - params.size / 2, top = blockIdx.y * SIDE - params.size / 2;
    int thread = threadIdx.y * SIDE + threadIdx.x, side = SIDE + params.size - 1, sums[ARRAYS] = {};
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;

    for (int k = thread; k < side * side; k += SIDE * SIDE) {
        int i = k % side, j = k / side;
        int u = harris_reflect(left + i, in.width), v = harris_reflect(top + j, in.height);
        int gx = gradient_x(in, u, v), gy = gradient_y(in, u, v);
        products[0][j][i] = gx * gx;
        products[1][j][i] = gx * gy;
        products[2][j][i] = gy * gy;
    }
    __syncthreads();
    for (int j = threadIdx.y; j < side; j += SIDE) {
        for (int array = 0; array < ARRAYS; array++) {
            int sum = 0;
            for (int i = 0; i < params.size; i++)
                sum += products[array][j][threadIdx.x + i];
            rows[array][j][threadIdx.x] = sum;
        }
    }
    __syncthreads();
    if (x >= out.width || y >= out.height)
        return;
    for (int array = 0; array < ARRAYS; array++)
        for (int j = 0; j < params.size; j++)
            sums[array] += rows[array][threadIdx.y + j][threadIdx.x];
    ((float *)image_row(&out, y))[x] = harris_response(&params, {sums[0], sums[1], sums[2]});
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
    dim3 grid(ceiling_divide(in->width, SIDE), ceiling_divide(in->height, SIDE));

    tile_kernel<<<grid, dim3(SIDE, SIDE), 0, stream>>>(*in, response, *params);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_launch(&state->corners, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    corners_teardown(&state->corners);
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
