#include "common/measure/ceiling.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/clock.h"
#include "common/measure/statistics.h"

#if defined(__x86_64__)
#include <immintrin.h>
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

/* ------------------------------------------------------------------------------------------------------- all */

enum status ceilings_measure(size_t from, size_t to, int sets, int threads, double seconds, const struct cost *cost,
                             struct ceilings *ceilings)
{
    enum status status = STATUS_OK;
    const size_t bytes = ((from + to) / 2 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    int kinds = 0;

    memset(ceilings, 0, sizeof *ceilings);
    for (int i = 0; i < OPERATION_OTHER; i++)
        kinds += cost->operations[i] > 0;
    TRY(measure_copy(bytes, sets, threads, seconds * 0.75, &ceilings->copy_bytes_per_second));
    for (int i = 0; i < OPERATION_OTHER; i++)
        if (cost->operations[i] > 0)
            ceilings->operations_per_second[i] =
                ceiling_operation_rate((enum operation)i, threads, seconds * 0.25 / kinds, &ceilings->measured_by[i]);
out:
    return status;
}
