/*
 * simd.h: one vector as wide as the machine that we compile for has, and the few operations on it that C cannot say.
 *
 * Vectors are GCC/clang vector extensions: + - * & | ^ << >> and [] work on them element by element, and a cast
 * between two of the types below keeps the bits. So one source serves AVX-512, AVX2, SSSE3, NEON and plain C. A version
 * that needs another operation of an instruction set brings it with its own #if.
 */
#ifndef RUNGS_SIMD_H
#define RUNGS_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512BW__) && defined(__AVX512VNNI__)
#define SIMD_NAME            "AVX-512 VNNI"
#define SIMD_DOT_INSTRUCTION 1
#elif defined(__AVX512BW__)
#define SIMD_NAME "AVX-512"
#elif defined(__AVX2__) && defined(__AVXVNNI__)
#define SIMD_NAME            "AVX2 VNNI"
#define SIMD_DOT_INSTRUCTION 1
#elif defined(__AVX2__)
#define SIMD_NAME "AVX2"
#elif defined(__SSSE3__)
#define SIMD_NAME "SSSE3"
#elif defined(__ARM_FEATURE_MATMUL_INT8)
#define SIMD_NAME "NEON i8mm"
#elif defined(__ARM_FEATURE_DOTPROD)
#define SIMD_NAME "NEON dotprod"
#elif defined(__ARM_NEON) && defined(__aarch64__)
#define SIMD_NAME "NEON"
#else
#define SIMD_NAME "plain C vectors"
#endif

#if defined(__SSSE3__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512BW__)
#define SIMD_BYTES 64
#elif defined(__AVX2__)
#define SIMD_BYTES 32
#else
#define SIMD_BYTES 16
#endif

typedef uint8_t simd_u8 __attribute__((vector_size(SIMD_BYTES)));
typedef int16_t simd_i16 __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t simd_i32 __attribute__((vector_size(SIMD_BYTES)));
typedef uint32_t simd_u32 __attribute__((vector_size(SIMD_BYTES)));
typedef float simd_f32 __attribute__((vector_size(SIMD_BYTES)));
typedef uint64_t simd_u64 __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t simd_i64 __attribute__((vector_size(SIMD_BYTES)));
typedef double simd_f64 __attribute__((vector_size(SIMD_BYTES)));

#define SIMD_INLINE static inline __attribute__((always_inline, unused))

/* Any alignment. */
SIMD_INLINE simd_u8 simd_load(const void *from)
{
    simd_u8 vector;
    memcpy(&vector, from, sizeof vector);
    return vector;
}

SIMD_INLINE void simd_store(void *to, simd_u8 vector)
{
    memcpy(to, &vector, sizeof vector);
}

/* The same 32 bits in every lane. */
SIMD_INLINE simd_u32 simd_splat(uint32_t value)
{
    return (simd_u32){0} + value;
}

/* sum + a * b, rounded once where the machine can; C11 forbids the compiler to fuse by itself. */
SIMD_INLINE simd_f32 simd_multiply_add(simd_f32 sum, simd_f32 a, simd_f32 b)
{
#if defined(__AVX512BW__)
    return (simd_f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)sum);
#elif defined(__AVX2__) && defined(__FMA__)
    return (simd_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return (simd_f32)vfmaq_f32((float32x4_t)sum, (float32x4_t)a, (float32x4_t)b);
#else
    return sum + a * b;
#endif
}

SIMD_INLINE simd_f64 simd_multiply_add_f64(simd_f64 sum, simd_f64 a, simd_f64 b)
{
#if defined(__AVX512BW__)
    return (simd_f64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum);
#elif defined(__AVX2__) && defined(__FMA__)
    return (simd_f64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return (simd_f64)vfmaq_f64((float64x2_t)sum, (float64x2_t)a, (float64x2_t)b);
#else
    return sum + a * b;
#endif
}

/* Square roots, correctly rounded. */
SIMD_INLINE simd_f64 simd_root_f64(simd_f64 v)
{
#if defined(__AVX512BW__)
    return (simd_f64)_mm512_sqrt_pd((__m512d)v);
#elif defined(__AVX2__)
    return (simd_f64)_mm256_sqrt_pd((__m256d)v);
#elif defined(__SSSE3__)
    return (simd_f64)_mm_sqrt_pd((__m128d)v);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return (simd_f64)vsqrtq_f64((float64x2_t)v);
#else
    for (int lane = 0; lane < SIMD_BYTES / 8; lane++)
        v[lane] = __builtin_sqrt(v[lane]);
    return v;
#endif
}

/* Bit by bit: what at least two of three are. With a ^ b ^ c, the sum, it adds three bits in each place. */
SIMD_INLINE simd_u64 simd_majority(simd_u64 a, simd_u64 b, simd_u64 c)
{
#if defined(__AVX512BW__)
    return (simd_u64)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, 0xe8);
#else
    return (a & b) | (c & (a | b));
#endif
}

