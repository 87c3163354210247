/*
 * Idea:     many pictures. While one is labelled the next is uploaded, and the labels of the one before it go down, each on a
 *           stream of its own: what is left is the upload.
 * Changed:  the last line names a queue (common/cuda/streams_queue.cu); the steps are v2.2's.
 * Expect:   one picture as in v2.2. From page-locked memory 36.6 MB of a picture of 4032x3024 are 0.67 ms at 55 GB/s, behind which
 *           some 45 us of kernels and 48 KB of labels hide: 1,500 pictures a second, 1.1 times v2.2. Of 1920x1080 6.2 MB are 113
 *           us: 8,500 a second, 1.3 times, for there the calls of the host and the wait for the end weigh more.
 * Result:   1,475 pictures of 4032x3024 a second, 1.09 times v2.2, which is 54 GB/s
 *           (results/h200/texture/texture_4032x3024.json), and 8,530 of 1920x1080, 1.32 times (texture_1920x1080.json
 *           beside it), as predicted.
 */
/* Try: make bench-texture VERSIONS=cuda */
#include "common/cuda/streams_queue.h"
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.3", .lbp = "cuda/v2.1", .nearest = "cuda/v1.3"};

struct state {
    struct textures textures;
};

static enum status setup(struct state *state, const struct image in[], const struct texture_params *params)
{
    return textures_open(&state->textures, in, 8 << params->patch_index, &params->centroids, &versions, NULL);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct texture_params *, cudaStream_t stream)
{
    return textures_launch(&state->textures, in, out, stream);
}

static void teardown(struct state *state)
{
    textures_close(&state->textures);
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(texture, .unavailable = unavailable, .queue = &streams_queue)
