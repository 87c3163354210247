#include "common/remote/stand_in.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/contract/pipeline.h"

static struct remote_options stand_in_options;
static struct remote *stand_in;
static int stand_in_heap, stand_in_shared;
static int stand_in_tunables, stand_in_values[CHANNEL_MAX_TUNABLES]; /* as asked for by -p; changed by params_parse() */

/* Ends this process in the way in which the worker ended, so that its parent (process.h) reports that reason. */
static void share_fate(void)
{
    int signal_number, exit_code;

    if (!remote_died(stand_in, &signal_number, &exit_code))
        return;
    if (signal_number) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    _exit(exit_code);
}

static enum status ensure_started(void)
{
    enum status status = STATUS_OK;

    if (stand_in)
        return STATUS_OK;
    TRY(remote_start(&stand_in_options, &stand_in));
    for (int i = 0; i < stand_in_tunables; i++) {
        remote_channel(stand_in)->tunable = i;
        remote_channel(stand_in)->value = stand_in_values[i];
        TRY(remote_call(stand_in, CHANNEL_TUNE, NULL));
    }
out:
    return status;
}

static enum status call_stand_in(enum channel_request request)
{
    enum status status = remote_call(stand_in, request, NULL);

    if (status != STATUS_OK)
        share_fate();
    return status;
}

static void *stand_in_allocate(size_t bytes)
{
    return ensure_started() == STATUS_OK ? remote_allocate(stand_in, bytes) : NULL;
}

static void stand_in_release(void *memory)
{
    if (stand_in && memory)
        remote_release(stand_in, memory);
}

static void stand_in_perturb(int heap_byte, int shared_byte)
{
    stand_in_heap = heap_byte;
    stand_in_shared = shared_byte;
}

static bool stand_in_lost(void)
{
    return stand_in && remote_lost(stand_in);
}

static struct version stand_in_version;

/* The worker cannot open files, nor see this process' memory: the models that the parameters point to are copied, once
 * each, to where it sees them. Without memory for one it gets none. */
static void place_models(void *params)
{
    enum { MODELS = 8 };
    static struct {
        const void *data;
        void *placed;
    } models[MODELS];

    for (const struct parameter *p = stand_in_version.algorithm->parameters; p->name; p++) {
        struct model *model = (struct model *)((char *)params + p->offset);
        int at = 0;

        if (p->kind != PARAMETER_MODEL || !model->data)
            continue;
        while (at < MODELS - 1 && models[at].data && models[at].data != model->data)
            at++;
        if (models[at].data != model->data) {
            remote_release(stand_in, models[at].placed);
            models[at].placed = remote_allocate(stand_in, model->size);
            models[at].data = model->data;
            if (models[at].placed)
                memcpy(models[at].placed, model->data, model->size);
        }
        model->data = models[at].placed;
    }
}

static void put_params(const void *params)
{
    const size_t size = stand_in_version.algorithm->params_size;

    memcpy(remote_channel(stand_in)->params, params, size < CHANNEL_MAX_PARAMS ? size : CHANNEL_MAX_PARAMS);
    remote_channel(stand_in)->heap_byte = stand_in_heap;
    remote_channel(stand_in)->shared_byte = stand_in_shared;
    remote_channel(stand_in)->inputs = stand_in_version.algorithm->input_count;
    remote_channel(stand_in)->outputs = stand_in_version.algorithm->output_count;
    place_models(remote_channel(stand_in)->params);
}

static enum status stand_in_run(void *state, const struct image in[], struct image *out, const void *params)
{
    enum status status = STATUS_OK;

    (void)state;
    TRY(ensure_started());
    put_params(params);
    for (int i = 0; i < stand_in_version.algorithm->input_count; i++)
        remote_channel(stand_in)->in[i] = in[i];
    for (int i = 0; i < stand_in_version.algorithm->output_count; i++)
        remote_channel(stand_in)->out[i] = out[i];
    TRY(call_stand_in(CHANNEL_RUN));
out:
    return status;
}

static enum status stand_in_verify(const struct version *version, struct verify_buffer in[], int inputs,
                                   struct verify_buffer out[], int outputs, const void *params, int launches)
{
    struct channel *channel;
    enum status status = STATUS_OK;

