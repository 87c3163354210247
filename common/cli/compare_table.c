#include "common/cli/compare_table.h"

#include <stdio.h>
#include <string.h>

#include "common/measure/statistics.h"
#include "common/output/table.h"

static const char *const verdict_words[] = {"same",      "unsure", "faster",         "SLOWER", "slower part",
                                            "NOW WRONG", "mended", "not comparable", "new",    "vanished"};

static void name_of(const struct compare_results *results, const json_t *row, char *name, size_t size)
{
    json_t *values = json_object_get(row, "values"), *value;
    const char *key;

    if (results->kind != COMPARE_TUNE) { /* a profile's own version may be another one in the other file */
        const bool profiled = results->kind == COMPARE_PROFILE && !compare_text(row, "what")[0];

        snprintf(name, size, "%s", profiled ? "bench" : compare_text(row, "id"));
        return;
    }
    name[0] = '\0';
    json_object_foreach(values, key, value)
    {
        char text[64];

        compare_show(value, text, sizeof text);
        compare_append(name, size, "%s%s=%s", name[0] ? " " : "", key, text);
    }
}

static const json_t *find_row(const struct compare_results *results, const char *name)
{
    size_t place;
    json_t *row;

    json_array_foreach(results->rows, place, row)
    {
        char other[256];

        name_of(results, row, other, sizeof other);
        if (strcmp(name, other) == 0)
            return row;
    }
    return NULL;
}

static struct statistics times_of(const json_t *row, const char *key)
{
    const json_t *times = json_object_get(row, key);

    return (struct statistics){.median = json_number_value(json_object_get(times, "median")),
                               .q1 = json_number_value(json_object_get(times, "q1")),
                               .q3 = json_number_value(json_object_get(times, "q3")),
                               .count = (size_t)json_integer_value(json_object_get(times, "n"))};
}

static void print_line(struct compare_report *report, const char *name, const char *what, const struct statistics *a,
                       const struct statistics *b, enum compare_verdict verdict, const char *why)
{
    char before[TABLE_CELL] = "-", after[TABLE_CELL] = "-", times[TABLE_CELL] = "-";

    report->counts[verdict]++;
    if (a && a->count)
        table_time(a->median, before);
    if (b && b->count)
        table_time(b->median, after);
    if (a && b && a->count && b->count && verdict != COMPARE_NOT_COMPARABLE)
        table_number(a->median / b->median, times);
    printf("%-*s  %-10s  %*s%s  %*s%s  %7s  %s%s%s\n", report->name_width, name, what, 9 - table_columns(before), "",
           before, 9 - table_columns(after), "", after, times, verdict_words[verdict], why[0] ? ": " : "", why);
}

static void compare_times(struct compare_report *report, const char *name, const char *what, const struct statistics *a,
                          const struct statistics *b, const char *reason, enum compare_verdict slower)
{
    const double ratio = a->median / b->median;
    enum compare_verdict verdict = COMPARE_SAME;
    char rates[COMPARE_REASON] = ""; /* what stands behind the verdict */

    if (reason[0]) {
        print_line(report, name, what, a, b, COMPARE_NOT_COMPARABLE, reason);
        return;
    }
    if (ratio > report->threshold || 1 / ratio > report->threshold)
        verdict = !statistics_differ(a, b) ? COMPARE_UNSURE : ratio > 1 ? COMPARE_FASTER : slower;
    if (strcmp(what, "frame") == 0) {
        char before[TABLE_CELL], after[TABLE_CELL];

        table_number(1 / a->median, before);
        table_number(1 / b->median, after);
        snprintf(rates, sizeof rates, "%s -> %s frames/s", before, after);
    } else if (verdict == COMPARE_UNSURE) {
        snprintf(rates, sizeof rates, "spreads of %.0f%% and %.0f%%", 50 * (a->q3 - a->q1) / a->median,
                 50 * (b->q3 - b->q1) / b->median);
    }
    print_line(report, name, what, a, b, verdict, rates);
}

static bool is_timed(const json_t *row)
{
    return strcmp(compare_text(row, "outcome"), "timed") == 0;
}

static bool has_failed(const json_t *row)
{
    return strcmp(compare_text(row, "outcome"), "failed") == 0;
}

/* One that both files have, not both with times. Without times in either there is nothing to say but a new failure. */
static void compare_outcomes(struct compare_report *report, const char *name, const json_t *a, const json_t *b)
{
    char why[COMPARE_REASON];

    if (has_failed(b) && !has_failed(a))
        print_line(report, name, "", NULL, NULL, COMPARE_WRONG, compare_text(b, "why"));
    else if (has_failed(a) && !has_failed(b))
        print_line(report, name, "", NULL, NULL, COMPARE_MENDED, "");
    else {
        snprintf(why, sizeof why, "%s -> %s", compare_text(a, "outcome"), compare_text(b, "outcome"));
        print_line(report, name, "", NULL, NULL, COMPARE_NOT_COMPARABLE,
                   strcmp(compare_text(a, "outcome"), compare_text(b, "outcome")) ? why : compare_text(a, "outcome"));
    }
}

