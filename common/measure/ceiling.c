#include "common/measure/ceiling.h"

#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/clock.h"
#include "common/measure/machine.h"
#include "common/measure/statistics.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { MAX_SAMPLES = 1000, ALIGNMENT = 64 };

/* What a tenth of the samples stayed under, not the median: a ceiling must hold when no neighbour takes the cores. */
static double fastest_tenth(double *samples, size_t count)
{
    statistics_of(samples, count); /* sorts */
    return samples[count / 10];
}

/* -------------------------------------------------------------------------------------------------- copying */

static void copy_part(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

/* Stores that go around the cache: a plain store first reads the line that it is about to overwrite. */
static void stream_part(char *to, const char *from, size_t bytes)
{
#if defined(__x86_64__)
    for (size_t i = 0; i < bytes; i += ALIGNMENT) {
#if defined(__AVX512F__)
        _mm512_stream_si512((void *)(to + i), _mm512_load_si512((const void *)(from + i)));
#else
        for (size_t j = i; j < i + ALIGNMENT; j += 16)
            _mm_stream_si128((__m128i *)(void *)(to + j), _mm_load_si128((const __m128i *)(const void *)(from + j)));
#endif
    }
    _mm_sfence();
#else
    memcpy(to, from, bytes);
#endif
}

/* The part of a buffer that is this thread's, in whole lines. */
static void share_of(size_t bytes, size_t *begin, size_t *end)
{
    const size_t lines = bytes / ALIGNMENT, me = (size_t)omp_get_thread_num(), team = (size_t)omp_get_num_threads();

    *begin = lines * me / team * ALIGNMENT;
    *end = lines * (me + 1) / team * ALIGNMENT;
}

static void copy_by_all(char *to, const char *from, size_t bytes, int threads,
                        void (*part)(char *, const char *, size_t))
{
#pragma omp parallel num_threads(threads)
    {
        size_t begin, end;

        share_of(bytes, &begin, &end);
        part(to + begin, from + begin, end - begin);
    }
}

static double copy_rate(char *from, char *to, size_t bytes, int sets, int threads,
                        void (*part)(char *, const char *, size_t), double seconds)
{
    enum { WARM_UP = 3 }; /* starts the threads */
    double *samples = malloc(MAX_SAMPLES * sizeof *samples), best = 0;
    const double end = clock_seconds() + seconds;
    size_t count = 0;

    for (int i = 0, set = 0; samples && count < MAX_SAMPLES && (count < 5 || clock_seconds() < end);
         i++, set = (set + 1) % sets) {
        const double start = clock_seconds();

        copy_by_all(to + (size_t)set * bytes, from + (size_t)set * bytes, bytes, threads, part);
        if (i >= WARM_UP)
            samples[count++] = clock_seconds() - start;
    }
    if (count > 0)
        best = fastest_tenth(samples, count);
    free(samples);
    return best > 0 ? 2 * (double)bytes / best : 0;
}

static enum status measure_copy(size_t bytes, int sets, int threads, double seconds, double *rate)
{
    const size_t all = bytes * (size_t)sets;
    char *from = aligned_alloc(ALIGNMENT, all), *to = aligned_alloc(ALIGNMENT, all);
    enum status status = STATUS_OK;

    if (!from || !to) {
        status = status_set(STATUS_NO_MEMORY, "no memory to measure the copy rate");
        goto out;
    }
    /* Touched by the threads that will use it, so that each finds its share on its own NUMA node. */
#pragma omp parallel num_threads(threads)
    for (int set = 0; set < sets; set++) {
        size_t begin, end;

        share_of(bytes, &begin, &end);
        memset(from + (size_t)set * bytes + begin, 1 + set % 255, end - begin);
        memset(to + (size_t)set * bytes + begin, 0, end - begin);
    }
    *rate = 0;
    for (int way = 0; way < (threads > 1 ? 4 : 2); way++) {
        const double found =
            copy_rate(from, to, bytes, sets, way < 2 ? threads : 1, way % 2 ? stream_part : copy_part, seconds / 4);
        if (found > *rate)
            *rate = found;
    }
out:
    free(from);
    free(to);
    return status;
}

/* ----------------------------------------------------------------------------------------------- arithmetic */

/* Independent sums: two units of five cycles' latency keep ten in flight, and with 16 registers there is room for twelve.
 * Each is a variable of its own: of an array, gcc keeps the elements in memory. */
enum { CHAINS = 12 };
#define FOR_EACH_CHAIN(step)                                                                                           \
    step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) step(9) step(10) step(11)

