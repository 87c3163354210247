/*
 * emulated_intrinsics.h: CUDA's device functions that only compute: bits, integers, SIMD within a word, conversions,
 * loads with a cache hint. Semantics: CUDA Math API and PTX ISA. Integer overflow wraps around.
 */
#ifndef RUNGS_EMULATED_INTRINSICS_H
#define RUNGS_EMULATED_INTRINSICS_H

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

#include "vector_types.h"

/* ---------------------------------------------------------------------------------------------------------- bits */

static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

static inline int __clz(int x)
{
    return x == 0 ? 32 : __builtin_clz((unsigned)x);
}

static inline int __clzll(long long x)
{
    return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}

static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}

static inline int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}

static inline unsigned long long __brevll(unsigned long long x)
{
    unsigned long long reversed = 0;

    for (int i = 0; i < 64; i++)
        reversed |= (x >> i & 1) << (63 - i);
    return reversed;
}

static inline unsigned __brev(unsigned x)
{
    return (unsigned)(__brevll(x) >> 32);
}

/* Each of the four low nibbles of selector picks (with its low three bits) one byte of y:x. */
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    const unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned result = 0;

    for (int i = 0; i < 4; i++)
        result |= (unsigned)(bytes >> (selector >> (4 * i) & 7) * 8 & 255) << (8 * i);
    return result;
}

/* high:low shifted left, the upper word of it; shift modulo 32, or (..c) at most 32. */
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}

static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}

/* high:low shifted right, the lower word of it. */
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}

static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

/* ------------------------------------------------------------------------------------------------------ integers */

static inline int __mulhi(int a, int b)
{
    return (int)((long long)a * b >> 32);
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}

__extension__ typedef __int128 emulated_int128;
__extension__ typedef unsigned __int128 emulated_uint128;

static inline long long __mul64hi(long long a, long long b)
{
    return (long long)((emulated_int128)a * b >> 64);
}

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((emulated_uint128)a * b >> 64);
}

static inline int __mul24(int a, int b)
{
    return (int)(unsigned)((long long)((int)((unsigned)a << 8) >> 8) * ((int)((unsigned)b << 8) >> 8));
}

static inline unsigned __umul24(unsigned a, unsigned b)
{
    return (a & 0xffffff) * (b & 0xffffff);
}

/* |a - b| + c */
static inline unsigned __usad(unsigned a, unsigned b, unsigned c)
{
    return (a > b ? a - b : b - a) + c;
}

static inline unsigned __sad(int a, int b, unsigned c)
{
    return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c;
}

/* (a + b) / 2 without overflow, rounded down, and (r) up */
static inline int __hadd(int a, int b)
{
    return (int)(((long long)a + b) >> 1);
}

static inline int __rhadd(int a, int b)
{
    return (int)(((long long)a + b + 1) >> 1);
}

static inline unsigned __uhadd(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a + b) >> 1);
}

static inline unsigned __urhadd(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}

/* CUDA's min and max take any two arithmetic types (or enumerations) and give their common type. */
template <class A, class B>
requires(std::is_arithmetic_v<decltype(+A())> &&std::is_arithmetic_v<decltype(+B())>) constexpr auto min(A a, B b)
{
    typedef std::common_type_t<decltype(+a), decltype(+b)> T;

    if constexpr (std::is_floating_point_v<T>)
        return (T)(__builtin_isnan((T)a) || (T)b < (T)a ? b : a); /* the number, where one is NaN */
    else
        return (T)b < (T)a ? (T)b : (T)a;
}

template <class A, class B>
requires(std::is_arithmetic_v<decltype(+A())> &&std::is_arithmetic_v<decltype(+B())>) constexpr auto max(A a, B b)
{
    typedef std::common_type_t<decltype(+a), decltype(+b)> T;

    if constexpr (std::is_floating_point_v<T>)
        return (T)(__builtin_isnan((T)a) || (T)a < (T)b ? b : a);
    else
        return (T)a < (T)b ? (T)b : (T)a;
}

static inline unsigned umin(unsigned a, unsigned b)
{
    return min(a, b);
}

