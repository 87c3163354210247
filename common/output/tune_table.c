#include "common/output/tune_report.h"

#include <stdlib.h>
#include <string.h>

#include "common/contract/device_info.h"
#include "common/output/table.h"

static int by_time(const void *a, const void *b)
{
    const struct tune_point *x = *(const struct tune_point *const *)a, *y = *(const struct tune_point *const *)b;

    return (x->time.median > y->time.median) - (x->time.median < y->time.median);
}

static void print_headline(const struct tune *tune, FILE *stream)
{
    const struct tune_request *request = tune->request;
    const struct image *in = &request->in[0];
    const bool device = version_is_cuda(request->version);
    const struct machine *machine = &tune->machine;
    char text[1024];

    snprintf(text, sizeof text, "%s of %s, %s%s%dx%d, %d channel%s; %s", request->version->source->id,
             request->algorithm->name, tune->settings, tune->settings[0] ? ", " : "", in->width, in->height,
             in->channels, in->channels == 1 ? "" : "s", device ? "kernel time" : "time of a call");
    table_wrapped(stream, "tune", text);
    table_wrapped(stream, "input", request->input);
    if (device)
        snprintf(text, sizeof text, "%s, %d multiprocessors; driver %s, CUDA %s", machine->gpu,
                 machine->gpu_multiprocessors, machine->driver[0] ? machine->driver : "unknown", machine->cuda);
    else
        snprintf(text, sizeof text, "%s, %d core%s; %s %s", machine->cpu, machine->cores,
                 machine->cores == 1 ? "" : "s", machine->compiler, machine->flags);
    table_wrapped(stream, device ? "GPU" : "CPU", text);
    for (int i = 0; i < tune->axis_count; i++) {
        const struct tune_axis *axis = &tune->axes[i];
        size_t used = (size_t)snprintf(text, sizeof text, "%s:", axis->name);

        for (int k = 0; k < axis->count && used < sizeof text; k++) {
            char value[32];

            tune_value_text(axis, k, value, sizeof value);
            used += (size_t)snprintf(text + used, sizeof text - used, " %s%s", value,
                                     axis->values[k] == axis->preset && axis->tunable ? "*" : "");
        }
        if (used < sizeof text)
            snprintf(text + used, sizeof text - used, " (%s%s)", axis->help, axis->tunable ? "; * default" : "");
        table_wrapped(stream, i ? "" : "searched", text);
    }
    putc('\n', stream);
}

static void print_points(const struct tune *tune, const struct tune_point *const *sorted, size_t count, FILE *stream)
{
    int widths[TUNE_MAX_AXES];

    for (int i = 0; i < tune->axis_count; i++) {
        widths[i] = (int)strlen(tune->axes[i].name);
        for (int k = 0; k < tune->axes[i].count; k++) {
            char value[32];

            tune_value_text(&tune->axes[i], k, value, sizeof value);
            if ((int)strlen(value) > widths[i])
                widths[i] = (int)strlen(value);
        }
        fprintf(stream, "%*s  ", widths[i], tune->axes[i].name);
    }
    fprintf(stream, "%9s  %6s  %s %s\n", "time", "spread", table_times_sign(), tune->preset ? "default" : "   best");
    for (size_t n = 0; n < count; n++) {
        const struct tune_point *point = sorted[n], *base = tune->preset ? tune->preset : tune->best;
        const struct bench_ratio ratio = bench_ratio(&base->time, &point->time);
        const double percent = 100 * statistics_spread(&point->time);
        char time[TABLE_CELL], spread[TABLE_CELL], times[TABLE_CELL] = "=";

        for (int i = 0; i < tune->axis_count; i++) {
            char value[32];

            tune_value_text(&tune->axes[i], point->at[i], value, sizeof value);
            fprintf(stream, "%*s  ", widths[i], value);
        }
        table_time(point->time.median, time);
        snprintf(spread, sizeof spread, percent < 9.95 ? "%s%.1f%%" : "%s%.0f%%", table_spread_sign(), percent);
        if (point == base)
            snprintf(times, sizeof times, "1");
        else if (ratio.times <= 0)
            snprintf(times, sizeof times, "-");
        else if (ratio.differs)
            table_number(ratio.times, times);
        const char *const mark = point == tune->best ? "  best" : point->like_best ? "  like the best" : "";
        fprintf(stream, "%*s%s  %*s%s  %9s%s%s\n", 9 - table_columns(time), "", time,
                6 - table_columns(spread) > 0 ? 6 - table_columns(spread) : 0, "", spread, times, mark,
                !point->preset ? ""
                : mark[0]      ? ", default"
                               : "  default");
    }
}

/* Points that have no time, and why; the first few of each outcome. */
static void print_others(const struct tune *tune, enum tune_outcome outcome, const char *title, FILE *stream)
{
    enum { SHOWN = 5 };
    size_t shown = 0, all = 0;

    for (size_t n = 0; n < tune->point_count; n++) {
        const struct tune_point *point = &tune->points[n];
        char values[256];

        if (point->outcome != outcome || ++all > SHOWN)
            continue;
        tune_describe(tune, point, true, values, sizeof values);
        fprintf(stream, "%s %s: %s\n", title, values, point->why);
        shown++;
    }
    if (all > shown)
        fprintf(stream, "%s %zu more\n", title, all - shown);
}

void tune_print(const struct tune *tune, FILE *stream)
{
    const struct tune_point **sorted = calloc(tune->point_count, sizeof *sorted);
    size_t count = 0;
    char values[256], times[TABLE_CELL];

    print_headline(tune, stream);
    for (size_t n = 0; sorted && n < tune->point_count; n++)
        if (tune->points[n].outcome == TUNE_TIMED)
            sorted[count++] = &tune->points[n];
    if (count > 0) {
        qsort(sorted, count, sizeof *sorted, by_time);
        print_points(tune, sorted, count, stream);
        fputs("\n=  not different: the interquartile ranges overlap\n", stream);
    }
    fprintf(stream, "%zu points timed, each verified first; %zu illegal, %zu skipped, %zu wrong\n", tune->timed,
            tune->illegal, tune->skipped, tune->failed);
    print_others(tune, TUNE_FAILED, "FAIL", stream);
    print_others(tune, TUNE_SKIPPED, "SKIP", stream);
    print_others(tune, TUNE_ILLEGAL, "illegal", stream);
    if (tune->best) {
        tune_describe(tune, tune->best, true, values, sizeof values);
        if (!tune->preset || tune->preset->outcome != TUNE_TIMED || tune->preset == tune->best)
            fprintf(stream, "best: %s%s\n", values, tune->preset == tune->best ? ", the default" : "");
        else if (tune->preset->like_best)
            fprintf(stream, "best: %s, not different from the default\n", values);
        else {
            table_number(tune->preset->time.median / tune->best->time.median, times);
            fprintf(stream, "best: %s, %s %s as fast as the default\n", values, times, table_times_sign());
        }
    }
    free(sorted);
}
