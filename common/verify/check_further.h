/*
 * check_further.h: what `rungs check` tries behind the other cases, so that those keep their numbers, seeds and words.
 */
#ifndef RUNGS_CHECK_FURTHER_H
#define RUNGS_CHECK_FURTHER_H

#include "common/verify/check_cases.h"

/* Hard cases that their contract names as further ones, settings on wide pictures, blocks of one value, the ends of
 * any two parameters together, and the memory of many calls at the ends. */
enum status check_cases_further(const struct version *version, uint64_t seed, struct case_list *list);

#endif
