/*
 * Idea:     source pixels are fetched by the texture units, as in Jošth 2014: they turn two coordinates into an address, and
 *           their cache holds neighbours in both directions. Points are sampled, since nothing says how a filtered value is
 *           rounded; its weights would be the definition's 8 bits.
 * Changed:  a texture object on a pyramid of its own, for textures begin at multiples of 512 bytes and a result anywhere; all
 *           pixels are stored twice, and a pixel's four loads are tex2D().
 * Expect:   v1.2 waits for one depth after the other and not for addresses, and warps read rows of bytes, which the common cache
 *           serves as well; the second store costs a tenth. 32 us, after 29.3.
 * Result:   31.6 us, where v1.2 takes 29.0 (results/h200/pyramid/pyramid_1280x720.json), as predicted: texture units gain
 *           nothing here today.
 * From:     cuda/v1.2
 */
/* Try: make bench-pyramid SIZE=1280x720 VERSIONS=cuda */
#include <texture_indirect_functions.h>

#include "common/algo/pyramid.h"
#include "common/cuda/device.h"

struct state {
    struct image levels;         /* on the device: the pyramid, where a texture may be */
    cudaTextureObject_t texture; /* of the levels */
};

/* What a texture of lines of pixels may have. */
static const char *declines(const struct image in[], const void *params)
{
    enum { MOST_ROWS = 65000 };
    struct pyramid_layout layout;

    pyramid_lay_out(in->width, in->height, (const struct pyramid_params *)params, &layout);
    return layout.height > MOST_ROWS ? "a texture has at most 65000 rows" : NULL;
}

static __global__ void copy_kernel(struct image in, struct image out, struct image levels, int fill)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < out.width && y < out.height)
        ((uint8_t *)image_row(&out, y))[x] = ((uint8_t *)image_row(&levels, y))[x] =
            y < in.height ? ((const uint8_t *)image_row(&in, y))[x] : fill;
}

static __device__ unsigned fetch(cudaTextureObject_t texture, int x, int y)
{
    return tex2D<unsigned char>(texture, x + 0.5f, y + 0.5f);
}

/* Levels first + blockIdx.z. */
static __global__ void resample_kernel(struct image out, struct image levels,
                                       const __grid_constant__ struct pyramid_layout layout,
                                       cudaTextureObject_t texture, int first)
{
    const struct pyramid_level &level = layout.levels[first + blockIdx.z], &source = layout.levels[level.source];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= level.width || y >= level.height)
        return;
    struct pyramid_tap row = pyramid_find_tap(y, level.relative, source.height);
    struct pyramid_tap column = pyramid_find_tap(x, level.relative, source.width);
    const int left = source.x + column.first, right = source.x + column.second, upper = source.y + row.first;
    const int lower = source.y + row.second;
    const uint8_t above[] = {(uint8_t)fetch(texture, left, upper), (uint8_t)fetch(texture, right, upper)};
    const uint8_t below[] = {(uint8_t)fetch(texture, left, lower), (uint8_t)fetch(texture, right, lower)};
    ((uint8_t *)image_row(&out, level.y + y))[level.x + x] = ((uint8_t *)image_row(&levels, level.y + y))[level.x + x] =
        pyramid_blend(above, below, {0, 1, column.weight}, row.weight);
}

static enum status setup(struct state *state, const struct image in[], const struct pyramid_params *params)
{
    struct cudaResourceDesc resource = {};
    struct cudaTextureDesc description = {};
    struct pyramid_layout layout;
    enum status status = STATUS_OK;

    if (state->texture)
        return STATUS_OK;
    pyramid_lay_out(in->width, in->height, params, &layout);
    if (!state->levels.data) {
        struct image shape = {.width = layout.width, .height = layout.height, .channels = 1, .type = PIXEL_U8};
        TRY(device_image_create(&state->levels, &shape));
    }
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = state->levels.data;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
    resource.res.pitch2D.width = layout.width;
    resource.res.pitch2D.height = layout.height;
    resource.res.pitch2D.pitchInBytes = state->levels.stride;
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    CUDA_TRY(cudaCreateTextureObject(&state->texture, &resource, &description, NULL));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct pyramid_params *params, cudaStream_t stream)
{
    struct pyramid_layout layout;
    enum status status = STATUS_OK;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(out->width, block.x), ceiling_divide(out->height, block.y));

    pyramid_lay_out(in->width, in->height, params, &layout);
    copy_kernel<<<grid, block, 0, stream>>>(*in, *out, state->levels, params->fill);
    CUDA_TRY(cudaGetLastError());
    for (int first = 1, next; first < layout.count; first = next) {
        struct pyramid_level level = layout.levels[first];
        for (next = first + 1; next < layout.count && layout.levels[next].source < first;)
            next++;
        grid = dim3(ceiling_divide(level.width, block.x), ceiling_divide(level.height, block.y), next - first);
        resample_kernel<<<grid, block, 0, stream>>>(*out, state->levels, layout, state->texture, first);
        CUDA_TRY(cudaGetLastError());
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    cudaDestroyTextureObject(state->texture);
    device_image_free(&state->levels);
    *state = {};
}

RUNGS_CUDA_VERSION(pyramid, .declines = declines)