#if defined(__AVX512VNNI__)
#define INSTRUCTION "AVX-512 vpdpbusd"
enum { PRODUCTS = 64 };
typedef __m512i lanes;
static inline lanes accumulate(lanes sum, lanes a, lanes b)
{
    return _mm512_dpbusd_epi32(sum, a, b);
}
#define OPAQUE(x) __asm__ volatile("" : "+v"(x))
#elif defined(__AVXVNNI__)
#define INSTRUCTION "AVX2 vpdpbusd"
enum { PRODUCTS = 32 };
typedef __m256i lanes;
static inline lanes accumulate(lanes sum, lanes a, lanes b)
{
    /* Not _mm256_dpbusd_avx_epi32(): gcc 12 keeps its sums in memory, at half the rate. */
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
}
#define OPAQUE(x)   __asm__ volatile("" : "+x"(x))
#elif defined(__AVX512BW__)
#define INSTRUCTION "AVX-512 vpmaddubsw"
enum { PRODUCTS = 64 };
typedef __m512i lanes;
static inline lanes accumulate(lanes sum, lanes a, lanes b)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), _mm512_set1_epi16(1)));
}
#define OPAQUE(x)   __asm__ volatile("" : "+v"(x))
#elif defined(__AVX2__)
#define INSTRUCTION "AVX2 vpmaddubsw"
enum { PRODUCTS = 32 };
typedef __m256i lanes;
static inline lanes accumulate(lanes sum, lanes a, lanes b)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)));
}
#define OPAQUE(x)   __asm__ volatile("" : "+x"(x))
#elif defined(__ARM_FEATURE_DOTPROD)
#define INSTRUCTION "NEON udot"
enum { PRODUCTS = 16 };
typedef uint32x4_t lanes;
static inline lanes accumulate(lanes sum, lanes a, lanes b)
{
    return vdotq_u32(sum, vreinterpretq_u8_u32(a), vreinterpretq_u8_u32(b));
}
#define OPAQUE(x)   __asm__ volatile("" : "+w"(x))
#elif defined(__aarch64__)
#define INSTRUCTION "NEON umull + uadalp"
enum { PRODUCTS = 16 };
typedef uint32x4_t lanes;
static inline lanes accumulate(lanes sum, lanes a, lanes b)
{
    const uint8x16_t x = vreinterpretq_u8_u32(a), y = vreinterpretq_u8_u32(b);

    sum = vpadalq_u16(sum, vmull_u8(vget_low_u8(x), vget_low_u8(y)));
    return vpadalq_u16(sum, vmull_high_u8(x, y));
}
#define OPAQUE(x)   __asm__ volatile("" : "+w"(x))
#else
#define INSTRUCTION "SSE2 pmaddwd"
enum { PRODUCTS = 8 }; /* without SSSE3 bytes are widened to 16 bits first; the widening is not counted */
typedef __m128i lanes;
static inline lanes accumulate(lanes sum, lanes a, lanes b)
{
    return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}
#define OPAQUE(x)   __asm__ volatile("" : "+x"(x))
#endif

static uint32_t sum_of(lanes sum)
{
    uint32_t words[sizeof sum / sizeof(uint32_t)], result = 0;

    memcpy(words, &sum, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        result += words[i];
    return result;
}

/* `rounds` times CHAINS instructions on registers. An operand passes through an empty asm before each, so the compiler
 * can neither hoist the products nor form one for all chains. Not inlined: in a larger function sums get spilled. */
__attribute__((noinline)) static uint32_t multiply_accumulate(long rounds)
{
    lanes a, b;
    uint32_t result = 0;

    memset(&a, 3, sizeof a);
    memset(&b, 5, sizeof b);
#define START(chain) lanes sum##chain = a;
#define STEP(chain)                                                                                                    \
    OPAQUE(b);                                                                                                         \
    sum##chain = accumulate(sum##chain, a, b);
#define FINISH(chain) result += sum_of(sum##chain);
    FOR_EACH_CHAIN(START)
    for (long round = 0; round < rounds; round++) {
        FOR_EACH_CHAIN(STEP)
    }
    FOR_EACH_CHAIN(FINISH)
    return result;
}

/* Threads do not wait for each other here: the rate is the sum of what each reaches while the others run too. More
 * threads than cores take turns, and each reaches a whole core's rate in its turn. */
static double multiply_accumulate_rate(int threads, double seconds)
{
    enum { ROUNDS = 20000, SAMPLES = 200 }; /* 240,000 instructions: about 0.1 ms, far above the clock's cost */
    const int cores = machine_cores();
    const double end = clock_seconds() + seconds;
    double rate = 0;
    uint32_t sink = 0;

#pragma omp parallel num_threads(threads) reduction(+ : rate, sink)
    {
        double samples[SAMPLES];
        size_t count = 0;

        for (bool warm_up = true; count < SAMPLES && (count < 5 || clock_seconds() < end); warm_up = false) {
            const double start = clock_seconds();

            sink += multiply_accumulate(ROUNDS);
            if (!warm_up)
                samples[count++] = clock_seconds() - start;
        }
        rate += (double)ROUNDS * CHAINS * PRODUCTS / fastest_tenth(samples, count);
    }
    /* Used, or the compiler could leave the work out. */
    __asm__ volatile("" : : "r"(sink));
    return threads > cores ? rate * cores / threads : rate;
}

enum status ceilings_measure(size_t from, size_t to, int sets, int threads, double seconds, struct ceilings *ceilings)
{
    enum status status = STATUS_OK;
    const size_t bytes = ((from + to) / 2 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    memset(ceilings, 0, sizeof *ceilings);
    TRY(measure_copy(bytes, sets, threads, seconds * 0.75, &ceilings->copy_bytes_per_second));
    ceilings->multiply_accumulates_per_second = multiply_accumulate_rate(threads, seconds * 0.25);
    ceilings->multiply_accumulate_by = INSTRUCTION;
out:
    return status;
}
