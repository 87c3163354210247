/*
 * mma.cuh: instructions of the tensor cores, D = A * B + C, done by the 32 threads of a warp together.
 *
 * mma_m16n8k32_u8: A is 16x32 and B is 32x8, unsigned bytes; C and D are 16x8, int. With group = lane / 4 and member =
 * lane % 4, a thread holds of them (PTX ISA 8.7, "Matrix Fragments for mma.m16n8k32"; byte b of a register is bits 8b
 * to 8b + 7)
 *
 *     a[r], byte b   A[group + 8 * (r & 1)][16 * (r >> 1) + 4 * member + b]     r = 0..3
 *     b[r], byte b   B[16 * r + 4 * member + b][group]                          r = 0..1
 *     c[r], d[r]     C[group + 8 * (r >> 1)][2 * member + (r & 1)]              r = 0..3
 *
 * mma_m16n8k16_bf16: A is 16x16 and B is 16x8, bfloat16, two in a register, that of the smaller k in the lower half; C
 * and D are 16x8, float, and the hardware may cut what is added to a larger sum off below its last bit. Of them a
 * thread holds
 *
 *     a[r], half h   A[group + 8 * (r & 1)][8 * (r >> 1) + 2 * member + h]      r = 0..3
 *     b[r], half h   B[8 * r + 2 * member + h][group]                           r = 0..1
 *     c[r], d[r]     as above
 *
 * d may be c. Needs compute capability 8.0 (device_needs_capability(80)); on less it ends the kernel with an error.
 */
#ifndef RUNGS_MMA_CUH
#define RUNGS_MMA_CUH

#include <cuda_runtime.h>
#include <stdint.h>

static __device__ inline void mma_m16n8k32_u8(int d[4], const unsigned a[4], const unsigned b[2], const int c[4])
{
#if defined(RUNGS_EMULATED)
    emulated_mma_m16n8k32_u8(d, a, b, c);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
#else
    (void)d, (void)a, (void)b, (void)c;
    __trap();
#endif
}

static __device__ inline void mma_m16n8k16_bf16(float d[4], const unsigned a[4], const unsigned b[2], const float c[4])
{
#if defined(RUNGS_EMULATED)
    emulated_mma_m16n8k16_bf16(d, a, b, c);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
    (void)d, (void)a, (void)b, (void)c;
    __trap();
#endif
}

/* Two floats rounded to bfloat16, the nearest, halves to the even one: the first in the lower half. */
static __device__ inline unsigned pack_bf16(float lower, float upper)
{
#if defined(RUNGS_EMULATED)
    return emulated_pack_bf16(lower, upper);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned packed;

    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(upper), "f"(lower));
    return packed;
#else
    (void)lower, (void)upper;
    __trap();
    return 0;
#endif
}

/* A[m][k] in a table of operands A that lane `l` loads as 16 bytes from matrix[l]. For the host. */
static inline uint8_t *mma_element_a(uint8_t matrix[32][16], int m, int k)
{
    return &matrix[4 * (m % 8) + k % 16 / 4][4 * (m / 8 + 2 * (k / 16)) + k % 4];
}

#endif
