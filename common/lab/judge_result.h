/*
 * judge_result.h: the JSON that the judge writes.
 */
#ifndef RUNGS_JUDGE_RESULT_H
#define RUNGS_JUDGE_RESULT_H

#include <jansson.h>

#include "common/core/status.h"

/* Text that a version may have made: valid UTF-8 or none. */
json_t *judge_text(const char *characters);
/* Adds what workers printed, line by line: `printed` on stdout, and `complained` on stderr, where the C library and
 * sanitizers complain. */
void judge_add_prints(json_t *result);
/* Writes the file whole or not at all. */
enum status judge_write(json_t *result, const char *path);

#endif
