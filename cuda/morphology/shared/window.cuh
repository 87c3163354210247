/*
 * window.cuh: the words of 4 pixels that a thread reads of each row, its own and a halo on both sides.
 */
#ifndef RUNGS_MORPHOLOGY_STEPS_WINDOW_CUH
#define RUNGS_MORPHOLOGY_STEPS_WINDOW_CUH

#include "common/cuda/border.cuh"
#include "common/cuda/device.h"

template <int WORDS> struct window {
    const uint8_t *from[WORDS]; /* in the first row */
    unsigned masks[WORDS];      /* of bytes inside the row */
};

/* The window whose word number `halo` begins at column x, a multiple of 4. */
template <int WORDS>
static __device__ void find_window(struct window<WORDS> *window, const struct image &in, int x, int halo)
{
    for (int k = 0; k < WORDS; k++) {
        const int offset = x + 4 * (k - halo), left = min(max(-offset, 0), 4);
        const int right = max(min(in.width - offset, 4), left);
        window->from[k] = keep_pointer((const uint8_t *)in.data + border_source(offset, in.width, 4));
        window->masks[k] = (unsigned)((1ull << 8 * right) - (1ull << 8 * left));
    }
}

/* Words of row y; of the nearest row where there is none. */
template <int WORDS>
static __device__ void load_row(unsigned words[WORDS], const struct image &in, int y,
                                const struct window<WORDS> &window)
{
    for (int k = 0; k < WORDS; k++)
        words[k] = *(const unsigned *)device_row(window.from[k], in.stride, min(max(y, 0), in.height - 1));
}

#endif
