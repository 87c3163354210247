#include "common/image/kept_pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_ignored(const struct image *cube, int x, int y, double ignore)
{
    /* A header has it in decimal digits, f32 samples in 24 bits. */
    const double near = cube->type == PIXEL_F32 ? 5e-7 * fabs(ignore) : 0;

    for (int b = 0; b < cube->channels; b++) {
        const double sample = image_sample(cube, x, y, b);

        if (sample == ignore || fabs(sample - ignore) <= near || (isnan(sample) && isnan(ignore)))
            return true;
    }
    return false;
}

/* Of all shapes of so many pixels the one with the longest rows of at most IMAGE_MAX_SIDE. */
static void shape_of(int64_t count, int *width, int *height)
{
    int64_t rows = (count + IMAGE_MAX_SIDE - 1) / IMAGE_MAX_SIDE;

    while (count % rows != 0)
        rows++;
    *height = (int)rows;
    *width = (int)(count / rows);
}

enum status kept_choose(struct image *cube, double ignore, const char *path, struct kept_pixels *kept)
{
    const int64_t all = (int64_t)cube->width * cube->height;
    const size_t size = (size_t)cube->channels * pixel_size(cube->type);
    enum status status = STATUS_OK;
    struct kept_pixels found = {.width = cube->width, .height = cube->height};
    struct image smaller = {0};
    int width, height;

    found.places = malloc((size_t)all * sizeof *found.places);
    if (!found.places)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    for (int y = 0; y < cube->height; y++)
        for (int x = 0; x < cube->width; x++)
            if (!is_ignored(cube, x, y, ignore))
                found.places[found.count++] = (int64_t)y * cube->width + x;
    if (found.count == all)
        goto out;
    if (found.count == 0 || !kept) {
        status =
            status_set(STATUS_BAD_INPUT, "%s: %lld of %lld pixels have its data ignore value%s", path,
                       (long long)(all - found.count), (long long)all, found.count ? ", and here all are needed" : "");
        goto out;
    }
    shape_of(found.count, &width, &height);
    TRY(array_create(&smaller, width, height, cube->channels, cube->type));
    for (int64_t i = 0; i < found.count; i++)
        memcpy((char *)image_row(&smaller, (int)(i / width)) + (size_t)(i % width) * size,
               (char *)image_row(cube, (int)(found.places[i] / cube->width)) +
                   (size_t)(found.places[i] % cube->width) * size,
               size);
    image_free(cube);
    *cube = smaller;
    *kept = found;
    found.places = NULL;
out:
    free(found.places);
    return status;
}

void kept_free(struct kept_pixels *kept)
{
    free(kept->places);
    *kept = (struct kept_pixels){0};
}

enum status kept_spread(struct image *whole, const struct image *part, const struct kept_pixels *kept)
{
    const size_t size = (size_t)part->channels * pixel_size(part->type);
    enum status status = STATUS_OK;

    TRY(array_create(whole, kept->width, kept->height, part->channels, part->type));
    for (int y = 0; y < whole->height; y++)
        for (int x = 0; x < whole->width; x++)
            for (int c = 0; c < whole->channels; c++)
                image_set_sample(whole, x, y, c,
                                 whole->type == PIXEL_F32 || whole->type == PIXEL_F64 ? NAN
                                 : whole->type == PIXEL_I32                           ? -1
                                                                                      : 0);
    for (int64_t i = 0; i < kept->count; i++)
        memcpy((char *)image_row(whole, (int)(kept->places[i] / whole->width)) +
                   (size_t)(kept->places[i] % whole->width) * size,
               (char *)image_row(part, (int)(i / part->width)) + (size_t)(i % part->width) * size, size);
out:
    return status;
}