/* The launch parameters of a version in a bench, where they are not the same. */
static void print_tunables(const char *name, const json_t *a, const json_t *b)
{
    json_t *values = json_object_get(b, "tunables"), *value;
    char reasons[COMPARE_REASON] = "", text[COMPARE_REASON + 128];
    const char *key;

    json_object_foreach(values, key, value) if (json_object_get(json_object_get(a, "tunables"), key))
        compare_difference(reasons, key, json_object_get(json_object_get(a, "tunables"), key), value);
    if (!reasons[0])
        return;
    snprintf(text, sizeof text, "%.100s: %s", name, reasons);
    table_wrapped(stdout, "note", text);
}

/* A step's mean seconds a frame; 0 when the version has no such step. */
static double step_seconds(const json_t *row, const char *name)
{
    size_t place;
    json_t *step;

    json_array_foreach(json_object_get(row, "steps"), place,
                       step) if (strcmp(compare_text(step, "name"), name) ==
                                 0) return json_number_value(json_object_get(step, "seconds"));
    return 0;
}

/* Where the time of a frame went: the steps beyond the threshold. They have no spread, hence no verdict. */
static void print_steps(const struct compare_report *report, const json_t *a, const json_t *b)
{
    size_t place;
    json_t *step;

    json_array_foreach(json_object_get(b, "steps"), place, step)
    {
        const char *const name = compare_text(step, "name");
        const double before = step_seconds(a, name), after = step_seconds(b, name), ratio = before / after;
        char from[TABLE_CELL], to[TABLE_CELL], times[TABLE_CELL];

        if (before <= 0 || after <= 0 || (ratio < report->threshold && 1 / ratio < report->threshold))
            continue;
        table_time(before, from);
        table_time(after, to);
        table_number(ratio, times);
        printf("%*s  %-10.10s  %*s%s  %*s%s  %7s  (step)\n", report->name_width, "", name, 9 - table_columns(from), "",
               from, 9 - table_columns(to), "", to, times);
    }
}

static void compare_rows(struct compare_report *report, const struct compare_results *results, const char *name,
                         const json_t *a, const json_t *b)
{
    const struct compare_conditions *conditions = &report->conditions;
    const char *const what = compare_text(b, "what"); /* of a profile: kernel, copy, memset, step, phase; else "" */
    const char *const key = results->kind == COMPARE_TUNE || what[0] ? "time"
                            : results->kind == COMPARE_VIDEO         ? "end_to_end"
                                                                     : "kernel";
    const bool device = what[0]                         ? strcmp(what, "kernel") == 0 || strcmp(what, "memset") == 0
                        : results->kind == COMPARE_TUNE ? strcmp(compare_text(results->document, "time"), "kernel") == 0
                        : results->kind == COMPARE_VIDEO ? false
                                                         : strcmp(compare_text(b, "kernel_method"), "host clock") != 0;
    const bool on_gpu = device || strncmp(compare_text(b, "id"), "cuda", 4) == 0 || strcmp(what, "copy") == 0;
    if (!is_timed(a) || !is_timed(b)) {
        compare_outcomes(report, name, a, b);
        return;
    }
    const char *const work = conditions->work[0] ? "other size, input or parameters" : "";
    const char *const cpu = work[0] || !conditions->cpu[0] ? work : "other CPU or threads";
    const char *const gpu = work[0] || !conditions->gpu[0] ? work : "other GPU";
    const char *const both = gpu[0] ? gpu : cpu; /* the host's part is the CPU's */
    const struct statistics time_a = times_of(a, key), time_b = times_of(b, key);
    const struct statistics whole_a = times_of(a, "end_to_end"), whole_b = times_of(b, "end_to_end");
    if (time_a.count && time_b.count)
        compare_times(report, name,
                      what[0]                          ? what
                      : device                         ? "kernel"
                      : results->kind == COMPARE_VIDEO ? "frame"
                                                       : "call",
                      &time_a, &time_b,
                      device   ? gpu
                      : on_gpu ? both
                               : cpu,
                      what[0] && report->two_versions ? COMPARE_SLOWER_PART : COMPARE_SLOWER);
    if (device && !what[0] && whole_a.count && whole_b.count)
        compare_times(report, name, "end to end", &whole_a, &whole_b, both, COMPARE_SLOWER);
    if (results->kind == COMPARE_VIDEO && !(on_gpu ? both : cpu)[0])
        print_steps(report, a, b);
}

