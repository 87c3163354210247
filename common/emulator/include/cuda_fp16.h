/*
 * cuda_fp16.h: the emulator's stand-in for NVIDIA's header of that name: what Rungs uses of pairs of halves. Semantics:
 * CUDA Math API; sums are rounded to the nearest half, ties to even, and numbers below the smallest normal one are
 * kept.
 */
#ifndef RUNGS_EMULATOR_CUDA_FP16_H
#define RUNGS_EMULATOR_CUDA_FP16_H

#include <math.h>
#include <stdint.h>

struct __half2 {
    uint16_t x, y; /* the bits */
};

namespace emulated
{
static inline double from_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent == 0 ? mantissa * 0x1p-24 : ldexp(1024 + mantissa, exponent - 25);

    if (exponent == 31)
        value = mantissa == 0 ? (double)INFINITY : (double)NAN;
    return bits >> 15 ? -value : value;
}

/* A sum of two halves is exact in a double, so this alone rounds. */
static inline uint16_t to_half(double value)
{
    const double size = fabs(value);
    const int sign = signbit(value) ? 0x8000 : 0;

    if (isnan(value))
        return 0x7fff;
    if (size >= 65520)
        return (uint16_t)(sign | 0x7c00);
    const int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    /* A mantissa that is rounded up to 2048 carries into the exponent; one below 1024 has none. */
    return (uint16_t)(sign | (((exponent + 14) << 10) + (int)nearbyint(ldexp(size, 10 - exponent))));
}
} // namespace emulated

static inline __half2 __hadd2(__half2 a, __half2 b)
{
    return {emulated::to_half(emulated::from_half(a.x) + emulated::from_half(b.x)),
            emulated::to_half(emulated::from_half(a.y) + emulated::from_half(b.y))};
}

static inline __half2 __hsub2(__half2 a, __half2 b)
{
    return {emulated::to_half(emulated::from_half(a.x) - emulated::from_half(b.x)),
            emulated::to_half(emulated::from_half(a.y) - emulated::from_half(b.y))};
}

static inline float __low2float(__half2 a)
{
    return (float)emulated::from_half(a.x);
}

static inline float __high2float(__half2 a)
{
    return (float)emulated::from_half(a.y);
}

#endif