static inline unsigned umax(unsigned a, unsigned b)
{
    return max(a, b);
}

/* ------------------------------------------------------------------------------------------------- dot products */

namespace emulated
{

/* Part i of a word that is cut into parts of type T. */
template <class T> T part(unsigned word, int i)
{
    return (T)(word >> (8 * sizeof(T) * (unsigned)i));
}

template <class T> unsigned dot4(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 4; i++)
        c += (unsigned)(part<T>(a, i) * part<T>(b, i));
    return c;
}

/* Two 16-bit parts of a with two of the four bytes of b, from the byte `first` on. */
template <class T16, class T8> unsigned dot2(unsigned a, unsigned b, unsigned c, int first)
{
    for (int i = 0; i < 2; i++)
        c += (unsigned)(part<T16>(a, i) * part<T8>(b, first + i));
    return c;
}

template <class Vector> unsigned word(Vector vector)
{
    unsigned bits;

    static_assert(sizeof(vector) == sizeof(bits));
    memcpy(&bits, &vector, sizeof(bits));
    return bits;
}

} /* namespace emulated */

static inline int __dp4a(int a, int b, int c)
{
    return (int)emulated::dot4<int8_t>((unsigned)a, (unsigned)b, (unsigned)c);
}

static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    return emulated::dot4<uint8_t>(a, b, c);
}

static inline int __dp4a(char4 a, char4 b, int c)
{
    return (int)emulated::dot4<int8_t>(emulated::word(a), emulated::word(b), (unsigned)c);
}

static inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c)
{
    return emulated::dot4<uint8_t>(emulated::word(a), emulated::word(b), c);
}

#define EMULATED_DP2A(name, first)                                                                                     \
    static inline int name(int a, int b, int c)                                                                        \
    {                                                                                                                  \
        return (int)emulated::dot2<int16_t, int8_t>((unsigned)a, (unsigned)b, (unsigned)c, first);                     \
    }                                                                                                                  \
    static inline unsigned name(unsigned a, unsigned b, unsigned c)                                                    \
    {                                                                                                                  \
        return emulated::dot2<uint16_t, uint8_t>(a, b, c, first);                                                      \
    }                                                                                                                  \
    static inline int name(short2 a, char4 b, int c)                                                                   \
    {                                                                                                                  \
        return (int)emulated::dot2<int16_t, int8_t>(emulated::word(a), emulated::word(b), (unsigned)c, first);         \
    }                                                                                                                  \
    static inline unsigned name(ushort2 a, uchar4 b, unsigned c)                                                       \
    {                                                                                                                  \
        return emulated::dot2<uint16_t, uint8_t>(emulated::word(a), emulated::word(b), c, first);                      \
    }
EMULATED_DP2A(__dp2a_lo, 0)
EMULATED_DP2A(__dp2a_hi, 2)
#undef EMULATED_DP2A

/* ---------------------------------------------------------------------------------------- SIMD within a word */

namespace emulated
{

/* function(part of a, part of b) for each part of type T; its result is cut to T. */
template <class T, class Function> unsigned for_parts(unsigned a, unsigned b, Function function)
{
    typedef std::make_unsigned_t<T> U;
    unsigned result = 0;

    for (unsigned i = 0; i < 4 / sizeof(T); i++)
        result |= (unsigned)(U)function((int)part<T>(a, (int)i), (int)part<T>(b, (int)i)) << (8 * sizeof(T) * i);
    return result;
}

template <class T> int clamp(int value)
{
    const int lowest = std::is_signed_v<T> ? -(1 << (8 * sizeof(T) - 1)) : 0;
    const int highest = lowest + (1 << 8 * sizeof(T)) - 1;

    return value < lowest ? lowest : value > highest ? highest : value;
}

} /* namespace emulated */

/* name4 works on bytes, name2 on 16-bit halves; x and y are the two parts as ints, T their type. */
#define EMULATED_SIMD_OF(name, type, expression)                                                                       \
    static inline unsigned name(unsigned a, unsigned b)                                                                \
    {                                                                                                                  \
        typedef type T;                                                                                                \
        return emulated::for_parts<T>(a, b, [](int x, int y) -> int { return expression; });                           \
    }
