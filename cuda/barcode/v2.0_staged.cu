/*
 * Problem:  In cuda/v1.3 a call takes 5.6 ms, its kernels 0.11 ms: one thread of the driver copies
 *           37 MB of a photograph to page-locked memory, 7 GB/s, and the bus waits for it.
 * Idea:     Staged copies: all threads of the host copy bands of rows to page-locked memory of our
 *           own, a band while the bus carries the one before.
 * Expect:   6 times as fast end to end, 0.85 ms: 37 MB take the bus 0.67 ms at 55 GB/s, the first
 *           band is copied before that, 0.04 ms, and the kernels come after it.
 * Result:   3.0 times, 1.52 ms (results/h200/barcode/barcode_4032x3024_staged.json).
 * Run:      make diff-barcode A=cuda/v1.3 B=cuda/v2.0
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

RUNGS_CUDA_VERSION(barcode, .unavailable = unavailable, .tunables = tunables, .staged = true)
