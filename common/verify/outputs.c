#include "common/verify/outputs.h"

#include <math.h>
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

static bool slot_same_but_rounding(const struct image *a, const struct image *b)
{
    double largest = 0, difference = 0;

    if (a->type != PIXEL_F32 && a->type != PIXEL_F64)
        return slot_same(a, b);
    for (int y = 0; y < a->height; y++) {
        for (int x = 0; x < a->width; x++) {
            for (int c = 0; c < a->channels; c++) {
                const double p = image_sample(a, x, y, c), q = image_sample(b, x, y, c);

                if (isfinite(p) && isfinite(q)) {
                    largest = fmax(largest, fmax(fabs(p), fabs(q)));
                    difference = fmax(difference, fabs(p - q));
                } else if (p != q && !(isnan(p) && isnan(q))) {
                    return false;
                }
            }
        }
    }
    return difference <= 1e-5 * largest;
}

bool outputs_same_but_rounding(const struct image a[], const struct image b[])
{
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        if (!slot_same_but_rounding(&a[slot], &b[slot]))
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
