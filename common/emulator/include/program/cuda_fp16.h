/* cuda_fp16.h: half: 5 bits of exponent, 10 of mantissa. Ladders have the simpler one in the folder above. */
#ifndef EMULATED_PROGRAM_CUDA_FP16_H
#define EMULATED_PROGRAM_CUDA_FP16_H

#define __CUDA_FP16_H__
#include "program/small_floats.h"

EMULATED_SMALL_FLOAT(__half, from_half_bits, to_half_bits)
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

inline __half __float2half(float x)
{
    return __half(x);
}

#define __float2half_rn(x)  __float2half(x)
#define __double2half(x)    __float2half((float)(x))
#define __int2half_rn(x)    __float2half((float)(int)(x))
#define __uint2half_rn(x)   __float2half((float)(unsigned)(x))
#define __short2half_rn(x)  __float2half((float)(short)(x))
#define __ushort2half_rn(x) __float2half((float)(unsigned short)(x))
#define __half2int_rn(x)    ((int)rintf((float)(x)))
#define __half2int_rz(x)    ((int)(float)(x))
#define __half2uint_rn(x)   ((unsigned)rintf((float)(x)))

inline float __half2float(__half x)
{
    return x;
}

inline __half2 __floats2half2_rn(float x, float y)
{
    return {__half(x), __half(y)};
}

inline __half2 __float22half2_rn(float2 v)
{
    return {__half(v.x), __half(v.y)};
}

inline __half2 __float2half2_rn(float x)
{
    return {__half(x), __half(x)};
}

inline float2 __half22float2(__half2 v)
{
    return {v.x, v.y};
}

inline __half2 __halves2half2(__half x, __half y)
{
    return {x, y};
}

inline __half2 make_half2(__half x, __half y)
{
    return {x, y};
}

inline __half2 __half2half2(__half x)
{
    return {x, x};
}

inline __half __low2half(__half2 v)
{
    return v.x;
}

inline __half __high2half(__half2 v)
{
    return v.y;
}

inline __half2 __low2half2(__half2 v)
{
    return {v.x, v.x};
}

inline __half2 __high2half2(__half2 v)
{
    return {v.y, v.y};
}

inline __half2 __lows2half2(__half2 a, __half2 b)
{
    return {a.x, b.x};
}

inline __half2 __highs2half2(__half2 a, __half2 b)
{
    return {a.y, b.y};
}

inline unsigned short __half_as_ushort(__half x)
{
    return x.bits;
}

inline __half __ushort_as_half(unsigned short bits)
{
    __half x;

    x.bits = bits;
    return x;
}

#endif
