/*
 * Problem:  In cuda/texture a cell of 2x2 pixels is four fetches.
 * Idea:     Bilinear filtering (Jošth 2014): a fetch halfway between pixels returns their mean, so
 *           a cell of 1x2, 2x1 or 2x2 is one fetch. Weights of a half are exact in the filter.
 * Expect:   9 fetches per stage in place of 9 to 36: 2 times as fast as cuda/texture.
 * Result:   3.0 times, 1.62 ms (results/h200/detect/detect_1280x720_bilinear.json), and 1.42 times
 *           as fast as cuda/v1.2: cells of the first 10 stages have 3.5 pixels on average.
 * Run:      make diff-detect A=cuda/texture B=cuda/bilinear
 * From:     cuda/texture
 */
#include <texture_indirect_functions.h>

#include "cuda/detect/shared/hits.h"

enum { WIDTH = 32, HEIGHT = 8 /* windows of a block */ };

struct state {
    struct hits_step hits;
    cudaTextureObject_t texture; /* of its levels */
};

/* Models of cells only, and what a texture of lines of pixels may have. */
static const char *declines(const struct image in[], const void *params)
{
    struct pyramid_layout layout;

    pyramid_lay_out(in->width, in->height, &((const struct detect_params *)params)->pyramid, &layout);
    return layout.width > 131072 || layout.height > 65000 ? "a texture has at most 131072x65000 pixels"
                                                          : detect_cells_only(in, params);
}

/* The bin of a stage in the window whose upper left pixel is at (x, y). */
static __device__ int find_bin(int feature, const struct detect_stage &stage, cudaTextureObject_t texture, int x, int y)
{
    const int width = stage.width, height = stage.height;
    uint8_t cells[DETECT_CELLS];

    for (int c = 0; c < DETECT_CELLS; c++) {
        const float left = (float)(x + stage.x + c % 3 * width), top = (float)(y + stage.y + c / 3 * height);
        const float mean = 255 * tex2D<float>(texture, left + 0.5f * width, top + 0.5f * height);
        /* Means are quarters, so a sixteenth more covers what the filter rounds. */
        cells[c] = (uint8_t)(mean + 0.5f + 1.0f / 16);
    }
    return detect_bin(feature, cells, stage.a, stage.b);
}

/* Whether no stage rejects the window whose upper left pixel is at (x, y); its response. */
static __device__ bool is_hit(const struct stages &stages, const struct model_view &model, cudaTextureObject_t texture,
                              int x, int y, float *response)
{
    const float *table = model.tables;

    *response = 0;
    for (int t = 0; t < model.count; t++, table += model.bins) {
        const struct detect_stage &stage = stage_at(stages, model, t);
        *response += table[find_bin(model.feature, stage, texture, x, y)];
        if (*response < stage.threshold)
            return false;
    }
    return *response >= model.min_response;
}

static __global__ void detect_kernel(cudaTextureObject_t texture, const __grid_constant__ struct pyramid_layout layout,
                                     const __grid_constant__ struct stages stages, struct model_view model, int window,
                                     struct hit_list list)
{
    const struct pyramid_level &level = layout.levels[blockIdx.z];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float response;

    if (x > level.width - window || y > level.height - window)
        return;
    if (is_hit(stages, model, texture, level.x + x, level.y + y, &response))
        hits_add(list, response, &layout, level.x + x, level.y + y);
}

static enum status setup(struct state *state, const struct image in[], const struct detect_params *params)
{
    struct cudaResourceDesc resource = {};
    struct cudaTextureDesc description = {};
    enum status status = STATUS_OK;

    TRY(hits_setup(&state->hits, in, params, "cuda/v1.2"));
    if (state->texture)
        return STATUS_OK;
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = state->hits.levels.data;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
    resource.res.pitch2D.width = state->hits.levels.width;
    resource.res.pitch2D.height = state->hits.levels.height;
    resource.res.pitch2D.pitchInBytes = state->hits.levels.stride;
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.readMode = cudaReadModeNormalizedFloat;
    description.filterMode = cudaFilterModeLinear;
    CUDA_TRY(cudaCreateTextureObject(&state->texture, &resource, &description, NULL));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct detect_params *params, cudaStream_t stream)
{
    struct hits_step *hits = &state->hits;
    enum status status = STATUS_OK;
    dim3 block(WIDTH, HEIGHT);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y), hits->layout.count);

    TRY(hits_begin(hits, in, stream));
    detect_kernel<<<grid, block, 0, stream>>>(state->texture, hits->layout, hits_stages(params),
                                              hits_model(hits, params), params->pyramid.window, hits->list);
    CUDA_TRY(cudaGetLastError());
    TRY(hits_end(hits, out, params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    cudaDestroyTextureObject(state->texture);
    hits_teardown(&state->hits);
    *state = {};
}

RUNGS_CUDA_VERSION(detect, .declines = declines)
