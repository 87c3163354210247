/*
 * matrices.cpp: what the lanes of a warp compute together with instructions for small matrices. Not in the header,
 * where it would be compiled with each kernel, as slow as what is watched (races.h).
 */
#include <cuda_runtime.h>
#include <string.h>

namespace emulated
{

/* PTX ISA 8.7, "Matrix Fragments for mma.m16n8k32", types .u8/.s8 for A and B, .s32 for C and D. With group = lane / 4
 * and member = lane % 4, a lane holds
 *     a[r], byte i   A[group + (r & 1 ? 8 : 0)][member * 4 + i + (r & 2 ? 16 : 0)]     r = 0..3
 *     b[r], byte i   B[member * 4 + i + (r ? 16 : 0)][group]                           r = 0..1
 *     c[r], d[r]     C[group + (r & 2 ? 8 : 0)][member * 2 + (r & 1)]                  r = 0..3           */
void compute_mma_m16n8k32_u8(void *const operands[32])
{
    unsigned A[16][32], B[32][8];

    for_each_lane<mma_operand>(operands, [&A, &B](unsigned lane, mma_operand &own) {
        const unsigned group = lane / 4, member = lane % 4;

        for (unsigned r = 0; r < 4; r++)
            for (unsigned i = 0; i < 4; i++)
                A[group + (r & 1) * 8][member * 4 + i + (r >> 1) * 16] = own.a[r] >> (8 * i) & 255;
        for (unsigned r = 0; r < 2; r++)
            for (unsigned i = 0; i < 4; i++)
                B[member * 4 + i + r * 16][group] = own.b[r] >> (8 * i) & 255;
    });
    for_each_lane<mma_operand>(operands, [&A, &B](unsigned lane, mma_operand &own) {
        for (unsigned r = 0; r < 4; r++) {
            unsigned sum = (unsigned)own.c[r]; /* wraps around, as without .satfinite */

            for (unsigned k = 0; k < 32; k++)
                sum += A[lane / 4 + (r >> 1) * 8][k] * B[k][lane % 4 * 2 + (r & 1)];
            own.d[r] = (int)sum;
        }
    });
}

/* PTX ISA 8.7, "Matrix Fragments for mma.m16n8k16 with floating point type". With group = lane / 4 and member = lane %
 * 4, a lane holds
 *     a[r], half i   A[group + (r & 1 ? 8 : 0)][member * 2 + i + (r & 2 ? 8 : 0)]      r = 0..3
 *     b[r], half i   B[member * 2 + i + (r ? 8 : 0)][group]                            r = 0..1
 *     c[r], d[r]     C[group + (r & 2 ? 8 : 0)][member * 2 + (r & 1)]                  r = 0..3
 * Products and their sum are exact here, or within f64; the sum with C is rounded once. */
void compute_mma_m16n8k16_bf16(void *const operands[32])
{
    float A[16][16], B[16][8];
    const auto half = [](unsigned packed, unsigned i) {
        const unsigned bits = i ? packed & 0xffff0000u : packed << 16;
        float value;
        memcpy(&value, &bits, sizeof(value));
        return value;
    };

    for_each_lane<mma_bf16_operand>(operands, [&](unsigned lane, mma_bf16_operand &own) {
        const unsigned group = lane / 4, member = lane % 4;

        for (unsigned r = 0; r < 4; r++)
            for (unsigned i = 0; i < 2; i++)
                A[group + (r & 1) * 8][member * 2 + i + (r >> 1) * 8] = half(own.a[r], i);
        for (unsigned r = 0; r < 2; r++)
            for (unsigned i = 0; i < 2; i++)
                B[member * 2 + i + r * 8][group] = half(own.b[r], i);
    });
    for_each_lane<mma_bf16_operand>(operands, [&](unsigned lane, mma_bf16_operand &own) {
        for (unsigned r = 0; r < 4; r++) {
            double sum = own.c[r];

            for (unsigned k = 0; k < 16; k++)
                sum += (double)A[lane / 4 + (r >> 1) * 8][k] * B[k][lane % 4 * 2 + (r & 1)];
            own.d[r] = (float)sum;
        }
    });
}

} /* namespace emulated */
