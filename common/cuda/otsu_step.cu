#include "common/cuda/otsu_step.h"

#include <stdlib.h>

enum status otsu_step_setup(struct otsu_step *step, const char *id, const struct image in[])
{
    enum status status = STATUS_OK;
    struct image shape = {};

    if (step->result.data)
        return STATUS_OK;
    TRY(registry_find_version(registry_find_algorithm("otsu"), id, &step->version));
    TRY(step->version->algorithm->shape(in, NULL, &shape));
    if (!step->state)
        step->state = calloc(1, step->version->state_size);
    if (!step->state)
        return status_set(STATUS_NO_MEMORY, "no memory for the state of %s", id);
    TRY(step->version->setup(step->state, in, NULL));
    TRY(device_image_create(&step->result, &shape));
out:
    return status;
}

enum status otsu_step_launch(struct otsu_step *step, const struct image in[], cudaStream_t stream)
{
    return step->version->launch(step->state, in, &step->result, NULL, stream);
}

void otsu_step_teardown(struct otsu_step *step)
{
    if (step->state)
        step->version->teardown(step->state);
    free(step->state);
    device_image_free(&step->result);
    *step = {};
}
