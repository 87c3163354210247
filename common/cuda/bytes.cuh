/*
 * bytes.cuh: four bytes of a register moved at once. __byte_perm(a, b, selector) makes a word of any 4 of the 8 bytes
 * of a (numbers 0 to 3) and b (4 to 7), the lowest nibble of the selector naming the lowest byte.
 */
#ifndef RUNGS_BYTES_CUH
#define RUNGS_BYTES_CUH

#include <cuda_runtime.h>

/* words[r], byte c becomes words[c], byte r; 8 instructions. */
static __device__ inline void transpose_bytes(unsigned words[4])
{
    const unsigned left01 = __byte_perm(words[0], words[1], 0x5140), left23 = __byte_perm(words[2], words[3], 0x5140);
    const unsigned right01 = __byte_perm(words[0], words[1], 0x7362), right23 = __byte_perm(words[2], words[3], 0x7362);

    words[0] = __byte_perm(left01, left23, 0x5410);
    words[1] = __byte_perm(left01, left23, 0x7632);
    words[2] = __byte_perm(right01, right23, 0x5410);
    words[3] = __byte_perm(right01, right23, 0x7632);
}

/* Byte 2 of each, a's lowest: four sums below 2^24 divided by 2^16. */
static __device__ inline unsigned pack_byte2(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return __byte_perm(__byte_perm(a, b, 0x0062), __byte_perm(c, d, 0x0062), 0x5410);
}

#endif
