#include "common/verify/outputs.h"

#include <string.h>

enum status outputs_create_like(struct image to[], const struct image like[])
{
    enum status status = STATUS_OK;

    memset(to, 0, ALGORITHM_MAX_OUTPUTS * sizeof *to);
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        if (like[slot].width)
            TRY(image_create_like(&to[slot], &like[slot]));
out:
    if (status != STATUS_OK)
        outputs_free(to);
    return status;
}

void outputs_free(struct image outputs[])
{
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        image_free(&outputs[slot]);
}

void outputs_copy(struct image to[], const struct image from[])
{
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        image_copy(&to[slot], &from[slot]);
}

void outputs_fill(struct image outputs[], uint8_t byte)
{
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        image_fill(&outputs[slot], byte);
}

static bool slot_same(const struct image *a, const struct image *b)
{
    for (int y = 0; y < a->height; y++)
        if (memcmp(image_row(a, y), image_row(b, y), image_row_bytes(a)) != 0)
            return false;
    return true;
}

bool outputs_same(const struct image a[], const struct image b[])
{
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        if (!slot_same(&a[slot], &b[slot]))
            return false;
    return true;
}

bool outputs_any_same(const struct image a[], const struct image b[])
{
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        if (a[slot].data && slot_same(&a[slot], &b[slot]))
            return true;
    return false;
}

bool outputs_same_shape(const struct image a[], const struct image b[])
{
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        if (!image_same_shape(&a[slot], &b[slot]))
            return false;
    return true;
}

size_t outputs_samples(const struct image outputs[])
{
    size_t samples = 0;

    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        samples += (size_t)outputs[slot].width * (size_t)outputs[slot].height * (size_t)outputs[slot].channels;
    return samples;
}
