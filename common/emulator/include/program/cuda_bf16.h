/* cuda_bf16.h: bfloat16: the upper half of a float. */
#ifndef EMULATED_CUDA_BF16_H
#define EMULATED_CUDA_BF16_H

#define __CUDA_BF16_H__
#include "program/small_floats.h"

EMULATED_SMALL_FLOAT(__nv_bfloat16, from_bfloat_bits, to_bfloat_bits)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline __nv_bfloat16 __float2bfloat16(float x)
{
    return __nv_bfloat16(x);
}

#define __float2bfloat16_rn(x) __float2bfloat16(x)

inline float __bfloat162float(__nv_bfloat16 x)
{
    return x;
}

inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return {__nv_bfloat16(x), __nv_bfloat16(y)};
}

inline __nv_bfloat162 __float2bfloat162_rn(float x)
{
    return {__nv_bfloat16(x), __nv_bfloat16(x)};
}

inline float2 __bfloat1622float2(__nv_bfloat162 v)
{
    return {v.x, v.y};
}

inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y)
{
    return {x, y};
}

inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v)
{
    return v.x;
}

inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v)
{
    return v.y;
}

inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x)
{
    return x.bits;
}

#endif
