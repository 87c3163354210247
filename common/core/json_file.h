/*
 * json_file.h: JSON documents (jansson) as files.
 */
#ifndef RUNGS_JSON_FILE_H
#define RUNGS_JSON_FILE_H

#include <jansson.h>

#include "common/core/status.h"

/* Writes *document with that many significant digits in real numbers, a whole file or none (file.h), and gives up the
 * caller's reference to it. A NULL document, which is what json_pack() makes of text that is not UTF-8, is a failure:
 * "path: reason". */
enum status json_file_write(json_t *document, int digits, const char *path);

#endif
