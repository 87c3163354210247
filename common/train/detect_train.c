/*
 * detect_train.c: rungs train detect POSITIVES NEGATIVES... -o MODEL
 *
 * WaldBoost (Sochman and Matas 2005) over tables of rank features, or of Haar's. A stage is one round of AdaBoost; its
 * threshold is Wald's sequential test with no early acceptance, estimated on windows that no table has seen: the
 * largest t for which
 *
 *     (share of all negatives rejected so far or with H < t) / (the same share of positives) > 1 / alpha
 *
 * so that all stages together reject at most alpha of the positives. Rejected negatives are replaced by windows of the
 * photographs that no stage rejects.
 *
 * Beside MODEL two files appear: MODEL.csv, a line a stage, and MODEL.checkpoint, from which --resume goes on exactly
 * where the training was, also to more stages than before.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/clock.h"
#include "common/core/file.h"
#include "common/core/progress.h"
#include "common/image/array_io.h"
#include "common/image/pattern.h"
#include "common/train/detect_boost.h"
#include "common/train/detect_negatives.h"

enum {
    HELD_OUT = 5,      /* every fifth window sets thresholds instead of tables */
    REFILL_BELOW = 70, /* percent of the negatives */
    MOST_JOBS = 1600,  /* for one refill: some 600 million windows of photographs of 0.1 million pixels */
    CHECKPOINT_STAGES = 10
};

struct detect_training {
    int feature, stages, samples, features, seed;
    double alpha;
};

static const struct parameter parameters[] = {
    {.name = "feature",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct detect_training, feature),
     .words = detect_feature_names,
     .help = "local rank differences, local rank patterns, local binary patterns, or rectangles as a yardstick"},
    {.name = "stages",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct detect_training, stages),
     .minimum = 1,
     .maximum = DETECT_MAX_STAGES,
     .preset = 500,
     .help = "stages to train"},
    {.name = "alpha",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct detect_training, alpha),
     .minimum = 1e-6,
     .maximum = 0.5,
     .preset = 0.03,
     .help = "share of the positives that all stages together may reject"},
    {.name = "samples",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct detect_training, samples),
     .minimum = 100,
     .maximum = 200000,
     .preset = 12000,
     .help = "windows of either class that tables are made of"},
    {.name = "features",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct detect_training, features),
     .minimum = 12,
     .maximum = 200000,
     .preset = 12000,
     .help = "features tried for each stage"},
    {.name = "seed",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct detect_training, seed),
     .maximum = 1e9,
     .preset = 1,
     .help = "of everything random"},
    {0},
};

/* One line of MODEL.csv. */
struct line {
    struct detect_stage stage;
    double z, passing, windows, mean_stages, held_positives, held_negatives, seconds;
    int positives, negatives;
};

struct work {
    const struct training *training;
    const struct detect_training *params;
    struct photographs photographs;
    struct samples positives, negatives, held_positives, held_negatives;
    struct mining mining;
    struct detect_model *model; /* with room for all stages */
    struct line *lines;
    int stages;               /* trained */
    double negatives_passing; /* share of all windows that no stage rejects, by the negatives that were thrown away */
    double started;
};

static struct detect_stage *stage_of(const struct work *work, int t)
{
    return (struct detect_stage *)&detect_stages(work->model)[t];
}

static float *table_of(const struct work *work, int t)
{
    return (float *)&detect_tables(work->model)[(size_t)t * work->model->bins];
}

static size_t model_bytes(int stages, uint32_t bins)
{
    return sizeof(struct detect_model) + (size_t)stages * (sizeof(struct detect_stage) + bins * sizeof(float));
}

/* --------------------------------------------------------------------------------------------------- samples */

/* Every fifth face is held out, both ways round; of the others as many as asked for, in random order. */
static enum status load_positives(struct work *work, const char *path)
{
    const struct detect_training *params = work->params;
    struct image faces = {0};
    uint64_t random = (uint64_t)params->seed;
    int *order = NULL, total;
    enum status status = STATUS_OK;

