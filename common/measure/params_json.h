/*
 * params_json.h: an algorithm's parameters as JSON, for results files and for peers in another process.
 */
#ifndef RUNGS_PARAMS_JSON_H
#define RUNGS_PARAMS_JSON_H

#include <jansson.h>

#include "common/contract/algorithm.h"

/* An object: each parameter by its name, as a number or, for words and files, as text. */
json_t *params_json(const struct algorithm *algorithm, const void *params);

#endif
