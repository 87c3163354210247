#include "common/contract/pipeline.h"

#include <stdlib.h>
#include <string.h>

enum status pipeline_run(const struct pipeline *pipeline, void *state, const struct image in[], struct image *out,
                         const void *params)
{
    enum status status = STATUS_OK;

    TRY(pipeline->start(state, &in[0], params));
    TRY(pipeline->submit(state, &in[1]));
    TRY(pipeline->receive(state, out));
out:
    return status;
}

enum status step_open(struct step *step, const char *name, const char *algorithm, const char *id, const char *settings)
{
    const struct algorithm *contract = registry_find_algorithm(algorithm);
    const char *why;
    enum status status = STATUS_OK;

    if (!contract)
        return status_set(STATUS_FAILED, "step %s: there is no algorithm %s", name, algorithm);
    TRY(registry_find_version(contract, id, &step->version));
    why = version_unavailable(step->version);
    if (why)
        return status_set(STATUS_UNSUPPORTED, "step %s: %s:%s cannot run here: %s", name, algorithm, id, why);
    step->name = name;
    step->params = calloc(1, contract->params_size ? contract->params_size : 1);
    step->state = calloc(1, step->version->state_size ? step->version->state_size : 1);
    if (!step->params || !step->state) {
        status = status_set(STATUS_NO_MEMORY, "no memory for step %s", name);
        goto out;
    }
    TRY(params_parse_text(contract, settings, step->params));
out:
    if (status != STATUS_OK)
        step_close(step);
    return status;
}

void step_close(struct step *step)
{
    if (step->state && step->version->teardown)
        step->version->teardown(step->state);
    free(step->state);
    free(step->params);
    memset(step, 0, sizeof *step);
}

void step_tune(struct step *step, const char *name, int value)
{
    for (struct tunable *tunable = step->version->tunables; tunable && tunable->name; tunable++)
        for (int i = 0; strcmp(tunable->name, name) == 0 && tunable->legal[i]; i++)
            if (tunable->legal[i] == value)
                *tunable->value = value;
}

enum status step_shape(const struct step *step, const struct image in[], struct image *out)
{
    memset(out, 0, sizeof *out);
    return step->version->algorithm->shape(in, step->params, out);
}

enum status step_setup(const struct step *step, const struct image in[])
{
    return step->version->setup ? step->version->setup(step->state, in, step->params) : STATUS_OK;
}

enum status step_run(struct step *step, const struct image in[], struct image *out, struct CUstream_st *stream)
{
    const struct version *version = step->version;
    enum status status = STATUS_OK;

    step_begin(step->name, stream);
    if (!version->launch)
        return version->run(step->state, in, out, step->params);
    TRY(version->setup(step->state, in, step->params));
    TRY(version->launch(step->state, in, out, step->params, stream));
out:
    return status;
}
