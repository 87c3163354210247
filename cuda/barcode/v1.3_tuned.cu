/*
 * Idea:     the shape of the blocks can be set for all steps at once, so that a search can find the best.
 * Changed:  all steps but nearest are the cuda/v1.3 versions; block_width and block_height are tunables, handed on to every step
 *           that has them.
 * Expect:   little: the map of patches is 30 blocks of 32x8, and a GPU with 132 multiprocessors has room for all of them.
 * Result:   0.46 ms, 7 % less (results/h200/barcode/barcode_4032x3024.json), by lbp.
 */
/* Try: make bench-barcode VERSIONS=cuda */
#include "cuda/barcode/shared/finder.h"
#include "cuda/texture/shared/textures.h"

static const struct texture_versions versions = {.grayscale = "cuda/v1.3", .lbp = "cuda/v1.3", .nearest = "cuda/v1.2"};
static const struct finder_versions finder_versions = {
    .blur = "cuda/v1.3", .threshold = "cuda/v1.3", .labelling = "cuda/v1.3", .boxes = "cuda/v1.3"};

static int block_width = 32, block_height = 8;
static const int block_widths[] = {8, 16, 32, 64, 0}, block_heights[] = {4, 8, 16, 32, 0};
static struct tunable tunables[] = {{"block_width", &block_width, block_widths, "threads of a block along x"},
                                    {"block_height", &block_height, block_heights, "threads of a block along y"},
                                    {}};

static const char *illegal(const struct image[], const void *)
{
    return device_block_illegal(block_width * block_height, 0);
}

struct state {
    struct textures textures;
    struct finder finder;
};

static enum status setup(struct state *state, const struct image in[], const struct barcode_params *params)
{
    enum status status = STATUS_OK;

    TRY(textures_open(&state->textures, in, BARCODE_PATCH, &params->model, &versions, tunables));
    TRY(finder_open(&state->finder, in, params, &finder_versions, tunables));
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

RUNGS_CUDA_VERSION(barcode, .tunables = tunables, .illegal = illegal)
