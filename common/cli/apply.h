/*
 * apply.h: one version applied to real inputs, once (rungs run) or to one after the other (a folder).
 */
#ifndef RUNGS_APPLY_H
#define RUNGS_APPLY_H

#include "common/cli/cli.h"

struct application {
    const struct algorithm *algorithm;
    const struct version *version;
    const struct cli_list_option *settings; /* what -p says */
    const void *params;
    /* apply.c's: the state, and the shapes of the inputs that it is for. */
    void *state;
    struct image shapes[ALGORITHM_MAX_INPUTS];
};

/* Fills the shapes of all outputs, data NULL, and sets kept tunables. Refuses inputs that the algorithm or the version does
 * not take; `names` are theirs, for the message. */
enum status application_shape(struct application *application, const char *names, const struct image in[],
                              struct image out[]);
/* Makes the outputs of these shapes and computes them; on failure none is left. An absent one stays so. */
enum status application_run(struct application *application, const struct image in[], struct image out[]);
/* Ends the state; fine when there is none. */
void application_end(struct application *application);

#endif
