/*
 * Idea:     as Jošth 2014 tried: a thread whose window is rejected fetches the next one of the tile at once, so that no lane
 *           waits for the last window of its warp.
 * Changed:  a loop over stages in which each lane is at its own window and stage; next windows come from a counter in shared
 *           memory.
 * Expect:   slower, as Jošth 2014 found: lanes are at different stages, so the stages' records no longer come by broadcast, cells
 *           of several sizes diverge, and every window pays an atomic operation.
 * Result:   2.04 ms, 5 % slower than v2.1 (results/h200/detect/detect_1280x720.json).
 * From:     cuda/v2.1
 */
/* Try: make bench-detect VERSIONS=cuda */
#include "cuda/detect/shared/hits.h"

enum { WIDTH = 64, HEIGHT = 16, WINDOWS = WIDTH * HEIGHT, THREADS = 256 };

struct state {
    struct hits_step hits;
};

static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     const __grid_constant__ struct stages stages, struct model_view model, int window,
                                     struct hit_list list)
{
    extern __shared__ uint8_t tile[];
    __shared__ int next;
    const struct pyramid_level &level = layout.levels[blockIdx.z];
    int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
    int width = WIDTH + window - 1, height = HEIGHT + window - 1;
    float response = 0;

    if (left > level.width - window || top > level.height - window)
        return;
    for (int i = threadIdx.x; i < width * height; i += THREADS)
        if (left + i % width < level.width && top + i / width < level.height)
            tile[i] = ((const uint8_t *)image_row(&levels, level.y + top + i / width))[level.x + left + i % width];
    if (threadIdx.x == 0)
        next = 0;
    __syncthreads();
    for (int i = WINDOWS, t = 0;;) {
        if (i == WINDOWS) {
            i = atomicAdd(&next, 1);
            if (i >= WINDOWS)
                return;
            response = t = 0;
            if (left + i % WIDTH > level.width - window || top + i / WIDTH > level.height - window) {
                i = WINDOWS;
                continue;
            }
        }
        const struct detect_stage &stage = stage_at(stages, model, t);
        const uint8_t *pixels = tile + i / WIDTH * width + i % WIDTH;
        response += model.tables[t * model.bins + detect_stage_bin(model.feature, &stage, pixels, width)];
        if (response < stage.threshold) {
            i = WINDOWS;
        } else if (++t == model.count) {
            if (response >= model.min_response)
                hits_add(list, response, &layout, level.x + left + i % WIDTH, level.y + top + i / WIDTH);
            i = WINDOWS;
        }
    }
}

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    return hits_setup(&state->hits, in, params, "cuda/v1.3");
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    const int beyond = params->pyramid.window - 1;
    enum status status = STATUS_OK;
    dim3 grid(ceiling_divide(in->width, WIDTH), ceiling_divide(in->height, HEIGHT), hits->layout.count);
    size_t shared = (size_t)(WIDTH + beyond) * (HEIGHT + beyond);

    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, THREADS, shared, stream>>>(hits->levels, hits->layout, hits_stages(params),
                                                     hits_model(hits, params), params->pyramid.window, hits->list);
    CUDA_TRY(cudaGetLastError());
    TRY(hits_end(hits, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    hits_teardown(&state->hits);
    *state = {};
}

RUNGS_CUDA_VERSION(detect)
