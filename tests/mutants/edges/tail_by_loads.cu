/*
 * Idea:     32 pixels of a mask are read by two loads (cuda/v2.1); here one thread lists the points.
 * Changed:  a row's last stretch is not read byte by byte: what lies behind an output's last pixel is read and thrown
 *           away.
 * Expect:   found by a sanitizer
 */
#include "cuda/edges/shared/edges.h"

struct state {
    struct edges_step step;
};

enum { STRETCH = 32 };

static __global__ void mark_kernel(struct image in, struct image mask, const struct edges_thresholds *thresholds)
{
    const int y = (int)blockIdx.x;

    for (int x = 0; x < in.width; x++) {
        const bool strong = edges_magnitude(hough_sobel(&in, x, y)) > thresholds->strong;
        ((uint8_t *)image_row(&mask, y))[x] = strong ? EDGES_STRONG : EDGES_NOTHING;
    }
}

/* Bit i is pixel x + i of row y. */
static __device__ unsigned stretch_read(const struct image &mask, int x, int y)
{
    const uint4 *pixels = (const uint4 *)((const uint8_t *)image_row(&mask, y) + x);
    unsigned points = 0;

    for (int i = 0; i < 2; i++) {
        const uint4 words = pixels[i];
        const unsigned four[] = {words.x, words.y, words.z, words.w};
        for (int k = 0; k < 4; k++)
            points |= ((four[k] & 0x80808080u) * 0x204081u >> 28) << 4 * (4 * i + k);
    }
    return mask.width - x < STRETCH ? points & ((1u << (mask.width - x)) - 1) : points;
}

static __global__ void list_kernel(struct image in, struct image mask, struct image points)
{
    int count = 0;

    for (int y = 0; y < mask.height; y++)
        for (int x = 0; x < mask.width; x += STRETCH)
            for (unsigned left = stretch_read(mask, x, y); left; left &= left - 1) {
                const int at = x + __ffs((int)left) - 1;
                const struct hough_gradient g = hough_sobel(&in, at, y);
                if (++count < points.height)
                    *(int4 *)image_row(&points, count) = make_int4(at, y, g.x, g.y);
            }
    for (int i = count + 1; i < points.height; i++)
        *(int4 *)image_row(&points, i) = make_int4(0, 0, 0, 0);
    *(int4 *)points.data = make_int4(count, 0, 0, 0);
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

    TRY(edges_begin(&state->step, in, params, stream));
    mark_kernel<<<in->height, 1, 0, stream>>>(*in, mask, state->step.thresholds);
    CUDA_TRY(cudaGetLastError());
    if (params->outputs == EDGES_MASK)
        return STATUS_OK;
    list_kernel<<<1, 1, 0, stream>>>(*in, mask, out[1]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    edges_teardown(&state->step);
}

static const char *declines(const struct image in[], const void *params_erased)
{
    const struct edges_params *params = (const struct edges_params *)params_erased;

    (void)in;
    return params->low != EDGES_NO_LOW || params->thin != EDGES_THICK ? "thick edges without hysteresis alone" : NULL;
}

RUNGS_CUDA_VERSION(edges, .declines = declines)
