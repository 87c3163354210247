/*
 * bytes.h: numbers in the headers of files, whose order of bytes is the format's.
 */
#ifndef RUNGS_BYTES_H
#define RUNGS_BYTES_H

#include <stdint.h>

static inline uint32_t big_16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static inline uint32_t big_32(const uint8_t *bytes)
{
    return big_16(bytes) << 16 | big_16(bytes + 2);
}

static inline uint32_t little_16(const uint8_t *bytes)
{
    return (uint32_t)bytes[1] << 8 | bytes[0];
}

static inline uint32_t little_32(const uint8_t *bytes)
{
    return little_16(bytes + 2) << 16 | little_16(bytes);
}

#endif
