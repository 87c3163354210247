/*
 * compare_conditions.h: what two results files were measured on and with, and how that differs.
 */
#ifndef RUNGS_COMPARE_CONDITIONS_H
#define RUNGS_COMPARE_CONDITIONS_H

#include "common/cli/compare_file.h"

enum { COMPARE_REASON = 512 }; /* bytes of a text of reasons */

struct compare_conditions {
    /* "" when alike: what is computed, and on what */
    char work[COMPARE_REASON], cpu[COMPARE_REASON], gpu[COMPARE_REASON];
    char notes[COMPARE_REASON]; /* what else differs; times are compared all the same */
};

void compare_find_conditions(const struct compare_results *a, const struct compare_results *b,
                             struct compare_conditions *conditions);

/* The value of a scalar as it is shown. */
void compare_show(const json_t *value, char *text, size_t size);
/* Prints behind what is in `text` already. */
void compare_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Adds "what: a -> b" to the reasons (COMPARE_REASON bytes) when the two values differ. */
void compare_difference(char *reasons, const char *what, const json_t *a, const json_t *b);
/* The same for members of two objects; `keys` ends with NULL. */
void compare_differences(char *reasons, const char *const *keys, const json_t *a, const json_t *b);

#endif
