/*
 * bands.h: how many bands an image is cut into, for threads that go down strips of a band; and what a search may change.
 */
#ifndef RUNGS_BLUR_STEPS_BANDS_H
#define RUNGS_BLUR_STEPS_BANDS_H

#include <omp.h>

#include "common/contract/registry.h"

enum { MIN_BAND = 32 /* rows that make a thread worth its start; each band blurs ksize - 1 rows along x once more */ };

/* Of 256 rows the TLB still knows the pages when the next strip comes by: 3840x2160 gains 25 %. */
static int band_height = 256, schedule = omp_sched_dynamic;
static const int band_heights[] = {32, 64, 128, 256, 512, 1024, 0};
static const int schedules[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, 0};
static const char *const schedule_words[] = {"static", "dynamic", "guided"};
static struct tunable tunables[] = {
    {"band_height", &band_height, band_heights, "most rows that a thread takes on at once", NULL, 0},
    {"schedule", &schedule, schedules, "how OpenMP shares bands and strips out", schedule_words, 0},
    {0}};

/* One for each thread, unless that is too high or too low; `schedule` is set besides. */
static inline int count_bands(int height)
{
    const int most = (height + MIN_BAND - 1) / MIN_BAND, least = (height + band_height - 1) / band_height;
    const int threads = omp_get_max_threads();

    omp_set_schedule((omp_sched_t)schedule, 0);
    return threads < least ? least : threads < most ? threads : most;
}

#endif
