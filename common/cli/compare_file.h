/*
 * compare_file.h: a results file of `rungs bench`, `tune` or `profile`, read for `rungs compare`.
 */
#ifndef RUNGS_COMPARE_FILE_H
#define RUNGS_COMPARE_FILE_H

#include <jansson.h>

#include "common/core/status.h"

enum compare_kind { COMPARE_BENCH, COMPARE_TUNE, COMPARE_PROFILE, COMPARE_VIDEO, COMPARE_KINDS };

struct compare_kind_facts {
    const char *schema, *name, *rows; /* rows: the array of what was timed; NULL: made of several members */
    const char *row_heading;
    const char *definition; /* of results/schema.json */
};
extern const struct compare_kind_facts compare_kinds[COMPARE_KINDS];

struct compare_results {
    const char *path;
    json_t *document;
    enum compare_kind kind;
    json_t *rows; /* an array of objects */
};

/* Reads a file and refuses what is no complete results file of a known kind. compare_unload() in either case. */
enum status compare_load(struct compare_results *results, const char *path);
void compare_unload(struct compare_results *results);

/* A member that is a text; "" when there is none. */
const char *compare_text(const json_t *object, const char *key);

#endif
