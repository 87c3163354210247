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
#include "common/file.h"
#include "common/statistics.h"
#include "common/table.h"

static const char help[] =
    "usage: rungs compare OLD.json NEW.json [--threshold RATIO]\n\n"
    "Says what changed between two results files of `rungs bench --json` or `rungs tune --json`: for each version (or\n"
    "combination of launch parameters) the two medians, old / new, and faster, slower or same. Times are the same\n"
    "when their interquartile ranges overlap, or when they differ by less than the threshold: two runs differ by more\n"
    "than the spread within one. What was measured on another machine, size, input, parameters or number of threads\n"
    "is not comparable, and says so.\n\n"
    "      --threshold RATIO    smallest ratio that counts, from 1 (default 1.05: 5 %)\n"
    "      --help               this text\n\n"
    "Exit status: 0 no regression, 1 something became slower or wrong, 2 bad use or bad input.\n\n"
    "example: rungs compare results/old.json results/new.json --threshold 1.1\n";

enum { OPTION_THRESHOLD = 256, OPTION_HELP, REASON = 512, MAX_FILE_BYTES = 64 << 20, SCHEMA_VERSION = 1 };

struct results {
    const char *path;
    json_t *document;
    bool tune;
    const json_t *rows; /* an array of objects */
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
        TRY(require(results, row, "a row", results->tune ? "values" : "id", results->tune ? JSON_OBJECT : JSON_STRING));
        TRY(require_times(results, row, "kernel"));
        TRY(require_times(results, row, "end_to_end"));
        TRY(require_times(results, row, "time"));
    }
out:
    return status;
}

