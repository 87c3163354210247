/*
 * detect.h: detection of objects (faces) with local rank functions and WaldBoost, the contract of every version in
 * cpu/detect, cuda/detect and peers/detect.
 *
 * Input    one u8 image, 1 channel, any size from 1x1.
 * Output   detections   an f32 table, 5 wide and maximum + 1 high: row 0 is count, 0, 0, 0, 0; row k >= 1 is x, y,
 *                       width, height in whole pixels of the picture and the score, in the order in which they are
 *                       found below.
 *          hits         an f32 table, 4 wide and maximum + 1 high: row 0 is count, 0, 0, 0; row k >= 1 is x, y, level
 *                       and the response of a window, x and y in pixels of its level; strongest first, equal ones in
 *                       raster order of the pyramid. Rows that are not in use are 0.
 *
 * Pyramid  of the picture (pyramid.h) with `scale` and the model's window; all windows that lie inside one level are
 *          looked at. A picture smaller than the window has none: the tables are empty.
 *
 * Feature  A stage looks at nine cells, c = 3j + i, of w x h pixels each (w, h of 1, 2) from (x, y) of the window on;
 *          the value of a cell is the mean of its pixels, rounded half up:
 *
 *              M[c] = (SUM f(x + iw + p, y + jh + q) + n / 2) / n     0 <= p < w, 0 <= q < h, n = w h
 *
 *          The rank of a cell is the number of cells below it, R(k) = #{i : M[i] < M[k]}. The bin of the stage is
 *
 *              lrd   R(a) - R(b) + 8                                          17 bins
 *              lrp   9 R(a) + R(b)                                            81
 *              lbp   SUM 2^i [M[border(i)] > M[4]], border = 0 1 2 5 8 7 6 3   256
 *
 *          haar has no cells but two to four rectangles of w x h pixels (any w, h that fit into the window) from (x, y)
 *          on; a says how they lie and what their pixels count, b is the side N of the window:
 *
 *              a = 0   +1 -1 beside each other     2   +1 -2 +1 beside each other     4   +1 -1
 *              a = 1   +1 -1 below each other      3   +1 -2 +1 below each other          -1 +1
 *
 *          D = SUM of weights times pixels, and its bin is that of D / (w h) in eighths of the window's standard
 *          deviation,
 *
 *              haar  floor(8 D N^2 / (w h max(1, floor(sqrt(N^2 Q - S^2))))) + 32, no less than 0, no more than 63   64
 *
 *          with S the sum of the window's pixels and Q that of their squares; the quotient is one division in double.
 *
 * Decision H = 0; at each stage t, in order, H = H + table(t)[bin] in float, and a window with H < threshold(t) is
 *          rejected. A window that no stage rejects is a hit when H >= min_response, H is its response. Ranks are
 *          integers and H is summed in one order: all versions agree to the bit.
 *
 * Hits     The strongest `maximum` count. From the strongest on: a hit that no detection has taken yet becomes a
 *          detection, its box the window's in the picture,
 *
 *              left = (x step + 32768) >> 16    width = (window step + 32768) >> 16    (step of pyramid.h)
 *
 *          and takes all hits left whose boxes overlap with its own: intersection > overlap * union. Its score is the
 *          sum of votes, (H - min_response) in float, cut to 1/1024, over all hits that it takes, itself included.
 *          Detections with fewer than `neighbours` hits are dropped.
 *
 * Model    A file, little-endian:
 *
 *              "RUNGSDET", u32 format 1, feature (0 lrd, 1 lrp, 2 lbp, 3 haar), window, stages, bins
 *              stages times: u8 x, y, w, h, a, b, 0, 0, f32 threshold, f32 table[bins]
 *              u32 CRC-32 (IEEE 802.3) of all bytes before
 *
 *          It must have exactly that size, every feature must lie inside the window, and numbers must be finite, tables
 *          at most 100 in magnitude and thresholds at most 1e6. Anything else is refused.
 *
 * Parameters   model        a file; default: the project's own face model      min_score    0..1e9, default 100
 *              scale        1.1..4, default 1.2                                 overlap      0..1, default 0.3
 *              stages       all | 1..4096: only the first so many               neighbours   1..4096, default 2
 *              min_response -1e6..1e6, default 8                                maximum      1..4096 hits, default 2048
 *
 * Errors   not u8, more than 1 channel, more stages than the model has, a pyramid too high: STATUS_BAD_INPUT.
 *
 * Source   Sochman and Matas, WaldBoost - Learning for Time Constrained Sequential Detection, CVPR 2005; Herout, Josth,
 *          Juranek, Havel, Hradis and Zemcik, Real-time object detection on CUDA, Journal of Real-Time Image Processing
 *          6, 2011; haar: Viola and Jones, Rapid object detection using a boosted cascade of simple features, CVPR
 *          2001.
 */
