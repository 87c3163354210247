/*
 * tuned.h: the values of tunables that `rungs tune` found best on this machine, kept from one run to the next.
 *
 * They lie in tuned.json at the top of the source tree (git ignores it), or in the file that the environment variable
 * RUNGS_TUNED names; when that is empty nothing is read or kept. There is one entry for each algorithm, version and
 * processor: the GPU's model name for a CUDA version, else the CPU's and the number of threads. run, bench, diff and
 * list take the values from there unless -p gives one of that version's; without an entry a version has its documented
 * defaults. results/README.md describes the file.
 */
#ifndef RUNGS_TUNED_H
#define RUNGS_TUNED_H

#include "common/contract/registry.h"

struct tuned_entry {
    const struct version *version;
    char processor[128];
    int threads; /* of a CPU version; 0 for a CUDA version */
    int values[VERSION_MAX_TUNABLES];
    /* For the record: what the search was made on, and seconds at the best and at the default values. */
    char settings[128];
    int width, height, channels;
    double median, preset_median;
    char date[32], commit[64];
};

/* The file, or NULL when there is none to be had (no source tree, or RUNGS_TUNED is empty). */
const char *tuned_path(void);

/* Whether tuned_keep() could work: before a search, for a broken file is found now and not at its end. */
enum status tuned_check(void);

/* Puts the entries into the file, in place of those with the same key. Does nothing without a path. */
enum status tuned_keep(const struct tuned_entry *entries, size_t count);

/* Gives the tunables of each version the values that are kept for this processor and these threads. Leaves alone a
 * version of which an assignment ("block_width=32") names a tunable, and, unless `in` is NULL, one whose kept values do
 * not go together for these inputs and parameters. Never fails: tuned_note() has what happened. may_fork: ask for the
 * GPU's name in a child process (process.h); else in this one. */
void tuned_apply(const struct version *const *versions, size_t count, const char *const *assignments,
                 size_t assignment_count, int threads, const struct image in[], const void *params, bool may_fork);

/* NULL when tuned_apply() found nothing for this version; else in one line what it did: "block_width=64 block_height=8,
 * as tuned on 2026-01-31 (tuned.json)", or why the default stays. *used, unless NULL: the kept values are in force. */
const char *tuned_note(const struct version *version, bool *used);

#endif