    (void)version;
    TRY(ensure_started());
    channel = remote_channel(stand_in);
    put_params(params);
    for (int i = 0; i < inputs; i++) {
        channel->in[i] = in[i].image;
        channel->in_memory[i] = in[i].memory;
        channel->in_bytes[i] = in[i].bytes;
    }
    for (int i = 0; i < outputs; i++) {
        channel->out[i] = out[i].image;
        channel->out_memory[i] = out[i].memory;
        channel->out_bytes[i] = out[i].bytes;
    }
    channel->repeat = launches;
    TRY(call_stand_in(CHANNEL_VERIFY));
out:
    return status;
}

static void stand_in_end(void *state)
{
    (void)state;
    if (stand_in && !remote_lost(stand_in))
        call_stand_in(CHANNEL_END);
}

/* ----------------------------------------------------------------------------------------------------------- videos */

/* The frames of a video in memory that the worker sees: the first one, and as many as are in flight. Once a
 * frame's result is there its place is overwritten, because the pipeline must not read that frame any more. */
static const size_t VIDEO_BYTES = (size_t)16 << 20;
static struct {
    uint8_t *memory; /* VIDEO_BYTES */
    struct image first, flying[CHANNEL_MAX_DEPTH], result[ALGORITHM_MAX_OUTPUTS];
    unsigned submitted, received;
} stand_in_video;
static struct pipeline stand_in_pipeline;

static size_t placed_bytes(const struct image *like)
{
    return (image_minimal_stride(like) * (size_t)like->height + 127) / 128 * 128;
}

static uint8_t *place(struct image *image, const struct image *like, uint8_t *from)
{
    *image = *like;
    image->stride = image_minimal_stride(image);
    image->data = from;
    return from + placed_bytes(like);
}

static enum status stand_in_start(void *state, const struct image *first, const void *params)
{
    const struct image in[2] = {*first, *first};
    struct image result[ALGORITHM_MAX_OUTPUTS] = {{0}};
    size_t result_bytes = 0;
    enum status status = STATUS_OK;

    (void)state;
    TRY(ensure_started());
    TRY(stand_in_version.algorithm->shape(in, params, result));
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        result_bytes += placed_bytes(&result[slot]);
    if (placed_bytes(first) * (size_t)(1 + stand_in_pipeline.depth) + result_bytes > VIDEO_BYTES)
        return status_set(STATUS_UNSUPPORTED, "%d frames of %dx%d are too many for this check", stand_in_pipeline.depth,
                          first->width, first->height);
    if (!stand_in_video.memory) {
        stand_in_video.memory = remote_allocate(stand_in, VIDEO_BYTES);
        if (!stand_in_video.memory)
            return status_set(STATUS_NO_MEMORY, "no memory to share with a worker");
        remote_channel(stand_in)->in[0] = (struct image){.width = (int)VIDEO_BYTES,
                                                         .height = 1,
                                                         .channels = 1,
                                                         .type = PIXEL_U8,
                                                         .stride = VIDEO_BYTES,
                                                         .data = stand_in_video.memory};
        TRY(call_stand_in(CHANNEL_PIN));
    }
    uint8_t *next = place(&stand_in_video.first, first, stand_in_video.memory);

    for (int i = 0; i < stand_in_pipeline.depth; i++)
        next = place(&stand_in_video.flying[i], first, next);
    memset(stand_in_video.result, 0, sizeof stand_in_video.result);
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        if (result[slot].width)
            next = place(&stand_in_video.result[slot], &result[slot], next);
    stand_in_video.submitted = stand_in_video.received = 0;
    image_copy(&stand_in_video.first, first);
    put_params(params);
    remote_channel(stand_in)->in[0] = stand_in_video.first;
    TRY(call_stand_in(CHANNEL_START));
out:
    return status;
}

static enum status stand_in_submit(void *state, const struct image *frame)
{
    struct image *place = &stand_in_video.flying[stand_in_video.submitted % (unsigned)stand_in_pipeline.depth];

    (void)state;
    image_copy(place, frame);
    stand_in_video.submitted++;
    remote_channel(stand_in)->in[0] = *place;
    return call_stand_in(CHANNEL_SUBMIT);
}

static enum status stand_in_receive(void *state, struct image result[])
{
    struct image *place = &stand_in_video.flying[stand_in_video.received % (unsigned)stand_in_pipeline.depth];
    enum status status = STATUS_OK;

