/*
 * Problem:  To classify all patches takes 0.43 of the 0.49 ms of cuda/v1.2.
 * Idea:     Patches are classified by the fastest kernels of their ladders: lbp compares pixels as
 *           half floats in registers, nearest multiplies on tensor cores. Of the later steps only
 *           threshold and boxes change, to their cuda/v1.3.
 * Expect:   5 times as fast as cuda/v1.2: 40 us to classify all patches, 57 us for the later steps.
 * Result:   4.4 times as fast as cuda/v1.2, 112 us, with 2 warps per block of lbp and 256 threads
 *           per block of nearest (results/h100/barcode/barcode_4032x3024.json).
 * Run:      make tune-barcode V=cuda/v1.3
 */
#include "cuda/barcode/shared/finder.h"
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.3", .lbp = "cuda/v2.1", .nearest = "cuda/v1.3"};
static const struct finder_versions finder_versions = {
    .blur = "cuda/v1.2", .threshold = "cuda/v1.3", .labelling = "cuda/v1.2", .boxes = "cuda/v1.3"};

static int warps = 2, threads = 256;
static const int some_warps[] = {1, 2, 0}, some_threads[] = {64, 128, 256, 512, 0};
static struct tunable tunables[] = {{"warps", &warps, some_warps, "warps of a block of lbp"},
                                    {"threads", &threads, some_threads, "threads of a block of nearest"},
                                    {}};

struct state {
    struct textures textures;
    struct finder finder;
};

static enum status setup(struct state *state, const struct image in[], const struct barcode_params *params)
{
    enum status status = STATUS_OK;

    TRY(textures_open(&state->textures, in, BARCODE_PATCH, &params->model, &versions, tunables));
    TRY(finder_open(&state->finder, in, params, &finder_versions, NULL));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct barcode_params *, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    TRY(textures_launch(&state->textures, in, &state->finder.labels, stream));
    TRY(finder_launch(&state->finder, in->width, in->height, out, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    textures_close(&state->textures);
    finder_close(&state->finder);
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(barcode, .unavailable = unavailable, .tunables = tunables)
