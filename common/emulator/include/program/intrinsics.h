/*
 * intrinsics.h: device functions that programs call and Rungs does not: atomics of another scope, roundings of double,
 * rarer functions of mathematics. Semantics: CUDA Math API.
 */
#ifndef EMULATED_PROGRAM_INTRINSICS_H
#define EMULATED_PROGRAM_INTRINSICS_H

#include <math.h>

/* A scope that is narrower or wider than the device makes no difference to the result. */
#define EMULATED_SCOPES(name)                                                                                          \
    template <class T, class... Values> inline auto name##_system(T *target, Values... values)                         \
    {                                                                                                                  \
        return name(target, values...);                                                                                \
    }                                                                                                                  \
    template <class T, class... Values> inline auto name##_block(T *target, Values... values)                          \
    {                                                                                                                  \
        return name(target, values...);                                                                                \
    }
EMULATED_SCOPES(atomicAdd)
EMULATED_SCOPES(atomicSub)
EMULATED_SCOPES(atomicMin)
EMULATED_SCOPES(atomicMax)
EMULATED_SCOPES(atomicInc)
EMULATED_SCOPES(atomicDec)
EMULATED_SCOPES(atomicAnd)
EMULATED_SCOPES(atomicOr)
EMULATED_SCOPES(atomicXor)
EMULATED_SCOPES(atomicExch)
EMULATED_SCOPES(atomicCAS)
#undef EMULATED_SCOPES

inline unsigned short atomicCAS(unsigned short *target, unsigned short compare, unsigned short value)
{
    return emulated::change_atomically(target, [=](unsigned short old) { return old == compare ? value : old; });
}

/* One operation of double or float, rounded to the nearest, and never fused: the result passes through memory. */
#define EMULATED_ROUNDED(name, T, expression)                                                                          \
    inline T name(T a, T b)                                                                                            \
    {                                                                                                                  \
        volatile T result = expression;                                                                                \
        return result;                                                                                                 \
    }
EMULATED_ROUNDED(__dadd_rn, double, a + b)
EMULATED_ROUNDED(__dsub_rn, double, a - b)
EMULATED_ROUNDED(__dmul_rn, double, a *b)
EMULATED_ROUNDED(__ddiv_rn, double, a / b)
EMULATED_ROUNDED(__fdiv_rn, float, a / b)
#undef EMULATED_ROUNDED

inline double __fma_rn(double a, double b, double c)
{
    return fma(a, b, c);
}

inline double __dsqrt_rn(double x)
{
    return sqrt(x);
}

inline float __frsqrt_rn(float x)
{
    return 1 / sqrtf(x);
}

#define __log2f(x)  log2f(x)
#define __log10f(x) log10f(x)
#define __tanf(x)   tanf(x)
#define __exp10f(x) exp10f(x)

inline void __sincosf(float x, float *sine, float *cosine)
{
    *sine = sinf(x);
    *cosine = cosf(x);
}

inline float sinpif(float x)
{
    return (float)sin(M_PI * x);
}

inline float cospif(float x)
{
    return (float)cos(M_PI * x);
}

inline double sinpi(double x)
{
    return sin(M_PI * x);
}

inline double cospi(double x)
{
    return cos(M_PI * x);
}

inline float rcbrtf(float x)
{
    return 1 / cbrtf(x);
}

inline float rhypotf(float x, float y)
{
    return 1 / hypotf(x, y);
}

inline float normcdff(float x)
{
    return 0.5f * erfcf(-x * (float)M_SQRT1_2);
}

inline double normcdf(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

inline float norm3df(float x, float y, float z)
{
    return sqrtf(x * x + y * y + z * z);
}

#endif