    TRY(array_load(&faces, path, NULL));
    if (faces.type != PIXEL_U8 || faces.width != faces.channels || faces.width < DETECT_MIN_WINDOW ||
        faces.width > DETECT_MAX_WINDOW || faces.height < 2 * HELD_OUT) {
        status = status_set(STATUS_BAD_INPUT, "%s: not ten or more square windows of 6 to 64 pixels a side, u8", path);
        goto out;
    }
    total = faces.height - faces.height / HELD_OUT;
    order = malloc((size_t)(2 * total) * sizeof *order);
    if (!order) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d faces", faces.height);
        goto out;
    }
    const int wanted = 2 * total < params->samples ? 2 * total : params->samples;
    TRY(samples_create(&work->positives, faces.width, wanted, params->feature));
    TRY(samples_create(&work->held_positives, faces.width, 2 * (faces.height / HELD_OUT), SAMPLES_NO_SEARCH));
    for (int i = 0, next = 0; i < faces.height; i++) {
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            if (i % HELD_OUT == HELD_OUT - 1)
                samples_add(&work->held_positives, image_row(&faces, i), (size_t)faces.width, mirrored);
            else
                order[next++] = 2 * i + mirrored;
        }
    }
    for (int i = 0; i < wanted; i++) {
        const int pick = i + (int)(pattern_random(&random) % (uint64_t)(2 * total - i)), face = order[pick];

        order[pick] = order[i];
        samples_add(&work->positives, image_row(&faces, face / 2), (size_t)faces.width, face % 2);
    }
    samples_transpose(&work->positives, work->training->threads);
    TRY(samples_create(&work->negatives, faces.width, params->samples, params->feature));
    TRY(samples_create(&work->held_negatives, faces.width, params->samples / (HELD_OUT - 1), SAMPLES_NO_SEARCH));
out:
    free(order);
    image_free(&faces);
    return status;
}

static enum status refill(struct work *work)
{
    const int threads = work->training->threads;
    enum status status = STATUS_OK;

    samples_drop(&work->negatives);
    samples_drop(&work->held_negatives);
    const int first = work->negatives.count, first_held = work->held_negatives.count;
    TRY(mine(&work->photographs, work->model, work->stages, (uint64_t)work->params->seed, threads, MOST_JOBS, HELD_OUT,
             &work->mining, &work->negatives, &work->held_negatives));
    samples_evaluate(&work->negatives, first, work->model, work->stages, threads);
    samples_evaluate(&work->held_negatives, first_held, work->model, work->stages, threads);
    samples_transpose(&work->negatives, threads);
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------ thresholds */

static int compare_floats(const void *left, const void *right)
{
    const float a = *(const float *)left, b = *(const float *)right;

    return a < b ? -1 : a > b;
}

/* The responses of those that are alive, sorted; to be freed. */
static float *sorted(const struct samples *samples, int *count)
{
    float *responses = malloc(((size_t)samples->count + 1) * sizeof *responses);

    *count = 0;
    for (int i = 0; responses && i < samples->count; i++)
        if (samples->alive[i])
            responses[(*count)++] = samples->responses[i];
    if (responses)
        qsort(responses, (size_t)*count, sizeof *responses, compare_floats);
    return responses;
}

/* Candidates are the responses of the held out negatives: between two of them only positives are lost. */
static enum status find_threshold(const struct work *work, float *threshold)
{
    const double tiny = 1e-6, most = 1 / work->params->alpha;
    int positives, negatives;
    float *low = sorted(&work->held_positives, &positives), *high = sorted(&work->held_negatives, &negatives);
    const double positives_left = (double)positives / work->held_positives.count, left = work->negatives_passing;
    enum status status = STATUS_OK;

    *threshold = -1e6f;
    if (!low || !high) {
        status = status_set(STATUS_NO_MEMORY, "no memory for responses");
        goto out;
    }
    for (int n = 0, p = 0; n < negatives; n++) {
        while (p < positives && low[p] < high[n])
            p++;
        const double negatives_gone = left * n / negatives + 1 - left + tiny;
        const double positives_gone = positives_left * p / (positives ? positives : 1) + 1 - positives_left + tiny;
        if (negatives_gone / positives_gone > most)
            *threshold = high[n];
    }
out:
    free(low);
    free(high);
    return status;
}

/* ----------------------------------------------------------------------------------------------- checkpoint */

struct checkpoint {
    char magic[8];
    uint32_t size; /* of this struct */
    int stages, window, negatives, held_negatives;
    struct detect_training params;
    struct mining mining;
    double negatives_passing, seconds;
};
static const char checkpoint_magic[8] = "RUNGSDTC";

static enum status save_model(const struct work *work, const char *path)
{
    struct detect_model *model = malloc(model_bytes(work->stages, work->model->bins));
    enum status status;

