/*
 * cases.h: what every version of kmeans is tried on: inputs that are made, hard cases, settings, answers worked out by
 * hand.
 */
#ifndef RUNGS_KMEANS_CASES_H
#define RUNGS_KMEANS_CASES_H

#include "common/contract/algorithm.h"

enum status kmeans_make_inputs(const struct input_request *request, struct image in[]);
extern const struct hard_case kmeans_hard_cases[];
extern const char *const kmeans_check_settings[];
extern const int kmeans_check_shapes[][3];
extern const struct golden kmeans_goldens[];

#endif