static enum status load(struct results *results, const char *path)
{
    static const char *const texts[] = {"date", "commit", "algorithm", "settings", "input", "type"};
    static const char *const numbers[] = {"width", "height", "channels"};
    enum status status = STATUS_OK;
    FILE *stream = NULL;
    uint64_t size = 0;
    json_error_t error;
    const char *kind;

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
    if (strcmp(text_of(results->document, "schema"), "rungs-results") != 0) {
        status =
            status_set(STATUS_BAD_INPUT, "%s: not a results file of Rungs: no \"schema\": \"rungs-results\"", path);
        goto out;
    }
    TRY(require(results, results->document, "it", "version", JSON_INTEGER));
    if (json_integer_value(json_object_get(results->document, "version")) != SCHEMA_VERSION) {
        status =
            status_set(STATUS_BAD_INPUT, "%s: results of version %lld; this rungs reads version %d", path,
                       (long long)json_integer_value(json_object_get(results->document, "version")), SCHEMA_VERSION);
        goto out;
    }
    kind = json_object_get(results->document, "kind") ? text_of(results->document, "kind") : "bench";
    results->tune = strcmp(kind, "tune") == 0;
    if (!results->tune && strcmp(kind, "bench") != 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: results of kind '%.40s'; compare reads bench and tune", path, kind);
        goto out;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(require(results, results->document, "it", texts[i], JSON_STRING));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        TRY(require(results, results->document, "it", numbers[i], JSON_INTEGER));
    TRY(require(results, results->document, "it", "machine", JSON_OBJECT));
    TRY(require(results, results->document, "it", "params", JSON_OBJECT));
    TRY(require(results, results->document, "it", results->tune ? "points" : "versions", JSON_ARRAY));
    if (results->tune)
        TRY(require(results, results->document, "it", "tuned_version", JSON_STRING));
    else
        TRY(require(results, results->document, "it", "threads", JSON_INTEGER));
    results->rows = json_object_get(results->document, results->tune ? "points" : "versions");
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
    static const char *const work[] = {"width", "height", "channels", "type", "input", NULL};
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
    if (!a->tune)
        difference(conditions->cpu, "threads", json_object_get(a->document, "threads"),
                   json_object_get(b->document, "threads"));
    difference(conditions->gpu, "GPU", json_object_get(gpu_a, "name"), json_object_get(gpu_b, "name"));
    differences(conditions->notes, build, machine_a, machine_b);
    if (json_is_object(gpu_a) && json_is_object(gpu_b))
        differences(conditions->notes, gpu_notes, gpu_a, gpu_b);
}

/* --------------------------------------------------------------------------------------------------- verdicts */

enum verdict_kind { SAME, FASTER, SLOWER, WRONG, MENDED, NOT_COMPARABLE, NEW, VANISHED, VERDICTS };
static const char *const verdict_words[] = {"same",   "faster",         "SLOWER", "NOW WRONG",
                                            "mended", "not comparable", "new",    "vanished"};

struct report {
    double threshold;
    struct conditions conditions;
    int name_width;
    size_t counts[VERDICTS];
};

static void name_of(const struct results *results, const json_t *row, char *name, size_t size)
{
    json_t *values = json_object_get(row, "values"), *value;
    const char *key;

    if (!results->tune) {
        snprintf(name, size, "%s", text_of(row, "id"));
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
                          const struct statistics *b, const char *reason)
{
    const double ratio = a->median / b->median;
    enum verdict_kind verdict = SAME;

    if (reason[0]) {
        print_line(report, name, what, a, b, NOT_COMPARABLE, reason);
        return;
    }
    if (statistics_differ(a, b) && (ratio >= report->threshold || 1 / ratio >= report->threshold))
        verdict = ratio > 1 ? FASTER : SLOWER;
    print_line(report, name, what, a, b, verdict, "");
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

static void compare_rows(struct report *report, const struct results *results, const char *name, const json_t *a,
                         const json_t *b)
{
    const struct conditions *conditions = &report->conditions;
    const bool device = results->tune ? strcmp(text_of(results->document, "time"), "kernel") == 0
                                      : strcmp(text_of(b, "kernel_method"), "host clock") != 0;
    if (!is_timed(a) || !is_timed(b)) {
        compare_outcomes(report, name, a, b);
        return;
    }
    const char *const work = conditions->work[0] ? "other size, input or parameters" : "";
    const char *const cpu = work[0] || !conditions->cpu[0] ? work : "other CPU or threads";
    const char *const gpu = work[0] || !conditions->gpu[0] ? work : "other GPU";
    const struct statistics kernel_a = times_of(a, results->tune ? "time" : "kernel");
    const struct statistics kernel_b = times_of(b, results->tune ? "time" : "kernel");
    const struct statistics whole_a = times_of(a, "end_to_end"), whole_b = times_of(b, "end_to_end");
    if (kernel_a.count && kernel_b.count)
        compare_times(report, name, device ? "kernel" : "call", &kernel_a, &kernel_b, device ? gpu : cpu);
    if (device && whole_a.count && whole_b.count) /* the host's part is the CPU's */
        compare_times(report, name, "end to end", &whole_a, &whole_b, gpu[0] ? gpu : cpu);
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
    snprintf(name, sizeof name, "%s%s%s, %s", text_of(b->document, "algorithm"), b->tune ? ", tune of " : "",
             b->tune ? text_of(b->document, "tuned_version") : "", text_of(b->document, "settings"));
    table_wrapped(stdout, "compare", name);
    print_file(a, "old");
    print_file(b, "new");
    print_conditions(&report->conditions);
    json_array_foreach(b->rows, place, row)
    {
        name_of(b, row, name, sizeof name);
        print_tunables(name, find_row(a, name), row);
    }
    printf("\n%-*s  %-10s  %9s  %9s  %7s  %s\n", report->name_width, a->tune ? "point" : "version", "time", "old",
           "new", "old/new", "verdict");
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
    if (report->counts[SAME] + report->counts[FASTER] + report->counts[SLOWER] == 0)
        puts("no two times were comparable: this says nothing about speed");
}

static enum status compare(const char *old_path, const char *new_path, struct report *report)
{
    enum status status = STATUS_OK;
    struct results a = {0}, b = {0};

    TRY(load(&a, old_path));
    TRY(load(&b, new_path));
    if (a.tune != b.tune) {
        status = status_set(STATUS_BAD_INPUT, "%s is of %s and %s of %s", old_path, a.tune ? "tune" : "bench", new_path,
                            b.tune ? "tune" : "bench");
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
    print_comparison(report, &a, &b);
out:
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
