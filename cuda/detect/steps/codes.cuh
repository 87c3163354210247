/*
 * codes.cuh: where the stages of a model look, as four pictures of the pyramid's shape, one for each size of cells: for LBP they
 * hold its bin at every pixel, for LRD and LRP, whose bins depend on two cells that differ from stage to stage, the means.
 */
#ifndef RUNGS_DETECT_STEPS_CODES_CUH
#define RUNGS_DETECT_STEPS_CODES_CUH

#include "cuda/detect/steps/four.cuh"

struct codes_step {
    struct image planes; /* the first, on the device; the others follow */
};

/* Allocates what is not there yet, for a pyramid like `levels`. */
enum status codes_setup(struct codes_step *step, const struct image *levels);
/* Enqueues the planes of a pyramid. */
enum status codes_make(const struct codes_step *step, int feature, const struct image *levels, cudaStream_t stream);
void codes_teardown(struct codes_step *step);

/* Where the codes of a window are. */
struct code_planes {
    size_t bytes; /* of a plane */
    int skipped;  /* by so many bytes is the first of four windows behind a multiple of 4 */
};

static inline __device__ const uint8_t *codes_at(const struct detect_stage &stage, const uint8_t *window, int stride,
                                                 const struct code_planes &planes)
{
    return window + (stage.width - 1 + 2 * (stage.height - 1)) * planes.bytes + stage.y * stride + stage.x;
}

static inline __device__ int planes_bin(int feature, const struct detect_stage &stage, const uint8_t *window,
                                        int stride, const struct code_planes &planes)
{
    const uint8_t *from = codes_at(stage, window, stride, planes);

    return feature == DETECT_LBP ? *from : planes_bin_at(feature, stage, from, stride);
}

static inline __device__ unsigned four_bins(int feature, const struct detect_stage &stage, const uint8_t *window,
                                            int stride, const struct code_planes &planes)
{
    const uint8_t *from = codes_at(stage, window, stride, planes);
    const int skipped = (planes.skipped + stage.x) % 4;
    const unsigned *words = (const unsigned *)(from - skipped);

    return feature == DETECT_LBP ? __funnelshift_r(words[0], words[skipped > 0], 8 * skipped)
                                 : four_bins_at(feature, stage, from, skipped, stride);
}

/* planes_pass() whose loads are on their way for four stages before the first of them is decided. */
static inline __device__ bool codes_pass(const struct stages &stages, const struct model_view &model,
                                         const uint8_t *window, int width, const struct code_planes &size, int from,
                                         int to, float *response)
{
    enum { AHEAD = 4 };

    for (int t = from; t < to; t += AHEAD) {
        float votes[AHEAD];
        bool left = true;
        for (int i = 0; i < AHEAD; i++) {
            const int own = min(t + i, to - 1);
            votes[i] = model.tables[own * model.bins +
                                    planes_bin(model.feature, stage_at(stages, model, own), window, width, size)];
        }
        for (int i = 0; i < AHEAD; i++) {
            *response += t + i < to ? votes[i] : 0;
            left &= *response >= stage_at(stages, model, min(t + i, to - 1)).threshold;
        }
        if (!left)
            return false;
    }
    return true;
}

#endif
