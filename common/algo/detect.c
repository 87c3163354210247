#include "common/algo/detect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/detect/cases.h"
#include "common/algo/detect/count.h"
#include "common/core/file.h"
#include "common/image/draw.h"

const char *const detect_feature_names[] = {"lrd", "lrp", "lbp", "haar", NULL};
const int detect_feature_bins[] = {2 * DETECT_CELLS - 1, DETECT_CELLS *DETECT_CELLS, 256, DETECT_HAAR_BINS};

/* ----------------------------------------------------------------------------------------------------- model */

static const char magic[] = "RUNGSDET";
enum { MAGIC_BYTES = sizeof magic - 1, HEAD_BYTES = MAGIC_BYTES + 5 * 4, STAGE_BYTES = 12, CRC_BYTES = 4, FORMAT = 1 };
static const float largest_entry = 100, largest_threshold = 1e6f;

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
    uint32_t crc = ~(uint32_t)0;

    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static uint32_t get(const uint8_t *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static void put(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static float get_float(const uint8_t *from)
{
    const uint32_t bits = get(from);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static void put_float(uint8_t *to, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    put(to, bits);
}

static size_t file_bytes(const struct detect_model *head)
{
    return HEAD_BYTES + head->stages * (size_t)(STAGE_BYTES + 4 * head->bins) + CRC_BYTES;
}

static enum status damaged(const char *path, const char *why)
{
    return status_set(STATUS_BAD_INPUT, "%s: no usable model: %s", path, why);
}

/* Checks the head of a file of `size` bytes, at least HEAD_BYTES and CRC_BYTES. */
static enum status read_head(const char *path, const uint8_t *bytes, uint64_t size, struct detect_model *head)
{
    if (memcmp(bytes, magic, MAGIC_BYTES) != 0)
        return damaged(path, "it does not begin with RUNGSDET");
    if (get(bytes + MAGIC_BYTES) != FORMAT)
        return damaged(path, "another format than 1");
    *head = (struct detect_model){.feature = get(bytes + MAGIC_BYTES + 4),
                                  .window = get(bytes + MAGIC_BYTES + 8),
                                  .stages = get(bytes + MAGIC_BYTES + 12),
                                  .bins = get(bytes + MAGIC_BYTES + 16)};
    if (head->feature >= DETECT_FEATURES || head->bins != (uint32_t)detect_feature_bins[head->feature])
        return damaged(path, "an unknown feature, or one with another number of bins");
    if (head->window < DETECT_MIN_WINDOW || head->window > DETECT_MAX_WINDOW)
        return damaged(path, "a window that is not 6 to 64 pixels wide");
    if (head->stages < 1 || head->stages > DETECT_MAX_STAGES)
        return damaged(path, "not 1 to 4096 stages");
    if (size != file_bytes(head))
        return damaged(path, size < file_bytes(head) ? "cut off" : "longer than its head says");
    if (crc_of(bytes, (size_t)size - CRC_BYTES) != get(bytes + size - CRC_BYTES))
        return damaged(path, "damaged: its checksum is another");
    return STATUS_OK;
}

bool detect_is_feature(int feature, const struct detect_stage *stage, int window)
{
    const bool haar = feature == DETECT_HAAR;
    const int across = haar ? detect_haar_across(stage->a) : 3, down = haar ? detect_haar_down(stage->a) : 3;

    if (stage->width < 1 || stage->height < 1 || stage->x + across * stage->width > window ||
        stage->y + down * stage->height > window)
        return false;
    if (haar)
        return stage->a < DETECT_HAAR_KINDS && stage->b == window;
    return stage->width <= 2 && stage->height <= 2 && stage->a < DETECT_CELLS && stage->b < DETECT_CELLS;
}

const char *detect_cells_only(const struct image in[], const void *params)
{
    (void)in;
    return detect_model_of(params)->feature == DETECT_HAAR ? "it looks at cells, and haar has none" : NULL;
}

static enum status read_stage(const char *path, const uint8_t *from, const struct detect_model *head,
                              struct detect_stage *stage, float *table)
{
    *stage = (struct detect_stage){.x = from[0],
                                   .y = from[1],
                                   .width = from[2],
                                   .height = from[3],
                                   .a = from[4],
                                   .b = from[5],
                                   .threshold = get_float(from + 8)};
    if (!detect_is_feature((int)head->feature, stage, (int)head->window) || from[6] || from[7])
        return damaged(path, "a feature outside the window, or none that there is");
    if (!(fabsf(stage->threshold) <= largest_threshold))
        return damaged(path, "a threshold that is no number up to 1e6");
    for (uint32_t i = 0; i < head->bins; i++) {
        table[i] = get_float(from + STAGE_BYTES + 4 * (size_t)i);
        if (!(fabsf(table[i]) <= largest_entry))
            return damaged(path, "a table with an entry that is no number up to 100");
    }
    return STATUS_OK;
}

enum status detect_load_model(const char *path, void **data, size_t *size)
{
    enum status status = STATUS_OK;
    struct detect_model head, *model = NULL;
    uint8_t *bytes = NULL;
    FILE *stream = NULL;
    uint64_t length;

    TRY(file_open(path, &stream, &length));
    if (length < HEAD_BYTES + CRC_BYTES || length > 8 << 20) {
        status = damaged(path, length < HEAD_BYTES + CRC_BYTES ? "cut off" : "too long");
        goto out;
    }
    bytes = malloc((size_t)length);
    if (!bytes) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory for its %llu bytes", path, (unsigned long long)length);
        goto out;
    }
    if (fread(bytes, 1, (size_t)length, stream) != length) {
        status = damaged(path, "cannot be read");
        goto out;
    }
    TRY(read_head(path, bytes, length, &head));
    *size = sizeof head + head.stages * (sizeof(struct detect_stage) + head.bins * sizeof(float));
    model = malloc(*size);
    if (!model) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory for %u stages", path, head.stages);
        goto out;
    }
    *model = head;
    for (uint32_t t = 0; t < head.stages; t++)
        TRY(read_stage(path, bytes + HEAD_BYTES + t * (size_t)(STAGE_BYTES + 4 * head.bins), &head,
                       (struct detect_stage *)(detect_stages(model) + t),
                       (float *)(detect_tables(model) + t * (size_t)head.bins)));
    *data = model;
    model = NULL;
out:
    if (stream)
        fclose(stream);
    free(bytes);
    free(model);
    return status;
}

enum status detect_save_model(const char *path, const struct detect_model *model)
{
    enum status status = STATUS_OK;
    struct output_file file = {0};
    const size_t size = file_bytes(model);
    uint8_t *bytes = calloc(1, size), *to;

    if (!bytes)
        return status_set(STATUS_NO_MEMORY, "%s: no memory for %u stages", path, model->stages);
    memcpy(bytes, magic, MAGIC_BYTES);
    put(bytes + MAGIC_BYTES, FORMAT);
    put(bytes + MAGIC_BYTES + 4, model->feature);
    put(bytes + MAGIC_BYTES + 8, model->window);
    put(bytes + MAGIC_BYTES + 12, model->stages);
    put(bytes + MAGIC_BYTES + 16, model->bins);
    to = bytes + HEAD_BYTES;
    for (uint32_t t = 0; t < model->stages; t++) {
        const struct detect_stage *stage = &detect_stages(model)[t];
        const uint8_t feature[] = {stage->x, stage->y, stage->width, stage->height, stage->a, stage->b};

        memcpy(to, feature, sizeof feature);
        put_float(to + 8, stage->threshold);
        to += STAGE_BYTES;
        for (uint32_t i = 0; i < model->bins; i++, to += 4)
            put_float(to, detect_tables(model)[t * model->bins + i]);
    }
    put(to, crc_of(bytes, size - CRC_BYTES));
    TRY(file_create(&file, path));
    file_write(&file, bytes, size);
    TRY(file_commit(&file));
out:
    file_discard(&file);
    free(bytes);
    return status;
}

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const default_model[] = {"common/algo/detect/faces.model"}, *const all_stages[] = {"all", NULL};

static const struct parameter parameters[] = {
    {.name = "model",
     .kind = PARAMETER_MODEL,
     .offset = offsetof(struct detect_params, model),
     .words = default_model,
     .load = detect_load_model,
     .help = "classifier; rungs train detect makes one"},
    {.name = "scale",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct detect_params, scale),
     .minimum = 1.1,
     .maximum = 4,
     .preset = 1.2,
     .help = "from one level of the pyramid to the next"},
    {.name = "stages",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct detect_params, stages),
     .minimum = 1,
     .maximum = DETECT_MAX_STAGES,
     .words = all_stages,
     .preset = -1,
     .help = "only the first so many of the model"},
    {.name = "min_response",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct detect_params, min_response),
     .minimum = -1e6,
     .maximum = 1e6,
     .preset = 8,
     .help = "least response of a hit"},
    {.name = "min_score",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct detect_params, min_score),
     .minimum = 0,
     .maximum = 1e9,
     .preset = 100,
     .help = "least score of a detection: the sum of what its hits have above min_response"},
    {.name = "overlap",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct detect_params, overlap),
     .minimum = 0,
     .maximum = 1,
     .preset = 0.3,
     .help = "intersection over union above which hits are one detection"},
    {.name = "neighbours",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct detect_params, neighbours),
     .minimum = 1,
     .maximum = DETECT_MAX_HITS,
     .preset = 2,
     .help = "least number of hits of a detection"},
    {.name = "maximum",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct detect_params, maximum),
     .minimum = 1,
     .maximum = DETECT_MAX_HITS,
     .preset = 2048,
     .help = "most hits, the strongest"},
    {0},
};

