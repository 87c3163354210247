/*
 * inside.cuh: how a warp of v2.11 of harris and the rungs above it reads its strip, with edges near or without, and adds
 * up along the rows.
 */
#ifndef RUNGS_HARRIS_INSIDE_CUH
#define RUNGS_HARRIS_INSIDE_CUH

#include "cuda/harris/steps/lines.cuh"

enum { AHEAD = 2 /* rows between a load and its use */ };

/* The word of pixels of a thread in a row, as it comes from memory. Near an edge, where pixels may be reflected ones, they lie
 * in two words, and become one where they are needed, so that nothing waits for them before. */
template <bool EDGE> struct pixels {
    unsigned words[EDGE ? 2 : 1];
};

/* Inside, the word of the row that comes next; near an edge, where the words are in every row, which of their bytes the pixels
 * are, and which gradients are turned around there. */
struct columns {
    const uint8_t *next;
    int at, turned[4];
    unsigned selector;
};

/* Reflected, four neighbours still lie within four pixels, or else in the first eight of the row. */
template <bool EDGE> static __device__ struct columns find_columns(const struct image &in, int x, int y)
{
    const int width = in.width;
    struct columns columns = {NULL, x, {1, 1, 1, 1}, 0x3210};
    [[maybe_unused]] int at[4];

    if constexpr (EDGE) {
        for (int i = 0; i < 4; i++) {
            at[i] = harris_reflect(x + i, width);
            columns.turned[i] = reflected_sign(x + i, width);
        }
        columns.at = min(min(min(at[0], at[1]), min(at[2], at[3])) / 4 * 4, max((width + 3) / 4 * 4 - 8, 0));
        columns.selector = 0;
        for (int i = 0; i < 4; i++)
            columns.selector |= (unsigned)(at[i] - columns.at) << 4 * i;
    } else {
        columns.next = (const uint8_t *)image_row(&in, y) + x;
    }
    return columns;
}

/* Row y; rows are fetched in turn. */
template <bool EDGE>
static __device__ struct pixels<EDGE> fetch(const struct image &in, struct columns *columns, int y)
{
    struct pixels<EDGE> pixels;

    if constexpr (EDGE) {
        const unsigned *words = (const unsigned *)((const uint8_t *)image_row(&in, harris_reflect(y, in.height)) + columns->at);
        pixels.words[0] = words[0];
        pixels.words[1] = words[1];
    } else {
        (void)y;
        pixels.words[0] = *(const unsigned *)columns->next;
        columns->next += in.stride;
    }
    return pixels;
}

template <bool EDGE>
static __device__ unsigned join(struct pixels<EDGE> pixels, const struct columns &columns)
{
    return EDGE ? __byte_perm(pixels.words[0], pixels.words[EDGE], columns.selector) : pixels.words[0];
}

/* Whether a warp that gives `rows` rows from `top` on of the strip that begins at `start` meets no edge: neither with what it
 * reads nor with the frame, two pixels wide. */
static __device__ inline bool is_inside(const struct image &in, int start, int top, int rows, int reach)
{
    return start >= 0 && start + 32 * 4 <= in.width && top >= reach + HARRIS_FRAME_WIDTH &&
           top + rows + reach + AHEAD + HARRIS_FRAME_WIDTH <= in.height;
}

/* The sums over the windows of a thread's pixels, from those down its columns; what is beside them comes from its neighbours. */
template <int SIZE, bool BOX>
static __device__ void sum_along(const struct harris_params &params, struct harris_sums down[4 + SIZE - 1],
                                 struct harris_sums sums[4])
{
    constexpr int REACH = SIZE / 2;

    for (int i = 0; i < REACH; i++) {
        down[REACH + 4 + i] = sums_of(threadIdx.x + 1, down[REACH + i]);
        down[i] = sums_of(threadIdx.x - 1, down[4 + i]);
    }
    for (int i = 0; i < 4; i++) {
        sums[i] = {0, 0, 0};
        for (int j = 0; j < SIZE; j++)
            sums[i] = weigh(sums[i], BOX ? 1 : params.taps[j], down[i + j]);
    }
}

#endif
