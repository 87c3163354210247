/*
 * compare.c: rungs compare
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli/cli.h"
#include "common/core/file.h"
#include "common/measure/statistics.h"
#include "common/output/table.h"

static const char help[] =
    "usage: rungs compare OLD.json NEW.json [--threshold RATIO]\n\n"
    "Says what changed between two results files of `rungs bench`, `tune` or `profile --json`, both of one kind: for\n"
    "each version (combination of launch parameters; kernel and copy) the two times, old / new, and faster, slower\n"
    "or same. Times are the same when they differ by less than the threshold: two runs differ by more than the\n"
    "spread within one. When they differ by more but their interquartile ranges overlap, the noise leaves it open:\n"
    "unsure, no regression; measure longer. What was measured on another machine, size, input, parameters or number\n"
    "of threads is not comparable, and says so.\n\n"
    "profile   bench: the version timed without a profiler. Kernels and copies, or steps on a CPU: what they take in\n"
    "          a call, unsure when the ranges from least to most overlap. Between two versions work moves from\n"
    "          kernel to kernel: there only bench counts as a regression.\n"
    "video     times a frame. A pipeline's steps are means without a spread: those beyond the threshold are shown, to\n"
    "          tell where the time went, but do not count as regressions.\n\n"
    "      --threshold RATIO    smallest ratio that counts, from 1 (default 1.05: 5 %)\n"
    "      --help               this text\n\n"
    "Exit status: 0 no regression, 1 something became slower or wrong, 2 bad use or bad input.\n\n"
    "example: rungs compare results/old.json results/new.json --threshold 1.1\n";

enum { OPTION_THRESHOLD = 256, OPTION_HELP, REASON = 512, MAX_FILE_BYTES = 64 << 20, SCHEMA_VERSION = 1 };

enum kind { BENCH, TUNE, PROFILE, VIDEO, KINDS };

static const struct {
    const char *schema, *name, *rows; /* rows: the array of what was timed; NULL: made of several members */
    const char *row_heading;
} kinds[KINDS] = {[BENCH] = {"rungs-results", "bench", "versions", "version"},
                  [TUNE] = {"rungs-results", "tune", "points", "point"},
                  [PROFILE] = {"rungs-results", "profile", NULL, "name"},
                  [VIDEO] = {"rungs-video-results", "bench", "versions", "version"}};

struct results {
    const char *path;
    json_t *document;
    enum kind kind;
    json_t *rows; /* an array of objects */
};

/* --------------------------------------------------------------------------------------------------- reading */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static enum status require(const struct results *results, const json_t *object, const char *where, const char *key,
                           json_type type)
{
    const json_t *value = json_object_get(object, key);

    if (!value || json_typeof(value) != type)
        return status_set(STATUS_BAD_INPUT, "%s: not a complete results file: %s has no fitting \"%s\"", results->path,
                          where, key);
    return STATUS_OK;
}

/* null, or an object whose numbers make sense: a hand-made file shall not turn NaN into "same". */
static enum status require_times(const struct results *results, const json_t *row, const char *key)
{
    const json_t *times = json_object_get(row, key);
    const double median = json_number_value(json_object_get(times, "median"));
    const double q1 = json_number_value(json_object_get(times, "q1")),
                 q3 = json_number_value(json_object_get(times, "q3"));

    if (!times || json_is_null(times))
        return STATUS_OK;
    if (!(q1 > 0 && q1 <= median && median <= q3 && isfinite(q3)) ||
        json_integer_value(json_object_get(times, "n")) < 1)
        return status_set(STATUS_BAD_INPUT, "%s: \"%s\" of a row is no median with quartiles and n", results->path,
                          key);
    return STATUS_OK;
}

static enum status check_rows(struct results *results)
{
    enum status status = STATUS_OK;
    size_t place;
    json_t *row;

    json_array_foreach(results->rows, place, row)
    {
        TRY(require(results, row, "a row", "outcome", JSON_STRING));
        TRY(require(results, row, "a row", results->kind == TUNE ? "values" : "id",
                    results->kind == TUNE ? JSON_OBJECT : JSON_STRING));
        TRY(require_times(results, row, "kernel"));
        TRY(require_times(results, row, "end_to_end"));
        TRY(require_times(results, row, "time"));
    }
out:
    return status;
}

/* Adds the sums of a profile under `key`, of all calls, as rows per call; the quartiles are the least and the most. */
static enum status add_sums(struct results *results, const char *key, double calls)
{
    enum status status = STATUS_OK;
    const json_t *profile = json_object_get(results->document, "profile");
    size_t place;
    json_t *sum;

