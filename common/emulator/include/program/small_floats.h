/*
 * small_floats.h: what half (cuda_fp16.h) and bfloat16 (cuda_bf16.h) have in common: a type of 16 bits that computes in
 * float and rounds each result to the nearest, ties to even. A sum, a difference, a product and a quotient of two come
 * out as if rounded once. Names and meaning: CUDA Math API.
 */
#ifndef EMULATED_SMALL_FLOATS_H
#define EMULATED_SMALL_FLOATS_H

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

namespace emulated
{

inline float from_half_bits(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    uint32_t bits;
    float value;

    if (rest < 0x400) { /* below the smallest normal number */
        value = (float)rest * 0x1p-24f;
        return sign != 0 ? -value : value;
    }
    bits = sign | (rest >= 0x7c00 ? 0x7f800000 | (rest & 0x3ff) << 13 : (rest << 13) + 0x38000000);
    memcpy(&value, &bits, sizeof(value));
    return value;
}

inline uint16_t to_half_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);

    bits &= 0x7fffffff;
    if (bits > 0x7f800000)
        return 0x7fff;
    if (bits >= 0x477ff000) /* 65520 and more */
        return (uint16_t)(sign | 0x7c00);
    if (bits < 0x38800000)
        return (uint16_t)(sign | (unsigned)lrintf(fabsf(value) * 0x1p24f));
    return (uint16_t)(sign | (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13);
}

inline float from_bfloat_bits(uint16_t bfloat)
{
    const uint32_t bits = (uint32_t)bfloat << 16;
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

inline uint16_t to_bfloat_bits(float value)
{
    return (uint16_t)round_to_bf16(value);
}

} /* namespace emulated */

#define EMULATED_SMALL_OPERATOR(T, operation)                                                                          \
    inline T operator operation(T a, T b)                                                                              \
    {                                                                                                                  \
        return T((float)a operation(float) b);                                                                         \
    }                                                                                                                  \
    inline T &operator operation##=(T &a, T b)                                                                         \
    {                                                                                                                  \
        return a = a operation b;                                                                                      \
    }                                                                                                                  \
    inline T##2 operator operation(T##2 a, T##2 b)                                                                     \
    {                                                                                                                  \
        return {a.x operation b.x, a.y operation b.y};                                                                 \
    }                                                                                                                  \
    inline T##2 &operator operation##=(T##2 & a, T##2 b)                                                               \
    {                                                                                                                  \
        return a = a operation b;                                                                                      \
    }
#define EMULATED_SMALL_COMPARISON(T, name, operation)                                                                  \
    inline bool operator operation(T a, T b)                                                                           \
    {                                                                                                                  \
        return (float)a operation(float) b;                                                                            \
    }                                                                                                                  \
    inline bool __h##name(T a, T b)                                                                                    \
    {                                                                                                                  \
        return (float)a operation(float) b;                                                                            \
    }                                                                                                                  \
    inline T##2 __h##name##2(T##2 a, T##2 b)                                                                           \
    {                                                                                                                  \
        return {T(a.x operation b.x ? 1.0f : 0.0f), T(a.y operation b.y ? 1.0f : 0.0f)};                               \
    }
#define EMULATED_SMALL_FUNCTION2(T, name, expression)                                                                  \
    inline T name(T a, T b)                                                                                            \
    {                                                                                                                  \
        const float x = (float)a, y = (float)b;                                                                        \
        return T(expression);                                                                                          \
    }                                                                                                                  \
    inline T##2 name##2(T##2 a, T##2 b)                                                                                \
    {                                                                                                                  \
        return {name(a.x, b.x), name(a.y, b.y)};                                                                       \
    }
#define EMULATED_SMALL_FUNCTION(T, name, name2, expression)                                                            \
    inline T name(T a)                                                                                                 \
    {                                                                                                                  \
        const float x = (float)a;                                                                                      \
        return T(expression);                                                                                          \
    }                                                                                                                  \
    inline T##2 name2(T##2 a)                                                                                          \
    {                                                                                                                  \
        return {name(a.x), name(a.y)};                                                                                 \
    }
#define EMULATED_SMALL_SHUFFLE(T, name, U)                                                                             \
    inline T name(unsigned mask, T value, U argument, int width = 32, const char *file = __builtin_FILE(),             \
                  int line = __builtin_LINE())                                                                         \
    {                                                                                                                  \
        T result;                                                                                                      \
        result.bits = (uint16_t)name(mask, (unsigned)value.bits, argument, width, file, line);                         \
        return result;                                                                                                 \
    }                                                                                                                  \
    inline T##2 name(unsigned mask, T##2 value, U argument, int width = 32, const char *file = __builtin_FILE(),       \
                     int line = __builtin_LINE())                                                                      \
    {                                                                                                                  \
        unsigned word;                                                                                                 \
        memcpy(&word, &value, sizeof(word));                                                                           \
        word = name(mask, word, argument, width, file, line);                                                          \
        memcpy(&value, &word, sizeof(word));                                                                           \
        return value;                                                                                                  \
    }