#ifndef RUNGS_DETECT_H
#define RUNGS_DETECT_H

#include <math.h>
#include <stdint.h>

#include "common/algo/pyramid.h"
#include "common/contract/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

enum detect_feature { DETECT_LRD, DETECT_LRP, DETECT_LBP, DETECT_HAAR, DETECT_FEATURES };
enum {
    DETECT_CELLS = 9,
    DETECT_HAAR_KINDS = 5,
    DETECT_HAAR_BINS = 64,
    DETECT_HAAR_PARTS = 8, /* of a standard deviation */
    DETECT_MIN_WINDOW = 6,
    DETECT_MAX_WINDOW = 64,
    DETECT_MAX_STAGES = 4096,
    DETECT_MAX_HITS = 4096,
    DETECT_COLUMNS = 5,
    DETECT_HIT_COLUMNS = 4,
    DETECT_VOTE = 1024, /* parts of a vote */
    DETECT_SPARE = 192  /* bytes */
};

struct detect_stage {
    uint8_t x, y, width, height; /* of the first cell, or rectangle */
    uint8_t a, b, zero[2];
    float threshold;
};

/* In memory: this head, the stages, their tables one after the other. */
struct detect_model {
    uint32_t feature, window, stages, bins;
};

struct detect_params {
    struct model model;
    double scale, min_response, min_score, overlap;
    int stages, neighbours, maximum;
    /* Derived: */
    struct pyramid_params pyramid;
    int stage_count;
};

/* "lrd", "lrp", "lbp", "haar", NULL-terminated, and their numbers of bins. */
extern const char *const detect_feature_names[];
extern const int detect_feature_bins[];

static HOST_DEVICE inline const struct detect_model *detect_model_of(const struct detect_params *params)
{
    return (const struct detect_model *)params->model.data;
}

static HOST_DEVICE inline const struct detect_stage *detect_stages(const struct detect_model *model)
{
    return (const struct detect_stage *)(model + 1);
}

static HOST_DEVICE inline const float *detect_tables(const struct detect_model *model)
{
    return (const float *)(detect_stages(model) + model->stages);
}

/* ------------------------------------------------------------------------------------------------- features */

/* The mean of a cell whose upper left pixel is at `from`. */
static HOST_DEVICE inline uint8_t detect_cell(const uint8_t *from, size_t stride, int width, int height)
{
    int sum = from[0];

    if (width == 2)
        sum += from[1];
    if (height == 2)
        sum += from[stride] + (width == 2 ? from[stride + 1] : 0);
    return (uint8_t)((sum + width * height / 2) / (width * height));
}

/* #{i : cells[i] < cells[k]} */
static HOST_DEVICE inline int detect_rank(const uint8_t cells[DETECT_CELLS], int k)
{
    int rank = 0;

    for (int i = 0; i < DETECT_CELLS; i++)
        rank += cells[i] < cells[k];
    return rank;
}

static HOST_DEVICE inline int detect_bin(int feature, const uint8_t cells[DETECT_CELLS], int a, int b)
{
    if (feature == DETECT_LBP) {
        const int c = cells[4];

        return (cells[0] > c) | (cells[1] > c) << 1 | (cells[2] > c) << 2 | (cells[5] > c) << 3 | (cells[8] > c) << 4 |
               (cells[7] > c) << 5 | (cells[6] > c) << 6 | (cells[3] > c) << 7;
    }
    if (feature == DETECT_LRP)
        return DETECT_CELLS * detect_rank(cells, a) + detect_rank(cells, b);
    return detect_rank(cells, a) - detect_rank(cells, b) + DETECT_CELLS - 1;
}

