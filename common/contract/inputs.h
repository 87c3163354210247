/*
 * inputs.h: inputs that an algorithm's contract calls legal, for check, bench, diff, tune, profile and the labs.
 */
#ifndef RUNGS_INPUTS_H
#define RUNGS_INPUTS_H

#include "common/contract/algorithm.h"

/* Makes all inputs of an algorithm; in[] is zeroed before, and on failure again. STATUS_BAD_INPUT also when the
 * contract has no input of that shape. */
enum status inputs_make(const struct algorithm *algorithm, const struct input_request *request, struct image in[]);

/* What an algorithm without a maker gets: pictures of the requested shape, filled with the pattern (with seed, seed + 1
 * ...) or copies of the photograph. For makers that change pictures into what they need. */
enum status inputs_make_pictures(const struct input_request *request, const enum pixel_type types[], int count,
                                 struct image in[]);

void inputs_free(const struct algorithm *algorithm, struct image in[]);

#endif
