/* expect: right 0..0 | through shared memory 0..0 | says calls edges_ | list uses edges_list */
/*
 * Idea:     declares the functions in which the ladder's own rungs list points, and calls them.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"

/* As in cuda/edges/shared/edges.h, which is not included. */
struct edges_step {
    struct edges_thresholds *thresholds;
    unsigned *histogram;
    struct image mask;
    unsigned *parent, *starts;
};
enum status edges_setup(struct edges_step *step, const struct image *in, const struct edges_params *params);
void edges_teardown(struct edges_step *step);
struct image edges_mask(const struct edges_step *step, const struct image out[]);
enum status edges_list(struct edges_step *step, const struct image *in, const struct image *mask,
                       const struct image *points, cudaStream_t stream);

struct state {
    struct edges_step step;
};

static __device__ bool is_edge(const struct image &in, int x, int y, int high)
{
    return x < in.width && y < in.height && edges_magnitude(hough_sobel(&in, x, y)) > high;
}

static __global__ void mask_kernel(struct image in, struct image mask, int high)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height)
        ((uint8_t *)image_row(&mask, y))[x] = is_edge(in, x, y, high) ? 255 : 0;
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    return edges_setup(&state->step, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image mask = edges_mask(&state->step, out);
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    mask_kernel<<<grid, block, 0, stream>>>(*in, mask, params->high);
    CUDA_TRY(cudaGetLastError());
    if (out[1].data)
        TRY(edges_list(&state->step, in, &mask, &out[1], stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    edges_teardown(&state->step);
}

RUNGS_CUDA_VERSION(edges)
