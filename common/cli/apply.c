#include "common/cli/apply.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/queue.h"
#include "common/image/image_io.h"
#include "common/measure/machine.h"
#include "common/measure/tuned.h"

int application_channels(const struct application *application, const struct image in[])
{
    const struct algorithm *algorithm = application->algorithm;
    struct image converted[ALGORITHM_MAX_INPUTS], out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    const int own = in[0].channels, other = own == 1 ? 3 : 1;

    if (algorithm->shape(in, application->params, out) == STATUS_OK)
        return own;
    for (int i = 0; i < algorithm->input_count; i++) {
        if (algorithm->inputs[i].kind != SLOT_PICTURE || in[i].channels != own || (own != 1 && own != 3))
            return own;
        converted[i] = in[i];
        converted[i].channels = other;
    }
    return algorithm->shape(converted, application->params, out) == STATUS_OK ? other : own;
}

enum status application_fit(const struct application *application, const char *names, const struct image in[],
                            struct image fitted[])
{
    const int channels = application_channels(application, in);
    enum status status = STATUS_OK;

    for (int i = 0; i < application->algorithm->input_count; i++) {
        fitted[i] = in[i];
        if (channels == in[0].channels)
            continue;
        fitted[i].data = NULL;
        TRY(image_create(&fitted[i], in[i].width, in[i].height, channels, in[i].type));
        TRY(image_convert(&fitted[i], &in[i], names));
    }
out:
    return status;
}

void application_unfit(const struct application *application, const struct image in[], struct image fitted[])
{
    for (int i = 0; i < application->algorithm->input_count; i++)
        if (fitted[i].data && fitted[i].data != in[i].data)
            image_free(&fitted[i]);
}

static void set_tunables(struct application *application, const struct image in[])
{
    struct application_tuning *tuning = application->tuning;

    if (tuning)
        pthread_mutex_lock(&tuning->lock);
    if (!tuning || !tuning->done)
        tuned_apply(&application->version, 1, application->settings->items, application->settings->count,
                    machine_cores(), in, application->params, false);
    if (tuning) {
        tuning->done = true;
        pthread_mutex_unlock(&tuning->lock);
    }
}

enum status application_shape(struct application *application, const char *names, const struct image in[],
                              struct image out[])
{
    enum status status = STATUS_OK;
    const struct version *version = application->version;
    const char *why;

    memset(out, 0, ALGORITHM_MAX_OUTPUTS * sizeof *out);
    if (application->algorithm->shape(in, application->params, out) != STATUS_OK ||
        (application->algorithm->check_values &&
         application->algorithm->check_values(in, application->params) != STATUS_OK))
        status = status_set(STATUS_BAD_INPUT, "%s: %s", names, status_message());
    /* shape() says nothing about data, and the caller frees what is there. */
    for (int i = 0; i < application->algorithm->output_count; i++)
        out[i].data = NULL;
    if (status != STATUS_OK)
        return status;
    /* This process has started CUDA already: it cannot ask for the GPU's name in a child. Threads of a queue read the
     * tunables, so they are set for its first picture. */
    if (!application->queue)
        set_tunables(application, in);
    TRY(version_check_tunables(version, in, application->params));
    why = version->declines ? version->declines(in, application->params) : NULL;
    if (why)
        status = status_set(STATUS_UNSUPPORTED, "%s: %s cannot do this one: %s", names, version->source->id, why);
out:
    return status;
}

/* A state serves inputs of one shape only. */
static enum status open_state(struct application *application, const struct image in[])
{
    const int count = application->algorithm->input_count;
    const size_t size = application->version->state_size;
    bool fits = application->state != NULL;

    for (int i = 0; i < count; i++)
        fits = fits && image_same_shape(&in[i], &application->shapes[i]);
    if (fits)
        return STATUS_OK;
    application_end(application);
    application->state = calloc(1, size ? size : 1);
    if (!application->state)
        return status_set(STATUS_NO_MEMORY, "no memory for the state of %s", application->version->source->id);
    for (int i = 0; i < count; i++)
        application->shapes[i] = in[i];
    return STATUS_OK;
}

enum status application_compute(struct application *application, const struct image in[], struct image out[])
{
    enum status status = STATUS_OK;
    const struct version *version = application->version;

    TRY(open_state(application, in));
    TRY(version->run(application->state, in, out, application->params));
    if (version->normalise)
        version->normalise(in, out, application->params);
out:
    if (status != STATUS_OK)
        application_end(application); /* what a failed call leaves in it is not known */
    return status;
}

enum status application_run(struct application *application, const struct image in[], struct image out[])
{
    enum status status = STATUS_OK;
    const int count = application->algorithm->output_count;
    struct image shape;

    for (int i = 0; i < count; i++) {
        shape = out[i];
        if (shape.width > 0)
            TRY(image_create_like(&out[i], &shape));
    }
    TRY(application_compute(application, in, out));
out:
    if (status != STATUS_OK)
        for (int i = 0; i < count; i++)
            image_free(&out[i]);
    return status;
}

/* ------------------------------------------------------------------------------------------------ many pictures */

/* Memory for outputs, kept until application_end(): page-locked memory takes longer to make and to free than a picture
 * to compute. */
