/*
 * edges.cuh: how a warp of v2.11 of harris reads its strip, whose pixels may be reflected ones; and what it shares with the
 * rungs below and above it.
 */
#ifndef RUNGS_HARRIS_EDGES_CUH
#define RUNGS_HARRIS_EDGES_CUH

#include "cuda/harris/shared/doubles.cuh"
#include "cuda/harris/shared/walk.cuh"

/* The two words among whose bytes the four pixels of a thread in a row are. They are put together where they are needed, so that
 * nothing waits for them before. */
struct pixels {
    unsigned words[2];
};

/* Where the words are in every row, which of their bytes the pixels are, and which gradients are turned around there. */
struct columns {
    int at, turned[4];
    unsigned selector;
};

/* Reflected, four neighbours still lie within four pixels, or else in the first eight of the row. Rows are not read beyond the
 * word of their last pixel, unless there is but one. */
static __device__ inline struct columns find_columns(int x, int width)
{
    struct columns columns = {};
    int at[4];

    for (int i = 0; i < 4; i++) {
        at[i] = harris_reflect(x + i, width);
        columns.turned[i] = reflected_sign(x + i, width);
    }
    columns.at = min(min(min(at[0], at[1]), min(at[2], at[3])) / 4 * 4, max((width + 3) / 4 * 4 - 8, 0));
    for (int i = 0; i < 4; i++)
        columns.selector |= (unsigned)(at[i] - columns.at) << 4 * i;
    return columns;
}

static __device__ inline struct pixels fetch(const struct image &in, const struct columns &columns, int y)
{
    const uint8_t *row = (const uint8_t *)image_row(&in, harris_reflect(y, in.height));
    const unsigned *words = (const unsigned *)(row + columns.at);

    return {{words[0], words[1]}};
}

static __device__ inline unsigned join(struct pixels pixels, const struct columns &columns)
{
    return __byte_perm(pixels.words[0], pixels.words[1], columns.selector);
}

static __device__ inline bool in_frame(const struct harris_params &params, const struct image &in, int x, int y)
{
    return harris_in_frame(&params, x, y, in.width, in.height);
}

/* The sums over the windows of a thread's columns, from those down the columns; what is beside them its neighbours have. */
template <int SIZE, bool BOX>
static __device__ void sum_along(const struct harris_params &params, struct harris_sums down[4 + SIZE / 2 * 2],
                                 struct harris_sums sums[4])
{
    constexpr int REACH = SIZE / 2;

    for (int i = 0; i < REACH; i++) {
        down[REACH + 4 + i] = sums_of((int)threadIdx.x + 1, down[REACH + i]);
        down[i] = sums_of((int)threadIdx.x - 1, down[4 + i]);
    }
    for (int i = 0; i < 4; i++) {
        sums[i] = {0, 0, 0};
        for (int j = 0; j < SIZE; j++)
            sums[i] = weigh(sums[i], BOX ? 1 : params.taps[j], down[i + j]);
    }
}

#endif
