/*
 * pipeline.h: algorithms over a video, and the steps that they are composed of.
 *
 * A pipeline is an algorithm whose two inputs are the first frame of a video and another one, and whose versions can
 * also be given a whole video, frame after frame:
 *
 *     start(first frame)     once, before everything else; again for another video of the same shape
 *     submit(frame)          up to `depth` frames may be submitted before the first is received
 *     receive(result)        of the oldest frame that was submitted and not received; waits for it
 *
 * The first frame of a video is also the first one submitted. A frame's pixels must stay as they are from submit() to
 * the return of its receive(), the first frame's until the next start() or the end: a naive version goes back to them.
 * run(), which the harness calls with two pictures, is start(in[0]), submit(in[1]), receive(out).
 *
 * A step is a version of another algorithm, with its settings, its state, and its name in tables and traces. A pipeline
 * runs the launches of its steps on images that are already where the steps want them; `-p blur=cuda/v1.0` puts another
 * version in a step's place.
 */
#ifndef RUNGS_PIPELINE_H
#define RUNGS_PIPELINE_H

#include "common/contract/registry.h"
#include "common/trace/step.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pipeline {
    int depth;      /* frames that may be in flight, at least 1 */
    bool on_device; /* needs a CUDA device (or the emulator) */
    enum status (*start)(void *state, const struct image *first, const void *params);
    enum status (*submit)(void *state, const struct image *frame);
    enum status (*receive)(void *state, struct image *result);
    /* Memory for the frames that will be submitted, where this version wants them (pinned, say); NULL: any memory will
     * do. Aligned to IMAGE_ALIGNMENT; allocate() returns NULL when there is none. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);
    struct tunable *tunables;                                            /* the version's, or NULL */
    const char *(*illegal)(const struct image in[], const void *params); /* the version's, or NULL; `in` is NULL */
};

/* start(in[0]), submit(in[1]), receive(out): the run() of every pipeline version. */
enum status pipeline_run(const struct pipeline *pipeline, void *state, const struct image in[], struct image *out,
                         const void *params);

/* --------------------------------------------------------------------------------------------------- steps */

struct step {
    const struct version *version;
    const char *name; /* a literal: "blur" */
    void *params, *state;
};

/* Makes *step (zeroed before) a step called `name`: version `id` of `algorithm`, with settings as after -p, separated
 * by blanks. STATUS_BAD_INPUT when there is no such version; STATUS_UNSUPPORTED when it cannot run here. */
enum status step_open(struct step *step, const char *name, const char *algorithm, const char *id, const char *settings);
void step_close(struct step *step);

/* Sets the tunable `name` of the step's version, if it has one for which `value` is legal. */
void step_tune(struct step *step, const char *name, int value);

/* Fills *out with the shape of the step's result for these inputs (no data). */
enum status step_shape(const struct step *step, const struct image in[], struct image *out);

/* Makes what a CUDA step keeps on the device for such inputs, which the first step_run() would do otherwise; for a CPU
 * step nothing. Marks nothing. */
enum status step_setup(const struct step *step, const struct image in[]);

/* Runs the step and marks it (step.h). A CUDA step is enqueued on `stream`, from device images to a device image; a
 * CPU step takes and gives host images, and has returned when it is done. */
enum status step_run(struct step *step, const struct image in[], struct image *out, struct CUstream_st *stream);

/* ------------------------------------------------------------------------- the last line of a version's file */

/* Registers the file's struct state and its functions
 *     start(state, first, params)   submit(state, frame)   receive(state, result)   teardown(state)
 * The third argument and those behind it are designated fields of struct pipeline, .depth and .on_device among them. */
#define RUNGS_PIPELINE_VERSION(name, ...)                                                                              \
    static enum status start_erased(void *state, const struct image *first, const void *params)                        \
    {                                                                                                                  \
        return start((struct state *)state, first, (const struct name##_params *)params);                              \
    }                                                                                                                  \
    static enum status submit_erased(void *state, const struct image *frame)                                           \
    {                                                                                                                  \
        return submit((struct state *)state, frame);                                                                   \
    }                                                                                                                  \
    static enum status receive_erased(void *state, struct image *result)                                               \
    {                                                                                                                  \
        return receive((struct state *)state, result);                                                                 \
    }                                                                                                                  \
    static void teardown_erased(void *state)                                                                           \
    {                                                                                                                  \
        teardown((struct state *)state);                                                                               \
    }                                                                                                                  \
    static const struct pipeline *pipeline_of_file(void)                                                               \
    {                                                                                                                  \
        static struct pipeline pipeline = {__VA_ARGS__};                                                               \
        pipeline.start = start_erased;                                                                                 \
        pipeline.submit = submit_erased;                                                                               \
        pipeline.receive = receive_erased;                                                                             \
        return &pipeline;                                                                                              \
    }                                                                                                                  \
    static enum status run_erased(void *state, const struct image in[], struct image *out, const void *params)         \
    {                                                                                                                  \
        return pipeline_run(pipeline_of_file(), state, in, out, params);                                               \
    }                                                                                                                  \
    __attribute__((constructor)) static void register_version(void)                                                    \
    {                                                                                                                  \
        static struct version version = {.path = __FILE__,                                                             \
                                         .algorithm_name = #name,                                                      \
                                         .state_size = sizeof(struct state),                                           \
                                         .run = run_erased,                                                            \
                                         .teardown = teardown_erased};                                                 \
        version.pipeline = pipeline_of_file();                                                                         \
        version.tunables = version.pipeline->tunables;                                                                 \
        version.illegal = version.pipeline->illegal;                                                                   \
        registry_add_version(&version);                                                                                \
    }

#ifdef __cplusplus
}
#endif
#endif