    TRY(require(results, profile, "the profile", key, JSON_ARRAY));
    json_array_foreach(json_object_get(profile, key), place, sum)
    {
        const double count = json_number_value(json_object_get(sum, "calls"));
        json_t *row;

        TRY(require(results, sum, "a sum", "name", JSON_STRING));
        TRY(require(results, sum, "a sum", "kind", JSON_STRING));
        TRY(require(results, sum, "a sum", "calls", JSON_INTEGER));
        if (!json_object_get(sum, "average")) /* emulated: no times */
            continue;
        row = json_pack("{s:s, s:s, s:s, s:{s:f, s:f, s:f, s:I}}", "id", text_of(sum, "name"), "outcome", "timed",
                        "what", text_of(sum, "kind"), "time", "median",
                        json_number_value(json_object_get(sum, "average")) * count / calls, "q1",
                        json_number_value(json_object_get(sum, "least")) * count / calls, "q3",
                        json_number_value(json_object_get(sum, "most")) * count / calls, "n", (json_int_t)count);
        if (!row || json_array_append_new(results->rows, row) != 0)
            return status_set(STATUS_NO_MEMORY, "%s: out of memory", results->path);
    }
out:
    return status;
}

/* The bench's times of the profiled version, then the kernels and copies of a GPU, or the steps and phases of a CPU. */
static enum status load_profile(struct results *results)
{
    enum status status = STATUS_OK;
    const json_t *profile = json_object_get(results->document, "profile");
    json_t *bench = json_object_get(results->document, "bench");

    TRY(require(results, results->document, "it", "bench", JSON_OBJECT));
    TRY(require(results, results->document, "it", "profile", JSON_OBJECT));
    TRY(require(results, bench, "the bench", "id", JSON_STRING));
    const double calls = json_number_value(json_object_get(profile, "calls"));
    if (!(calls >= 1)) {
        status = status_set(STATUS_BAD_INPUT, "%s: not a complete results file: the profile has no fitting \"calls\"",
                            results->path);
        goto out;
    }
    results->rows = json_array();
    json_array_append(results->rows, bench);
    TRY(add_sums(results, strncmp(text_of(bench, "id"), "cuda", 4) == 0 ? "gpu_activities" : "host_ranges", calls));
out:
    return status;
}

/* The kind of a file by its schema and its member "kind", which older files of a bench lack. */
static enum status find_kind(struct results *results)
{
    const char *const schema = text_of(results->document, "schema");
    const char *const name =
        json_object_get(results->document, "kind") ? text_of(results->document, "kind") : kinds[BENCH].name;
    bool known = false;

    for (int kind = 0; kind < KINDS; kind++) {
        known = known || strcmp(schema, kinds[kind].schema) == 0;
        if (strcmp(schema, kinds[kind].schema) == 0 && strcmp(name, kinds[kind].name) == 0) {
            results->kind = (enum kind)kind;
            return STATUS_OK;
        }
    }
    if (!known)
        return status_set(STATUS_BAD_INPUT, "%s: not a results file of Rungs: no \"schema\": \"rungs-results\"",
                          results->path);
    return status_set(STATUS_BAD_INPUT, "%s: results of kind '%.40s'; compare reads bench, tune and profile",
                      results->path, name);
}

static enum status load(struct results *results, const char *path)
{
    static const char *const texts[] = {"date", "commit", "algorithm", "settings", "input"};
    static const char *const numbers[] = {"width", "height"};
    enum status status = STATUS_OK;
    FILE *stream = NULL;
    uint64_t size = 0;
    json_error_t error;

