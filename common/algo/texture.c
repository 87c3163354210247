#include "common/algo/texture.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/algo/kmeans.h"
#include "common/core/file.h"
#include "common/core/progress.h"
#include "common/image/draw.h"
#include "common/image/image_io.h"
#include "common/image/npy.h"

/* ----------------------------------------------------------------------------------------------- the model */

enum status texture_load(const char *path, void **data, size_t *size)
{
    enum status status = STATUS_OK;
    struct image file = {0}, centroids;
    struct texture_model *model = NULL;

    TRY(npy_load_array(&file, path, 0));
    if (file.type != PIXEL_F32 || file.channels != 1 || (file.width != LBP_BINS && file.width != LBP_BINS + 1)) {
        status = status_set(STATUS_BAD_INPUT, "%s: %s of %dx%d is no f32 matrix of k x %d centroids", path,
                            pixel_name(file.type), file.height, file.width, LBP_BINS);
        goto out;
    }
    centroids = file;
    centroids.width = LBP_BINS;
    if (nearest_check_centroids(&centroids) != STATUS_OK) {
        char reason[512];
        snprintf(reason, sizeof reason, "%s", status_message());
        status = status_set(STATUS_BAD_INPUT, "%s: %s", path, reason);
        goto out;
    }
    *size = sizeof *model + (size_t)file.height * (size_t)file.width * sizeof *model->values;
    model = malloc(*size);
    if (!model) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
        goto out;
    }
    model->k = file.height;
    model->columns = file.width;
    for (int j = 0; j < file.height; j++)
        memcpy(model->values + (size_t)j * (size_t)file.width, image_row(&file, j),
               (size_t)file.width * sizeof *model->values);
    *data = model;
out:
    image_free(&file);
    return status;
}

struct image texture_centroids(const struct model *file)
{
    const struct texture_model *model = file->data;

    return (struct image){.width = LBP_BINS,
                          .height = model->k,
                          .channels = 1,
                          .type = PIXEL_F32,
                          .stride = (size_t)model->columns * sizeof *model->values,
                          .data = (void *)model->values};
}

/* ----------------------------------------------------------------------------------------------- the steps */

enum status texture_open(struct texture_steps *steps, const struct image *in, int patch,
                         const struct texture_versions *versions)
{
    char settings[32];
    struct image gray = *in, shape;
    enum status status = STATUS_OK;

    snprintf(settings, sizeof settings, "patch=%d", patch);
    if (in->channels == 3) {
        TRY(step_open(&steps->grayscale, "grayscale", "grayscale", versions->grayscale, ""));
        TRY(step_shape(&steps->grayscale, in, &shape));
        TRY(image_create_like(&steps->gray, &shape));
        gray = steps->gray;
    }
    TRY(step_open(&steps->lbp, "lbp", "lbp", versions->lbp, settings));
    if (!versions->nearest)
        goto out;
    TRY(step_shape(&steps->lbp, &gray, &shape));
    TRY(array_create(&steps->histograms, shape.width, shape.height, shape.channels, shape.type));
    TRY(step_open(&steps->nearest, "nearest", "nearest", versions->nearest, ""));
out:
    if (status != STATUS_OK)
        texture_close(steps);
    return status;
}

enum status texture_gray(struct texture_steps *steps, const struct image *in, struct image *gray)
{
    *gray = in->channels == 3 ? steps->gray : *in;
    return in->channels == 3 ? step_run(&steps->grayscale, in, gray, NULL) : STATUS_OK;
}

enum status texture_run(struct texture_steps *steps, const struct image *in, const struct image *centroids,
                        struct image *labels)
{
    struct image gray;
    enum status status = STATUS_OK;

    TRY(texture_gray(steps, in, &gray));
    TRY(step_run(&steps->lbp, &gray, &steps->histograms, NULL));
    const struct image both[2] = {steps->histograms, *centroids};
    TRY(step_run(&steps->nearest, both, labels, NULL));
out:
    return status;
}