/* The rectangles of a kind (a) of haar: how many across and down, and what the pixels of number i count, row by row. */
static HOST_DEVICE inline int detect_haar_across(int kind)
{
    return kind == 2 ? 3 : kind == 0 || kind == 4 ? 2 : 1;
}

static HOST_DEVICE inline int detect_haar_down(int kind)
{
    return kind == 3 ? 3 : kind == 1 || kind == 4 ? 2 : 1;
}

static HOST_DEVICE inline int detect_haar_weight(int kind, int i)
{
    if (kind == 2 || kind == 3)
        return i == 1 ? -2 : 1;
    return i == 0 || i == 3 ? 1 : -1;
}

/* floor(sqrt(N^2 Q - S^2)), at least 1: N^2 times the standard deviation. Exact, for the root of less than 2^41 is
 * rounded by less than what is between it and the next whole number. */
static HOST_DEVICE inline int detect_haar_deviation(int window, uint32_t sum, uint32_t squares)
{
    const uint64_t area = (uint64_t)window * (uint64_t)window;
    const int root = (int)sqrt((double)(area * squares - (uint64_t)sum * sum));

    return root > 1 ? root : 1;
}

/* The bin of D, of rectangles of `pixels` pixels each. */
static HOST_DEVICE inline int detect_haar_bin(int difference, int pixels, int window, int deviation)
{
    const double quotient = (double)difference * (DETECT_HAAR_PARTS * window * window) / ((double)pixels * deviation);
    const double most = DETECT_HAAR_BINS / 2;
    const double bin = floor(quotient < -most ? -most : quotient > most - 1 ? most - 1 : quotient) + most;

    return (int)bin;
}

/* The same from the pixels. */
static HOST_DEVICE inline int detect_haar_stage_bin(const struct detect_stage *stage, const uint8_t *window,
                                                    size_t stride)
{
    const int across = detect_haar_across(stage->a), down = detect_haar_down(stage->a), side = stage->b;
    uint32_t sum = 0, squares = 0;
    int difference = 0;

    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            const uint32_t value = window[(size_t)y * stride + (size_t)x];
            sum += value;
            squares += value * value;
        }
    for (int i = 0; i < across * down; i++) {
        const uint8_t *from = window + (size_t)(stage->y + i / across * stage->height) * stride + stage->x +
                              (size_t)(i % across * stage->width);
        int own = 0;
        for (int y = 0; y < stage->height; y++)
            for (int x = 0; x < stage->width; x++)
                own += from[(size_t)y * stride + (size_t)x];
        difference += detect_haar_weight(stage->a, i) * own;
    }
    return detect_haar_bin(difference, stage->width * stage->height, side, detect_haar_deviation(side, sum, squares));
}

/* The bin of a stage in the window whose upper left pixel is at `window`. */
static HOST_DEVICE inline int detect_stage_bin(int feature, const struct detect_stage *stage, const uint8_t *window,
                                               size_t stride)
{
    const uint8_t *from = window + stage->y * stride + stage->x;
    uint8_t cells[DETECT_CELLS];

    if (feature == DETECT_HAAR)
        return detect_haar_stage_bin(stage, window, stride);
    for (int c = 0; c < DETECT_CELLS; c++)
        cells[c] = detect_cell(from + (size_t)(c / 3 * stage->height) * stride + c % 3 * stage->width, stride,
                               stage->width, stage->height);
    return detect_bin(feature, cells, stage->a, stage->b);
}

/* ------------------------------------------------------------------------------------------------------ hits */

/* A hit as one number: the stronger, or of equal ones the earlier in raster order of the pyramid, is greater. */
static HOST_DEVICE inline uint64_t detect_key(float response, const struct pyramid_layout *layout, int x, int y)
{
    union {
        float value;
        uint32_t bits;
    } of = {response};
    const uint32_t ordered = of.bits & 0x80000000u ? ~of.bits : of.bits | 0x80000000u;

    return (uint64_t)ordered << 32 | (uint32_t) ~((uint32_t)y * (uint32_t)layout->width + (uint32_t)x);
}

