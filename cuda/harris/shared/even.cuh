/*
 * even.cuh: how a warp of v2.15 of harris and the rungs above it reads and writes its strip: as v2.12, but near an edge it
 * computes what it does not show, and never branches.
 */
#ifndef RUNGS_HARRIS_EVEN_CUH
#define RUNGS_HARRIS_EVEN_CUH

#include "cuda/harris/shared/edges.cuh"

/* The rows from y on, one after the other, and where the responses from row `line` on go. */
template <bool EDGE> struct walker;

template <> struct walker<true> {
    const uint8_t *next;
    ptrdiff_t step; /* to the next row: upwards from the last row on, downwards from the first on */
    int rows, left; /* between the first row and the last, and from here to the one of them that is ahead */
    struct columns columns;
    unsigned shown[4]; /* all ones for a column that is inside the picture, and not in the frame */
    int line;
    float *to;
};

template <> struct walker<false> {
    const uint8_t *next;
    float *to;
};

template <bool EDGE>
static __device__ struct walker<EDGE> begin_walk(const struct image &in, const struct image &out,
                                                 const struct harris_params &params, int x, int y, int line)
{
    float *to = (float *)image_row(&out, line) + x;

    if constexpr (EDGE) {
        const int frame = params.border == HARRIS_FRAME ? (int)HARRIS_FRAME_WIDTH : 0;
        const int row = harris_reflect(y, in.height), way = in.height > 1 ? reflected_sign(y, in.height) : 0;
        struct walker<true> walker = {(const uint8_t *)image_row(&in, row), way * (ptrdiff_t)in.stride, in.height - 1,
                                      way > 0 ? in.height - 1 - row : row, find_columns(x, in.width), {}, line, to};
        walker.next += walker.columns.at;
        for (int i = 0; i < 4; i++)
            walker.shown[i] = x + i >= frame && x + i < in.width - frame ? ~0u : 0;
        return walker;
    } else {
        return {(const uint8_t *)image_row(&in, y) + x, to};
    }
}

static __device__ inline struct pixels fetch_next(const struct image &, struct walker<true> *walker)
{
    const unsigned *words = (const unsigned *)walker->next;
    const bool turn = walker->left == 0;

    walker->step = turn ? -walker->step : walker->step;
    walker->left = (turn ? walker->rows : walker->left) - 1;
    walker->next += walker->step;
    return {{words[0], words[1]}};
}

static __device__ inline unsigned fetch_next(const struct image &in, struct walker<false> *walker)
{
    const unsigned word = *(const unsigned *)walker->next;

    walker->next += in.stride;
    return word;
}

static __device__ inline unsigned join(const struct walker<true> &walker, struct pixels pixels)
{
    return join(pixels, walker.columns);
}

static __device__ inline unsigned join(const struct walker<false> &, unsigned word)
{
    return word;
}

static __device__ inline int turned(const struct walker<true> &walker, int column)
{
    return walker.columns.turned[column];
}

static __device__ inline int turned(const struct walker<false> &, int)
{
    return 1;
}

/* Makes 0 of the responses in the frame and of those beyond the picture. */
static __device__ inline void hide(const struct walker<true> &walker, const struct harris_params &params, int height,
                                   float responses[4])
{
    const int frame = params.border == HARRIS_FRAME ? (int)HARRIS_FRAME_WIDTH : 0;
    const unsigned row = walker.line >= frame && walker.line < height - frame ? ~0u : 0;

    for (int i = 0; i < 4; i++)
        responses[i] = __uint_as_float(__float_as_uint(responses[i]) & walker.shown[i] & row);
}

static __device__ inline void hide(const struct walker<false> &, const struct harris_params &, int, float[4])
{
}

/* Writes the responses of a thread's columns from x on, if it `writes` any, and goes to the next row. */
static __device__ inline void give_next(struct walker<true> *walker, const struct image &out, int x, bool writes,
                                        const float responses[4])
{
    if (writes && x + 4 <= out.width)
        *(float4 *)walker->to = make_float4(responses[0], responses[1], responses[2], responses[3]);
    else if (writes) {
        for (int i = 0; i < 3; i++)
            if (x + i < out.width)
                walker->to[i] = responses[i];
    }
    walker->to = (float *)((char *)walker->to + out.stride);
    walker->line++;
}

static __device__ inline void give_next(struct walker<false> *walker, const struct image &out, int, bool writes,
                                        const float responses[4])
{
    if (writes)
        *(float4 *)walker->to = make_float4(responses[0], responses[1], responses[2], responses[3]);
    walker->to = (float *)((char *)walker->to + out.stride);
}

/* Whether a warp that gives `rows` rows from `top` on of the strip that begins at `start` meets no edge: neither with what it
 * reads, up to `ahead` rows more than it needs, nor with the frame, two pixels wide. */
static __device__ inline bool is_inside(const struct image &in, int start, int top, int rows, int reach, int ahead)
{
    return start >= 0 && start + 32 * 4 <= in.width && top >= reach + HARRIS_FRAME_WIDTH &&
           top + rows + reach + ahead + HARRIS_FRAME_WIDTH <= in.height;
}

#endif
