/*
 * apart.h: keeps what a command writes apart from what it reads, and its outputs from one another. Files are compared
 * by device and number, so that no link, folder or pattern hides that two names are one file; nothing is opened.
 */
#ifndef RUNGS_APART_H
#define RUNGS_APART_H

#include "common/cli/cli.h"

/* What a name stands for. */
enum apart_kind {
    APART_FILE,
    APART_VIDEO, /* all files of a video: a folder, a numbered pattern, a glob, "-" (standard input) */
    APART_TREE   /* a file, or all that is below a folder */
};

struct apart_file; /* apart.c */

struct apart {
    struct apart_file *inputs, *outputs, *videos; /* videos: the names of those that are written */
    size_t input_count, output_count, video_count;
    bool no_memory;
};

/* NULL and "" stand for no file. */
void apart_input(struct apart *apart, enum apart_kind kind, const char *name);
void apart_output(struct apart *apart, enum apart_kind kind, const char *name);
/* The files that parameters name: VALUE of each "name=VALUE", and models that stand for one that is not given. */
void apart_settings(struct apart *apart, const struct algorithm *algorithm, const struct cli_list_option *settings);

/* STATUS_BAD_INPUT, naming both, when an output is an input or another output, or when images of two patterns could
 * have one name. Frees what was gathered either way. */
enum status apart_check(struct apart *apart);
void apart_free(struct apart *apart);

#endif
