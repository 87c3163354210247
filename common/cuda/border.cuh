/*
 * border.cuh: rows read 4 bytes at a time with the border pixel replicated on both sides, without a branch per byte.
 *
 * A thread that always reads the same columns of its rows prepares once: border_source() says from where to load, and
 * border_select() which bytes of that load count and which come from the border pixel. Then, row by row, one
 * __byte_perm(loaded, border_pixel(...), select) gives the 4 bytes. Offsets and sizes are in bytes from the row's
 * start; every offset is a multiple of 4, at least -48 (so that offset + 48 tells the channel), and may lie past the
 * row's end.
 */
#ifndef RUNGS_BORDER_CUH
#define RUNGS_BORDER_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "common/image/image.h"

/* y rows below `first` in one instruction: a stride of u8 pixels fits in 32 bits, and 32 times 32 bits plus 64 is one
 * multiply-add where 64 times 64 is four. */
template <class T> static __device__ inline T *device_row(T *first, size_t stride, int y)
{
    return first + (size_t)(unsigned)y * (unsigned)stride;
}

/* The same pointer, but the compiler no longer knows how it came about: it keeps the sum in registers, where else it
 * would add base and offset again at every use. */
template <class T> static __device__ inline T *keep_pointer(T *pointer)
{
#if defined(__CUDA_ARCH__)
    asm("" : "+l"(pointer));
#endif
    return pointer;
}

/* `offset` moved into the row: where a load of `width` bytes (4 or 16, of which offset is a multiple) may be done. It
 * ends before the next multiple of 64 after row_bytes, which is legal to read (image.h). */
static __device__ inline int border_source(int offset, int row_bytes, int width)
{
    return min(max(offset, 0), (row_bytes - 1) / width * width);
}

/* The selector for __byte_perm: nibble b is b for a byte inside the row, 4 + channel for one outside. */
template <int CHANNELS> static __device__ inline unsigned border_select(int offset, int row_bytes)
{
    unsigned select = 0;

    for (int b = 0; b < 4; b++) {
        int at = offset + b;
        bool inside = at >= 0 && at < row_bytes;
        select |= (inside ? b : 4 + (at < 0 ? at + 48 : at - row_bytes) % CHANNELS) << 4 * b;
    }
    return select;
}

/* The border pixel on the side where `offset` lies: the first one left of the row, else the last one; channel c in
 * byte c. */
template <int CHANNELS> static __device__ inline unsigned border_pixel(const uint8_t *row, int offset, int row_bytes)
{
    const uint8_t *pixel = row + (offset < 0 ? 0 : row_bytes - CHANNELS);

    if (CHANNELS == 1)
        return pixel[0];
    return pixel[0] | pixel[1] << 8 | pixel[2] << 16;
}

#endif
