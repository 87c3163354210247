/*
 * cases.h: what every version of ntf is tried on: inputs that are made, hard cases, settings, answers worked out by
 * hand.
 */
#ifndef RUNGS_NTF_CASES_H
#define RUNGS_NTF_CASES_H

#include "common/contract/algorithm.h"

enum status ntf_make_inputs(const struct input_request *request, struct image in[]);
extern const struct hard_case ntf_hard_cases[];
extern const char *const ntf_check_settings[];
extern const int ntf_check_shapes[][3];
extern const struct golden ntf_goldens[];

#endif
