/*
 * inside.cuh: how a warp of v2.11 of harris and the rungs above it reads its strip, with edges near or without; and a row of
 * v2.10's walk, to be called from v2.11's loops.
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

/* Where they are in every row, which bytes of the two words they are, and which gradients are turned around there. */
struct columns {
    int at, turned[4];
    unsigned selector;
};

/* Reflected, four neighbours still lie within four pixels, or else in the first eight of the row. */
template <bool EDGE> static __device__ struct columns find_columns(int x, int width)
{
    struct columns columns = {x, {1, 1, 1, 1}, 0x3210};
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
    }
    return columns;
}

template <bool EDGE>
static __device__ struct pixels<EDGE> fetch(const struct image &in, const struct columns &columns, int y) {
    const uint8_t *row = (const uint8_t *)image_row(&in, EDGE ? harris_reflect(y, in.height) : y);
    struct pixels<EDGE> pixels;

    for (int i = 0; i < (EDGE ? 2 : 1); i++)
        pixels.words[i] = ((const unsigned *)(row + columns.at))[i];
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

/* What a thread takes along from row to row. */
template <int SIZE, bool EDGE> struct walk {
    struct columns columns;
    struct pixels<EDGE> next[AHEAD];
    struct line above, own;
    struct harris_sums kept[SIZE > 1 ? SIZE - 1 : 1][COLUMNS];
};

/* Row y of the gradients: gives the sums down the columns of the window that ends there. */
template <int SIZE, bool SOBEL, bool BOX, bool EDGE>
static __device__ void advance(struct walk<SIZE, EDGE> *walk, const struct image &in,
                               const struct harris_params &params, int y, struct harris_sums down[COLUMNS])
{
    const struct line above = walk->above, own = walk->own;
    const struct line below = make_line<SOBEL>(join(walk->next[0], walk->columns));
    const int turned_down = EDGE ? reflected_sign(y, in.height) : 1;

    for (int i = 0; i < AHEAD - 1; i++)
        walk->next[i] = walk->next[i + 1];
    walk->next[AHEAD - 1] = fetch<EDGE>(in, walk->columns, y + 1 + AHEAD);
    for (int i = 0; i < COLUMNS; i++) {
        const int gy = (below.sum[i] - above.sum[i]) * turned_down;
        const int gx = (SOBEL ? above.difference[i] + 2 * own.difference[i] + below.difference[i] : own.difference[i]) *
                       (EDGE ? walk->columns.turned[i] : 1);
        const struct harris_sums products = {gx * gx, gx * gy, gy * gy};
        down[i] = weigh({0, 0, 0}, BOX ? 1 : params.taps[SIZE - 1], products);
        for (int j = 0; j < SIZE - 1; j++) {
            down[i] = weigh(down[i], BOX ? 1 : params.taps[j], walk->kept[j][i]);
            walk->kept[j][i] = j + 1 < SIZE - 1 ? walk->kept[j + 1][i] : products;
        }
    }
    walk->above = own;
    walk->own = below;
}

#endif