static enum status finish(void *params_erased)
{
    struct detect_params *params = params_erased;
    const struct detect_model *model = detect_model_of(params);

    params->stage_count = params->stages < 0 ? (int)model->stages : params->stages;
    if (params->stage_count > (int)model->stages)
        return status_set(STATUS_BAD_INPUT, "stages=%d: the model has %u", params->stages, model->stages);
    params->pyramid = (struct pyramid_params){.scale = params->scale, .window = (int)model->window};
    return STATUS_OK;
}

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct detect_params *p = params_erased;

    snprintf(text, size,
             "model=%s (%s, %d stages) scale=%g min_response=%g min_score=%g overlap=%g neighbours=%d maximum=%d",
             strrchr(p->model.path, '/') ? strrchr(p->model.path, '/') + 1 : p->model.path,
             detect_feature_names[detect_model_of(p)->feature], p->stage_count, p->scale, p->min_response, p->min_score,
             p->overlap, p->neighbours, p->maximum);
}

/* ------------------------------------------------------------------------------------------ shapes and costs */

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct detect_params *params = params_erased;
    struct pyramid_layout layout;

    if (in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "detect takes u8 samples, not %s", pixel_name(in->type));
    if (in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "detect takes 1 channel (gray), not %d", in->channels);
    pyramid_lay_out(in->width, in->height, &params->pyramid, &layout);
    if (layout.height > IMAGE_MAX_SIDE)
        return status_set(STATUS_BAD_INPUT, "detect: a pyramid of %d rows, more than the %d that there may be",
                          layout.height, IMAGE_MAX_SIDE);
    out[0] = (struct image){.width = DETECT_COLUMNS, .height = params->maximum + 1, .channels = 1, .type = PIXEL_F32};
    out[1] =
        (struct image){.width = DETECT_HIT_COLUMNS, .height = params->maximum + 1, .channels = 1, .type = PIXEL_F32};
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* The picture is read once, the tables are written. Each window goes through one stage at least: 16 comparisons and a
 * look into a table. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct detect_params *params = params_erased;
    struct pyramid_layout layout;
    double windows = 0;

    (void)out;
    pyramid_lay_out(in->width, in->height, &params->pyramid, &layout);
    for (int l = 0; l < layout.count; l++)
        windows += fmax(0, layout.levels[l].width - params->pyramid.window + 1) *
                   fmax(0, layout.levels[l].height - params->pyramid.window + 1);
    cost->bytes = (double)in->width * in->height + 4.0 * (DETECT_COLUMNS + DETECT_HIT_COLUMNS) * (params->maximum + 1);
    cost->operations[OPERATION_COMPARISON_8] = 2 * (DETECT_CELLS - 1) * windows;
    cost->operations[OPERATION_TABLE_LOOK_UP] = windows;
}