    results->path = path;
    TRY(file_open(path, &stream, &size));
    if (size > MAX_FILE_BYTES) {
        status = status_set(STATUS_BAD_INPUT, "%s: larger than %d MiB: not a results file", path, MAX_FILE_BYTES >> 20);
        goto out;
    }
    results->document = json_loadf(stream, JSON_REJECT_DUPLICATES, &error);
    if (!results->document) {
        status = status_set(STATUS_BAD_INPUT, "%s:%d: not valid JSON: %s", path, error.line, error.text);
        goto out;
    }
    TRY(find_kind(results));
    TRY(require(results, results->document, "it", "version", JSON_INTEGER));
    if (json_integer_value(json_object_get(results->document, "version")) != SCHEMA_VERSION) {
        status =
            status_set(STATUS_BAD_INPUT, "%s: results of version %lld; this rungs reads version %d", path,
                       (long long)json_integer_value(json_object_get(results->document, "version")), SCHEMA_VERSION);
        goto out;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(require(results, results->document, "it", texts[i], JSON_STRING));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        TRY(require(results, results->document, "it", numbers[i], JSON_INTEGER));
    TRY(require(results, results->document, "it", "machine", JSON_OBJECT));
    TRY(require(results, results->document, "it", "params", JSON_OBJECT));
    if (results->kind == TUNE)
        TRY(require(results, results->document, "it", "tuned_version", JSON_STRING));
    else
        TRY(require(results, results->document, "it", "threads", JSON_INTEGER));
    if (results->kind != VIDEO) {
        TRY(require(results, results->document, "it", "type", JSON_STRING));
        TRY(require(results, results->document, "it", "channels", JSON_INTEGER));
    }
    if (results->kind == PROFILE) {
        TRY(load_profile(results));
    } else {
        TRY(require(results, results->document, "it", kinds[results->kind].rows, JSON_ARRAY));
        results->rows = json_incref(json_object_get(results->document, kinds[results->kind].rows));
    }
    TRY(check_rows(results));
out:
    if (stream)
        fclose(stream);
    return status;
}

/* ------------------------------------------------------------------------------------------------- conditions */

/* The value of a scalar as it is shown. */
static void show(const json_t *value, char *text, size_t size)
{
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6) | JSON_COMPACT) : NULL;

    if (json_is_string(value))
        snprintf(text, size, "%s", json_string_value(value));
    else
        snprintf(text, size, "%s", dumped && !json_is_null(value) ? dumped : "none");
    free(dumped);
}

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* Adds "what: a -> b" to the reasons when the two values differ. */
static void difference(char *reasons, const char *what, const json_t *a, const json_t *b)
{
    char from[160], to[160];

    if ((!a && !b) || (a && b && json_equal(a, b)))
        return;
    show(a, from, sizeof from);
    show(b, to, sizeof to);
    append(reasons, REASON, "%s%s: %s -> %s", reasons[0] ? "; " : "", what, from, to);
}

static void differences(char *reasons, const char *const *keys, const json_t *a, const json_t *b)
{
    for (; *keys; keys++)
        difference(reasons, *keys, json_object_get(a, *keys), json_object_get(b, *keys));
}

struct conditions {
    char work[REASON], cpu[REASON], gpu[REASON]; /* "" when alike: what is computed, and on what */
    char notes[REASON];                          /* what else differs; times are compared all the same */
};

static void find_conditions(const struct results *a, const struct results *b, struct conditions *conditions)
{
    static const char *const work[] = {"width", "height", "channels", "type", "frames", "input", NULL};
    static const char *const cpu[] = {"cpu", "cores", NULL}, *const build[] = {"compiler", "flags", NULL};
    static const char *const gpu_notes[] = {"driver", "cuda", NULL};
    const json_t *machine_a = json_object_get(a->document, "machine"),
                 *machine_b = json_object_get(b->document, "machine");
    const json_t *gpu_a = json_object_get(machine_a, "gpu"), *gpu_b = json_object_get(machine_b, "gpu");
    const json_t *params_a = json_object_get(a->document, "params"), *params_b = json_object_get(b->document, "params");
    const char *key;
    json_t *value;

    memset(conditions, 0, sizeof *conditions);
    differences(conditions->work, work, a->document, b->document);
    json_object_foreach((json_t *)params_a, key, value)
        difference(conditions->work, key, value, json_object_get(params_b, key));
    json_object_foreach((json_t *)params_b, key, value) if (!json_object_get(params_a, key))
        difference(conditions->work, key, NULL, value);
    differences(conditions->cpu, cpu, machine_a, machine_b);
    if (a->kind != TUNE)
        difference(conditions->cpu, "threads", json_object_get(a->document, "threads"),
                   json_object_get(b->document, "threads"));
    difference(conditions->gpu, "GPU", json_object_get(gpu_a, "name"), json_object_get(gpu_b, "name"));
    differences(conditions->notes, build, machine_a, machine_b);
    if (json_is_object(gpu_a) && json_is_object(gpu_b))
        differences(conditions->notes, gpu_notes, gpu_a, gpu_b);
    if (a->kind == PROFILE)
        difference(conditions->notes, "version", json_object_get(json_object_get(a->document, "bench"), "id"),
                   json_object_get(json_object_get(b->document, "bench"), "id"));
}

/* --------------------------------------------------------------------------------------------------- verdicts */

