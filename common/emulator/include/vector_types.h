/*
 * vector_types.h: dim3 and CUDA's small vectors (uchar4, int2, float4 ...), with CUDA's sizes and alignments.
 */
#ifndef RUNGS_EMULATOR_VECTOR_TYPES_H
#define RUNGS_EMULATOR_VECTOR_TYPES_H

/* One element type: vectors of 1 to 4 with alignments a1, a2 and a4 (three elements are aligned like one). may_alias:
 * kernels read arrays of bytes through them. */
#define EMULATED_VECTORS(name, T, a1, a2, a4)                                                                          \
    struct __attribute__((aligned(a1), may_alias)) name##1                                                             \
    {                                                                                                                  \
        T x;                                                                                                           \
    };                                                                                                                 \
    struct __attribute__((aligned(a2), may_alias)) name##2                                                             \
    {                                                                                                                  \
        T x, y;                                                                                                        \
    };                                                                                                                 \
    struct __attribute__((aligned(a1), may_alias)) name##3                                                             \
    {                                                                                                                  \
        T x, y, z;                                                                                                     \
    };                                                                                                                 \
    struct __attribute__((aligned(a4), may_alias)) name##4                                                             \
    {                                                                                                                  \
        T x, y, z, w;                                                                                                  \
    };                                                                                                                 \
    static inline name##1 make_##name##1(T x)                                                                          \
    {                                                                                                                  \
        return {x};                                                                                                    \
    }                                                                                                                  \
    static inline name##2 make_##name##2(T x, T y)                                                                     \
    {                                                                                                                  \
        return {x, y};                                                                                                 \
    }                                                                                                                  \
    static inline name##3 make_##name##3(T x, T y, T z)                                                                \
    {                                                                                                                  \
        return {x, y, z};                                                                                              \
    }                                                                                                                  \
    static inline name##4 make_##name##4(T x, T y, T z, T w)                                                           \
    {                                                                                                                  \
        return {x, y, z, w};                                                                                           \
    }

EMULATED_VECTORS(char, signed char, 1, 2, 4)
EMULATED_VECTORS(uchar, unsigned char, 1, 2, 4)
EMULATED_VECTORS(short, short, 2, 4, 8)
EMULATED_VECTORS(ushort, unsigned short, 2, 4, 8)
EMULATED_VECTORS(int, int, 4, 8, 16)
EMULATED_VECTORS(uint, unsigned, 4, 8, 16)
EMULATED_VECTORS(long, long, 8, 16, 16)
EMULATED_VECTORS(ulong, unsigned long, 8, 16, 16)
EMULATED_VECTORS(longlong, long long, 8, 16, 16)
EMULATED_VECTORS(ulonglong, unsigned long long, 8, 16, 16)
EMULATED_VECTORS(float, float, 4, 8, 16)
EMULATED_VECTORS(double, double, 8, 16, 16)
#undef EMULATED_VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return {x, y, z};
    }
};

#endif
