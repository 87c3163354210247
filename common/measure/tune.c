#include "common/measure/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/device_info.h"

/* -------------------------------------------------------------------------------------------------------- axes */

static bool has_threads(const struct version *version)
{
    return !version_is_cuda(version) && strcmp(version->source->id, "cpu/serial") != 0;
}

static enum status set_axes(struct tune *tune)
{
    const struct tune_request *request = tune->request;
    const struct version *version = request->version;

    for (const struct tunable *tunable = version->tunables; tunable && tunable->name; tunable++) {
        struct tune_axis *axis = &tune->axes[tune->axis_count++];

        axis->tunable = tunable;
        axis->name = tunable->name;
        axis->help = tunable->help;
        axis->preset = tunable->preset;
        if (params_assigned(request->assignments, request->assignment_count, tunable->name)) {
            axis->values[axis->count++] = *tunable->value;
            continue;
        }
        for (int i = 0; tunable->legal[i]; i++) {
            if (axis->count == TUNE_MAX_VALUES)
                return status_set(STATUS_FAILED, "%s has more than %d legal values", tunable->name, TUNE_MAX_VALUES);
            axis->values[axis->count++] = tunable->legal[i];
        }
    }
    if (has_threads(version)) {
        struct tune_axis *axis = &tune->axes[tune->axis_count++];

        axis->name = "threads";
        axis->help = "OpenMP threads";
        axis->count = request->thread_count;
        memcpy(axis->values, request->threads, (size_t)axis->count * sizeof *axis->values);
        axis->preset = axis->values[axis->count - 1];
    }
    tune->point_count = 1;
    for (int i = 0; i < tune->axis_count; i++)
        tune->point_count *= (size_t)tune->axes[i].count;
    if (tune->point_count > TUNE_MAX_POINTS)
        return status_set(STATUS_BAD_INPUT, "%zu combinations are more than %d: fix a value with -p or --threads",
                          tune->point_count, TUNE_MAX_POINTS);
    return STATUS_OK;
}

static int value_at(const struct tune *tune, const struct tune_point *point, int axis)
{
    return tune->axes[axis].values[point->at[axis]];
}

static struct bench_point bench_point_of(const struct tune *tune, const struct tune_point *point)
{
    struct bench_point made = {.threads = tune->request->threads[tune->request->thread_count - 1]};

    for (int i = 0; i < tune->axis_count; i++) {
        if (tune->axes[i].tunable)
            made.values[i] = value_at(tune, point, i);
        else
            made.threads = value_at(tune, point, i);
    }
    return made;
}

/* Asks the version about each combination; the tunables have their values of before afterwards. */
static void set_points(struct tune *tune)
{
    const struct tune_request *request = tune->request;
    const struct version *version = request->version;
    int before[VERSION_MAX_TUNABLES] = {0};

    for (int i = 0; i < tune->axis_count && tune->axes[i].tunable; i++)
        before[i] = *tune->axes[i].tunable->value;
    for (size_t n = 0; n < tune->point_count; n++) {
        struct tune_point *point = &tune->points[n];
        size_t rest = n;
        const char *why;

        point->preset = true;
        for (int i = tune->axis_count - 1; i >= 0; i--) {
            const struct tune_axis *axis = &tune->axes[i];

            point->at[i] = (int)(rest % (size_t)axis->count);
            rest /= (size_t)axis->count;
            point->preset &= value_at(tune, point, i) == axis->preset;
            if (axis->tunable)
                *axis->tunable->value = value_at(tune, point, i);
        }
        why = version->illegal ? version->illegal(request->in, request->params) : NULL;
        if (why) {
            point->outcome = TUNE_ILLEGAL;
            snprintf(point->why, sizeof point->why, "%s", why);
        }
        tune->illegal += why != NULL;
    }
    for (int i = 0; i < tune->axis_count && tune->axes[i].tunable; i++)
        *tune->axes[i].tunable->value = before[i];
}

/* --------------------------------------------------------------------------------------------------- measuring */

enum status tune_possible(const struct version *version)
{
    const char *const name = version->algorithm->name, *const id = version->source->id;

