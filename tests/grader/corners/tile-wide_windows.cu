/* expect: right 2..2 | one kernel for the response 0..0 | says shared taken */
/*
 * Idea:     each thread reads its window, rows of 16 bytes at once: few loads, and nothing shared.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
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

struct __align__(16) four {
    unsigned at[4];
};

/* Each thread has its own window: rows of 16 bytes at once. */
static __global__ void tile_kernel(struct image in, struct image out,
                                   const __grid_constant__ struct harris_params params)
{
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y, half = params.size / 2;
    struct harris_sums sums = {0, 0, 0};

    if (x >= out.width || y >= out.height)
        return;
    if (params.size > 9 || x <= half || x + half + 1 >= in.width || y <= half || y + half + 1 >= in.height) {
        for (int j = -half; j < params.size - half; j++)
            for (int i = -half; i < params.size - half; i++) {
                int u = harris_reflect(x + i, in.width), v = harris_reflect(y + j, in.height);
                int gx = gradient_x(in, u, v), gy = gradient_y(in, u, v);
                sums.a += gx * gx, sums.b += gx * gy, sums.c += gy * gy;
            }
    } else {
        unsigned char rows[12][16];
        for (int j = 0; j < params.size + 2; j++) {
            const unsigned char *row = (const unsigned char *)image_row(&in, y - half - 1 + j) + x - half - 1;
            const size_t past = (size_t)row % 16;
            const struct four *from = (const struct four *)(row - past);
            struct four words[2] = {};
            words[0] = from[0];
            if (past + params.size + 2 > 16)
                words[1] = from[1];
            for (int b = 0; b < params.size + 2; b++)
                rows[j][b] = (unsigned char)(words[(b + past) / 16].at[(b + past) % 16 / 4] >> 8 * ((b + past) % 4));
        }
        for (int j = 1; j <= params.size; j++)
            for (int i = 1; i <= params.size; i++) {
                int gx = rows[j - 1][i + 1] - rows[j - 1][i - 1] + 2 * (rows[j][i + 1] - rows[j][i - 1]) + rows[j + 1][i + 1] - rows[j + 1][i - 1];
                int gy = rows[j + 1][i - 1] - rows[j - 1][i - 1] + 2 * (rows[j + 1][i] - rows[j - 1][i]) + rows[j + 1][i + 1] - rows[j - 1][i + 1];
                sums.a += gx * gx, sums.b += gx * gy, sums.c += gy * gy;
            }
    }
    ((float *)image_row(&out, y))[x] = harris_response(&params, sums);
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
