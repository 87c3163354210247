/*
 * edges.cuh: how a warp reads and writes its strip, near an edge of the picture (EDGE) and inside: what the kernels of
 * harris share from v2.2 on. Near an edge lanes do not diverge: each computes what is not shown, too.
 */
#ifndef RUNGS_HARRIS_EDGES_CUH
#define RUNGS_HARRIS_EDGES_CUH

#include "cuda/harris/shared/pairs.cuh"

/* Where a lane reads the next row and writes the next responses. Inside the picture the pixels are the first of two
 * words, and only the first three fields are in use. */
struct strip {
    const uint8_t *next;
    ptrdiff_t step; /* to the next row: upwards from the last row on, downwards from the first on */
    float *to;
    int rows, left;          /* between the first row and the last, and from here to the one of them that is ahead */
    unsigned selector;       /* which bytes of two words the pixels are */
    int turned[COLUMNS];     /* -1 where gx has the other sign */
    unsigned shown[COLUMNS]; /* all ones for a column that is inside the picture, and not in the frame */
};

/* Of the columns from x on; it reads from row y on and writes from row `line` on. Reflected, four neighbours still lie
 * within four pixels, or else in the first eight of the row. Rows are not read beyond the word of their last pixel,
 * unless there is but one. */
template <bool EDGE>
static __device__ struct strip find_strip(const struct image &in, const struct image &out,
                                          const struct harris_params &params, int x, int y, int line)
{
    const int frame = params.border == HARRIS_FRAME ? (int)HARRIS_FRAME_WIDTH : 0, row = harris_reflect(y, in.height);
    struct strip strip = {(const uint8_t *)image_row(&in, EDGE ? row : y) + x, (ptrdiff_t)in.stride,
                          (float *)image_row(&out, line) + x};
    int columns[COLUMNS];

    if constexpr (EDGE) {
        for (int i = 0; i < COLUMNS; i++) {
            columns[i] = harris_reflect(x + i, in.width);
            strip.turned[i] = reflected_sign(x + i, in.width);
            strip.shown[i] = x + i >= frame && x + i < in.width - frame ? ~0u : 0;
        }
        const int first = min(min(columns[0], columns[1]), min(columns[2], columns[3]));
        const int at = min(first / 4 * 4, max((in.width + 3) / 4 * 4 - 8, 0));
        for (int i = 0; i < COLUMNS; i++)
            strip.selector |= (unsigned)(columns[i] - at) << 4 * i;
        strip.next += at - x;
        strip.step *= in.height > 1 ? reflected_sign(y, in.height) : 0;
        strip.rows = in.height - 1;
        strip.left = strip.step > 0 ? strip.rows - row : row;
    }
    return strip;
}

template <bool EDGE> static __device__ uint2 fetch(struct strip *strip)
{
    const unsigned *words = (const unsigned *)strip->next;
    const uint2 found = make_uint2(words[0], EDGE ? words[1] : 0);

    if (EDGE && strip->left-- == 0) {
        strip->step = -strip->step;
        strip->left = strip->rows - 1;
    }
    strip->next += strip->step;
    return found;
}

template <bool EDGE> static __device__ unsigned join(const struct strip &strip, uint2 words)
{
    return EDGE ? __byte_perm(words.x, words.y, strip.selector) : words.x;
}

/* Writes the responses of row y if the lane `writes` any; those in the frame become 0. */
template <bool EDGE>
static __device__ void store(const struct image &out, struct strip *strip, const struct harris_params &params, int x,
                             int y, bool writes, float responses[COLUMNS])
{
    const int frame = params.border == HARRIS_FRAME ? (int)HARRIS_FRAME_WIDTH : 0;
    const unsigned shown = y >= frame && y < out.height - frame ? ~0u : 0;

    for (int i = 0; i < COLUMNS && EDGE; i++)
        responses[i] = __uint_as_float(__float_as_uint(responses[i]) & strip->shown[i] & shown);
    if (writes && (!EDGE || x + COLUMNS <= out.width))
        *(float4 *)strip->to = make_float4(responses[0], responses[1], responses[2], responses[3]);
    for (int i = 0; i < COLUMNS - 1 && EDGE; i++)
        if (writes && x + COLUMNS > out.width && x + i < out.width)
            strip->to[i] = responses[i];
    strip->to = (float *)((char *)strip->to + out.stride);
}

/* Whether a warp of `rows` rows from `top` on of the strip that begins at `start` meets no edge: neither with what it
 * reads, up to `ahead` rows more than it needs, nor with the frame. */
static __device__ inline bool is_inside(const struct image &in, int start, int top, int rows, int reach, int ahead)
{
    return start >= 0 && start + 32 * COLUMNS <= in.width && top >= reach + HARRIS_FRAME_WIDTH &&
           top + rows + reach + ahead + HARRIS_FRAME_WIDTH <= in.height;
}

#endif