/* Of each pair of words, 128 bits with `low` in front, the 64 from bit `first` on, 0 to 63. */
SIMD_INLINE simd_u64 simd_bits_from(simd_u64 low, simd_u64 high, unsigned first)
{
#if defined(__AVX512BW__) && defined(__AVX512VBMI2__)
    return (simd_u64)_mm512_shrdv_epi64((__m512i)low, (__m512i)high, _mm512_set1_epi64((int64_t)first));
#else
    return low >> first | high << 1 << (63 - first);
#endif
}

/* Byte by byte: the larger and the smaller of two unsigned bytes. */
SIMD_INLINE simd_u8 simd_max(simd_u8 a, simd_u8 b)
{
#if defined(__AVX512BW__)
    return (simd_u8)_mm512_max_epu8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (simd_u8)_mm256_max_epu8((__m256i)a, (__m256i)b);
#elif defined(__SSSE3__)
    return (simd_u8)_mm_max_epu8((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return (simd_u8)vmaxq_u8((uint8x16_t)a, (uint8x16_t)b);
#else
    const simd_u8 larger = (simd_u8)(a > b);
    return (a & larger) | (b & ~larger);
#endif
}

SIMD_INLINE simd_u8 simd_min(simd_u8 a, simd_u8 b)
{
#if defined(__AVX512BW__)
    return (simd_u8)_mm512_min_epu8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (simd_u8)_mm256_min_epu8((__m256i)a, (__m256i)b);
#elif defined(__SSSE3__)
    return (simd_u8)_mm_min_epu8((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return (simd_u8)vminq_u8((uint8x16_t)a, (uint8x16_t)b);
#else
    return ~simd_max(~a, ~b);
#endif
}

/* Lane by lane: the smaller of two signed numbers. */
SIMD_INLINE simd_i32 simd_min_i32(simd_i32 a, simd_i32 b)
{
#if defined(__AVX512BW__)
    return (simd_i32)_mm512_min_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (simd_i32)_mm256_min_epi32((__m256i)a, (__m256i)b);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return (simd_i32)vminq_s32((int32x4_t)a, (int32x4_t)b);
#else
    const simd_i32 less = a < b;
    return (a & less) | (b & ~less);
#endif
}

/* The smallest of all lanes. */
SIMD_INLINE int32_t simd_smallest_i32(simd_i32 v)
{
#if SIMD_BYTES == 64
    v = simd_min_i32(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15));
    v = simd_min_i32(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7));
    v = simd_min_i32(v, __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3));
#elif SIMD_BYTES == 32
    v = simd_min_i32(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7));
    v = simd_min_i32(v, __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3));
#else
    v = simd_min_i32(v, __builtin_shufflevector(v, v, 2, 3, 2, 3));
#endif
    return v[0] < v[1] ? v[0] : v[1];
}

/* Sums of products of unsigned bytes a and signed bytes b, four a lane: start with zeros, add with simd_dot4(), read
 * with simd_dot4_total(). The bytes of a, over all steps of one sum, must together be at most 256: without a dot
 * instruction, x86 keeps two partial sums of 16 bits in a lane until the end, one instruction less a step. */
SIMD_INLINE simd_i32 simd_dot4(simd_i32 sum, simd_u8 a, simd_u8 b)
{
#if defined(__AVX512BW__) && defined(__AVX512VNNI__)
    return (simd_i32)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#elif defined(__AVX512BW__)
    return (simd_i32)_mm512_add_epi16((__m512i)sum, _mm512_maddubs_epi16((__m512i)a, (__m512i)b));
#elif defined(__AVX2__) && defined(__AVXVNNI__)
    return (simd_i32)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)a, (__m256i)b);