enum verdict_kind { SAME, UNSURE, FASTER, SLOWER, SLOWER_PART, WRONG, MENDED, NOT_COMPARABLE, NEW, VANISHED, VERDICTS };
static const char *const verdict_words[] = {"same",      "unsure", "faster",         "SLOWER", "slower part",
                                            "NOW WRONG", "mended", "not comparable", "new",    "vanished"};

struct report {
    double threshold;
    struct conditions conditions;
    bool two_versions; /* profiles of two versions */
    int name_width;
    size_t counts[VERDICTS];
};

static void name_of(const struct results *results, const json_t *row, char *name, size_t size)
{
    json_t *values = json_object_get(row, "values"), *value;
    const char *key;

    if (results->kind != TUNE) { /* a profile's own version may be another one in the other file */
        const bool profiled = results->kind == PROFILE && !text_of(row, "what")[0];

        snprintf(name, size, "%s", profiled ? "bench" : text_of(row, "id"));
        return;
    }
    name[0] = '\0';
    json_object_foreach(values, key, value)
    {
        char text[64];

        show(value, text, sizeof text);
        append(name, size, "%s%s=%s", name[0] ? " " : "", key, text);
    }
}

static const json_t *find_row(const struct results *results, const char *name)
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

static void print_line(struct report *report, const char *name, const char *what, const struct statistics *a,
                       const struct statistics *b, enum verdict_kind verdict, const char *why)
{
    char before[TABLE_CELL] = "-", after[TABLE_CELL] = "-", times[TABLE_CELL] = "-";

    report->counts[verdict]++;
    if (a && a->count)
        table_time(a->median, before);
    if (b && b->count)
        table_time(b->median, after);
    if (a && b && a->count && b->count && verdict != NOT_COMPARABLE)
        table_number(a->median / b->median, times);
    printf("%-*s  %-10s  %*s%s  %*s%s  %7s  %s%s%s\n", report->name_width, name, what, 9 - table_columns(before), "",
           before, 9 - table_columns(after), "", after, times, verdict_words[verdict], why[0] ? ": " : "", why);
}

static void compare_times(struct report *report, const char *name, const char *what, const struct statistics *a,
                          const struct statistics *b, const char *reason, enum verdict_kind slower)
{
    const double ratio = a->median / b->median;
    enum verdict_kind verdict = SAME;
    char rates[REASON] = ""; /* what stands behind the verdict */

    if (reason[0]) {
        print_line(report, name, what, a, b, NOT_COMPARABLE, reason);
        return;
    }
    if (ratio > report->threshold || 1 / ratio > report->threshold)
        verdict = !statistics_differ(a, b) ? UNSURE : ratio > 1 ? FASTER : slower;
    if (strcmp(what, "frame") == 0) {
        char before[TABLE_CELL], after[TABLE_CELL];

        table_number(1 / a->median, before);
        table_number(1 / b->median, after);
        snprintf(rates, sizeof rates, "%s -> %s frames/s", before, after);
    } else if (verdict == UNSURE) {
        snprintf(rates, sizeof rates, "spreads of %.0f%% and %.0f%%", 50 * (a->q3 - a->q1) / a->median,
                 50 * (b->q3 - b->q1) / b->median);
    }
    print_line(report, name, what, a, b, verdict, rates);
}

static bool is_timed(const json_t *row)
{
    return strcmp(text_of(row, "outcome"), "timed") == 0;
}

static bool has_failed(const json_t *row)
{
    return strcmp(text_of(row, "outcome"), "failed") == 0;
}

/* One that both files have, not both with times. Without times in either there is nothing to say but a new failure. */
static void compare_outcomes(struct report *report, const char *name, const json_t *a, const json_t *b)
{
    char why[REASON];

    if (has_failed(b) && !has_failed(a))
        print_line(report, name, "", NULL, NULL, WRONG, text_of(b, "why"));
    else if (has_failed(a) && !has_failed(b))
        print_line(report, name, "", NULL, NULL, MENDED, "");
    else {
        snprintf(why, sizeof why, "%s -> %s", text_of(a, "outcome"), text_of(b, "outcome"));
        print_line(report, name, "", NULL, NULL, NOT_COMPARABLE,
                   strcmp(text_of(a, "outcome"), text_of(b, "outcome")) ? why : text_of(a, "outcome"));
    }
}

