/*
 * check.h: one version against the reference, over all sizes and patterns that are known to bring faults to light.
 */
#ifndef RUNGS_CHECK_H
#define RUNGS_CHECK_H

#include "common/verify/verify.h"

struct check_options {
    uint64_t seed;        /* of the random patterns; the same seed gives the same cases */
    double case_seconds;  /* a case that takes longer, by processor time (common/core/limit.h), is a failure */
    double total_seconds; /* of processor time in all; cases that have not begun by then are left out */
    long largest_pixels;  /* cases of larger pictures are left out; 0: none */
    const char *only;     /* cases in whose description it does not stand are left out; NULL: none */
    bool first;           /* stop at the first failure whose cause is sure */
    bool thorough;        /* large pictures also where they take long */
    bool brief;           /* check_cases_shorten() */
    int share;            /* check_cases_deal(), of emulated versions; 0: they try everything */
    const char *pictures; /* folder for pictures of differences, made if need be; NULL: none */
};

struct check_report {
    enum outcome outcome;
    bool emulated;
    int cases;    /* of the version's list */
    int goldens;  /* of them with an answer worked out by hand */
    int checked;  /* done: passed or failed */
    int declined; /* that the version cannot do */
    int failed;
    bool ended_early;     /* crashed, hung, or told to stop: the rest of the list was not tried */
    int large;            /* of the checked: large pictures */
    int too_long;         /* large pictures left out, because they would take too long */
    double worst;         /* largest difference of all cases that passed */
    double seconds;       /* that the cases took, without the large ones */
    double pixel_seconds; /* of a processor that a call takes for a pixel of a picture of a few thousand */
    char reason[512];     /* SKIP: why; PASS with cases declined: why the last one was */

    /* FAIL: the most telling case. */
    char failed_case[384], what[512], diagnosis[256], picture[1024];
    int failed_number;   /* its place in the list, from 1; 0: the child died, or the case found a race */
    char failures[8192]; /* every case that failed, one line each, as far as there is room */
};

/* Runs all cases of one version in a child process and fills *report. Calls watch(report), unless it is NULL, in the
 * parent while it waits. Fails only when no child could be made. */
enum status check_version(const struct version *version, const struct check_options *options,
                          void (*watch)(const struct check_report *report), struct check_report *report);

/* Goes on with large pictures (check_cases.h), once each by run(), unless *report says FAIL or SKIP already. The
 * results of `trusted`, which has passed check_version(), are the reference. Pictures are left out once they would take
 * more than a second or two of a processor together, by what the pixels took so far, unless options->thorough. */
enum status check_version_large(const struct version *version, const struct version *trusted,
                                const struct check_options *options, void (*watch)(const struct check_report *report),
                                struct check_report *report);

#endif