#elif defined(__AVX2__)
    return (simd_i32)_mm256_add_epi16((__m256i)sum, _mm256_maddubs_epi16((__m256i)a, (__m256i)b));
#elif defined(__SSSE3__)
    return (simd_i32)_mm_add_epi16((__m128i)sum, _mm_maddubs_epi16((__m128i)a, (__m128i)b));
#elif defined(__ARM_FEATURE_MATMUL_INT8)
    return (simd_i32)vusdotq_s32((int32x4_t)sum, (uint8x16_t)a, (int8x16_t)b);
#elif defined(__ARM_FEATURE_DOTPROD)
    /* There is no dot product of unsigned and signed bytes: b + 128 is unsigned, and 128 * a is taken off again. */
    const uint8x16_t bias = vdupq_n_u8(128);
    uint32x4_t biased = vdotq_u32((uint32x4_t)sum, (uint8x16_t)a, veorq_u8((uint8x16_t)b, bias));
    return (simd_i32)vsubq_u32(biased, vdotq_u32(vdupq_n_u32(0), (uint8x16_t)a, bias));
#elif defined(__ARM_NEON) && defined(__aarch64__)
    int16x8_t low = vmulq_s16((int16x8_t)vmovl_u8(vget_low_u8((uint8x16_t)a)), vmovl_s8(vget_low_s8((int8x16_t)b)));
    int16x8_t high = vmulq_s16((int16x8_t)vmovl_high_u8((uint8x16_t)a), vmovl_high_s8((int8x16_t)b));
    return (simd_i32)vpadalq_s16((int32x4_t)sum, vpaddq_s16(low, high));
#else
    for (int i = 0; i < SIMD_BYTES; i++)
        sum[i / 4] += a[i] * (int8_t)b[i];
    return sum;
#endif
}

SIMD_INLINE simd_i32 simd_dot4_total(simd_i32 sum)
{
#if defined(SIMD_DOT_INSTRUCTION)
    return sum;
#elif defined(__AVX512BW__)
    return (simd_i32)_mm512_madd_epi16((__m512i)sum, _mm512_set1_epi16(1));
#elif defined(__AVX2__)
    return (simd_i32)_mm256_madd_epi16((__m256i)sum, _mm256_set1_epi16(1));
#elif defined(__SSSE3__)
    return (simd_i32)_mm_madd_epi16((__m128i)sum, _mm_set1_epi16(1));
#else
    return sum;
#endif
}