void texture_close(struct texture_steps *steps)
{
    struct step *all[] = {&steps->grayscale, &steps->lbp, &steps->nearest};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->version)
            step_close(all[i]);
    image_free(&steps->gray);
    image_free(&steps->histograms);
    memset(steps, 0, sizeof *steps);
}

/* ------------------------------------------------------------------------------------------------- training */

void texture_origin(const struct texture_view *view, double x, double y, double *from_x, double *from_y)
{
    const double right = x - 0.5 * view->canvas_width, down = y - 0.5 * view->canvas_height;

    *from_x = 0.5 * view->width + view->cosine * right + view->sine * down;
    *from_y = 0.5 * view->height - view->sine * right + view->cosine * down;
}

/* The gray picture as the view has it, bilinear between the centres of pixels. */
static void turn_picture(const struct texture_view *view, const struct image *gray, struct image *canvas)
{
    for (int y = 0; y < canvas->height; y++)
        for (int x = 0; x < canvas->width; x++) {
            double column, row;
            texture_origin(view, x + 0.5, y + 0.5, &column, &row);
            if (column < 0 || row < 0 || column >= gray->width || row >= gray->height)
                continue;
            column = fmin(fmax(column - 0.5, 0), gray->width - 1);
            row = fmin(fmax(row - 0.5, 0), gray->height - 1);
            const int left = (int)column, top = (int)row;
            const int right = left + (left + 1 < gray->width), bottom = top + (top + 1 < gray->height);
            const uint8_t *above = image_row(gray, top), *below = image_row(gray, bottom);
            const double across = column - left, down = row - top;
            const double upper = above[left] + across * (above[right] - above[left]);
            const double lower = below[left] + across * (below[right] - below[left]);
            ((uint8_t *)image_row(canvas, y))[x] = (uint8_t)(upper + down * (lower - upper) + 0.5);
        }
}

static enum status take_turn(struct texture_view *view, const struct image *gray, int patch, texture_taker take,
                             void *context)
{
    static const struct texture_versions versions = {"cpu/simd", "cpu/simd", NULL};
    static const double pi = 3.14159265358979323846;
    const double angle = 2 * pi * view->turn / view->turns;
    struct texture_steps steps = {0};
    struct image canvas = {0}, shape, histograms = {0};
    enum status status = STATUS_OK;

    view->cosine = cos(angle);
    view->sine = sin(angle);
    /* A side of 1200.0000000000002 pixels, by rounding, is one of 1200. */
    view->canvas_width = (int)ceil(fabs(view->width * view->cosine) + fabs(view->height * view->sine) - 1e-6);
    view->canvas_height = (int)ceil(fabs(view->width * view->sine) + fabs(view->height * view->cosine) - 1e-6);
    TRY(image_create(&canvas, view->canvas_width, view->canvas_height, 1, PIXEL_U8));
    turn_picture(view, gray, &canvas);
    TRY(texture_open(&steps, &canvas, patch, &versions));
    TRY(step_shape(&steps.lbp, &canvas, &shape));
    TRY(array_create(&histograms, shape.width, shape.height, shape.channels, shape.type));
    TRY(step_run(&steps.lbp, &canvas, &histograms, NULL));
    TRY(take(context, view, &histograms));
out:
    texture_close(&steps);
    image_free(&canvas);
    image_free(&histograms);
    return status;
}

static enum status take_file(const char *path, int patch, int turns, texture_taker take, void *context)
{
    static const struct texture_versions versions = {"cpu/simd", "cpu/simd", NULL};
    struct texture_steps steps = {0};
    struct image picture = {0}, gray;
    enum status status = STATUS_OK;

