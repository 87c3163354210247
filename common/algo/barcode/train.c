#include "common/algo/barcode/train.h"

#include <stdlib.h>
#include <string.h>

#include "common/algo/barcode.h"
#include "common/algo/barcode/known.h"
#include "common/image/npy.h"

struct barcode_training {
    int k, turns, rows, iterations, seed;
};

/* All patches, and whether each is in a box. */
struct examples {
    struct barcode_known boxes;
    uint16_t *bins;
    uint8_t *inside;
    size_t count, room;
    size_t used; /* boxes that a picture was found for */
};

static enum status make_room(struct examples *all, size_t more)
{
    const size_t room = 2 * all->room + more;
    uint16_t *bins;
    uint8_t *inside;

    if (all->count + more <= all->room)
        return STATUS_OK;
    bins = realloc(all->bins, room * LBP_BINS * sizeof *bins);
    all->bins = bins ? bins : all->bins;
    inside = realloc(all->inside, room);
    all->inside = inside ? inside : all->inside;
    if (!bins || !inside)
        return status_set(STATUS_NO_MEMORY, "no memory for %zu histograms", room);
    all->room = room;
    return STATUS_OK;
}

/* Whether all corners of a patch of the canvas lie in the picture. One that is not turned keeps those at its sides,
 * which every picture has that is looked at later. */
static bool is_whole(const struct texture_view *view, int row, int column)
{
    for (int corner = 0; corner < 4 && view->turn; corner++) {
        double x, y;
        texture_origin(view, BARCODE_PATCH * (column + corner % 2), BARCODE_PATCH * (row + corner / 2), &x, &y);
        if (x < -0.5 || y < -0.5 || x > view->width + 0.5 || y > view->height + 0.5)
            return false;
    }
    return true;
}

/* Of every turn one patch in `turns`, so that there are as many as without turns, of each direction as many as of any
 * other. */
static enum status collect(void *context, const struct texture_view *view, const struct image *histograms)
{
    struct examples *all = context;
    const char *file = barcode_file_name(view->path);
    enum status status = STATUS_OK;

    TRY(make_room(all, (size_t)histograms->width * (size_t)histograms->height));
    for (size_t b = 0; b < all->boxes.count; b++)
        all->used += strcmp(all->boxes.items[b].file, file) == 0;
    for (int row = 0; row < histograms->height; row++)
        for (int column = 0; column < histograms->width; column++) {
            double x, y;
            if ((7 * row + column + view->turn) % view->turns || !is_whole(view, row, column))
                continue;
            texture_origin(view, BARCODE_PATCH * (column + 0.5), BARCODE_PATCH * (row + 0.5), &x, &y);
            memcpy(all->bins + all->count * LBP_BINS, lbp_bins(histograms, row, column), LBP_BINS * sizeof *all->bins);
            all->inside[all->count] = 0;
            for (size_t b = 0; b < all->boxes.count; b++) {
                const struct barcode_known_box *box = &all->boxes.items[b];
                if (x >= box->x_min && x < box->x_max && y >= box->y_min && y < box->y_max &&
                    strcmp(box->file, file) == 0)
                    all->inside[all->count] = 1;
            }
            all->count++;
        }
out:
    return status;
}

/* The centroid of each example. */
static enum status find_labels(const struct examples *all, const struct image *centroids, struct image *labels)
{
    const struct image histograms = {.width = 1,
                                     .height = (int)all->count,
                                     .channels = LBP_BINS,
                                     .type = PIXEL_U16,
                                     .stride = LBP_BINS * sizeof *all->bins,
                                     .data = all->bins};
    const struct image both[2] = {histograms, *centroids};
    struct step step = {0};
    enum status status = STATUS_OK;

    TRY(array_create(labels, 1, (int)all->count, 1, PIXEL_U8));
    TRY(step_open(&step, "nearest", "nearest", "cpu/simd", ""));
    TRY(step_run(&step, both, labels, NULL));
out:
    if (step.version)
        step_close(&step);
    return status;
}

