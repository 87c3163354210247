/*
 * model.h: a file parameter whose content the versions use: classifier, centroids, codebook.
 *
 * The file is read and checked once, when the parameters are parsed, and stays in memory; every state, and every child
 * process, works on that one copy. Its content in memory is one block without pointers inside, so that it can be copied
 * as it is to a device or to another process.
 */
#ifndef RUNGS_MODEL_H
#define RUNGS_MODEL_H

#include <stddef.h>

#include "common/core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MODEL_PATH_SIZE = 256 }; /* bytes of a path, with the 0 that ends it */

/* A field of a parameter struct (PARAMETER_MODEL). */
struct model {
    char path[MODEL_PATH_SIZE]; /* "" when no file was named and there is no default */
    const void *data;           /* NULL with the path ""; aligned to 64 bytes; belongs to model.c, read only */
    size_t size;                /* bytes of data */
};

/* Reads a file into one new block (malloc). A damaged, truncated or foreign file is STATUS_BAD_INPUT with a message
 * that names the file and what is wrong with it. */
typedef enum status (*model_loader)(const char *path, void **data, size_t *size);

/* Fills *model from the file; the same file, unchanged since, is not read again. */
enum status model_open(struct model *model, const char *path, model_loader load);
/* Forgets all models, for tests that look for leaks. */
void model_close_all(void);

#ifdef __cplusplus
}
#endif
#endif
