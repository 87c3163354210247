/*
 * window.cuh: the words of 4 pixels that a thread reads of each row, its own and a halo on both sides, and those that
 * it writes.
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

/* Words of a row as a line that is to be compared: flipped, and 0 outside the image. */
template <class LINE, int WORDS>
static __device__ LINE make_line(const unsigned *words, const struct window<WORDS> &window, unsigned flip, bool inside)
{
    LINE line;

    for (int k = 0; k < WORDS; k++)
        line.set(k, inside ? (words[k] ^ flip) & window.masks[k] : 0);
    return line;
}

/* One or two words from column x of row y on, as far as the row goes. */
template <int OWN> static __device__ void store_row(const struct image &out, int x, int y, const unsigned (&words)[OWN])
{
    uint8_t *to = device_row((uint8_t *)out.data, out.stride, y) + x;

    if (OWN == 2 && x + 8 <= out.width)
        *(uint2 *)to = make_uint2(words[0], words[OWN - 1]);
    else if (OWN == 1 && x + 4 <= out.width)
        *(unsigned *)to = words[0];
    else
#ifdef __CUDA_ARCH__ /* rare: unrolled, it would only part what is used; the emulator's compiler knows no unroll */
#pragma unroll 1
#endif
        for (int b = 0; b < out.width - x; b++)
            to[b] = (uint8_t)((b < 4 ? words[0] : words[OWN - 1]) >> 8 * (b % 4));
}

#endif
