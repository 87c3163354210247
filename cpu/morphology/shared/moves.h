/*
 * moves.h: bytes of neighbouring registers moved by a number of places that is known only at run time. AVX-512 VBMI does it
 * in one instruction; elsewhere two registers are stored, and read between them. And how cpu/moves and the rungs above it
 * read and write at the edges of a row.
 */
#ifndef RUNGS_MORPHOLOGY_STEPS_MOVES_H
#define RUNGS_MORPHOLOGY_STEPS_MOVES_H

#include "cpu/morphology/shared/element.h"

/* The bytes `by` places, 0 to 15, before those of v, where `before` ends as v begins. */
SIMD_INLINE simd_u8 earlier(simd_u8 before, simd_u8 v, int by)
{
#if defined(__AVX512VBMI__)
    return simd_earlier(before, v, by);
#else
    uint8_t both[2 * SIMD_BYTES];

    simd_store(both, before);
    simd_store(both + SIMD_BYTES, v);
    return simd_load(both + SIMD_BYTES - by);
#endif
}

/* The bytes `by` places, 0 to 15, after those of v, where v ends as `after` begins. */
SIMD_INLINE simd_u8 later(simd_u8 v, simd_u8 after, int by)
{
#if defined(__AVX512VBMI__)
    return simd_later(v, after, by);
#else
    uint8_t both[2 * SIMD_BYTES];

    simd_store(both, v);
    simd_store(both + SIMD_BYTES, after);
    return simd_load(both + by);
#endif
}

/* Where the vector k - 1 places right of x is read. At an edge some lie outside the image; these read anything. */
SIMD_INLINE int place(const struct element *element, int x, int k, bool edge)
{
    const int at = x + (k - 1) * SIMD_BYTES;

    return edge ? maximum(minimum(at, element->end - SIMD_BYTES), 0) : at;
}

/* Pixels of that vector that are outside the image become what never wins. `inside` is a line: 255 inside, else 0. */
SIMD_INLINE simd_u8 masked(const struct element *element, simd_u8 v, const uint8_t *inside, int x, int k, bool erode)
{
    const simd_u8 mask = simd_load(inside + MARGIN + minimum(x + (k - 1) * SIMD_BYTES, element->end));

    return erode ? v | ~mask : v & mask;
}

/* Writes vectors of results, past the cache if `stream`. At an edge, only the `count` pixels up to the end of the row. */
SIMD_INLINE void put(const simd_u8 result[], int vectors, uint8_t *to, int count, bool stream, bool edge)
{
#pragma GCC unroll 8
    for (int k = 0; k < vectors; k++) {
        const int left = count - k * SIMD_BYTES;
        const simd_u8 vector = result[k];
        if (edge && left < SIMD_BYTES) {
            if (left > 0)
                memcpy(to + k * SIMD_BYTES, &vector, (size_t)left);
        } else if (stream)
            simd_stream(to + k * SIMD_BYTES, vector);
        else
            simd_store(to + k * SIMD_BYTES, vector);
    }
}

#endif