/* Centroids, and in the last column P: the share of a centroid's patches in a box, of one patch more that is in one as
 * often as any. */
static enum status make_model(const struct examples *all, const struct image *centroids, const struct image *labels,
                              struct image *model)
{
    double inside[NEAREST_MAX_K] = {0}, count[NEAREST_MAX_K] = {0}, total = 0;
    enum status status = STATUS_OK;

    TRY(array_create(model, LBP_BINS + 1, centroids->height, 1, PIXEL_F32));
    for (size_t i = 0; i < all->count; i++) {
        const int label = *(const uint8_t *)image_row(labels, (int)i);
        inside[label] += all->inside[i];
        count[label]++;
        total += all->inside[i];
    }
    for (int j = 0; j < centroids->height; j++) {
        float *row = image_row(model, j);
        memcpy(row, image_row(centroids, j), LBP_BINS * sizeof *row);
        row[LBP_BINS] = (float)((inside[j] + total / (double)all->count) / (count[j] + 1));
    }
out:
    return status;
}

static enum status train(const struct training *training)
{
    const struct barcode_training *params = training->params;
    struct examples all = {.count = 0};
    struct image rows = {0}, centroids = {0}, labels = {0}, model = {0};
    enum status status = STATUS_OK;

    if (!training->extra) {
        status = status_set(STATUS_BAD_INPUT, "train barcode needs --boxes FILE.csv");
        goto out;
    }
    TRY(barcode_read_known(training->extra, &all.boxes));
    TRY(texture_each(training, BARCODE_PATCH, params->turns, collect, &all));
    if (all.used == 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: none of its files is among the pictures", training->extra);
        goto out;
    }
    const size_t count = all.count < (size_t)params->rows ? all.count : (size_t)params->rows;
    if (count < (size_t)params->k || all.count > INT32_MAX) {
        status = status_set(STATUS_BAD_INPUT, "k=%d centroids need as many patches, and at most 2^31-1; there are %zu",
                            params->k, all.count);
        goto out;
    }
    TRY(array_create(&rows, LBP_BINS, (int)count, 1, PIXEL_U16));
    for (size_t i = 0; i < count; i++)
        memcpy(image_row(&rows, (int)i), all.bins + i * all.count / count * LBP_BINS, LBP_BINS * sizeof *all.bins);
    TRY(texture_cluster(&rows, params->k, params->iterations, params->seed, &centroids));
    TRY(find_labels(&all, &centroids, &labels));
    TRY(make_model(&all, &centroids, &labels, &model));
    TRY(npy_save(&model, training->out));
out:
    free(all.boxes.items);
    free(all.bins);
    free(all.inside);
    image_free(&rows);
    image_free(&centroids);
    image_free(&labels);
    image_free(&model);
    return status;
}

#define INT(field, low, high, normal, text)                                                                            \
    {                                                                                                                  \
        .name = #field, .kind = PARAMETER_INT, .offset = offsetof(struct barcode_training, field), .minimum = low,     \
        .maximum = high, .preset = normal, .help = text                                                                \
    }

static const struct parameter training_parameters[] = {
    INT(k, 1, NEAREST_MAX_K, 64, "centroids"),
    INT(turns, 1, 360, 1, "directions in which each picture is seen, all round"),
    INT(rows, 1, 1 << 24, 100000, "patches that k-means sees at most"),
    INT(iterations, 1, 1000, 25, "of k-means, at most"),
    INT(seed, 0, 1e9, 1, "of k-means++"),
    {0},
};

const struct trainer barcode_trainer = {
    .params_size = sizeof(struct barcode_training),
    .parameters = training_parameters,
    .data_help = "pictures and folders of pictures, with --boxes FILE.csv (file, xmin, ymin, xmax, ymax)",
    .train = train,
};