    if (version->source->not_built)
        return status_set(STATUS_UNSUPPORTED, "%s:%s cannot be tuned here: %s", name, id, version->source->not_built);
    if (version->algorithm->video)
        return status_set(
            STATUS_BAD_INPUT,
            "%s:%s is a pipeline, whose time on a video is not a call's: tune its steps, or compare values "
            "with rungs bench %s:%s -p",
            name, id, name, id);
    if (!version->tunables && !has_threads(version))
        return status_set(STATUS_BAD_INPUT, "%s:%s has nothing to tune: it declares no tunables%s", name, id,
                          version_is_cuda(version) ? "" : " and runs on one thread");
    if (version_is_cuda(version) && device_is_emulated())
        return status_set(STATUS_UNSUPPORTED,
                          "%s:%s cannot be tuned here: this build emulates CUDA on the CPU, whose times say nothing "
                          "about a GPU",
                          name, id);
    return STATUS_OK;
}

static void take_row(struct tune *tune, struct tune_point *point, const struct bench_row *row)
{
    if (row->outcome == BENCH_TIMED && row->kernel.count > 0) {
        point->time = row->kernel;
        point->worst = row->worst;
        tune->timed++;
        return;
    }
    point->outcome = row->outcome == BENCH_SKIPPED ? TUNE_SKIPPED : TUNE_FAILED;
    snprintf(point->why, sizeof point->why, "%.511s%s%s", row->why, row->diagnosis[0] ? "; likely " : "",
             row->diagnosis);
    tune->skipped += point->outcome == TUNE_SKIPPED;
    tune->failed += point->outcome == TUNE_FAILED;
}

static void compare_points(struct tune *tune)
{
    for (size_t n = 0; n < tune->point_count; n++) {
        const struct tune_point *point = &tune->points[n];

        if (point->outcome == TUNE_TIMED && (!tune->best || point->time.median < tune->best->time.median))
            tune->best = point;
        if (point->preset)
            tune->preset = point;
    }
    for (size_t n = 0; n < tune->point_count; n++) {
        struct tune_point *point = &tune->points[n];

        point->like_best = point->outcome == TUNE_TIMED && !statistics_differ(&point->time, &tune->best->time);
    }
}

static enum status measure(struct tune *tune)
{
    const struct tune_request *request = tune->request;
    const size_t most = tune->point_count + 1;
    struct bench_request bench_request = {.algorithm = request->algorithm,
                                          .params = request->params,
                                          .threads = request->threads[request->thread_count - 1],
                                          .seconds = request->seconds,
                                          .input = request->input,
                                          .command = request->command};
    enum status status = STATUS_OK;
    struct bench bench = {0};
    const struct version **versions = calloc(most, sizeof *versions);
    struct bench_point *points = calloc(most, sizeof *points);
    size_t count = 0;

    if (!versions || !points) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %zu points", tune->point_count);
        goto out;
    }
    TRY(registry_find_version(request->algorithm, "cpu/serial", &versions[0]));
    for (size_t n = 0; n < tune->point_count; n++)
        if (tune->points[n].outcome != TUNE_ILLEGAL) {
            versions[++count] = request->version;
            points[count] = bench_point_of(tune, &tune->points[n]);
        }
    if (count == 0) {
        status = status_set(STATUS_BAD_INPUT, "%s:%s: no combination is legal here: %s", request->algorithm->name,
                            request->version->source->id, tune->points[0].why);
        goto out;
    }
    memcpy(bench_request.in, request->in, sizeof bench_request.in);
    bench_request.versions = versions;
    bench_request.version_count = count + 1;
    bench_request.points = points;
    TRY(bench_run(&bench_request, &bench));
    memcpy(tune->settings, bench.settings, sizeof tune->settings);
    memcpy(tune->date, bench.date, sizeof tune->date);
    count = 0;
    for (size_t n = 0; n < tune->point_count; n++)
        if (tune->points[n].outcome != TUNE_ILLEGAL)
            take_row(tune, &tune->points[n], &bench.rows[++count]);
    if (tune->timed == 0 && tune->failed == 0)
        status = status_set(STATUS_UNSUPPORTED, "%s:%s cannot be tuned here: %s", request->algorithm->name,
                            request->version->source->id, bench.rows[1].why);
out:
    bench_free(&bench);
    free(versions);
    free(points);
    return status;
}

enum status tune_run(const struct tune_request *request, struct tune *tune)
{
    enum status status = STATUS_OK;