    progress("reading %s", path);
    TRY(image_load(&picture, path, 0));
    if (picture.type != PIXEL_U8) {
        status =
            status_set(STATUS_BAD_INPUT, "%s: samples of 8 bits are needed, not %s", path, pixel_name(picture.type));
        goto out;
    }
    TRY(texture_open(&steps, &picture, patch, &versions));
    TRY(texture_gray(&steps, &picture, &gray));
    for (int turn = 0; turn < turns; turn++) {
        struct texture_view view = {
            .path = path, .width = gray.width, .height = gray.height, .turn = turn, .turns = turns};
        TRY(take_turn(&view, &gray, patch, take, context));
    }
out:
    if (status == STATUS_BAD_INPUT && !strstr(status_message(), path)) {
        char reason[512];
        snprintf(reason, sizeof reason, "%s", status_message());
        status = status_set(STATUS_BAD_INPUT, "%s: %s", path, reason);
    }
    texture_close(&steps);
    image_free(&picture);
    return status;
}

static int is_picture(const struct dirent *entry)
{
    static const char *const extensions[] = {".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm"};

    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (entry->d_name[0] != '.' && file_has_extension(entry->d_name, extensions[i]))
            return 1;
    return 0;
}

static enum status take_folder(const char *folder, int patch, int turns, texture_taker take, void *context)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_picture, alphasort);
    enum status status = STATUS_OK;

    if (count <= 0)
        status = status_set(STATUS_BAD_INPUT, "%s: there is no picture in this folder", folder);
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) >= (int)sizeof path)
            status = status_set(STATUS_BAD_INPUT, "%.100s...: the name is too long", path);
        else
            status = take_file(path, patch, turns, take, context);
    }
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return status;
}

enum status texture_each(const struct training *training, int patch, int turns, texture_taker take, void *context)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < training->data_count; i++) {
        struct stat about;
        if (stat(training->data[i], &about) == 0 && S_ISDIR(about.st_mode))
            TRY(take_folder(training->data[i], patch, turns, take, context));
        else
            TRY(take_file(training->data[i], patch, turns, take, context));
    }
out:
    return status;
}

enum status texture_cluster(const struct image *histograms, int k, int iterations, int seed, struct image *centroids)
{
    struct step step = {0};
    struct image shapes[ALGORITHM_MAX_OUTPUTS] = {{0}}, out[3] = {{0}};
    char settings[96];
    enum status status = STATUS_OK;

    progress("%d clusters of %lld histograms", k, (long long)kmeans_row_count(histograms));
    snprintf(settings, sizeof settings, "k=%d iterations=%d seed=%d", k, iterations, seed);
    TRY(step_open(&step, "kmeans", "kmeans", "cpu/simd", settings));
    TRY(step.version->algorithm->shape(histograms, step.params, shapes));
    for (int i = 0; i < 3; i++)
        TRY(array_create(&out[i], shapes[i].width, shapes[i].height, shapes[i].channels, shapes[i].type));
    TRY(step_run(&step, histograms, out, NULL));
    *centroids = out[KMEANS_CENTROIDS];
    out[KMEANS_CENTROIDS] = (struct image){0};
out:
    if (step.version)
        step_close(&step);
    for (int i = 0; i < 3; i++)
        image_free(&out[i]);
    return status;
}

struct texture_training {
    int k, patch_index, rows, iterations, seed;
};

#define TRAINING(field, low, high, normal, text)                                                                       \
    {                                                                                                                  \
        .name = #field, .kind = PARAMETER_INT, .offset = offsetof(struct texture_training, field), .minimum = low,     \
        .maximum = high, .preset = normal, .help = text                                                                \
    }

static const char *const sides[] = {"8", "16", NULL};

static const struct parameter training_parameters[] = {
    TRAINING(k, 1, NEAREST_MAX_K, 16, "centroids"),
    {.name = "patch",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct texture_training, patch_index),
     .words = sides,
     .preset = 1,
     .help = "side of a patch in pixels"},
    TRAINING(rows, 1, 1 << 24, 200000, "patches that k-means sees at most"),
    TRAINING(iterations, 1, 1000, 25, "of k-means, at most"),
    TRAINING(seed, 0, 1e9, 1, "of k-means++"),
    {0},
};

