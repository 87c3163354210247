/*
 * json_file.h: JSON documents (jansson) as files.
 */
#ifndef RUNGS_JSON_FILE_H
#define RUNGS_JSON_FILE_H

#include <jansson.h>

#include "common/core/file.h"

/* Reads a document from a file of at most `most` bytes; `what` says in messages what it should be ("a results file").
 * Its texts, names of members too, are made plain (text.h): they end on terminals. On failure *document is NULL. */
enum status json_file_read(json_t **document, const char *path, size_t most, const char *what);

/* Writes *document with that many significant digits in real numbers into a file that has been created, commits it, and
 * gives up the caller's reference to the document. A NULL document, which is what json_pack() makes of text that is not
 * UTF-8, is a failure: "path: reason". */
enum status json_file_write(json_t *document, int digits, struct output_file *file);

/* A text as JSON, made plain. */
json_t *json_plain(const char *text);

#endif