/* A type T of these bits, its pair T2, and all that has the same name for both kinds. */
#define EMULATED_SMALL_FLOAT(T, from_bits, to_bits)                                                                    \
    struct __attribute__((may_alias)) T {                                                                              \
        uint16_t bits;                                                                                                 \
        T() = default;                                                                                                 \
        template <class Number>                                                                                        \
        requires(std::is_arithmetic_v<Number>) T(Number value) : bits(emulated::to_bits((float)value))                 \
        {                                                                                                              \
        }                                                                                                              \
        operator float() const                                                                                         \
        {                                                                                                              \
            return emulated::from_bits(bits);                                                                          \
        }                                                                                                              \
        T operator-() const                                                                                            \
        {                                                                                                              \
            return T(-(float)*this);                                                                                   \
        }                                                                                                              \
    };                                                                                                                 \
    struct __attribute__((aligned(4), may_alias)) T##2                                                                 \
    {                                                                                                                  \
        T x, y;                                                                                                        \
    };                                                                                                                 \
    EMULATED_SMALL_OPERATOR(T, +)                                                                                      \
    EMULATED_SMALL_OPERATOR(T, -)                                                                                      \
    EMULATED_SMALL_OPERATOR(T, *)                                                                                      \
    EMULATED_SMALL_OPERATOR(T, /)                                                                                      \
    EMULATED_SMALL_COMPARISON(T, eq, ==)                                                                               \
    EMULATED_SMALL_COMPARISON(T, ne, !=)                                                                               \
    EMULATED_SMALL_COMPARISON(T, lt, <)                                                                                \
    EMULATED_SMALL_COMPARISON(T, le, <=)                                                                               \
    EMULATED_SMALL_COMPARISON(T, gt, >)                                                                                \
    EMULATED_SMALL_COMPARISON(T, ge, >=)                                                                               \
    EMULATED_SMALL_FUNCTION2(T, __hadd, x + y)                                                                         \
    EMULATED_SMALL_FUNCTION2(T, __hsub, x - y)                                                                         \
    EMULATED_SMALL_FUNCTION2(T, __hmul, x *y)                                                                          \
    EMULATED_SMALL_FUNCTION2(T, __hmax, fmaxf(x, y))                                                                   \
    EMULATED_SMALL_FUNCTION2(T, __hmin, fminf(x, y))                                                                   \
    EMULATED_SMALL_FUNCTION(T, __hneg, __hneg2, -x)                                                                    \
    EMULATED_SMALL_FUNCTION(T, __habs, __habs2, fabsf(x))                                                              \
    EMULATED_SMALL_FUNCTION(T, hexp, h2exp, expf(x))                                                                   \
    EMULATED_SMALL_FUNCTION(T, hexp2, h2exp2, exp2f(x))                                                                \
    EMULATED_SMALL_FUNCTION(T, hlog, h2log, logf(x))                                                                   \
    EMULATED_SMALL_FUNCTION(T, hlog2, h2log2, log2f(x))                                                                \
    EMULATED_SMALL_FUNCTION(T, hsqrt, h2sqrt, sqrtf(x))                                                                \
    EMULATED_SMALL_FUNCTION(T, hrsqrt, h2rsqrt, 1 / sqrtf(x))                                                          \
    EMULATED_SMALL_FUNCTION(T, hrcp, h2rcp, 1 / x)                                                                     \
    EMULATED_SMALL_FUNCTION(T, hsin, h2sin, sinf(x))                                                                   \
    EMULATED_SMALL_FUNCTION(T, hcos, h2cos, cosf(x))                                                                   \
    EMULATED_SMALL_SHUFFLE(T, __shfl_sync, int)                                                                        \
    EMULATED_SMALL_SHUFFLE(T, __shfl_up_sync, unsigned)                                                                \
    EMULATED_SMALL_SHUFFLE(T, __shfl_down_sync, unsigned)                                                              \
    EMULATED_SMALL_SHUFFLE(T, __shfl_xor_sync, int)                                                                    \
    inline T __hdiv(T a, T b)                                                                                          \
    {                                                                                                                  \
        return a / b;                                                                                                  \
    }                                                                                                                  \
    inline T##2 __h2div(T##2 a, T##2 b)                                                                                \
    {                                                                                                                  \
        return a / b;                                                                                                  \
    }                                                                                                                  \
    inline T __hfma(T a, T b, T c)                                                                                     \
    {                                                                                                                  \
        return T((double)(float)a * (float)b + (float)c);                                                              \
    }                                                                                                                  \
    inline T##2 __hfma2(T##2 a, T##2 b, T##2 c)                                                                        \
    {                                                                                                                  \
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                                         \
    }                                                                                                                  \
    inline bool __hisnan(T a)                                                                                          \
    {                                                                                                                  \
        return isnan((float)a);                                                                                        \
    }                                                                                                                  \
    inline float __low2float(T##2 a)                                                                                   \
    {                                                                                                                  \
        return a.x;                                                                                                    \
    }                                                                                                                  \
    inline float __high2float(T##2 a)                                                                                  \
    {                                                                                                                  \
        return a.y;                                                                                                    \
    }                                                                                                                  \
    inline T##2 __lowhigh2highlow(T##2 a)                                                                              \
    {                                                                                                                  \
        return {a.y, a.x};                                                                                             \
    }                                                                                                                  \
    inline T atomicAdd(T *target, T value)                                                                             \
    {                                                                                                                  \
        T old;                                                                                                         \
        old.bits = emulated::change_atomically(&target->bits, [value](uint16_t bits) {                                 \
            T sum;                                                                                                     \
            sum.bits = bits;                                                                                           \
            return (sum + value).bits;                                                                                 \
        });                                                                                                            \
        return old;                                                                                                    \
    }                                                                                                                  \
    inline T##2 atomicAdd(T##2 * target, T##2 value)                                                                   \
    {                                                                                                                  \
        return {atomicAdd(&target->x, value.x), atomicAdd(&target->y, value.y)};                                       \
    }

#endif