static HOST_DEVICE inline float detect_key_response(uint64_t key)
{
    const uint32_t ordered = (uint32_t)(key >> 32);
    union {
        uint32_t bits;
        float value;
    } of = {ordered & 0x80000000u ? ordered & 0x7fffffffu : ~ordered};

    return of.value;
}

/* A hit in the table's terms: its place in its level. */
struct detect_place {
    int x, y, level;
};

static HOST_DEVICE inline struct detect_place detect_key_place(uint64_t key, const struct pyramid_layout *layout)
{
    const uint32_t index = ~(uint32_t)key;
    struct detect_place place = {(int)(index % (uint32_t)layout->width), (int)(index / (uint32_t)layout->width), 0};
    const struct pyramid_level *level = layout->levels;

    while (place.x < level->x || place.y < level->y || place.x >= level->x + level->width ||
           place.y >= level->y + level->height)
        level++;
    place.x -= level->x;
    place.y -= level->y;
    place.level = (int)(level - layout->levels);
    return place;
}

/* The box of a window in pixels of the picture. */
struct detect_box {
    int x, y, side;
};

static HOST_DEVICE inline struct detect_box detect_find_box(struct detect_place place,
                                                            const struct pyramid_layout *layout, int window)
{
    const uint64_t step = layout->levels[place.level].step;
    struct detect_box box = {(int)((place.x * step + 32768) >> 16), (int)((place.y * step + 32768) >> 16),
                             (int)((window * step + 32768) >> 16)};

    return box;
}

static HOST_DEVICE inline bool detect_overlap(struct detect_box a, struct detect_box b, double overlap)
{
    const int left = a.x > b.x ? a.x : b.x, top = a.y > b.y ? a.y : b.y;
    const int right = a.x + a.side < b.x + b.side ? a.x + a.side : b.x + b.side;
    const int bottom = a.y + a.side < b.y + b.side ? a.y + a.side : b.y + b.side;

    if (right <= left || bottom <= top)
        return false;
    const int64_t common = (int64_t)(right - left) * (bottom - top);
    const int64_t all = (int64_t)a.side * a.side + (int64_t)b.side * b.side - common;
    return (double)common > overlap * (double)all;
}

static HOST_DEVICE inline int64_t detect_vote(float response, float min_response)
{
    return (int64_t)((response - min_response) * (float)DETECT_VOTE);
}

/* What every CPU version begins with: the pyramid, by a version of its ladder. Zeroed: not made yet. */
struct detect_levels {
    struct step step;
    struct pyramid_layout layout;
    struct image image;
};
enum status detect_make_levels(struct detect_levels *levels, const struct image *in, const struct detect_params *params,
                               const char *version);
void detect_free_levels(struct detect_levels *levels);
/* An image like the levels. In both, DETECT_SPARE bytes behind the last row may be read. */
enum status detect_create_plane(const struct detect_levels *levels, struct image *plane);
/* Settings of the step, as after -p. */
void detect_describe_pyramid(const struct detect_params *params, char *text, size_t size);

/* And what it ends with: a list of keys that grows. */
struct detect_list {
    uint64_t *keys;
    size_t count, capacity;
};
enum status detect_append(struct detect_list *list, uint64_t key);
/* Adds those of another list. */
enum status detect_join(struct detect_list *list, const struct detect_list *other);
/* From all hits to both tables; frees the list. */
enum status detect_write(struct detect_list *list, const struct pyramid_layout *layout,
                         const struct detect_params *params, struct image out[]);

/* ----------------------------------------------------------------------------------------------------- model */

/* Whether a stage's feature is one of its kind that lies inside of the window. */
bool detect_is_feature(int feature, const struct detect_stage *stage, int window);
/* Why a version that only looks at cells declines a model of rectangles, or NULL. */
const char *detect_cells_only(const struct image in[], const void *params);

/* The model_loader of detect. */
enum status detect_load_model(const char *path, void **data, size_t *size);
/* Writes a model as a file that detect_load_model() reads. */
enum status detect_save_model(const char *path, const struct detect_model *model);

/* common/train has the training, which this makes the algorithm's own. */
void detect_set_trainer(const struct trainer *trainer);

#ifdef __cplusplus
}
#endif
#endif
