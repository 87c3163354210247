/*
 * planes.cuh: a tile of the picture with a plane for each size of cells, and the list of its windows that are left.
 */
#ifndef RUNGS_DETECT_STEPS_PLANES_CUH
#define RUNGS_DETECT_STEPS_PLANES_CUH

#include "cuda/detect/shared/hits.h"

static inline const char *planes_decline(const struct detect_params *params)
{
    enum { LARGEST = 48 };
    const char *why = detect_cells_only(NULL, params);

    return why ? why
           : params->pyramid.window > LARGEST
               ? "four planes of a tile of windows of more than 48 pixels do not fit in shared memory"
               : NULL;
}

/* The same as a version's. */
static inline const char *planes_declines(const struct image in[], const void *params)
{
    (void)in;
    return planes_decline((const struct detect_params *)params);
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

/* The bin of nine cells from `from` on, `right` and `below` bytes apart; a and b are the stage's. */
static inline __device__ int planes_bin(int feature, const uint8_t *from, int right, int below, int a, int b)
{
    uint8_t cells[DETECT_CELLS];

    for (int c = 0; c < DETECT_CELLS; c++)
        cells[c] = from[c / 3 * below + c % 3 * right];
    return detect_bin(feature, cells, a, b);
}

/* The bin of a stage in the window at `window` of the first plane. */
static inline __device__ int planes_bin(int feature, const struct detect_stage &stage, const uint8_t *window, int width,
                                        int size)
{
    const uint8_t *from = window + (stage.width - 1 + 2 * (stage.height - 1)) * size + stage.y * width + stage.x;

    return planes_bin(feature, from, stage.width, stage.height * width, stage.a, stage.b);
}

/* How the bin of a stage is found. */
typedef int planes_find(int feature, const struct detect_stage &stage, const uint8_t *window, int width, int size);

/* Whether stages `from` to `to` - 1 let the window pass; adds to its response. */
template <planes_find find_bin = planes_bin>
static inline __device__ bool planes_pass(const struct stages &stages, const struct model_view &model,
                                          const uint8_t *window, int width, int size, int from, int to, float *response)
{
    const float *table = model.tables + from * model.bins;

    for (int t = from; t < to; t++, table += model.bins) {
        const struct detect_stage &stage = stage_at(stages, model, t);
        *response += table[find_bin(model.feature, stage, window, width, size)];
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

/* The same of four windows a lane, side by side from `place` on: first those of all lanes' first one, then of their second and so on. */
template <int WINDOWS>
static inline __device__ void left_keep_four(struct left_windows<WINDOWS> *left, const bool kept[4], int place,
                                             const float responses[4])
{
    const unsigned lane = threadIdx.x % 32, below = (1u << lane) - 1;
    unsigned ballots[4], first = 0, all = 0;

    for (int k = 0; k < 4; k++) {
        ballots[k] = __ballot_sync(0xffffffff, kept[k]);
        all += __popc(ballots[k]);
    }
    if (lane == 0 && all)
        first = atomicAdd(&left->count, all);
    first = __shfl_sync(0xffffffff, first, 0);
    for (int k = 0; k < 4; k++) {
        const unsigned entry = first + __popc(ballots[k] & below);

        if (kept[k]) {
            left->places[entry] = place + k;
            left->responses[entry] = responses[k];
        }
        first += __popc(ballots[k]);
    }
}

#endif
