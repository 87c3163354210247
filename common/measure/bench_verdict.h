/*
 * bench_verdict.h: the bench's use of the verification.
 */
#ifndef RUNGS_BENCH_VERDICT_H
#define RUNGS_BENCH_VERDICT_H

#include <math.h>

#include "common/verify/verify.h"

#if __has_include("common/verify/compare.h")
#include "common/verify/compare.h"
#else
static inline bool compare_agrees(const struct version *version, const struct image in[], const void *params,
                                  const struct image expected[], struct image actual[], double *worst)
{
    const double tolerance = fmax(version->tolerance, version->algorithm->outputs[0].comparison.tolerance);
    const int margin = version->compare_interior ? version->algorithm->radius(params) : 0;

    *worst = 0;
    if (version->normalise)
        version->normalise(in, actual, params);
    for (int i = 0; i < version->algorithm->output_count; i++)
        for (int y = margin; y < expected[i].height - margin; y++)
            for (int x = margin; x < expected[i].width - margin; x++)
                for (int c = 0; c < expected[i].channels; c++)
                    if (!(fabs(image_sample(&actual[i], x, y, c) - image_sample(&expected[i], x, y, c)) <= tolerance))
                        return false;
    return true;
}
#define verify_version(version, in, params, expected, request, picture, verdict)                                       \
    (verify_version)(version, in, params, expected, picture, verdict)
#endif

#endif