/* The launch parameters of a version in a bench, where they are not the same. */
static void print_tunables(const char *name, const json_t *a, const json_t *b)
{
    json_t *values = json_object_get(b, "tunables"), *value;
    char reasons[REASON] = "", text[REASON + 128];
    const char *key;

    json_object_foreach(values, key, value) if (json_object_get(json_object_get(a, "tunables"), key))
        difference(reasons, key, json_object_get(json_object_get(a, "tunables"), key), value);
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
                       step) if (strcmp(text_of(step, "name"), name) ==
                                 0) return json_number_value(json_object_get(step, "seconds"));
    return 0;
}

/* Where the time of a frame went: the steps beyond the threshold. They have no spread, hence no verdict. */
static void print_steps(const struct report *report, const json_t *a, const json_t *b)
{
    size_t place;
    json_t *step;

    json_array_foreach(json_object_get(b, "steps"), place, step)
    {
        const char *const name = text_of(step, "name");
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

static void compare_rows(struct report *report, const struct results *results, const char *name, const json_t *a,
                         const json_t *b)
{
    const struct conditions *conditions = &report->conditions;
    const char *const what = text_of(b, "what"); /* of a profile: kernel, copy, memset, step, phase; else "" */
    const char *const key = results->kind == TUNE || what[0] ? "time"
                            : results->kind == VIDEO         ? "end_to_end"
                                                             : "kernel";
    const bool device = what[0]                  ? strcmp(what, "kernel") == 0 || strcmp(what, "memset") == 0
                        : results->kind == TUNE  ? strcmp(text_of(results->document, "time"), "kernel") == 0
                        : results->kind == VIDEO ? false
                                                 : strcmp(text_of(b, "kernel_method"), "host clock") != 0;
    const bool on_gpu = device || strncmp(text_of(b, "id"), "cuda", 4) == 0 || strcmp(what, "copy") == 0;
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
                      what[0]                  ? what
                      : device                 ? "kernel"
                      : results->kind == VIDEO ? "frame"
                                               : "call",
                      &time_a, &time_b,
                      device   ? gpu
                      : on_gpu ? both
                               : cpu,
                      what[0] && report->two_versions ? SLOWER_PART : SLOWER);
    if (device && !what[0] && whole_a.count && whole_b.count)
        compare_times(report, name, "end to end", &whole_a, &whole_b, both, SLOWER);
    if (results->kind == VIDEO && !(on_gpu ? both : cpu)[0])
        print_steps(report, a, b);
}

/* The launches of a profile whose shape or needs are not the same, by kernel: the first launch of each. */
static void print_launches(const struct results *a, const struct results *b)
{
    static const char *const keys[] = {
        "grid", "block", "registers", "static_shared_bytes", "dynamic_shared_bytes", "theoretical_occupancy", NULL};
    size_t place, other;
    json_t *launch, *before;

    json_array_foreach(json_object_get(json_object_get(b->document, "profile"), "launches"), place, launch)
    {
        char reasons[REASON] = "", text[REASON + 128];

        json_array_foreach(json_object_get(json_object_get(a->document, "profile"), "launches"), other, before)
        {
            if (strcmp(text_of(before, "kernel"), text_of(launch, "kernel")) == 0) {
                differences(reasons, keys, before, launch);
                break;
            }
        }
        if (!reasons[0])
            continue;
        snprintf(text, sizeof text, "%.100s: %s", text_of(launch, "kernel"), reasons);
        table_wrapped(stdout, "note", text);
    }
}

static void print_file(const struct results *results, const char *label)
{
    const json_t *machine = json_object_get(results->document, "machine"), *gpu = json_object_get(machine, "gpu");
    char text[1024];

    snprintf(text, sizeof text, "%s: %s, commit %s; %s%s%s", results->path, text_of(results->document, "date"),
             text_of(results->document, "commit"), text_of(machine, "cpu"), json_is_object(gpu) ? "; " : "",
             text_of(gpu, "name"));
    table_wrapped(stdout, label, text);
}

static void print_conditions(const struct conditions *conditions)
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

static void print_comparison(struct report *report, const struct results *a, const struct results *b)
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
    snprintf(name, sizeof name, "%s%s%s, %s", text_of(b->document, "algorithm"),
             b->kind == TUNE      ? ", tune of "
             : b->kind == PROFILE ? ", profile of "
             : b->kind == VIDEO   ? ", a video"
                                  : "",
             b->kind == TUNE      ? text_of(b->document, "tuned_version")
             : b->kind == PROFILE ? text_of(json_object_get(b->document, "bench"), "id")
                                  : "",
             text_of(b->document, "settings"));
    table_wrapped(stdout, "compare", name);
    print_file(a, "old");
    print_file(b, "new");
    print_conditions(&report->conditions);
    json_array_foreach(b->rows, place, row)
    {
        name_of(b, row, name, sizeof name);
        print_tunables(name, find_row(a, name), row);
    }
    if (b->kind == PROFILE)
        print_launches(a, b);
    printf("\n%-*s  %-10s  %9s  %9s  %7s  %s\n", report->name_width, kinds[a->kind].row_heading, "time", "old", "new",
           "old/new", "verdict");
    json_array_foreach(b->rows, place, row)
    {
        name_of(b, row, name, sizeof name);
        const json_t *before = find_row(a, name);
        if (before)
            compare_rows(report, b, name, before, row);
        else
            print_line(report, name, "", NULL, NULL, has_failed(row) ? WRONG : NEW,
                       has_failed(row) ? "new, and wrong" : "");
    }
    json_array_foreach(a->rows, place, row)
    {
        name_of(a, row, name, sizeof name);
        if (!find_row(b, name))
            print_line(report, name, "", NULL, NULL, VANISHED, "");
    }
    putchar('\n');
    for (int verdict = 0, first = 1; verdict < VERDICTS; verdict++)
        if (report->counts[verdict]) {
            printf("%s%zu %s", first ? "" : ", ", report->counts[verdict], verdict_words[verdict]);
            first = 0;
        }
    printf(" (threshold %g)\n", report->threshold);
    if (report->counts[SAME] + report->counts[UNSURE] + report->counts[FASTER] + report->counts[SLOWER] +
            report->counts[SLOWER_PART] ==
        0)
        puts("no two times were comparable: this says nothing about speed");
}