struct piece {
    void *data;
    size_t bytes;
    bool locked, used; /* locked: the queue's own */
    struct piece *next;
};

struct application_memory {
    pthread_mutex_t lock;
    struct piece *pieces;
};

int application_depth(const struct application *application)
{
    return application->version->queue ? application->version->queue->depth() : 1;
}

/* A piece that nobody uses, or a fresh one; ordinary memory where there is no other, as when a device is lost. NULL
 * when there is none. With the lock held. */
static struct piece *find_piece(struct application *application, size_t bytes)
{
    struct piece *piece = application->memory->pieces;

    while (piece && (piece->used || piece->bytes != bytes))
        piece = piece->next;
    if (piece)
        return piece;
    piece = calloc(1, sizeof *piece);
    if (!piece)
        return NULL;
    piece->data = application->version->queue->allocate(bytes);
    piece->locked = piece->data != NULL;
    if (!piece->data)
        piece->data = aligned_alloc(IMAGE_ALIGNMENT, bytes); /* a whole number of rows, which are aligned */
    if (!piece->data) {
        free(piece);
        return NULL;
    }
    piece->bytes = bytes;
    piece->next = application->memory->pieces;
    application->memory->pieces = piece;
    return piece;
}

static void *take_piece(struct application *application, size_t bytes)
{
    struct piece *piece;

    pthread_mutex_lock(&application->memory->lock);
    piece = find_piece(application, bytes);
    if (piece)
        piece->used = true;
    pthread_mutex_unlock(&application->memory->lock);
    return piece ? piece->data : NULL;
}

static void leave_piece(struct application *application, const void *data)
{
    pthread_mutex_lock(&application->memory->lock);
    for (struct piece *piece = application->memory->pieces; piece; piece = piece->next)
        piece->used = piece->used && piece->data != data;
    pthread_mutex_unlock(&application->memory->lock);
}

enum status application_create(struct application *application, struct image out[])
{
    const int count = application->algorithm->output_count;
    const bool own = application->version->queue && application->version->queue->allocate;
    enum status status = STATUS_OK;

    if (own && !application->memory) {
        application->memory = calloc(1, sizeof *application->memory);
        if (!application->memory)
            return status_set(STATUS_NO_MEMORY, "no memory for results");
        pthread_mutex_init(&application->memory->lock, NULL);
    }
    for (int i = 0; i < count; i++) {
        struct image shape = out[i];

        if (shape.width == 0)
            continue;
        if (!own) {
            TRY(image_create_like(&out[i], &shape));
            continue;
        }
        out[i].stride = image_minimal_stride(&shape);
        out[i].data = take_piece(application, out[i].stride * (size_t)shape.height);
        if (!out[i].data) {
            status = status_set(STATUS_NO_MEMORY, "no memory for a result of %dx%d", shape.width, shape.height);
            goto out;
        }
    }
out:
    if (status != STATUS_OK)
        application_free(application, out);
    return status;
}

void application_free(struct application *application, struct image out[])
{
    const bool own = application->memory != NULL;

    for (int i = 0; i < ALGORITHM_MAX_OUTPUTS; i++) {
        if (own && out[i].data)
            leave_piece(application, out[i].data);
        else
            image_free(&out[i]);
        out[i] = (struct image){0};
    }
}

enum status application_submit(struct application *application, const struct image in[], struct image out[])
{
    const struct version *version = application->version;
    enum status status = STATUS_OK;

    if (!version->queue)
        return application_compute(application, in, out);
    if (!application->queue)
        TRY(version->queue->open(version, application->params, &application->queue));
    TRY(version->queue->submit(application->queue, in, out));
out:
    return status;
}

enum status application_receive(struct application *application, const struct image in[], struct image out[])
{
    const struct version *version = application->version;
    enum status status = STATUS_OK;

    if (!version->queue)
        return STATUS_OK;
    TRY(version->queue->receive(application->queue));
    if (version->normalise)
        version->normalise(in, out, application->params);
out:
    return status;
}

const char *application_note(const struct application *application)
{
    return application->queue ? application->version->queue->note(application->queue) : NULL;
}

static void end_queue(struct application *application)
{
    if (application->queue)
        application->version->queue->close(application->queue);
    application->queue = NULL;
    while (application->memory && application->memory->pieces) {
        struct piece *piece = application->memory->pieces;

        application->memory->pieces = piece->next;
        if (piece->locked)
            application->version->queue->release(piece->data);
        else
            free(piece->data);
        free(piece);
    }
    free(application->memory);
    application->memory = NULL;
}

void application_end(struct application *application)
{
    end_queue(application);
    if (application->state && application->version->teardown)
        application->version->teardown(application->state);
    free(application->state);
    application->state = NULL;
}

enum status application_spread(const struct application *application, const struct kept_pixels *kept,
                               struct image out[])
{
    const struct algorithm *algorithm = application->algorithm;
    enum status status = STATUS_OK;

    for (int i = 0; i < algorithm->output_count; i++) {
        struct image whole = {0};

        if (!algorithm->outputs[i].pixels || !out[i].data)
            continue;
        TRY(kept_spread(&whole, &out[i], kept));
        image_free(&out[i]);
        out[i] = whole;
    }
out:
    return status;
}
