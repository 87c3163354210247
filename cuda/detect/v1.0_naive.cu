/*
 * Problem:  Windows are independent, but 16 CPU cores look at 16 of 2.9 million at a time.
 * Idea:     One thread per pixel of the picture and its smaller copies takes the window that begins
 *           there through the stages; all data lie in global memory. Hits go to a list behind one
 *           atomic counter; the device sorts and groups them and downloads only two small tables.
 * Expect:   Divergence: a warp works until its last window is rejected, after 20 stages; the mean
 *           is 3: six of seven lanes idle. 3 ms at 1280x720.
 * Result:   122 times as fast as cpu/serial, 2.4 ms (results/h100/detect/detect_1280x720.json).
 * Run:      make bench-detect VERSIONS=cuda/v1.0
 */
#include "cuda/detect/shared/hits.h"

struct state {
    struct hits_step hits;
    struct image in, out[2];
};

/* Whether no stage rejects the window whose upper left pixel is at `window`; its response. */
static __device__ bool is_hit(const struct model_view &model, const uint8_t *window, size_t stride, float *response)
{
    const float *table = model.tables;

    *response = 0;
    for (int t = 0; t < model.count; t++, table += model.bins) {
        *response += table[detect_stage_bin(model.feature, &model.stages[t], window, stride)];
        if (*response < model.stages[t].threshold)
            return false;
    }
    return *response >= model.min_response;
}

static __global__ void detect_kernel(struct image levels, const __grid_constant__ struct pyramid_layout layout,
                                     struct model_view model, int window, struct hit_list list)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float response;

    for (int l = 0; l < layout.count; l++) {
        const struct pyramid_level &level = layout.levels[l];
        if (x < level.x || y < level.y || x + window > level.x + level.width || y + window > level.y + level.height)
            continue;
        if (is_hit(model, (const uint8_t *)image_row(&levels, y) + x, levels.stride, &response))
            hits_add(list, response, &layout, x, y);
        return;
    }
}

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    return hits_setup(&state->hits, in, params, "cuda/v1.0");
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    enum status status = STATUS_OK;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(hits->levels.width, block.x), ceiling_divide(hits->levels.height, block.y));

    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, block, 0, stream>>>(hits->levels, hits->layout, hits_model(hits, params),
                                              params->pyramid.window, hits->list);
    CUDA_TRY(cudaGetLastError());
    TRY(hits_end(hits, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    hits_teardown(&state->hits);
    device_image_free(&state->in);
    for (int slot = 0; slot < 2; slot++)
        device_image_free(&state->out[slot]);
    *state = {};
}

static enum status run(struct state *state, const struct image in[], struct image *out,
                       const struct detect_params *params)
{
    enum status status = STATUS_OK;

    TRY(setup(state, in, params));
    TRY(device_image_create(&state->in, in));
    for (int slot = 0; slot < 2; slot++)
        TRY(device_image_create(&state->out[slot], &out[slot]));
    TRY(device_upload(&state->in, in));
    phase_begin(PHASE_KERNEL, 0);
    TRY(launch(state, &state->in, state->out, params, 0));
    CUDA_TRY(cudaDeviceSynchronize());
    for (int slot = 0; slot < 2; slot++)
        TRY(device_download(&out[slot], &state->out[slot]));
out:
    teardown(state);
    return status;
}

RUNGS_CUDA_VERSION_WITH_RUN(detect)