static enum status compare(const char *old_path, const char *new_path, struct report *report)
{
    enum status status = STATUS_OK;
    struct results a = {0}, b = {0};

    TRY(load(&a, old_path));
    TRY(load(&b, new_path));
    if (a.kind != b.kind) {
        status = status_set(STATUS_BAD_INPUT, "%s is of %s%s and %s of %s%s", old_path, kinds[a.kind].name,
                            a.kind == VIDEO ? " of a video" : "", new_path, kinds[b.kind].name,
                            b.kind == VIDEO ? " of a video" : "");
        goto out;
    }
    for (int i = 0; i < 2; i++) {
        const char *const key = i ? "tuned_version" : "algorithm";

        if (strcmp(text_of(a.document, key), text_of(b.document, key)) != 0) {
            status = status_set(STATUS_BAD_INPUT, "%s is of %s and %s of %s", old_path, text_of(a.document, key),
                                new_path, text_of(b.document, key));
            goto out;
        }
    }
    find_conditions(&a, &b, &report->conditions);
    report->two_versions = a.kind == PROFILE && strcmp(text_of(json_object_get(a.document, "bench"), "id"),
                                                       text_of(json_object_get(b.document, "bench"), "id")) != 0;
    print_comparison(report, &a, &b);
out:
    json_decref(a.rows);
    json_decref(b.rows);
    json_decref(a.document);
    json_decref(b.document);
    return status;
}

static enum status parse_threshold(const char *text, double *threshold)
{
    char *end;

    errno = 0;
    *threshold = strtod(text, &end);
    if (end == text || *end || !(*threshold >= 1 && *threshold <= 1000))
        return status_set(STATUS_BAD_INPUT, "--threshold %s: must be a ratio from 1 to 1000, such as 1.05", text);
    return STATUS_OK;
}

int cli_compare(int argc, char **argv)
{
    static const struct option options[] = {
        {"threshold", required_argument, NULL, OPTION_THRESHOLD}, {"help", no_argument, NULL, OPTION_HELP}, {0}};
    struct report report = {.threshold = 1.05};

    setlocale(LC_CTYPE, "");
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == OPTION_HELP) {
            fputs(help, stdout);
            return CLI_DONE;
        }
        if (option != OPTION_THRESHOLD)
            return CLI_BAD_USE;
        if (parse_threshold(optarg, &report.threshold) != STATUS_OK)
            return cli_fail_status();
    }
    if (argc - optind != 2)
        return cli_fail("compare needs two results files, got %d; `rungs compare --help` shows how", argc - optind);
    if (compare(argv[optind], argv[optind + 1], &report) != STATUS_OK)
        return cli_fail_status();
    return report.counts[SLOWER] || report.counts[WRONG] ? CLI_CHECK_FAILED : CLI_DONE;
}