/* The launches of a profile whose shape or needs are not the same, by kernel: the first launch of each. */
static void print_launches(const struct compare_results *a, const struct compare_results *b)
{
    static const char *const keys[] = {
        "grid", "block", "registers", "static_shared_bytes", "dynamic_shared_bytes", "theoretical_occupancy", NULL};
    size_t place, other;
    json_t *launch, *before;

    json_array_foreach(json_object_get(json_object_get(b->document, "profile"), "launches"), place, launch)
    {
        char reasons[COMPARE_REASON] = "", text[COMPARE_REASON + 128];

        json_array_foreach(json_object_get(json_object_get(a->document, "profile"), "launches"), other, before)
        {
            if (strcmp(compare_text(before, "kernel"), compare_text(launch, "kernel")) == 0) {
                compare_differences(reasons, keys, before, launch);
                break;
            }
        }
        if (!reasons[0])
            continue;
        snprintf(text, sizeof text, "%.100s: %s", compare_text(launch, "kernel"), reasons);
        table_wrapped(stdout, "note", text);
    }
}

static void print_file(const struct compare_results *results, const char *label)
{
    const json_t *machine = json_object_get(results->document, "machine"), *gpu = json_object_get(machine, "gpu");
    char text[1024];

    snprintf(text, sizeof text, "%s: %s, commit %s; %s%s%s", results->path, compare_text(results->document, "date"),
             compare_text(results->document, "commit"), compare_text(machine, "cpu"), json_is_object(gpu) ? "; " : "",
             compare_text(gpu, "name"));
    table_wrapped(stdout, label, text);
}

static void print_conditions(const struct compare_conditions *conditions)
{
    static const char label[] = "differs";

    if (conditions->work[0])
        table_wrapped(stdout, label, conditions->work);
    if (conditions->cpu[0])
        table_wrapped(stdout, label, conditions->cpu);
    if (conditions->gpu[0])
        table_wrapped(stdout, label, conditions->gpu);
    if (conditions->notes[0])
        table_wrapped(stdout, "note", conditions->notes);
}

void compare_print(struct compare_report *report, const struct compare_results *a, const struct compare_results *b)
{
    size_t place;
    json_t *row;
    char name[256];

    report->name_width = 12;
    for (int side = 0; side < 2; side++)
        json_array_foreach((side ? b : a)->rows, place, row)
        {
            name_of(a, row, name, sizeof name);
            if ((int)strlen(name) > report->name_width)
                report->name_width = (int)strlen(name);
        }
    snprintf(name, sizeof name, "%s%s%s, %s", compare_text(b->document, "algorithm"),
             b->kind == COMPARE_TUNE      ? ", tune of "
             : b->kind == COMPARE_PROFILE ? ", profile of "
             : b->kind == COMPARE_VIDEO   ? ", a video"
                                          : "",
             b->kind == COMPARE_TUNE      ? compare_text(b->document, "tuned_version")
             : b->kind == COMPARE_PROFILE ? compare_text(json_object_get(b->document, "bench"), "id")
                                          : "",
             compare_text(b->document, "settings"));
    table_wrapped(stdout, "compare", name);
    print_file(a, "old");
    print_file(b, "new");
    print_conditions(&report->conditions);
    json_array_foreach(b->rows, place, row)
    {
        name_of(b, row, name, sizeof name);
        print_tunables(name, find_row(a, name), row);
    }
    if (b->kind == COMPARE_PROFILE)
        print_launches(a, b);
    printf("\n%-*s  %-10s  %9s  %9s  %7s  %s\n", report->name_width, compare_kinds[a->kind].row_heading, "time", "old",
           "new", "old/new", "verdict");
    json_array_foreach(b->rows, place, row)
    {
        name_of(b, row, name, sizeof name);
        const json_t *before = find_row(a, name);
        if (before)
            compare_rows(report, b, name, before, row);
        else
            print_line(report, name, "", NULL, NULL, has_failed(row) ? COMPARE_WRONG : COMPARE_NEW,
                       has_failed(row) ? "new, and wrong" : "");
    }
    json_array_foreach(a->rows, place, row)
    {
        name_of(a, row, name, sizeof name);
        if (!find_row(b, name))
            print_line(report, name, "", NULL, NULL, COMPARE_VANISHED, "");
    }
    putchar('\n');
    for (int verdict = 0, first = 1; verdict < COMPARE_VERDICTS; verdict++)
        if (report->counts[verdict]) {
            printf("%s%zu %s", first ? "" : ", ", report->counts[verdict], verdict_words[verdict]);
            first = 0;
        }
    printf(" (threshold %g)\n", report->threshold);
    if (report->counts[COMPARE_SAME] + report->counts[COMPARE_UNSURE] + report->counts[COMPARE_FASTER] +
            report->counts[COMPARE_SLOWER] + report->counts[COMPARE_SLOWER_PART] ==
        0)
        puts("no two times were comparable: this says nothing about speed");
}
