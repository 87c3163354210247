#include "common/algo/detect/count.h"

const char *const detect_count_names[] = {"windows", "looks", "left", NULL};

enum status detect_count(const struct image in[], const void *params_erased, double counts[])
{
    const struct detect_params *params = params_erased;
    const struct detect_model *model = detect_model_of(params);
    const int beyond = params->pyramid.window - 1; /* pixels behind a window's first, to the right and below */
    struct detect_levels levels = {0};
    double windows = 0, looks = 0, left = 0;
    enum status status = STATUS_OK;

    TRY(detect_make_levels(&levels, in, params, "cpu/serial"));
    for (int l = 0; l < levels.layout.count; l++) {
        const struct pyramid_level *level = &levels.layout.levels[l];

#pragma omp parallel for schedule(dynamic, 4) reduction(+ : windows, looks, left)
        for (int y = level->y; y < level->y + level->height - beyond; y++)
            for (int x = level->x; x < level->x + level->width - beyond; x++) {
                const uint8_t *window = (const uint8_t *)image_row(&levels.image, y) + x;
                const float *table = detect_tables(model);
                float response = 0;
                bool passes = true;

                for (int t = 0; t < params->stage_count && passes; t++, table += model->bins) {
                    const struct detect_stage *stage = &detect_stages(model)[t];

                    response += table[detect_stage_bin((int)model->feature, stage, window, levels.image.stride)];
                    passes = !(response < stage->threshold);
                    looks++;
                }
                windows++;
                left += passes;
            }
    }
    counts[0] = windows;
    counts[1] = looks;
    counts[2] = left;
out:
    detect_free_levels(&levels);
    return status;
}