    if (!model)
        return status_set(STATUS_NO_MEMORY, "no memory for a model");
    *model = *work->model;
    model->stages = (uint32_t)work->stages;
    memcpy(model + 1, stage_of(work, 0), (size_t)work->stages * sizeof(struct detect_stage));
    memcpy((float *)detect_tables(model), table_of(work, 0), (size_t)work->stages * model->bins * sizeof(float));
    status = detect_save_model(path, model);
    free(model);
    return status;
}

static enum status save_report(const struct work *work, const char *path)
{
    struct output_file file = {0};
    enum status status = STATUS_OK;
    char text[512];

    TRY(file_create(&file, path));
    snprintf(text, sizeof text,
             "stage,x,y,width,height,a,b,z,threshold,positives,negatives,held_positives_left,held_negatives_left,"
             "windows_passing,windows_searched,mean_stages,seconds\n");
    file_write(&file, text, strlen(text));
    for (int t = 0; t < work->stages; t++) {
        const struct line *line = &work->lines[t];

        snprintf(text, sizeof text, "%d,%d,%d,%d,%d,%d,%d,%.6g,%.6g,%d,%d,%.6g,%.6g,%.6g,%.0f,%.4g,%.1f\n", t + 1,
                 line->stage.x, line->stage.y, line->stage.width, line->stage.height, line->stage.a, line->stage.b,
                 line->z, (double)line->stage.threshold, line->positives, line->negatives, line->held_positives,
                 line->held_negatives, line->passing, line->windows, line->mean_stages, line->seconds);
        file_write(&file, text, strlen(text));
    }
    TRY(file_commit(&file));
out:
    file_discard(&file);
    return status;
}

static enum status save_checkpoint(const struct work *work, const char *path)
{
    const size_t area = (size_t)work->model->window * work->model->window;
    struct output_file file = {0};
    struct checkpoint head = {.size = sizeof head,
                              .stages = work->stages,
                              .window = (int)work->model->window,
                              .negatives = work->negatives.count,
                              .held_negatives = work->held_negatives.count,
                              .params = *work->params,
                              .mining = work->mining,
                              .negatives_passing = work->negatives_passing,
                              .seconds = clock_seconds() - work->started};
    enum status status = STATUS_OK;

    memcpy(head.magic, checkpoint_magic, sizeof head.magic);
    TRY(file_create(&file, path));
    file_write(&file, &head, sizeof head);
    file_write(&file, stage_of(work, 0), (size_t)work->stages * sizeof(struct detect_stage));
    file_write(&file, table_of(work, 0), (size_t)work->stages * work->model->bins * sizeof(float));
    file_write(&file, work->lines, (size_t)work->stages * sizeof *work->lines);
    file_write(&file, work->negatives.pixels, (size_t)head.negatives * area);
    file_write(&file, work->held_negatives.pixels, (size_t)head.held_negatives * area);
    TRY(file_commit(&file));
out:
    file_discard(&file);
    return status;
}

static bool same_training(const struct detect_training *a, const struct detect_training *b)
{
    return a->feature == b->feature && a->samples == b->samples && a->features == b->features && a->seed == b->seed &&
           a->alpha == b->alpha;
}

/* Whether stage `t`, as it was read, could be one of a training: of a feature inside of the window, with numbers that a
 * model may have. */
static bool is_stage(const struct work *work, int t)
{
    const float largest_threshold = 1e6f, largest_entry = 100; /* those of detect_load_model() */
    const struct detect_stage *stage = stage_of(work, t);

    for (uint32_t i = 0; i < work->model->bins; i++)
        if (!(fabsf(table_of(work, t)[i]) <= largest_entry))
            return false;
    return detect_is_feature((int)work->model->feature, stage, (int)work->model->window) &&
           fabsf(stage->threshold) <= largest_threshold;
}

/* Fills what a training of work->stages stages had, from a file that is there. */
static enum status load_checkpoint(struct work *work, const char *path)
{
    const size_t area = (size_t)work->model->window * work->model->window;
    const int threads = work->training->threads;
    struct checkpoint head;
    struct samples *sets[] = {&work->negatives, &work->held_negatives};
    FILE *stream = NULL;
    uint64_t size;
    enum status status = STATUS_OK;

