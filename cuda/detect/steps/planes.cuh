/*
 * planes.cuh: a tile of the picture with a plane for each size of cells, and the list of its windows that are left.
 */
#ifndef RUNGS_DETECT_STEPS_PLANES_CUH
#define RUNGS_DETECT_STEPS_PLANES_CUH

#include "cuda/detect/steps/hits.h"

static inline const char *planes_decline(const struct detect_params *params)
{
    enum { LARGEST = 48 };
    const char *why = detect_cells_only(NULL, params);

    return why ? why
           : params->pyramid.window > LARGEST
               ? "four planes of a tile of windows of more than 48 pixels do not fit in shared memory"
               : NULL;
}

/* The means of the larger cells out of those of 1 x 1, `size` bytes a plane. Those that reach over the tile's edge mean nothing. */
static inline __device__ void planes_fill(uint8_t *planes, int width, int size)
{
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        int own = planes[i], right = planes[min(i + 1, size - 1)], below = planes[min(i + width, size - 1)];
        int across = planes[min(i + width + 1, size - 1)];
        planes[size + i] = (own + right + 1) / 2;
        planes[2 * size + i] = (own + below + 1) / 2;
        planes[3 * size + i] = (own + right + below + across + 2) / 4;
    }
}

/* The bin of a stage in the window at `window` of the first plane. */
static inline __device__ int planes_bin(int feature, const struct detect_stage &stage, const uint8_t *window, int width,
                                        int size)
{
    int step = stage.height * width;
    const uint8_t *from = window + (stage.width - 1 + 2 * (stage.height - 1)) * size + stage.y * width + stage.x;
    uint8_t cells[DETECT_CELLS];

    for (int c = 0; c < DETECT_CELLS; c++)
        cells[c] = from[c / 3 * step + c % 3 * stage.width];
    return detect_bin(feature, cells, stage.a, stage.b);
}

/* Whether stages `from` to `to` - 1 let the window pass; adds to its response. */
static inline __device__ bool planes_pass(const struct stages &stages, const struct model_view &model,
                                          const uint8_t *window, int width, int size, int from, int to, float *response)
{
    const float *table = model.tables + from * model.bins;

    for (int t = from; t < to; t++, table += model.bins) {
        const struct detect_stage &stage = stage_at(stages, model, t);
        *response += table[planes_bin(model.feature, stage, window, width, size)];
        if (*response < stage.threshold)
            return false;
    }
    return true;
}

/* Windows of a tile that are left: their places in it and responses. */
template <int WINDOWS> struct left_windows {
    unsigned short places[WINDOWS];
    float responses[WINDOWS];
    unsigned count;
};

/* Called by all lanes of a warp. */
template <int WINDOWS>
static inline __device__ void left_keep(struct left_windows<WINDOWS> *left, bool kept, int place, float response)
{
    unsigned ballot = __ballot_sync(0xffffffff, kept), lane = threadIdx.x % 32, first = 0;

    if (lane == 0 && ballot)
        first = atomicAdd(&left->count, (unsigned)__popc(ballot));
    first = __shfl_sync(0xffffffff, first, 0);
    if (!kept)
        return;
    unsigned entry = first + __popc(ballot & ((1u << lane) - 1));
    left->places[entry] = place;
    left->responses[entry] = response;
}

#endif
