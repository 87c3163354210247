#include "common/cli/apply.h"

#include <stdlib.h>
#include <string.h>

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
        return status_set(STATUS_BAD_INPUT, "%s: %s", names, status_message());
    /* This process has started CUDA already: it cannot ask for the GPU's name in a child. */
    tuned_apply(&version, 1, application->settings->items, application->settings->count, machine_cores(), in,
                application->params, false);
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

void application_end(struct application *application)
{
    if (application->state && application->version->teardown)
        application->version->teardown(application->state);
    free(application->state);
    application->state = NULL;
}
