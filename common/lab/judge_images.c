#include "common/lab/judge_images.h"

#include <string.h>

#include "common/contract/inputs.h"

enum status judge_make(const struct algorithm *algorithm, const int shape[3], uint64_t seed, const void *params,
                       struct image in[])
{
    const struct input_request request = {.width = shape[0],
                                          .height = shape[1],
                                          .channels = shape[2] ? shape[2] : algorithm->bench_channels,
                                          .pattern = PATTERN_RANDOM,
                                          .seed = seed,
                                          .params = params};

    return inputs_make(algorithm, &request, in);
}

enum status judge_place(struct remote *remote, struct image *image, const struct image *like)
{
    *image = *like;
    image->stride = image_minimal_stride(image);
    image->data = remote_allocate(remote, image->stride * (size_t)image->height);
    return image->data ? STATUS_OK
                       : status_set(STATUS_NO_MEMORY, "images of %dx%d are too large to be shared with a worker",
                                    like->width, like->height);
}

enum status judge_place_outputs(struct remote *remote, struct image out[], const struct image like[])
{
    enum status status = STATUS_OK;

    memset(out, 0, ALGORITHM_MAX_OUTPUTS * sizeof *out);
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        if (like[slot].width)
            TRY(judge_place(remote, &out[slot], &like[slot]));
out:
    return status;
}

enum status judge_place_params(struct remote *remote, const struct algorithm *algorithm, const void *params)
{
    char *const placed = (char *)remote_channel(remote)->params;

    memcpy(placed, params, algorithm->params_size);
    for (const struct parameter *p = algorithm->parameters; p && p->name; p++) {
        struct model *model = (struct model *)(placed + p->offset);
        void *copy;

        if (p->kind != PARAMETER_MODEL || !model->data)
            continue;
        copy = remote_allocate(remote, model->size);
        if (!copy)
            return status_set(STATUS_NO_MEMORY, "%s is too large to be shared with a worker", model->path);
        memcpy(copy, model->data, model->size);
        model->data = copy;
    }
    return STATUS_OK;
}