/* Lane by lane: sum + the two products of signed 16-bit halves. */
SIMD_INLINE simd_i32 simd_dot2(simd_i32 sum, simd_i16 a, simd_i16 b)
{
#if defined(__AVX512BW__) && defined(__AVX512VNNI__)
    return (simd_i32)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#elif defined(__AVX512BW__)
    return sum + (simd_i32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__) && defined(__AVXVNNI__)
    return (simd_i32)_mm256_dpwssd_avx_epi32((__m256i)sum, (__m256i)a, (__m256i)b);
#elif defined(__AVX2__)
    return sum + (simd_i32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSSE3__)
    return sum + (simd_i32)_mm_madd_epi16((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    int32x4_t low = vmull_s16(vget_low_s16((int16x8_t)a), vget_low_s16((int16x8_t)b));
    int32x4_t high = vmull_high_s16((int16x8_t)a, (int16x8_t)b);
    return sum + (simd_i32)vpaddq_s32(low, high);
#else
    for (int i = 0; i < SIMD_BYTES / 2; i++)
        sum[i / 2] += a[i] * b[i];
    return sum;
#endif
}

/* SIMD_BYTES / 2 unsigned bytes as 16-bit lanes, and 16-bit lanes of 0 to 255 as bytes, of which the first `count`, at
 * most all, are stored. Any alignment. */
typedef uint8_t simd_half __attribute__((vector_size(SIMD_BYTES / 2)));

SIMD_INLINE simd_i16 simd_load_wide(const uint8_t *from)
{
    simd_half bytes;
    memcpy(&bytes, from, sizeof bytes);
#if defined(__AVX512BW__)
    return (simd_i16)_mm512_cvtepu8_epi16((__m256i)bytes);
#elif defined(__AVX2__)
    return (simd_i16)_mm256_cvtepu8_epi16((__m128i)bytes);
#else
    return __builtin_convertvector(bytes, simd_i16);
#endif
}

SIMD_INLINE void simd_store_narrow(uint8_t *to, simd_i16 lanes, int count)
{
#if defined(__AVX512BW__)
    const simd_half bytes = (simd_half)_mm512_cvtepi16_epi8((__m512i)lanes);
#elif defined(__AVX2__)
    const __m256i both = _mm256_packus_epi16((__m256i)lanes, (__m256i)lanes);
    const simd_half bytes = (simd_half)_mm256_castsi256_si128(_mm256_permute4x64_epi64(both, 8));
#else
    const simd_half bytes = __builtin_convertvector(lanes, simd_half);
#endif
    if (count == (int)sizeof bytes)
        memcpy(to, &bytes, sizeof bytes);
    else
        memcpy(to, &bytes, (size_t)count);
}

/* Of -32768 it is -32768. */
SIMD_INLINE simd_i16 simd_absolute(simd_i16 v)
{
#if defined(__AVX512BW__)
    return (simd_i16)_mm512_abs_epi16((__m512i)v);
#elif defined(__AVX2__)
    return (simd_i16)_mm256_abs_epi16((__m256i)v);
#elif defined(__SSSE3__)
    return (simd_i16)_mm_abs_epi16((__m128i)v);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return (simd_i16)vabsq_s16((int16x8_t)v);
#else
    const simd_i16 sign = v >> 15;
    return (v ^ sign) - sign;
#endif
}

/* The upper 16 bits of each product, rounded down. */
SIMD_INLINE simd_i16 simd_multiply_high(simd_i16 a, simd_i16 b)
{
#if defined(__AVX512BW__)
    return (simd_i16)_mm512_mulhi_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (simd_i16)_mm256_mulhi_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSSE3__)
    return (simd_i16)_mm_mulhi_epi16((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    const int32x4_t low = vmull_s16(vget_low_s16((int16x8_t)a), vget_low_s16((int16x8_t)b));
    return (simd_i16)vuzp2q_s16((int16x8_t)low, (int16x8_t)vmull_high_s16((int16x8_t)a, (int16x8_t)b));
#else
    for (int lane = 0; lane < SIMD_BYTES / 2; lane++)
        a[lane] = (int16_t)(a[lane] * b[lane] >> 16);
    return a;
#endif
}

/* Whether any bit is set. */
SIMD_INLINE int simd_any(simd_i16 v)
{
#if defined(__AVX512BW__)
    return _mm512_test_epi8_mask((__m512i)v, (__m512i)v) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#elif defined(__SSSE3__)
    return _mm_movemask_epi8(_mm_cmpeq_epi8((__m128i)v, _mm_setzero_si128())) != 0xffff;
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return vmaxvq_u8((uint8x16_t)v) != 0;
#else
    return (((simd_i64)v)[0] | ((simd_i64)v)[1]) != 0;
#endif
}

#if defined(__AVX512VBMI__)
/* Byte i is i. */
SIMD_INLINE simd_u8 simd_places(void)
{
    static const uint8_t places[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                       32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                       48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    return simd_load(places);
}

/* The bytes that stand `by` places, 1 to 63, before those of v, where `before` ends as v begins: from[i - by]. */
SIMD_INLINE simd_u8 simd_earlier(simd_u8 before, simd_u8 v, int by)
{
    const simd_u8 places = simd_places() - (uint8_t)by; /* bit 6 says: in the other register */
    return (simd_u8)_mm512_permutex2var_epi8((__m512i)v, (__m512i)places, (__m512i)before);
}

/* The bytes that stand `by` places, 1 to 63, after those of v, where v ends as `after` begins: from[i + by]. */
SIMD_INLINE simd_u8 simd_later(simd_u8 v, simd_u8 after, int by)
{
    const simd_u8 places = simd_places() + (uint8_t)by;
    return (simd_u8)_mm512_permutex2var_epi8((__m512i)v, (__m512i)places, (__m512i)after);
}
#endif

/* A vector whose bytes can be put in any order by one instruction: 64 bytes with AVX-512 VBMI, else 16.
 * simd_permute(v, order)[i] = v[order[i]]. */
#if defined(__AVX512VBMI__)
#define SIMD_PERMUTE_BYTES 64
#else
#define SIMD_PERMUTE_BYTES 16
#endif
typedef uint8_t simd_bytes __attribute__((vector_size(SIMD_PERMUTE_BYTES)));

SIMD_INLINE simd_bytes simd_permute(simd_bytes vector, simd_bytes order)
{
#if defined(__AVX512VBMI__)
    return (simd_bytes)_mm512_permutexvar_epi8((__m512i)order, (__m512i)vector);
#elif defined(__SSSE3__)
    return (simd_bytes)_mm_shuffle_epi8((__m128i)vector, (__m128i)order);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return (simd_bytes)vqtbl1q_u8((uint8x16_t)vector, (uint8x16_t)order);
#else
    simd_bytes result = vector;
    for (int i = 0; i < SIMD_PERMUTE_BYTES; i++)
        result[i] = vector[order[i]];
    return result;
#endif
}

/* The bytes of each sixteen put in another order: byte i of each is byte order[i], 0 to 15, of the same sixteen. */
SIMD_INLINE simd_u8 simd_shuffle(simd_u8 vector, simd_u8 order)
{
#if defined(__AVX512BW__)
    return (simd_u8)_mm512_shuffle_epi8((__m512i)vector, (__m512i)order);
#elif defined(__AVX2__)
    return (simd_u8)_mm256_shuffle_epi8((__m256i)vector, (__m256i)order);
#else
    return simd_permute(vector, order);
#endif
}

/* Sixteen bytes from each of SIMD_BYTES / 16 places, `starts` words of 16 bits behind `from`. */
SIMD_INLINE simd_u8 simd_load_parts(const uint16_t *from, const int32_t starts[SIMD_BYTES / 16])
{
#if defined(__AVX512BW__)
    __m512i parts = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(from + starts[0])));
    parts = _mm512_inserti32x4(parts, _mm_loadu_si128((const __m128i *)(from + starts[1])), 1);
    parts = _mm512_inserti32x4(parts, _mm_loadu_si128((const __m128i *)(from + starts[2])), 2);
    return (simd_u8)_mm512_inserti32x4(parts, _mm_loadu_si128((const __m128i *)(from + starts[3])), 3);
#elif defined(__AVX2__)
    const __m256i low = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(from + starts[0])));
    return (simd_u8)_mm256_inserti128_si256(low, _mm_loadu_si128((const __m128i *)(from + starts[1])), 1);
#else
    return simd_load(from + starts[0]);
#endif
}

