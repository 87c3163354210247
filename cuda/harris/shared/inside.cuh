/*
 * inside.cuh: how a warp of v2.12 of harris and the rungs above it reads its strip: as v2.11, or, where no edge is near, a word a row.
 */
#ifndef RUNGS_HARRIS_INSIDE_CUH
#define RUNGS_HARRIS_INSIDE_CUH

#include "cuda/harris/shared/edges.cuh"

/* The rows from y on, one after the other. */
template <bool EDGE> struct reader;

template <> struct reader<true> {
    struct columns columns;
    int y;
};

template <> struct reader<false> {
    const uint8_t *next;
};

template <bool EDGE> static __device__ struct reader<EDGE> read_from(const struct image &in, int x, int y) {
    if constexpr (EDGE)
        return {find_columns(x, in.width), y};
    else
        return {(const uint8_t *)image_row(&in, y) + x};
}

static __device__ inline struct pixels
fetch_next(const struct image &in, struct reader<true> *reader)
{
    return fetch(in, reader->columns, reader->y++);
}

static __device__ inline unsigned fetch_next(const struct image &in, struct reader<false> *reader)
{
    const unsigned word = *(const unsigned *)reader->next;

    reader->next += in.stride;
    return word;
}

static __device__ inline unsigned join(const struct reader<true> &reader, struct pixels pixels)
{
    return join(pixels, reader.columns);
}

static __device__ inline unsigned join(const struct reader<false> &, unsigned word)
{
    return word;
}

static __device__ inline int turned(const struct reader<true> &reader, int column)
{
    return reader.columns.turned[column];
}

static __device__ inline int turned(const struct reader<false> &, int)
{
    return 1;
}

/* Writes the responses of a thread's columns from x on. */
static __device__ inline void give(const struct reader<true> &, const struct image &out, int x, int y,
                                   const float responses[4])
{
    store(out, x, y, responses);
}

static __device__ inline void give(const struct reader<false> &, const struct image &out, int x, int y,
                                   const float responses[4])
{
    *(float4 *)((float *)image_row(&out, y) + x) = make_float4(responses[0], responses[1], responses[2], responses[3]);
}

/* Whether a warp that gives `rows` rows from `top` on of the strip that begins at `start` meets no edge: neither with what it
 * reads, up to `ahead` rows more than it needs, nor with the frame, two pixels wide. */
static __device__ inline bool is_inside(const struct image &in, int start, int top, int rows, int reach, int ahead)
{
    return start >= 0 && start + 32 * 4 <= in.width && top >= reach + HARRIS_FRAME_WIDTH &&
           top + rows + reach + ahead + HARRIS_FRAME_WIDTH <= in.height;
}

#endif
