#include "common/contract/inputs.h"

#include <string.h>

enum status inputs_make_pictures(const struct input_request *request, const enum pixel_type types[], int count,
                                 struct image in[])
{
    enum status status = STATUS_OK;

    for (int i = 0; i < count; i++) {
        if (request->photograph && types[i] == request->photograph->type) {
            TRY(image_create_like(&in[i], request->photograph));
            image_copy(&in[i], request->photograph);
        } else {
            TRY(image_create(&in[i], request->width, request->height, request->channels, types[i]));
            pattern_fill(&in[i], request->pattern, request->seed + (uint64_t)i);
        }
    }
out:
    for (int i = 0; i < count && status != STATUS_OK; i++)
        image_free(&in[i]);
    return status;
}

enum status inputs_make(const struct algorithm *algorithm, const struct input_request *request, struct image in[])
{
    enum pixel_type types[ALGORITHM_MAX_INPUTS];

    memset(in, 0, sizeof(struct image) * (size_t)algorithm->input_count);
    if (algorithm->make_inputs)
        return algorithm->make_inputs(request, in);
    for (int i = 0; i < algorithm->input_count; i++)
        types[i] = algorithm->inputs[i].type;
    return inputs_make_pictures(request, types, algorithm->input_count, in);
}

void inputs_free(const struct algorithm *algorithm, struct image in[])
{
    for (int i = 0; i < algorithm->input_count; i++)
        image_free(&in[i]);
}