    TRY(file_open(path, &stream, &size));
    if (fread(&head, sizeof head, 1, stream) != 1 || memcmp(head.magic, checkpoint_magic, sizeof head.magic) != 0 ||
        head.size != sizeof head || head.window != (int)work->model->window || head.stages < 1 || head.negatives < 0 ||
        head.negatives > work->negatives.capacity || head.held_negatives < 0 ||
        head.held_negatives > work->held_negatives.capacity) {
        status = status_set(STATUS_BAD_INPUT, "%s: no checkpoint of such a training", path);
        goto out;
    }
    if (!same_training(&head.params, work->params) || head.stages > work->params->stages) {
        status = status_set(STATUS_BAD_INPUT, "%s: the checkpoint of a training with other parameters", path);
        goto out;
    }
    const size_t stages = (size_t)head.stages, counts[] = {(size_t)head.negatives, (size_t)head.held_negatives};
    if (size != sizeof head +
                    stages * (sizeof(struct detect_stage) + work->model->bins * sizeof(float) + sizeof *work->lines) +
                    (counts[0] + counts[1]) * area ||
        fread(stage_of(work, 0), sizeof(struct detect_stage), stages, stream) != stages ||
        fread(table_of(work, 0), work->model->bins * sizeof(float), stages, stream) != stages ||
        fread(work->lines, sizeof *work->lines, stages, stream) != stages ||
        fread(sets[0]->pixels, area, counts[0], stream) != counts[0] ||
        fread(sets[1]->pixels, area, counts[1], stream) != counts[1]) {
        status = status_set(STATUS_BAD_INPUT, "%s: a damaged checkpoint", path);
        goto out;
    }
    /* Shares, but for one hit more than there were in `passing`. */
    bool whole = head.mining.passing > 0 && head.mining.passing <= 2 && head.negatives_passing >= 0 &&
                 head.negatives_passing <= 1;
    for (int t = 0; t < head.stages && whole; t++)
        whole = is_stage(work, t);
    if (!whole) {
        status = status_set(STATUS_BAD_INPUT, "%s: a damaged checkpoint", path);
        goto out;
    }
    work->stages = head.stages;
    work->mining = head.mining;
    work->negatives_passing = head.negatives_passing;
    work->started -= head.seconds;
    for (int i = 0; i < 2; i++) {
        sets[i]->count = (int)counts[i];
        samples_evaluate(sets[i], 0, work->model, work->stages, threads);
    }
    samples_transpose(&work->negatives, threads);
    samples_evaluate(&work->positives, 0, work->model, work->stages, threads);
    samples_evaluate(&work->held_positives, 0, work->model, work->stages, threads);
out:
    if (stream)
        fclose(stream);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- stages */

static enum status add_stage(struct work *work)
{
    const struct detect_training *params = work->params;
    const int t = work->stages, threads = work->training->threads;
    struct samples *sets[] = {&work->positives, &work->negatives, &work->held_positives, &work->held_negatives};
    struct line *line = &work->lines[t];
    const uint64_t seed = (uint64_t)params->seed << 32 ^ (uint64_t)t * 0xbf58476d1ce4e5b9u;
    int before;
    enum status status = STATUS_OK;

    samples_weigh(&work->positives, 1);
    samples_weigh(&work->negatives, -1);
    TRY(boost_choose(&work->positives, &work->negatives, params->feature, params->features, seed, threads,
                     stage_of(work, t), table_of(work, t), &line->z));
    stage_of(work, t)->threshold = -1e6f;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < sets[i]->count; k++)
            if (sets[i]->alive[k])
                sets[i]->responses[k] += table_of(work, t)[detect_stage_bin(
                    params->feature, stage_of(work, t),
                    sets[i]->pixels + (size_t)k * work->model->window * work->model->window, work->model->window)];
    TRY(find_threshold(work, &stage_of(work, t)->threshold));
    before = samples_alive(&work->held_negatives);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < sets[i]->count; k++)
            sets[i]->alive[k] = sets[i]->alive[k] && !(sets[i]->responses[k] < stage_of(work, t)->threshold);
    work->stages++;
    if (before > 0)
        work->negatives_passing *= (double)samples_alive(&work->held_negatives) / before;
    line->stage = *stage_of(work, t);
    line->positives = samples_alive(&work->positives);
    line->negatives = samples_alive(&work->negatives);
    line->held_positives = (double)samples_alive(&work->held_positives) / work->held_positives.count;
    line->held_negatives = (double)samples_alive(&work->held_negatives) / (before ? before : 1);
    line->passing = work->negatives_passing;
    line->windows = work->mining.windows;
    line->mean_stages = work->mining.windows > 0 ? work->mining.stages / work->mining.windows : 0;
    line->seconds = clock_seconds() - work->started;
out:
    return status;
}

