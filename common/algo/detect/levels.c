#include <stdio.h>

#include "common/algo/detect.h"

void detect_describe_pyramid(const struct detect_params *params, char *text, size_t size)
{
    snprintf(text, size, "scale=%.17g window=%d", params->scale, params->pyramid.window);
}

enum status detect_create_plane(const struct detect_levels *levels, struct image *plane)
{
    const int rows = levels->layout.height;
    const enum status status =
        array_create(plane, levels->layout.width, rows + DETECT_SPARE / IMAGE_ALIGNMENT, 1, PIXEL_U8);

    if (status == STATUS_OK) {
        image_fill(plane, 0);
        plane->height = rows;
    }
    return status;
}

enum status detect_make_levels(struct detect_levels *levels, const struct image *in, const struct detect_params *params,
                               const char *version)
{
    char settings[64];
    enum status status = STATUS_OK;

    if (!levels->image.data) {
        pyramid_lay_out(in->width, in->height, &params->pyramid, &levels->layout);
        detect_describe_pyramid(params, settings, sizeof settings);
        TRY(step_open(&levels->step, "pyramid", "pyramid", version, settings));
        TRY(detect_create_plane(levels, &levels->image));
    }
    TRY(step_run(&levels->step, in, &levels->image, NULL));
out:
    return status;
}

void detect_free_levels(struct detect_levels *levels)
{
    step_close(&levels->step);
    image_free(&levels->image);
    *levels = (struct detect_levels){0};
}
