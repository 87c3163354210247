#include "common/algo/detect/windows.h"

#include <stdio.h>
#include <stdlib.h>

static enum status make_planes(struct detect_windows *windows)
{
    const struct image *in = &windows->levels.image;
    enum status status = STATUS_OK;

    for (int kind = 0; kind < 3; kind++)
        if (!windows->planes[kind].data)
            TRY(detect_create_plane(&windows->levels, &windows->planes[kind]));
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++) {
        const uint8_t *own = image_row(in, y);
        uint8_t *to[3];

        for (int kind = 0; kind < 3; kind++)
            to[kind] = image_row(&windows->planes[kind], y);
        /* No window has a cell of two columns in the last one, nor of two rows in the last row. */
        for (int x = 0; x < in->width; x++) {
            const bool wide = x + 1 < in->width, high = y + 1 < in->height;

            to[0][x] = detect_cell(own + x, in->stride, 1 + wide, 1);
            to[1][x] = detect_cell(own + x, in->stride, 1, 1 + high);
            to[2][x] = detect_cell(own + x, in->stride, 1 + wide, 1 + high);
        }
    }
out:
    return status;
}

enum status detect_all_windows(struct detect_windows *windows, const struct image *in, struct image out[],
                               const struct detect_params *params, detect_look *look)
{
    const struct pyramid_layout *layout = &windows->levels.layout;
    const int beyond = params->pyramid.window - 1; /* pixels behind a window's first, to the right and below */
    struct detect_list list = {0};
    enum status status = STATUS_OK;
    char reason[1024] = ""; /* a thread's message is its own */

    TRY(detect_make_levels(&windows->levels, in, params, "cpu/omp"));
    TRY(make_planes(windows));
#pragma omp parallel
    {
        struct detect_list own = {0};
        enum status result = STATUS_OK;

        for (int l = 0; l < layout->count; l++) {
            const struct pyramid_level *level = &layout->levels[l];

#pragma omp for schedule(dynamic, 4) nowait
            for (int y = level->y; y < level->y + level->height - beyond; y++)
                if (result == STATUS_OK && level->width > beyond)
                    result = look(windows, params, y, level->x, level->x + level->width - beyond, &own);
        }
#pragma omp critical
        if (status == STATUS_OK) {
            status = result == STATUS_OK ? detect_join(&list, &own) : result;
            if (status != STATUS_OK)
                snprintf(reason, sizeof reason, "%s", status_message());
        }
        free(own.keys);
    }
    TRY(status == STATUS_OK ? STATUS_OK : status_set(status, "%s", reason));
    TRY(detect_write(&list, layout, params, out));
out:
    free(list.keys);
    return status;
}

void detect_free_windows(struct detect_windows *windows)
{
    detect_free_levels(&windows->levels);
    for (int kind = 0; kind < 3; kind++)
        image_free(&windows->planes[kind]);
}