/* Stores the lanes of a vector whose bits in `kept` are set one behind the other, to words of any type. Others may
 * follow: as many lanes as a vector has may be written. */
SIMD_INLINE void simd_store_kept(void *to, simd_u32 lanes, unsigned kept)
{
#if defined(__AVX512BW__)
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)kept, (__m512i)lanes));
#elif defined(__AVX2__) && defined(__BMI2__)
    /* The numbers of the lanes, a byte each, and of them those that a byte of 255 chooses. */
    const uint64_t order = _pext_u64(0x0706050403020100, _pdep_u64(kept, 0x0101010101010101) * 255);
    const __m256i places = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)order));
    _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32((__m256i)lanes, places));
#else
    for (int i = 0; i < SIMD_BYTES / 4; i++) {
        const uint32_t lane = lanes[i];
        memcpy(to, &lane, sizeof lane); /* an assignment to a uint32_t would not be seen by who reads floats there */
        to = (char *)to + sizeof lane * (kept >> i & 1);
    }
#endif
}

/* Bit i: the sign of lane i. */
SIMD_INLINE unsigned simd_signs(simd_i32 v)
{
#if defined(__AVX512BW__)
    return _mm512_movepi32_mask((__m512i)v);
#elif defined(__AVX2__)
    return (unsigned)_mm256_movemask_ps((__m256)v);
#elif defined(__SSSE3__)
    return (unsigned)_mm_movemask_ps((__m128)v);
#else
    unsigned bits = 0;
    for (int i = 0; i < SIMD_BYTES / 4; i++)
        bits |= (unsigned)(v[i] < 0) << i;
    return bits;
#endif
}