static enum status train_all(struct work *work, const char *report, const char *checkpoint)
{
    const struct detect_training *params = work->params;
    enum status status = STATUS_OK;

    while (work->stages < params->stages) {
        const int left = samples_alive(&work->negatives);

        if (left * 100 < work->negatives.capacity * REFILL_BELOW)
            TRY(refill(work));
        if (work->negatives.count < work->negatives.capacity / 100 || work->held_negatives.count == 0) {
            progress_clear();
            fprintf(stderr,
                    "rungs: the photographs have no more windows that %d stages take for the object; the model "
                    "ends there\n",
                    work->stages);
            break;
        }
        progress("stage %d of %d: %d negatives, %.3g of all windows pass", work->stages + 1, params->stages,
                 work->negatives.count, work->negatives_passing);
        TRY(add_stage(work));
        if (work->stages % CHECKPOINT_STAGES == 0 || work->stages == params->stages) {
            TRY(save_checkpoint(work, checkpoint));
            TRY(save_report(work, report));
        }
    }
    if (work->stages == 0) {
        status = status_set(STATUS_BAD_INPUT, "the photographs have no windows to train with");
        goto out;
    }
    TRY(save_report(work, report));
    TRY(save_model(work, work->training->out));
out:
    return status;
}

static enum status train(const struct training *training)
{
    const struct detect_training *params = training->params;
    const uint32_t bins = (uint32_t)detect_feature_bins[params->feature];
    struct work work = {.training = training,
                        .params = params,
                        .mining = {.passing = 1},
                        .negatives_passing = 1,
                        .started = clock_seconds()};
    char report[4096], checkpoint[4096];
    FILE *there;
    enum status status = STATUS_OK;

    if (training->extra)
        return status_set(STATUS_BAD_INPUT, "train detect takes no boxes: its positives are cut out already");
    if (training->data_count < 2)
        return status_set(STATUS_BAD_INPUT, "train detect needs positives and photographs without any");
    snprintf(report, sizeof report, "%s.csv", training->out);
    snprintf(checkpoint, sizeof checkpoint, "%s.checkpoint", training->out);
    TRY(file_check_output(report));
    TRY(file_check_output(checkpoint));
    TRY(load_positives(&work, training->data[0]));
    for (size_t i = 1; i < training->data_count; i++)
        TRY(photographs_load(&work.photographs, training->data[i]));
    if (work.photographs.count == 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: no pictures in it", training->data[1]);
        goto out;
    }
    work.model = calloc(1, model_bytes(params->stages, bins));
    work.lines = calloc((size_t)params->stages, sizeof *work.lines);
    if (!work.model || !work.lines) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d stages", params->stages);
        goto out;
    }
    *work.model = (struct detect_model){.feature = (uint32_t)params->feature,
                                        .window = (uint32_t)work.positives.window,
                                        .stages = (uint32_t)params->stages,
                                        .bins = bins};
    there = training->resume ? fopen(checkpoint, "rb") : NULL;
    if (there) {
        fclose(there);
        TRY(load_checkpoint(&work, checkpoint));
    }
    TRY(train_all(&work, report, checkpoint));
out:
    photographs_free(&work.photographs);
    samples_free(&work.positives);
    samples_free(&work.negatives);
    samples_free(&work.held_positives);
    samples_free(&work.held_negatives);
    free(work.model);
    free(work.lines);
    return status;
}

static const struct trainer trainer = {.params_size = sizeof(struct detect_training),
                                       .parameters = parameters,
                                       .data_help = "POSITIVES (N windows as .npy or IDX) NEGATIVES/ (photographs)",
                                       .train = train};

__attribute__((constructor)) static void give_trainer(void)
{
    detect_set_trainer(&trainer);
}
