/*
 * planes.cuh: a tile of the picture in shared memory, as four planes with the means of cells of 1 x 1, 2 x 1, 1 x 2 and
 * 2 x 2 pixels, each mean at the place of its upper left pixel. A row of a plane is whole words.
 *
 *     a b     at the place of a:  a | (a + b + 1) / 2 | (a + c + 1) / 2 | (a + b + c + d + 2) / 4
 *     c d
 */
#ifndef RUNGS_DETECT_STEPS_PLANES_CUH
#define RUNGS_DETECT_STEPS_PLANES_CUH

#include "cuda/detect/shared/hits.h"

static inline const char *planes_declines(const struct image in[], const void *params)
{
    enum { LARGEST = 48 };
    const char *why = detect_cells_only(in, params);

    return why ? why
           : ((const struct detect_params *)params)->pyramid.window > LARGEST
               ? "four planes of a tile of windows of more than 48 pixels do not fit in shared memory"
               : NULL;
}

/* Bytes of a row of a plane of a tile that has `windows` windows along x. */
static HOST_DEVICE inline int planes_stride(int windows, int window)
{
    return (windows + window - 1 + 3) / 4 * 4;
}

/* Five pixels of a row: the four from column x on, and those from x + 1 on. Columns and rows behind the picture's last
 * mean nothing, but what is read stays in it. */
struct five_pixels {
    unsigned own, right;
};

static __device__ inline struct five_pixels planes_load(const struct image &levels, int x, int y)
{
    const unsigned *row = (const unsigned *)image_row(&levels, min(y, levels.height - 1));
    const int last = (levels.width - 1) / 4, bits = x % 4 * 8;
    const unsigned low = row[min(x / 4, last)], high = row[min(x / 4 + 1, last)];

    return {__funnelshift_r(low, high, bits), __funnelshift_rc(low, high, bits + 8)};
}

/* Sums of the pixels of a row and their right neighbours, of two columns a word. */
struct row_sums {
    unsigned even, odd;
};

static __device__ inline struct row_sums planes_sums(struct five_pixels row)
{
    const unsigned even = 0x00ff00ff;

    return {(row.own & even) + (row.right & even), (row.own >> 8 & even) + (row.right >> 8 & even)};
}

/* The planes of the tile whose first pixel is at x, y of the pyramid, four means at a time. A thread goes DOWN rows
 * down, so that it loads each row once and not once more as the row below. */
static __device__ inline void planes_fill(uint8_t *planes, int stride, int height, const struct image &levels, int x,
                                          int y)
{
    enum { DOWN = 4 };
    const int words = stride / 4, size = words * height;
    const unsigned even = 0x00ff00ff, two = 0x00020002;

    for (int i = threadIdx.x; i < words * ((height + DOWN - 1) / DOWN); i += blockDim.x) {
        const int first = i / words * DOWN, column = i % words;
        unsigned *to = (unsigned *)planes + first * words + column;
        struct five_pixels rows[DOWN + 1];
        for (int k = 0; k <= DOWN; k++)
            rows[k] = planes_load(levels, x + 4 * column, y + first + k);
        for (int k = 0; k < DOWN; k++, to += words) {
            const struct row_sums own = planes_sums(rows[k]), below = planes_sums(rows[k + 1]);
            if (first + k >= height)
                break;
            to[0] = rows[k].own;
            to[size] = __vavgu4(rows[k].own, rows[k].right);
            to[2 * size] = __vavgu4(rows[k].own, rows[k + 1].own);
            to[3 * size] = ((own.even + below.even + two) >> 2 & even) | ((own.odd + below.odd + two) >> 2 & even) << 8;
        }
    }
}

/* A stage in terms of the planes: where its cells lie is the same for all windows. */
struct alignas(16) plane_stage {
    int from;             /* the first cell, from the window's first pixel in the first plane on */
    unsigned short below; /* bytes from a cell to the one below it */
    uint8_t a, b;
    int width; /* of a cell */
    float threshold;
};

/* The first stages of a model, as a kernel parameter. */
struct plane_stages {
    struct plane_stage first[CONSTANT_STAGES];
};

static HOST_DEVICE inline struct plane_stage planes_decode(const struct detect_stage &stage, int stride, int size)
{
    const int plane = stage.width - 1 + 2 * (stage.height - 1);

    return {plane * size + stage.y * stride + stage.x,
            (unsigned short)(stage.height * stride),
            stage.a,
            stage.b,
            stage.width,
            stage.threshold};
}

static inline struct plane_stages planes_stages(const struct detect_params *params, int stride, int size)
{
    struct plane_stages stages = {};

    for (int t = 0; t < min(params->stage_count, (int)CONSTANT_STAGES); t++)
        stages.first[t] = planes_decode(detect_stages(detect_model_of(params))[t], stride, size);
    return stages;
}

/* Stage t, wherever it is. */
static __device__ inline struct plane_stage planes_stage_at(const struct plane_stages &stages,
                                                            const struct model_view &model, int t, int stride, int size)
{
    return t < CONSTANT_STAGES ? stages.first[t] : planes_decode(model.stages[t], stride, size);
}

/* The bin of a stage in the window at `window` of the first plane. */
static __device__ inline int planes_bin(int feature, const struct plane_stage &stage, const uint8_t *window)
{
    const uint8_t *from = window + stage.from;
    uint8_t cells[DETECT_CELLS];

    for (int c = 0; c < DETECT_CELLS; c++)
        cells[c] = from[c / 3 * stage.below + c % 3 * stage.width];
    return detect_bin(feature, cells, stage.a, stage.b);
}

#endif