    memset(tune, 0, sizeof *tune);
    tune->request = request;
    TRY(tune_possible(request->version));
    machine_read(&tune->machine);
    if (version_is_cuda(request->version) && !tune->machine.gpu[0])
        return status_set(STATUS_UNSUPPORTED, "%s:%s cannot be tuned here: %s", request->algorithm->name,
                          request->version->source->id, tune->machine.no_gpu);
    TRY(set_axes(tune));
    tune->points = calloc(tune->point_count, sizeof *tune->points);
    if (!tune->points)
        return status_set(STATUS_NO_MEMORY, "no memory for %zu points", tune->point_count);
    set_points(tune);
    TRY(measure(tune));
    compare_points(tune);
out:
    return status;
}

void tune_free(struct tune *tune)
{
    free(tune->points);
    memset(tune, 0, sizeof *tune);
}

/* ----------------------------------------------------------------------------------------------------- keeping */

/* The point with these indices. */
static const struct tune_point *point_at(const struct tune *tune, const int at[])
{
    size_t n = 0;

    for (int i = 0; i < tune->axis_count; i++)
        n = n * (size_t)tune->axes[i].count + (size_t)at[i];
    return &tune->points[n];
}

/* The point of default values beside this one: with the same threads. NULL when it was not searched or has no time. */
static const struct tune_point *preset_beside(const struct tune *tune, const struct tune_point *point)
{
    int at[TUNE_MAX_AXES];

    for (int i = 0; i < tune->axis_count; i++) {
        const struct tune_axis *axis = &tune->axes[i];

        at[i] = axis->tunable ? 0 : point->at[i];
        while (axis->tunable && at[i] < axis->count && axis->values[at[i]] != axis->preset)
            at[i]++;
        if (at[i] == axis->count)
            return NULL;
    }
    const struct tune_point *preset = point_at(tune, at);
    return preset->outcome == TUNE_TIMED ? preset : NULL;
}

static void fill_entry(const struct tune *tune, const struct tune_point *best, struct tuned_entry *entry)
{
    const struct tune_request *request = tune->request;
    const struct tune_point *preset = preset_beside(tune, best);
    const bool device = version_is_cuda(request->version);
    const struct tune_point *kept = preset && !statistics_differ(&best->time, &preset->time) ? preset : best;
    const struct bench_point values = bench_point_of(tune, kept);

    *entry = (struct tuned_entry){.version = request->version,
                                  .threads = device ? 0 : values.threads,
                                  .width = request->in[0].width,
                                  .height = request->in[0].height,
                                  .channels = request->in[0].channels,
                                  .median = kept->time.median,
                                  .preset_median = preset ? preset->time.median : 0};
    memcpy(entry->values, values.values, sizeof entry->values);
    snprintf(entry->processor, sizeof entry->processor, "%s", device ? tune->machine.gpu : tune->machine.cpu);
    snprintf(entry->settings, sizeof entry->settings, "%s", tune->settings);
    snprintf(entry->date, sizeof entry->date, "%s", tune->date);
    snprintf(entry->commit, sizeof entry->commit, "%s", tune->machine.commit);
}

size_t tune_kept(const struct tune *tune, struct tuned_entry *entries, size_t capacity)
{
    const int last = tune->axis_count - 1;
    const bool threaded = last >= 0 && !tune->axes[last].tunable;
    size_t count = 0;

    if (!tune->request->version->tunables)
        return 0;
    for (int i = 0; i < (threaded ? tune->axes[last].count : 1) && count < capacity; i++) {
        const struct tune_point *best = NULL;

        for (size_t n = 0; n < tune->point_count; n++) {
            const struct tune_point *point = &tune->points[n];

            if (point->outcome == TUNE_TIMED && (!threaded || point->at[last] == i) &&
                (!best || point->time.median < best->time.median))
                best = point;
        }
        if (best)
            fill_entry(tune, best, &entries[count++]);
    }
    return count;
}

/* ---------------------------------------------------------------------------------------------------- in words */

void tune_value_text(const struct tune_axis *axis, int index, char *text, size_t size)
{
    for (int i = 0; axis->tunable && axis->tunable->words && axis->tunable->legal[i]; i++)
        if (axis->tunable->legal[i] == axis->values[index]) {
            snprintf(text, size, "%s", axis->tunable->words[i]);
            return;
        }
    snprintf(text, size, "%d", axis->values[index]);
}

void tune_describe(const struct tune *tune, const struct tune_point *point, bool one_valued, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < tune->axis_count && used < size; i++) {
        char value[32];

        if (tune->axes[i].count == 1 && !one_valued)
            continue;
        tune_value_text(&tune->axes[i], point->at[i], value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", tune->axes[i].name, value);
    }
}
