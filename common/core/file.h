/*
 * file.h: opening files with errors a person can act on, and writing them whole or not at all.
 *
 * All failures are STATUS_BAD_INPUT (or STATUS_NO_MEMORY) with one line "path: reason". Only regular files are read and
 * written: a pipe could block for ever, and renaming over a device would replace it.
 */
#ifndef RUNGS_FILE_H
#define RUNGS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/core/status.h"

/* Whether the path ends with `extension` (".png"), in upper or lower case. */
bool file_has_extension(const char *path, const char *extension);

/* Opens a regular file that is not empty, for reading; *size gets its bytes. To be closed with fclose(). */
enum status file_open(const char *path, FILE **stream, uint64_t *size);

/* A file in the making: it grows under a temporary name (.rungs-PROCESS-NUMBER.tmp) in the target's folder and gets its
 * own name on success. A target that exists keeps its permissions; a symbolic link stays one. What a killed process has
 * left in that folder, known by its dead owner, is removed on the way. */
struct output_file {
    const char *path; /* as the caller named it, for messages; must outlive the struct */
    char *target;     /* without symbolic links */
    char *temporary;
    FILE *stream;
    mode_t mode; /* of the file to be replaced, 0 when there is none */
    int error;   /* errno of the first failed write */
};

/* Whether two paths name the same file, links followed; of files that do not exist yet, the same place. */
bool file_is_same(const char *a, const char *b);

/* Refuses a path that file_create() could not write, before any work is done. Nothing is created. */
enum status file_check_output(const char *path);
enum status file_create(struct output_file *file, const char *path);
/* Errors are kept for file_commit(). */
void file_write(struct output_file *file, const void *data, size_t size);
/* Completes the file, but under its temporary name: what is left for file_commit() is the renaming. So several files
 * can be complete before the first of them appears. On failure nothing is left of it. */
enum status file_complete(struct output_file *file);
/* Completes the file under its own name; on failure (a full disk, say) nothing is left of it. Frees the struct's
 * contents either way. */
enum status file_commit(struct output_file *file);
/* Drops a file that was not committed; fine on a zeroed or a committed struct. */
void file_discard(struct output_file *file);

/* From here on SIGINT, SIGTERM and SIGHUP remove this process's unfinished files before they end it. */
void file_discard_at_signals(void);

#endif
