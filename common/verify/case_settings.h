/*
 * case_settings.h: the settings of a case as parameters, and the line that names a case.
 */
#ifndef RUNGS_CASE_SETTINGS_H
#define RUNGS_CASE_SETTINGS_H

#include "common/verify/check_cases.h"

/* Settings as after -p, "" for NULL; counts of steps that they do not name are as small as a check wants them, where
 * the contract allows that together with the rest. */
enum status case_parse_settings(const struct algorithm *algorithm, const char *settings, void *params);
/* "97x89, 3 channels, random, ksize=15 sigma=2.6" */
void case_describe(const struct algorithm *algorithm, const struct check_case *item, const void *params, char *text,
                   size_t size);
/* A version that declines the defaults would pass without a case: it gets one of the contract's other settings, the
 * first behind number `seed` that it takes. Not a peer, whose habits may be another's where values are equal. False
 * when *params stays as it is. */
bool case_find_settings(const struct version *version, const struct check_case *item, const struct image in[],
                        uint64_t seed, void *params);

#endif