/* Stores the lanes of two vectors in turn: even[0], odd[0], even[1] and so on. */
SIMD_INLINE void simd_store_in_turn(void *to, simd_i32 even, simd_i32 odd)
{
    simd_i32 low, high;
#if SIMD_BYTES == 64
    low = __builtin_shufflevector(even, odd, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    high = __builtin_shufflevector(even, odd, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif SIMD_BYTES == 32
    low = __builtin_shufflevector(even, odd, 0, 8, 1, 9, 2, 10, 3, 11);
    high = __builtin_shufflevector(even, odd, 4, 12, 5, 13, 6, 14, 7, 15);
#else
    low = __builtin_shufflevector(even, odd, 0, 4, 1, 5);
    high = __builtin_shufflevector(even, odd, 2, 6, 3, 7);
#endif
    simd_store(to, (simd_u8)low);
    simd_store((char *)to + SIMD_BYTES, (simd_u8)high);
}

/* SIMD_BYTES / 4 pixels of 3 bytes, a lane each, as R G B G: two weights for G can add up to more than a byte holds.
 * Reads SIMD_BYTES bytes, of which the last quarter does not count. */
SIMD_INLINE simd_u8 simd_load_rgbg(const uint8_t *from)
{
#if defined(__AVX512BW__)
    const __m512i dwords = _mm512_setr_epi32(0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 1, 3, 4, 5, 4, 6, 7, 8, 7, 9, 10, 11, 10));
    return (simd_u8)_mm512_shuffle_epi8(_mm512_permutexvar_epi32(dwords, (__m512i)simd_load(from)), bytes);
#elif defined(__AVX2__)
    const __m256i dwords = _mm256_setr_epi32(0, 1, 2, 3, 3, 4, 5, 6);
    const __m256i bytes = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 1, 3, 4, 5, 4, 6, 7, 8, 7, 9, 10, 11, 10));
    return (simd_u8)_mm256_shuffle_epi8(_mm256_permutevar8x32_epi32((__m256i)simd_load(from), dwords), bytes);
#else
    const simd_bytes order = {0, 1, 2, 1, 3, 4, 5, 4, 6, 7, 8, 7, 9, 10, 11, 10};
    return simd_permute(simd_load(from), order);
#endif
}

/* The lanes of a, b, c and d, 0 to 255 each, as bytes in that order. */
SIMD_INLINE simd_u8 simd_pack(simd_u32 a, simd_u32 b, simd_u32 c, simd_u32 d)
{
#if defined(__AVX512BW__)
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i ab = _mm512_packs_epi32((__m512i)a, (__m512i)b), cd = _mm512_packs_epi32((__m512i)c, (__m512i)d);
    return (simd_u8)_mm512_permutexvar_epi32(order, _mm512_packus_epi16(ab, cd));
#elif defined(__AVX2__)
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i ab = _mm256_packs_epi32((__m256i)a, (__m256i)b), cd = _mm256_packs_epi32((__m256i)c, (__m256i)d);
    return (simd_u8)_mm256_permutevar8x32_epi32(_mm256_packus_epi16(ab, cd), order);
#elif defined(__SSSE3__)
    const __m128i ab = _mm_packs_epi32((__m128i)a, (__m128i)b), cd = _mm_packs_epi32((__m128i)c, (__m128i)d);
    return (simd_u8)_mm_packus_epi16(ab, cd);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    const uint16x8_t ab = vmovn_high_u32(vmovn_u32((uint32x4_t)a), (uint32x4_t)b);
    const uint16x8_t cd = vmovn_high_u32(vmovn_u32((uint32x4_t)c), (uint32x4_t)d);
    return (simd_u8)vmovn_high_u16(vmovn_u16(ab), cd);
#else
    simd_u8 result;
    for (int i = 0; i < SIMD_BYTES; i++)
        result[i] = (uint8_t)(i < 4 ? a[i] : i < 8 ? b[i - 4] : i < 12 ? c[i - 8] : d[i - 12]);
    return result;
#endif
}

/* Stores past the caches, so that the line need not be read first, where the machine can; `to` is a multiple of
 * SIMD_BYTES. A thread that has done so ends with simd_stream_end(), or other threads may not see it. */
SIMD_INLINE void simd_stream(void *to, simd_u8 vector)
{
#if defined(__AVX512BW__)
    _mm512_stream_si512((__m512i *)to, (__m512i)vector);
#elif defined(__AVX2__)
    _mm256_stream_si256((__m256i *)to, (__m256i)vector);
#elif defined(__SSSE3__)
    _mm_stream_si128((__m128i *)to, (__m128i)vector);
#else
    simd_store(to, vector);
#endif
}

SIMD_INLINE void simd_stream_end(void)
{
#if defined(__SSSE3__)
    _mm_sfence();
#endif
}

#endif