/* -------------------------------------------------------------------------------------- shared by CPU versions */

enum status detect_append(struct detect_list *list, uint64_t key)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 4096;
        uint64_t *keys = realloc(list->keys, capacity * sizeof *keys);

        if (!keys)
            return status_set(STATUS_NO_MEMORY, "no memory for %zu hits", capacity);
        list->keys = keys;
        list->capacity = capacity;
    }
    list->keys[list->count++] = key;
    return STATUS_OK;
}

enum status detect_join(struct detect_list *list, const struct detect_list *other)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < other->count && status == STATUS_OK; i++)
        status = detect_append(list, other->keys[i]);
    return status;
}

static int compare_keys(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a > b ? -1 : a < b;
}

/* Boxes of hits, by their edges. */
struct edges {
    int left[DETECT_MAX_HITS], top[DETECT_MAX_HITS], right[DETECT_MAX_HITS], bottom[DETECT_MAX_HITS];
};

/* near[k]: hits i to count - 1 whose boxes have pixels in common with that of i. All pairs are asked, whether one is
 * still wanted or not, for without branches the loop is one of vectors. */
static void find_near(const struct edges *edges, int i, int count, uint8_t *near)
{
    const int left = edges->left[i], top = edges->top[i], right = edges->right[i], bottom = edges->bottom[i];

#pragma omp simd
    for (int k = i; k < count; k++)
        near[k] = (uint8_t)((edges->left[k] < right) & (left < edges->right[k]) & (edges->top[k] < bottom) &
                            (top < edges->bottom[k]));
}

static struct detect_box box_at(const struct edges *edges, int i)
{
    const struct detect_box box = {edges->left[i], edges->top[i], edges->right[i] - edges->left[i]};

    return box;
}

