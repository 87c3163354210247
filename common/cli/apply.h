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

/* The channels in which the algorithm takes these inputs: their own, or, of pictures that it only takes in gray or only in
 * colour, the other number of them (image_convert()). */
int application_channels(const struct application *application, const struct image in[]);
/* fitted: the inputs in these channels, copies where they differ from their own. application_unfit() frees the copies, before
 * the inputs are freed; fine on all zero. */
enum status application_fit(const struct application *application, const char *names, const struct image in[],
                            struct image fitted[]);
void application_unfit(const struct application *application, const struct image in[], struct image fitted[]);
/* Fills the shapes of all outputs, data NULL, and sets kept tunables. Refuses inputs that the algorithm or the version does
 * not take; `names` are theirs, for the message. */
enum status application_shape(struct application *application, const char *names, const struct image in[],
                              struct image out[]);
/* Makes the outputs of these shapes and computes them; on failure none is left. An absent one stays so. */
enum status application_run(struct application *application, const struct image in[], struct image out[]);
/* The same in outputs that are there. */
enum status application_compute(struct application *application, const struct image in[], struct image out[]);
/* Ends the state; fine when there is none. */
void application_end(struct application *application);

#endif