/* All patches, one below the other. */
struct collection {
    uint16_t *bins;
    size_t count, room;
};

static enum status collect(void *context, const struct texture_view *view, const struct image *histograms)
{
    struct collection *all = context;
    const size_t more = (size_t)histograms->width * (size_t)histograms->height;

    (void)view;
    if (all->count + more > all->room) {
        const size_t room = 2 * all->room + more;
        uint16_t *bins = realloc(all->bins, room * LBP_BINS * sizeof *bins);
        if (!bins)
            return status_set(STATUS_NO_MEMORY, "no memory for %zu histograms", room);
        all->bins = bins;
        all->room = room;
    }
    for (int row = 0; row < histograms->height; row++, all->count += (size_t)histograms->width)
        memcpy(all->bins + all->count * LBP_BINS, lbp_bins(histograms, row, 0),
               (size_t)histograms->width * LBP_BINS * sizeof *all->bins);
    return STATUS_OK;
}

static enum status train(const struct training *training)
{
    const struct texture_training *params = training->params;
    struct collection all = {0};
    struct image rows = {0}, centroids = {0};
    enum status status = STATUS_OK;

    TRY(texture_each(training, 8 << params->patch_index, 1, collect, &all));
    const size_t count = all.count < (size_t)params->rows ? all.count : (size_t)params->rows;
    if (count < (size_t)params->k) {
        status = status_set(STATUS_BAD_INPUT, "k=%d centroids need as many patches; there are %zu", params->k, count);
        goto out;
    }
    TRY(array_create(&rows, LBP_BINS, (int)count, 1, PIXEL_U16));
    for (size_t i = 0; i < count; i++)
        memcpy(image_row(&rows, (int)i), all.bins + i * all.count / count * LBP_BINS, LBP_BINS * sizeof *all.bins);
    TRY(texture_cluster(&rows, params->k, params->iterations, params->seed, &centroids));
    TRY(npy_save(&centroids, training->out));
out:
    free(all.bins);
    image_free(&rows);
    image_free(&centroids);
    return status;
}

static const struct trainer trainer = {
    .params_size = sizeof(struct texture_training),
    .parameters = training_parameters,
    .data_help = "pictures and folders of pictures",
    .train = train,
};

/* --------------------------------------------------------------------------------------------- the contract */

static const char *const default_model[] = {"models/barcode.npy", NULL};

static const struct parameter parameters[] = {
    {.name = "patch",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct texture_params, patch_index),
     .words = sides,
     .preset = 1,
     .help = "side of a patch in pixels"},
    {.name = "centroids",
     .kind = PARAMETER_MODEL,
     .offset = offsetof(struct texture_params, centroids),
     .words = default_model,
     .load = texture_load,
     .help = "k x 256 in f32 (.npy), of rungs train texture"},
    {0},
};

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct texture_params *params = params_erased;
    const char *slash = strrchr(params->centroids.path, '/');

    snprintf(text, size, "patch=%d centroids=%s", 8 << params->patch_index, slash ? slash + 1 : params->centroids.path);
}

static enum status finish(void *params_erased)
{
    const struct texture_params *params = params_erased;

    return params->centroids.data ? STATUS_OK : status_set(STATUS_BAD_INPUT, "texture needs -p centroids=FILE");
}

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct texture_params *params = params_erased;
    const int patch = 8 << params->patch_index;

    if (in->type != PIXEL_U8 || (in->channels != 1 && in->channels != 3))
        return status_set(STATUS_BAD_INPUT, "texture takes u8 pictures of 1 or 3 channels, not %s of %d",
                          pixel_name(in->type), in->channels);
    if (in->width < patch || in->height < patch)
        return status_set(STATUS_BAD_INPUT, "texture takes a picture of at least one patch of %dx%d pixels, not %dx%d",
                          patch, patch, in->width, in->height);
    *out = (struct image){.width = lbp_patches(in->width, patch),
                          .height = lbp_patches(in->height, patch),
                          .channels = 1,
                          .type = PIXEL_U8};
    return STATUS_OK;
}