/* One detection for each group of hits, in rows 1 to the number that it returns. */
static int group(const uint64_t *keys, int count, const struct pyramid_layout *layout,
                 const struct detect_params *params, struct image *detections)
{
    enum { WORD = 8 /* of near[] and taken[], looked at together, for few hits are near each other */ };
    uint8_t taken[DETECT_MAX_HITS] = {0}, near[DETECT_MAX_HITS] = {0};
    struct edges edges;
    int found = 0;

    for (int i = 0; i < count; i++) {
        const struct detect_box box =
            detect_find_box(detect_key_place(keys[i], layout), layout, params->pyramid.window);

        edges.left[i] = box.x;
        edges.top[i] = box.y;
        edges.right[i] = box.x + box.side;
        edges.bottom[i] = box.y + box.side;
    }
    for (int i = 0; i < count; i++) {
        const struct detect_box own = box_at(&edges, i);
        int64_t votes = 0;
        int members = 0;

        if (taken[i])
            continue;
        find_near(&edges, i, count, near);
        for (int first = i / WORD * WORD; first < count; first += WORD) {
            uint64_t near_word, taken_word;

            memcpy(&near_word, near + first, sizeof near_word);
            memcpy(&taken_word, taken + first, sizeof taken_word);
            if (!(near_word & ~taken_word))
                continue;
            for (int k = first; k < first + WORD; k++) {
                if (taken[k] || !near[k] || (k != i && !detect_overlap(own, box_at(&edges, k), params->overlap)))
                    continue;
                taken[k] = 1;
                members++;
                votes += detect_vote(detect_key_response(keys[k]), (float)params->min_response);
            }
        }
        const float score = (float)((double)votes / (double)DETECT_VOTE);
        if (members < params->neighbours || score < params->min_score)
            continue;
        float *row = image_row(detections, ++found);
        row[0] = (float)own.x;
        row[1] = (float)own.y;
        row[2] = row[3] = (float)own.side;
        row[4] = score;
    }
    return found;
}

enum status detect_write(struct detect_list *list, const struct pyramid_layout *layout,
                         const struct detect_params *params, struct image out[])
{
    const size_t most = (size_t)params->maximum;
    int count;

    if (list->count > 1)
        qsort(list->keys, list->count, sizeof *list->keys, compare_keys);
    count = (int)(list->count < most ? list->count : most);
    image_fill(&out[0], 0);
    image_fill(&out[1], 0);
    for (int i = 0; i < count; i++) {
        const struct detect_place place = detect_key_place(list->keys[i], layout);
        float *row = image_row(&out[1], i + 1);

        row[0] = (float)place.x;
        row[1] = (float)place.y;
        row[2] = (float)place.level;
        row[3] = detect_key_response(list->keys[i]);
    }
    *(float *)image_row(&out[1], 0) = (float)count;
    *(float *)image_row(&out[0], 0) = (float)group(list->keys, count, layout, params, &out[0]);
    free(list->keys);
    *list = (struct detect_list){0};
    return STATUS_OK;
}

/* -------------------------------------------------------------------------------------------------- pictures */

static enum status draw(const struct image in[], const struct image out[], const void *params, struct image *picture)
{
    const enum status status = draw_canvas(picture, &in[0]);

    (void)params;
    for (int k = 1; status == STATUS_OK && k <= slot_table_rows(&out[0]); k++) {
        const float *row = image_row(&out[0], k);

        draw_rectangle(picture, (int)row[0], (int)row[1], (int)row[2], (int)row[3], draw_palette(k - 1));
    }
    return status;
}

static const char *const detection_columns[] = {"x", "y", "width", "height", "score", NULL};
static const char *const hit_columns[] = {"x", "y", "level", "response", NULL};

static struct algorithm detect = {
    .name = "detect",
    .summary = "objects found by rank features and WaldBoost, u8 gray: boxes and scores as a table",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "detections",
                 .kind = SLOT_TABLE,
                 .help = "in pixels of the picture",
                 .columns = detection_columns,
                 .draw = draw},
                {.name = "hits",
                 .kind = SLOT_TABLE,
                 .help = "windows that no stage rejects, strongest first; in pixels of their level",
                 .columns = hit_columns}},
    .params_size = sizeof(struct detect_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .cost = cost,
    .count_names = detect_count_names,
    .count = detect_count,
    .radius = radius,
    .describe = describe,
    .make_inputs = detect_make_inputs,
    .hard_cases = detect_hard_cases,
    .check_settings = detect_check_settings,
    .check_channels = (const int[]){1, 0},
    .check_shapes = detect_check_shapes,
    .goldens = detect_goldens,
    .bench_channels = 1,
    .bench_shape = (const int[]){1280, 720, 1},
};

void detect_set_trainer(const struct trainer *trainer)
{
    detect.trainer = trainer;
}

RUNGS_ALGORITHM(detect)
