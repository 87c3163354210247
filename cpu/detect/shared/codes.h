/*
 * codes.h: where the stages of a model look. For LBP: into pictures of codes, which have the bin at every pixel of the
 * pyramid. For LRD and LRP, whose bins depend on two cells that differ from stage to stage: into the means of cells.
 */
#ifndef RUNGS_DETECT_STEPS_CODES_H
#define RUNGS_DETECT_STEPS_CODES_H

#include "cpu/detect/shared/cells.h"
#include "cpu/detect/shared/lanes.h"
#include "cpu/detect/shared/planes.h"

enum { CODES_KINDS = 4 /* sizes of cells: 1 x 1, 2 x 1, 1 x 2 and 2 x 2 pixels */ };

struct codes {
    struct image bins[CODES_KINDS];          /* of the LBP whose first cell has its upper left pixel there */
    const uint8_t *first[DETECT_MAX_STAGES]; /* where the window at offset 0 has its bin (LBP), or its first cell */
};

/* planes: the means of cells of the three larger sizes; those of the smallest are the levels themselves. */
static inline enum status codes_make(struct codes *codes, const struct detect_levels *levels,
                                     const struct image planes[], const struct detect_params *params)
{
    const struct detect_model *model = detect_model_of(params);
    const bool is_lbp = model->feature == DETECT_LBP;
    const int width = levels->image.width, height = levels->image.height;
    enum status status = STATUS_OK;

    for (int kind = 0; is_lbp && kind < CODES_KINDS; kind++)
        if (!codes->bins[kind].data)
            TRY(detect_create_plane(levels, &codes->bins[kind]));
    for (int t = 0; t < params->stage_count; t++) {
        const struct detect_stage *stage = &detect_stages(model)[t];
        const struct image *bins = &codes->bins[stage->width - 1 + 2 * (stage->height - 1)];

        codes->first[t] = is_lbp ? (const uint8_t *)bins->data + stage->y * bins->stride + stage->x
                                 : planes_first_cell(planes, levels, stage);
    }
    if (!is_lbp)
        goto out;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; y++)
        for (int kind = 0; kind < CODES_KINDS; kind++) {
            const struct detect_stage cells = {.width = (uint8_t)(1 + kind % 2), .height = (uint8_t)(1 + kind / 2)};
            const uint8_t *from = image_row(kind ? &planes[kind - 1] : &levels->image, y);
            uint8_t *to = image_row(&codes->bins[kind], y);

            if (y + 3 * cells.height <= height)
                for (int x = 0; x < width; x += SIMD_BYTES)
                    simd_store(to + x, lanes_bins(DETECT_LBP, &cells, from + x, cells.height * levels->image.stride));
        }
out:
    return status;
}

static inline void codes_free(struct codes *codes)
{
    for (int kind = 0; kind < CODES_KINDS; kind++)
        image_free(&codes->bins[kind]);
}

/* The bins of stage t in the windows from `offset` on, and the bin of one. */
SIMD_INLINE simd_u8 codes_bins(const struct codes *codes, const struct detect_model *model, int t, size_t offset,
                               size_t stride)
{
    const struct detect_stage *stage = &detect_stages(model)[t];
    const uint8_t *from = codes->first[t] + offset;

    return model->feature == DETECT_LBP ? simd_load(from)
                                        : lanes_bins((int)model->feature, stage, from, stage->height * stride);
}

static inline int codes_bin(const struct codes *codes, const struct detect_model *model, int t, size_t offset,
                            size_t stride)
{
    const struct detect_stage *stage = &detect_stages(model)[t];
    const uint8_t *from = codes->first[t] + offset;

    return model->feature == DETECT_LBP ? *from : cells_bin((int)model->feature, stage, from, stage->height * stride);
}

#endif
