/*
 * cases.h: what every version of harris is tried on: inputs that are made, hard cases, settings, answers worked out by
 * hand.
 */
#ifndef RUNGS_HARRIS_CASES_H
#define RUNGS_HARRIS_CASES_H

#include "common/contract/algorithm.h"

enum status harris_make_inputs(const struct input_request *request, struct image in[]);
extern const struct hard_case harris_hard_cases[];
extern const char *const harris_check_settings[];
extern const struct golden harris_goldens[];

#endif
