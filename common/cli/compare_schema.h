/*
 * compare_schema.h: results/schema.json for `rungs compare`, the same definitions that common/report/schema.py reads.
 */
#ifndef RUNGS_COMPARE_SCHEMA_H
#define RUNGS_COMPARE_SCHEMA_H

#include <jansson.h>

#include "common/core/status.h"

/* STATUS_BAD_INPUT with a line "PATH: field: what is wrong with it" unless the document fits the definition of that
 * name, by the keywords of JSON Schema (draft 2020-12) that the schema uses. */
enum status compare_schema_check(const json_t *document, const char *definition, const char *path);

#endif