    (void)state;
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++) {
        image_fill(&stand_in_video.result[slot], 0xA5);
        remote_channel(stand_in)->out[slot] = stand_in_video.result[slot];
    }
    TRY(call_stand_in(CHANNEL_RECEIVE));
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        image_copy(&result[slot], &stand_in_video.result[slot]);
    image_fill(place, 0x5A);
    stand_in_video.received++;
out:
    return status;
}

static enum status never_setup(void *state, const struct image in[], const void *params)
{
    (void)state, (void)in, (void)params;
    return status_set(STATUS_FAILED, "a stand-in has no device images");
}

static enum status never_launch(void *state, const struct image in[], struct image *out, const void *params,
                                struct CUstream_st *stream)
{
    (void)state, (void)in, (void)out, (void)params, (void)stream;
    return status_set(STATUS_FAILED, "a stand-in has no device images");
}

static const char *unknown[16];
static size_t unknown_count;

void remote_decline(const char *parameter)
{
    if (unknown_count < sizeof unknown / sizeof *unknown)
        unknown[unknown_count++] = parameter;
}

static const char *stand_in_declines(const struct image in[], const void *params)
{
    static char why[96];

    (void)in;
    for (const struct parameter *p = stand_in_version.algorithm->parameters; p->name; p++)
        for (size_t i = 0; i < unknown_count; i++) {
            const char *const value = (const char *)params + p->offset;

            if (strcmp(p->name, unknown[i]) != 0 || p->kind == PARAMETER_TEXT || p->kind == PARAMETER_MODEL)
                continue;
            if ((p->kind == PARAMETER_REAL ? *(const double *)value : *(const int *)value) == p->preset)
                continue;
            snprintf(why, sizeof why, "the parameter %s is none of this version's", p->name);
            return why;
        }
    return NULL;
}

enum status remote_check_depth(int depth)
{
    if (depth > CHANNEL_MAX_DEPTH)
        return status_set(STATUS_FAILED, "a pipeline of depth %d: at most %d frames may be in flight", depth,
                          CHANNEL_MAX_DEPTH);
    return STATUS_OK;
}

enum status remote_register(const struct remote_options *options, const struct channel *facts, const char *id,
                            const char *path)
{
    static const struct version_remote remote = {.allocate = stand_in_allocate,
                                                 .release = stand_in_release,
                                                 .perturb = stand_in_perturb,
                                                 .lost = stand_in_lost,
                                                 .launch = stand_in_verify};
    static struct version_source source;
    static struct tunable tunables[CHANNEL_MAX_TUNABLES + 1];
    static struct channel kept;
    enum status status = STATUS_OK;

    kept = *facts;
    TRY(remote_check_depth(kept.depth));
    stand_in_options = *options;
    kept.algorithm[sizeof kept.algorithm - 1] = '\0';
    source = (struct version_source){.path = path, .algorithm = kept.algorithm, .id = id, .idea = "", .expect = ""};
    stand_in_tunables = kept.tunables < 0                      ? 0
                        : kept.tunables > CHANNEL_MAX_TUNABLES ? CHANNEL_MAX_TUNABLES
                                                               : kept.tunables;
    for (int i = 0; i < stand_in_tunables; i++) {
        kept.tunable_list[i].name[sizeof kept.tunable_list[i].name - 1] = '\0';
        kept.tunable_list[i].legal[31] = 0;
        stand_in_values[i] = kept.tunable_list[i].preset;
        tunables[i] = (struct tunable){.name = kept.tunable_list[i].name,
                                       .value = &stand_in_values[i],
                                       .legal = kept.tunable_list[i].legal,
                                       .help = ""};
    }
    stand_in_pipeline = (struct pipeline){.depth = kept.depth < 1 ? 1 : kept.depth,
                                          .on_device = kept.is_cuda,
                                          .start = stand_in_start,
                                          .submit = stand_in_submit,
                                          .receive = stand_in_receive};
    stand_in_version = (struct version){.path = path,
                                        .algorithm_name = kept.algorithm,
                                        .run = stand_in_run,
                                        .declines = stand_in_declines,
                                        .setup = kept.is_cuda && !kept.depth ? never_setup : NULL,
                                        .launch = kept.is_cuda && !kept.depth ? never_launch : NULL,
                                        .pipeline = kept.depth ? &stand_in_pipeline : NULL,
                                        .teardown = stand_in_end,
                                        .tunables = stand_in_tunables ? tunables : NULL,
                                        .source = &source,
                                        .remote = &remote};
    registry_add_version(&stand_in_version);
out:
    return status;
}
