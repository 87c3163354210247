/*
 * target.h: where `rungs run` writes an output: -o FILE or -o SLOT=FILE.
 */
#ifndef RUNGS_CLI_TARGET_H
#define RUNGS_CLI_TARGET_H

#include "common/cli/apply.h"
#include "common/core/file.h"

/* One -o. */
struct target {
    int slot;
    bool named; /* the slot, by SLOT= */
    const char *path;
    struct output_file file;
};

/* The first output that a file of this name can hold: .csv of a picture and a table is the table. Of shapes, where they
 * are known, an absent one is none. `otherwise` where none fits. */
int target_slot(const struct algorithm *algorithm, const char *path, const struct image *shapes, int otherwise);

/* SLOT=FILE or FILE, of the first output that fits. A name in front of the = that no output has is refused, unless it
 * has a / and so is the beginning of a path. */
enum status target_parse(const struct algorithm *algorithm, const char *text, struct target *target);

/* All of them, each of which must have a form that its output can take and a place that can be written. */
enum status targets_parse(const struct algorithm *algorithm, const struct cli_list_option *outputs,
                          struct target *targets);

/* All files, or none: each is complete under a temporary name before the first gets its own. */
enum status targets_write(const struct application *application, struct target *targets, size_t count,
                          const struct image in[], const struct image out[]);

#endif
