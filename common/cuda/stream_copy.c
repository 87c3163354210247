#include "common/cuda/stream_copy.h"

#include <stdint.h>
#include <string.h>

#include "common/simd/simd.h"

static void copy(uint8_t *to, const uint8_t *from, size_t bytes)
{
    const size_t apart = -(uintptr_t)to % SIMD_BYTES, head = apart < bytes ? apart : bytes;
    size_t i = head;

    memcpy(to, from, head);
    for (; i + SIMD_BYTES <= bytes; i += SIMD_BYTES)
        simd_stream(to + i, simd_load(from + i));
    memcpy(to + i, from + i, bytes - i);
}

void stream_copy(void *to, size_t to_stride, const void *from, size_t from_stride, size_t bytes, int rows)
{
    if (to_stride == bytes && from_stride == bytes)
        copy(to, from, bytes * (size_t)rows);
    else
        for (size_t y = 0; y < (size_t)rows; y++)
            copy((uint8_t *)to + y * to_stride, (const uint8_t *)from + y * from_stride, bytes);
    simd_stream_end();
}