static int radius(const void *params)
{
    (void)params;
    return 0;
}

/* Reads the picture once; one addition for each pixel and centroid is enough. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct texture_params *params = params_erased;
    const struct texture_model *model = params->centroids.data;

    (void)out;
    cost->bytes = (double)image_pixel_bytes(in);
    cost->operations[OPERATION_COMPARISON_8] = 8.0 * in->width * in->height;
    cost->operations[OPERATION_OTHER] = (double)in->width * in->height * model->k;
}

/* Each patch half in its texture's colour. */
static enum status draw(const struct image in[], const struct image out[], const void *params_erased,
                        struct image *picture)
{
    const int patch = 8 << ((const struct texture_params *)params_erased)->patch_index;
    const enum status status = draw_canvas(picture, &in[0]);

    for (int y = 0; status == STATUS_OK && y < picture->height; y++) {
        const uint8_t *labels = image_row(&out[0], y / patch);
        uint8_t *row = image_row(picture, y);
        for (int x = 0; x < 3 * picture->width; x++)
            row[x] = (uint8_t)((row[x] + draw_palette(labels[x / 3 / patch])[x % 3]) / 2);
    }
    return status;
}

static const int check_shapes[][3] = {
    {16, 16, 1},  {17, 33, 3},  {33, 17, 1},   {97, 89, 3},   {64, 64, 1},   {127, 65, 3},
    {130, 50, 1}, {321, 32, 3}, {300, 230, 1}, {40, 2100, 1}, {2065, 33, 1}, {0},
};
/* hard.npy (texture/make_hard.py): centroids beyond 64, and ties. */
static const char *const check_settings[] = {"patch=8", "centroids=common/algo/texture/hard.npy", NULL};

/* ------------------------------------------------------------------------------ answers worked out by hand
 * models/hand.npy has three centroids: a patch of zeros, one of another value, and one of columns of 1 and 9 in
 * turns. */

#define ZEROS   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define STRIPES 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9
#define FIVES   5, 5, 5, 5, 5, 5, 5, 5
#define LINE    ZEROS, STRIPES, FIVES
#define FOUR    LINE, LINE, LINE, LINE

static const struct golden goldens[] = {
    {
        /* The first two patches are centroids 0 and 2. The third is half padding, whose code is 255, as is that of 84
         * pixels inside the fives: 212 in all. Its edges have 31 (6 pixels), 241 (6), 124 (14), 199 (14), the corners
         * 28, 7, 193, 112 (1 each). Centroid 0, 256 in bin 255, is 44^2 + 2 6^2 + 2 14^2 + 4 = 2404 away; centroid 1,
         * 196 in bin 255, 14 in each edge's and 1 in each corner's, 16^2 + 2 8^2 = 384. */
        .name = "zeros, stripes and a patch that is cut",
        .settings = "centroids=models/hand.npy",
        .width = 40,
        .height = 16,
        .channels = 1,
        .in = {(const uint8_t[]){FOUR, FOUR, FOUR, FOUR}},
        .out = {(const uint8_t[]){0, 2, 1}},
    },
    {0},
};

static struct algorithm texture = {
    .name = "texture",
    .summary = "texture of each patch of a picture, by local binary patterns and learned centroids",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "labels", .kind = SLOT_MATRIX, .help = "centroid of each patch, from 0", .draw = draw}},
    .params_size = sizeof(struct texture_params),
    .parameters = parameters,
    .finish = finish,
    .shape = shape,
    .cost = cost,
    .radius = radius,
    .describe = describe,
    .check_settings = check_settings,
    .goldens = goldens,
    .check_channels = (const int[]){1, 0},
    .check_shapes = check_shapes,
    .bench_channels = 3,
    .bench_shape = (const int[]){4032, 3024, 3},
    .trainer = &trainer,
};

RUNGS_ALGORITHM(texture)
