/*
 * turned.cuh: how a warp of v2.18 of harris and the rungs above it reads and writes its strip: as v2.15, with a sign that edges
 * turn around as a bit of a pair of halves. On the first row, the last one, the first column and the last one the gradient that
 * could have either sign is 0, so the way that the walk goes says it all.
 */
#ifndef RUNGS_HARRIS_TURNED_CUH
#define RUNGS_HARRIS_TURNED_CUH

#include "cuda/harris/shared/ahead.cuh"
#include "cuda/harris/shared/halves.cuh"

/* Two words among whose bytes the four pixels are, and the signs that gy turns around between the row above and this one. */
struct turned_pixels {
    unsigned words[2], signs;
};

/* The rows from y on, one after the other, and where the responses from row `line` on go. */
template <bool EDGE> struct turning;

template <> struct turning<true> {
    const uint8_t *next;
    ptrdiff_t step; /* to the next row: upwards from the last row on, downwards from the first on */
    int rows, left; /* between the first row and the last, and from here to the one of them that is ahead */
    unsigned selector, signs[2] /* of the pairs of gx */,
        shown[4] /* all ones for a column that is, and not in the frame */;
    int line, first, last; /* the rows that are shown */
    float *to;
};

template <> struct turning<false> {
    const uint8_t *next;
    float *to;
};

template <bool EDGE>
static __device__ struct turning<EDGE> begin_turning(const struct image &in, const struct image &out,
                                                     const struct harris_params &params, int x, int y, int line) {
    float *to = (float *)image_row(&out, line) + x;

    if constexpr (EDGE) {
        const int frame = params.border == HARRIS_FRAME ? (int)HARRIS_FRAME_WIDTH : 0;
        const int row = harris_reflect(y, in.height), way = in.height > 1 ? reflected_sign(y, in.height) : 0;
        const struct columns columns = find_columns(x, in.width);
        struct turning<true> walker = {
            (const uint8_t *)image_row(&in, row) + columns.at, way *(ptrdiff_t)in.stride, in.height - 1,
                way > 0 ? in.height - 1 - row : row, columns.selector, {}, {}, line, frame, in.height - frame, to
        };
        for (int i = 0; i < 4; i++) {
            walker.signs[i % 2] |= columns.turned[i] < 0 ? 0x8000u << 16 * (i / 2) : 0;
            walker.shown[i] = x + i >= frame && x + i < in.width - frame ? ~0u : 0;
        }
        return walker;
    } else {
        return {(const uint8_t *)image_row(&in, y) + x, to};
    }
}

static __device__ inline struct turned_pixels
fetch_next(const struct image &, struct turning<true> *walker)
{
    const unsigned *words = (const unsigned *)walker->next;
    const struct turned_pixels pixels = {{words[0], words[1]}, walker->step < 0 ? 0x80008000 : 0};
    const bool turn = walker->left == 0;

    walker->step = turn ? -walker->step : walker->step;
    walker->left = (turn ? walker->rows : walker->left) - 1;
    walker->next += walker->step;
    return pixels;
}

static __device__ inline unsigned fetch_next(const struct image &in, struct turning<false> *walker)
{
    const unsigned word = *(const unsigned *)walker->next;

    walker->next += in.stride;
    return word;
}

static __device__ inline unsigned join(const struct turning<true> &walker, struct turned_pixels pixels)
{
    return __byte_perm(pixels.words[0], pixels.words[1], walker.selector);
}

static __device__ inline unsigned join(const struct turning<false> &, unsigned word)
{
    return word;
}

static __device__ inline __half2 turn(__half2 pair, unsigned signs)
{
    unsigned bits;

    memcpy(&bits, &pair, sizeof(bits));
    return as_halves(bits ^ signs);
}

static __device__ inline __half2 turn_across(const struct turning<true> &walker, int i, __half2 gx)
{
    return turn(gx, walker.signs[i]);
}

static __device__ inline __half2 turn_across(const struct turning<false> &, int, __half2 gx)
{
    return gx;
}

static __device__ inline __half2 turn_down(struct turned_pixels below, __half2 gy)
{
    return turn(gy, below.signs);
}

static __device__ inline __half2 turn_down(unsigned, __half2 gy)
{
    return gy;
}

/* Makes 0 of the responses in the frame and of those beyond the picture. */
static __device__ inline void hide(const struct turning<true> &walker, float responses[4])
{
    const unsigned row = walker.line >= walker.first && walker.line < walker.last ? ~0u : 0;

    for (int i = 0; i < 4; i++)
        responses[i] = __uint_as_float(__float_as_uint(responses[i]) & walker.shown[i] & row);
}

static __device__ inline void hide(const struct turning<false> &, float[4])
{
}

/* Writes the responses of a thread's columns from x on, if it `writes` any, and goes to the next row. */
static __device__ inline void give_next(struct turning<true> *walker, const struct image &out, int x, bool writes,
                                        const float responses[4])
{
    if (writes && walker->line < out.height) {
        if (x + 4 <= out.width)
            *(float4 *)walker->to = make_float4(responses[0], responses[1], responses[2], responses[3]);
        else
            for (int i = 0; i < 3; i++)
                if (x + i < out.width)
                    walker->to[i] = responses[i];
    }
    walker->to = (float *)((char *)walker->to + out.stride);
    walker->line++;
}

static __device__ inline void give_next(struct turning<false> *walker, const struct image &out, int, bool writes,
                                        const float responses[4])
{
    if (writes)
        *(float4 *)walker->to = make_float4(responses[0], responses[1], responses[2], responses[3]);
    walker->to = (float *)((char *)walker->to + out.stride);
}

#endif
