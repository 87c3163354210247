/*
 * apply.h: one version applied to real inputs, once (rungs run) or to one after the other (a folder).
 */
#ifndef RUNGS_APPLY_H
#define RUNGS_APPLY_H

#include <pthread.h>

#include "common/cli/cli.h"
#include "common/image/kept_pixels.h"

struct application {
    const struct algorithm *algorithm;
    const struct version *version;
    const struct cli_list_option *settings; /* what -p says */
    const void *params;
    /* apply.c's: the state, and the shapes of the inputs that it is for; or a queue, and memory for its outputs. */
    void *state;
    struct image shapes[ALGORITHM_MAX_INPUTS];
    void *queue;
    struct application_memory *memory;
    struct application_tuning *tuning; /* of several applications at once: that they share; else NULL */
};

/* Tunables belong to a version, not to an application: of several at once the first sets the kept ones for all. */
struct application_tuning {
    pthread_mutex_t lock;
    bool done;
};

/* The channels in which the algorithm takes these inputs: their own, or, of pictures that it only takes in gray or only
 * in colour, the other number of them (image_convert()). */
int application_channels(const struct application *application, const struct image in[]);
/* fitted: the inputs in these channels, copies where they differ from their own. application_unfit() frees the copies,
 * before the inputs are freed; fine on all zero. */
enum status application_fit(const struct application *application, const char *names, const struct image in[],
                            struct image fitted[]);
void application_unfit(const struct application *application, const struct image in[], struct image fitted[]);
/* Fills the shapes of all outputs, data NULL, and sets kept tunables. Refuses inputs that the algorithm or the version
 * does not take; `names` are theirs, for the message. */
enum status application_shape(struct application *application, const char *names, const struct image in[],
                              struct image out[]);
/* Makes the outputs of these shapes and computes them; on failure none is left. An absent one stays so. */
enum status application_run(struct application *application, const struct image in[], struct image out[]);
/* The same in outputs that are there. */
enum status application_compute(struct application *application, const struct image in[], struct image out[]);
/* Results that have a sample for each pixel, made of a cube that lacks some: to where the pixels lay. */
enum status application_spread(const struct application *application, const struct kept_pixels *kept,
                               struct image out[]);

/* Many pictures: so many may be submitted before the first is received, 1 for versions without a queue (queue.h). */
int application_depth(const struct application *application);
/* Makes the outputs of these shapes, where the version wants them; on failure none. application_free() may be called by
 * any thread, until application_end(). */
enum status application_create(struct application *application, struct image out[]);
void application_free(struct application *application, struct image out[]);
/* On failure the picture is not under way. Else its samples stay where they are until application_receive(), which
 * waits for the oldest one and says what came of it; `in` and `out` are those that were submitted. */
enum status application_submit(struct application *application, const struct image in[], struct image out[]);
enum status application_receive(struct application *application, const struct image in[], struct image out[]);
/* What went wrong on the way without loss of a picture, in one line, or NULL. */
const char *application_note(const struct application *application);

/* Ends state and queue; fine when there is none. */
void application_end(struct application *application);

#endif