#define EMULATED_SIMD(name, sign, expression)                                                                          \
    EMULATED_SIMD_OF(name##4, sign##8_t, expression)                                                                   \
    EMULATED_SIMD_OF(name##2, sign##16_t, expression)
#define EMULATED_SIMD_COMPARE(name, sign, comparison)                                                                  \
    EMULATED_SIMD(__vcmp##name, sign, x comparison y ? -1 : 0)                                                         \
    EMULATED_SIMD(__vset##name, sign, x comparison y)
EMULATED_SIMD(__vadd, uint, x + y)
EMULATED_SIMD(__vsub, uint, x - y)
EMULATED_SIMD(__vaddus, uint, emulated::clamp<T>(x + y))
EMULATED_SIMD(__vaddss, int, emulated::clamp<T>(x + y))
EMULATED_SIMD(__vsubus, uint, emulated::clamp<T>(x - y))
EMULATED_SIMD(__vsubss, int, emulated::clamp<T>(x - y))
EMULATED_SIMD(__vavgu, uint, (x + y + 1) >> 1)
EMULATED_SIMD(__vavgs, int, (x + y + (x + y >= 0)) >> 1)
EMULATED_SIMD(__vhaddu, uint, (x + y) >> 1)
EMULATED_SIMD(__vabsdiffu, uint, x < y ? y - x : x - y)
EMULATED_SIMD(__vabsdiffs, int, x < y ? y - x : x - y)
EMULATED_SIMD(__vmaxu, uint, x < y ? y : x)
EMULATED_SIMD(__vmaxs, int, x < y ? y : x)
EMULATED_SIMD(__vminu, uint, x < y ? x : y)
EMULATED_SIMD(__vmins, int, x < y ? x : y)
EMULATED_SIMD_COMPARE(eq, uint, ==)
EMULATED_SIMD_COMPARE(ne, uint, !=)
EMULATED_SIMD_COMPARE(gtu, uint, >)
EMULATED_SIMD_COMPARE(gts, int, >)
EMULATED_SIMD_COMPARE(geu, uint, >=)
EMULATED_SIMD_COMPARE(ges, int, >=)
EMULATED_SIMD_COMPARE(ltu, uint, <)
EMULATED_SIMD_COMPARE(lts, int, <)
EMULATED_SIMD_COMPARE(leu, uint, <=)
EMULATED_SIMD_COMPARE(les, int, <=)
#undef EMULATED_SIMD_COMPARE
#undef EMULATED_SIMD
#undef EMULATED_SIMD_OF

/* The largest and the smallest of three, in 16-bit halves. */
static inline unsigned __vimax3_u16x2(unsigned a, unsigned b, unsigned c)
{
    return __vmaxu2(__vmaxu2(a, b), c);
}

static inline unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c)
{
    return __vminu2(__vminu2(a, b), c);
}

/* Sums of absolute differences over the parts. */
static inline unsigned __vsadu4(unsigned a, unsigned b)
{
    return __dp4a(__vabsdiffu4(a, b), 0x01010101u, 0u);
}

static inline unsigned __vsads4(unsigned a, unsigned b)
{
    return __dp4a(__vabsdiffs4(a, b), 0x01010101u, 0u);
}

static inline unsigned __vsadu2(unsigned a, unsigned b)
{
    const unsigned difference = __vabsdiffu2(a, b);

    return (difference & 0xffff) + (difference >> 16);
}

static inline unsigned __vneg4(unsigned a)
{
    return __vsub4(0, a);
}

static inline unsigned __vneg2(unsigned a)
{
    return __vsub2(0, a);
}

static inline unsigned __vabs4(unsigned a)
{
    return __vabsdiffs4(a, 0);
}

static inline unsigned __vabs2(unsigned a)
{
    return __vabsdiffs2(a, 0);
}

/* -------------------------------------------------------------------------------------------------- conversions */

namespace emulated
{

template <class To, class From> To reinterpret_bits(From from)
{
    To to;

    static_assert(sizeof(to) == sizeof(from));
    memcpy(&to, &from, sizeof(to));
    return to;
}

/* A rounded number as an integer: out of range gives the nearest end, NaN gives 0, as the cvt instruction does. */
template <class Integer> Integer saturate(double rounded)
{
    const double lowest = std::is_signed_v<Integer> ? INT_MIN : 0,
                 highest = std::is_signed_v<Integer> ? INT_MAX : UINT_MAX;

    if (isnan(rounded))
        return 0;
    return (Integer)(rounded < lowest ? lowest : rounded > highest ? highest : rounded);
}

} /* namespace emulated */

#define EMULATED_ROUND(from, suffix, function)                                                                         \
    static inline int __##from##2int_##suffix(from x)                                                                  \
    {                                                                                                                  \
        return emulated::saturate<int>(function(x));                                                                   \
    }                                                                                                                  \
    static inline unsigned __##from##2uint_##suffix(from x)                                                            \
    {                                                                                                                  \
        return emulated::saturate<unsigned>(function(x));                                                              \
    }
EMULATED_ROUND(float, rn, rint)
EMULATED_ROUND(float, rz, trunc)
EMULATED_ROUND(float, rd, floor)
EMULATED_ROUND(float, ru, ceil)
EMULATED_ROUND(double, rn, rint)
EMULATED_ROUND(double, rz, trunc)
EMULATED_ROUND(double, rd, floor)
EMULATED_ROUND(double, ru, ceil)
#undef EMULATED_ROUND

static inline float __int2float_rn(int x)
{
    return (float)x;
}

static inline float __uint2float_rn(unsigned x)
{
    return (float)x;
}

static inline int __float_as_int(float x)
{
    return emulated::reinterpret_bits<int>(x);
}

static inline unsigned __float_as_uint(float x)
{
    return emulated::reinterpret_bits<unsigned>(x);
}

static inline float __int_as_float(int x)
{
    return emulated::reinterpret_bits<float>(x);
}

static inline float __uint_as_float(unsigned x)
{
    return emulated::reinterpret_bits<float>(x);
}

static inline double __longlong_as_double(long long x)
{
    return emulated::reinterpret_bits<double>(x);
}

static inline long long __double_as_longlong(double x)
{
    return emulated::reinterpret_bits<long long>(x);
}

static inline double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

static inline float __saturatef(float x)
{
    return x >= 0 ? (x <= 1 ? x : 1) : 0; /* NaN gives 0 */
}

static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static inline float __fdividef(float a, float b)
{
    return a / b;
}

/* Macros, since glibc declares functions of these names. */
#define __expf(x)    expf(x)
#define __logf(x)    logf(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x)    sinf(x)
#define __cosf(x)    cosf(x)

static inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}

static inline double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static inline float __frcp_rn(float x)
{
    return 1 / x;
}

static inline float __fsqrt_rn(float x)
{
    return sqrtf(x);
}

/* Never fused into a multiply-add: the result passes through memory. */
static inline float __fmul_rn(float a, float b)
{
    volatile float product = a * b;

    return product;
}

static inline float __fadd_rn(float a, float b)
{
    volatile float sum = a + b;

    return sum;
}

static inline float __fsub_rn(float a, float b)
{
    volatile float difference = a - b;

    return difference;
}

/* ------------------------------------------------------------------------------- loads and stores with a cache hint */

#define EMULATED_LOAD(name)                                                                                            \
    template <class T> T name(const T *pointer)                                                                        \
    {                                                                                                                  \
        return *pointer;                                                                                               \
    }
EMULATED_LOAD(__ldg)
EMULATED_LOAD(__ldca)
EMULATED_LOAD(__ldcg)
EMULATED_LOAD(__ldcs)
EMULATED_LOAD(__ldlu)
EMULATED_LOAD(__ldcv)
#undef EMULATED_LOAD

#define EMULATED_STORE(name)                                                                                           \
    template <class T> void name(T *pointer, std::type_identity_t<T> value)                                            \
    {                                                                                                                  \
        *pointer = value;                                                                                              \
    }
EMULATED_STORE(__stwb)
EMULATED_STORE(__stcg)
EMULATED_STORE(__stcs)
EMULATED_STORE(__stwt)
#undef EMULATED_STORE

#endif
