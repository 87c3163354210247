/*
 * cases.h: what every version of detect is tried on: inputs that are made, hard cases, settings, answers worked out by
 * hand.
 */
#ifndef RUNGS_DETECT_CASES_H
#define RUNGS_DETECT_CASES_H

#include "common/contract/algorithm.h"

enum status detect_make_inputs(const struct input_request *request, struct image in[]);
extern const struct hard_case detect_hard_cases[];
extern const char *const detect_check_settings[];
extern const int detect_check_shapes[][3];
extern const struct golden detect_goldens[];

#endif
