#include "cuda/lines/shared/finder.h"

enum status line_finder_open(struct line_finder *finder, const struct lines_ids *ids, const struct image *first,
                             const struct lines_params *params)
{
    struct lines_shapes shapes;
    enum status status = STATUS_OK;

    TRY(lines_steps_open(finder->steps, params, ids));
    TRY(lines_make_shapes(finder->steps, first, &shapes));
    step_begin("allocate", 0);
    TRY(device_image_create(&finder->frame, first));
    TRY(device_image_create(&finder->gray, &shapes.gray));
    TRY(device_image_create(&finder->mask, &shapes.mask));
    TRY(device_image_create(&finder->table, &shapes.table));
    TRY(step_setup(&finder->steps[LINES_GRAYSCALE], &finder->frame));
    TRY(step_setup(&finder->steps[LINES_EDGES], &finder->gray));
    TRY(step_setup(&finder->steps[LINES_DETECTOR], &finder->mask));
out:
    if (status != STATUS_OK)
        line_finder_close(finder);
    return status;
}

void line_finder_close(struct line_finder *finder)
{
    step_begin("free", 0);
    device_image_free(&finder->frame);
    device_image_free(&finder->gray);
    device_image_free(&finder->mask);
    device_image_free(&finder->table);
    lines_steps_close(finder->steps);
}

enum status line_finder_launch(struct line_finder *finder, cudaStream_t stream)
{
    struct image masks[2] = {finder->mask}, tables[2] = {finder->table}; /* of each step the first of two outputs */
    enum status status = STATUS_OK;

    TRY(step_run(&finder->steps[LINES_GRAYSCALE], &finder->frame, &finder->gray, stream));
    TRY(step_run(&finder->steps[LINES_EDGES], &finder->gray, masks, stream));
    TRY(step_run(&finder->steps[LINES_DETECTOR], &finder->mask, tables, stream));
out:
    return status;
}

enum status line_finder_find(struct line_finder *finder, const struct image *frame, struct image *result)
{
    enum status status = STATUS_OK;

    step_begin("upload", 0);
    TRY(device_upload(&finder->frame, frame));
    TRY(line_finder_launch(finder, 0));
    step_begin("download", 0);
    TRY(device_download(&finder->lines, &finder->table));
    lines_write(&finder->lines, result);
out:
    return status;
}
