/*
 * check_cases.h: what `rungs check` tries a version on.
 */
#ifndef RUNGS_CHECK_CASES_H
#define RUNGS_CHECK_CASES_H

#include "common/contract/registry.h"

/* Several calls of run() and of launch() with all that may differ from one to the next; several of one of them and a
 * single one of the other; or a single one. */
enum check_calls { CHECK_ALL_CALLS, CHECK_ALL_RUNS, CHECK_ALL_LAUNCHES, CHECK_ONE_RUN, CHECK_ONE_LAUNCH };

struct check_case {
    int width, height, channels;
    enum pattern pattern;
    const char *settings;        /* as after -p; NULL: the defaults */
    const char *between;         /* the settings of calls in between, by another state; NULL: there are none */
    const struct golden *golden; /* an answer worked out by hand; NULL: compare with the reference */
    enum check_calls calls;
    int frames;            /* a video of so many frames; 0: one call */
    bool growth;           /* many calls with one picture, and the memory that is in use after each */
    bool queue;            /* many pictures like it, by the version's queue */
    int threads;           /* of OpenMP, for versions of the CPU; 0: as many as the machine runs */
    bool drawn;            /* launch parameters and the size of the device by lot */
    const char *hard_case; /* one of the contract's; NULL: the pattern */
    bool unanswered;       /* that hard case has no answer */
    bool long_emulated;    /* not for the emulator, unless --thorough */
    bool large;            /* of check_cases_make_large() */
    bool own;              /* no other version of the ladder tries it */
    bool left_out;         /* not tried; it stays in the list, so that those behind it keep their numbers and seeds */
};

struct case_list {
    struct check_case *items;
    size_t count, capacity;
    char **texts; /* settings that were drawn or put together */
    size_t text_count;
};

/* The random pattern in every shape (with all calls, since what a version keeps and what it reads beside its rows
 * depend on shapes; the rest is mostly arithmetic, for which one call by either entry in turn is enough), the other
 * patterns and settings in a few, the contract's hard cases, answers worked out by hand, videos, values of the
 * parameters. What all versions of a ladder have in common comes first and in the same order, so that a case has the
 * same number, and with it the same seed, for each of them. `seed` draws parameters. */
enum status check_cases_make(const struct version *version, uint64_t seed, struct case_list *list);

/* Gives every case a number of threads, of 1, 2, 3, 8, 9, 64 and as many as the machine runs, and every other one
 * launch parameters by lot: no result may depend on them. */
void check_cases_vary(const struct version *version, uint64_t seed, struct case_list *list);

/* For versions that have launch(): of three cases with all calls one keeps them by both entries, the next
 * by run(), the third by launch(). */
void check_cases_share(struct case_list *list);

/* For builds with sanitizers, which look at each access of a call and need no second call to compare it with: all calls
 * for every fourth case that had them, one for the others; of the settings that get one call every fourth, which ones
 * `seed` says. */
void check_cases_shorten(struct case_list *list, uint64_t seed);

/* Pictures of many rows, many columns and many pixels, from small to large: what shows counters, indices and grids that
 * are too small. Those from LARGE_EMULATED pixels on are not for the emulator. Empty for contracts that name their own
 * shapes. */
enum { LARGE_EMULATED = 200000 };
enum status check_cases_make_large(const struct version *version, struct case_list *list);

/* For emulated versions, whose ladder has many. Every shape stays, for borders and tiles; what else there is (other
 * patterns, settings, values, hard cases, large pictures) is dealt out: a version tries one in `share`, the next
 * versions of the ladder the others. So are the shapes with all calls, the others get one. `seed` says who begins: the
 * ladder tries everything, and so does each version over the runs. */
void check_cases_deal(const struct version *version, struct case_list *list, int share, uint64_t seed);

/* For peers in a process of their own, which each case starts anew, its libraries with it (half a second in Python):
 * one case in `share`, which ones `seed` says, and all answers worked out by hand. Nobody reads the code of such a peer
 * for its borders. */
void check_cases_thin(struct case_list *list, int share, uint64_t seed);

void check_cases_free(struct case_list *list);

#endif
