/*
 * readme_tables.c: rewrites the measured tables of a Markdown file from results files, so that no number in it was typed.
 *
 *     readme-tables README.md            between a line  <!-- results: results/h200/blur/blur.json -->
 *     readme-tables --check README.md    and the next    <!-- /results -->
 *
 * everything is replaced by the table of that file (written by rungs bench --json; its path is relative to the Markdown
 * file's folder). --check changes nothing and fails when something would change.
 *
 * Exit status: 0 done, 1 --check found an outdated table, 2 bad use or bad input.
 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char begin_marker[] = "<!-- results: ", marker_end[] = " -->", end_marker[] = "<!-- /results -->";

static bool fail(const char *path, const char *why)
{
    fprintf(stderr, "readme-tables: %s: %s\n", path, why);
    return false;
}

/* ------------------------------------------------------------------------------------------------ one table */

/* Three significant digits, no exponent. */
static void print_number(FILE *out, double number)
{
    int decimals = 2;

    for (double rest = number; rest >= 9.995 && decimals > 0; rest /= 10)
        decimals--;
    for (double rest = number; rest > 0 && rest < 0.9995 && decimals < 9; rest *= 10)
        decimals++;
    fprintf(out, "%.*f", decimals, number);
}

static void print_duration(FILE *out, double seconds)
{
    const bool whole = seconds >= 0.9995, milli = seconds >= 0.9995e-3;

    fputc(' ', out);
    print_number(out, seconds * (whole ? 1 : milli ? 1e3 : 1e6));
    fputs(whole ? " s" : milli ? " ms" : " µs", out);
}

/* With its spread, or with its quartiles where they lie further apart than it is long. One sample has neither. */
static void print_time(FILE *out, const json_t *statistics)
{
    const double median = json_real_value(json_object_get(statistics, "median"));
    const double q1 = json_real_value(json_object_get(statistics, "q1")),
                 q3 = json_real_value(json_object_get(statistics, "q3"));

    if (!json_is_object(statistics)) {
        fputs(" – |", out);
        return;
    }
    print_duration(out, median);
    if (json_integer_value(json_object_get(statistics, "n")) == 1) {
        fputs(" once |", out);
    } else if (q3 - q1 <= median) {
        fprintf(out, " ± %.1f %% |", 50 * (q3 - q1) / median);
    } else {
        fputs("; quartiles", out);
        print_duration(out, q1);
        fputs(",", out);
        print_duration(out, q3);
        fputs(" |", out);
    }
}

/* {"times": 4.1, "differs": true} */
static void print_ratio(FILE *out, const json_t *ratio)
{
    if (!json_is_object(ratio)) {
        fputs(" – |", out);
    } else if (!json_is_true(json_object_get(ratio, "differs"))) {
        fputs(" = |", out);
    } else {
        fputc(' ', out);
        print_number(out, json_real_value(json_object_get(ratio, "times")));
        fputs(" |", out);
    }
}

static void print_verified(FILE *out, const json_t *version)
{
    const char *outcome = json_string_value(json_object_get(version, "outcome"));
    const double worst = json_real_value(json_object_get(version, "worst_difference"));

    if (json_is_true(json_object_get(version, "reference")))
        fputs(" reference |", out);
    else if (strcmp(outcome, "failed") == 0)
        fputs(" **wrong** |", out);
    else if (worst > 0)
        fprintf(out, " within %.3g%s |", worst,
                json_is_true(json_object_get(version, "interior_only")) ? ", interior" : "");
    else
        fprintf(out, " exact%s |", strcmp(outcome, "emulated") == 0 ? ", emulated" : "");
}

static double kernel_median(const json_t *version)
{
    return json_real_value(json_object_get(json_object_get(version, "kernel"), "median"));
}

/* The first peer that was timed, NULL if none. */
static const json_t *find_peer(const json_t *versions)
{
    size_t index;
    json_t *version;

    json_array_foreach(versions, index, version)
    {
        if (strncmp(json_string_value(json_object_get(version, "id")), "peer/", 5) == 0 && kernel_median(version) > 0)
            return version;
    }
    return NULL;
}

/* A CPU's row: ratios within the run and no times, for the machine may be shared and slow down or speed up as a whole. */
static void print_cpu_version(FILE *out, const json_t *version, const json_t *peer)
{
    const json_t *over_serial = json_object_get(version, "over_serial"),
                 *over_below = json_object_get(version, "over_below");

    fprintf(out, "| `%s` |", json_string_value(json_object_get(version, "id")));
    print_verified(out, version);
    if (json_is_true(json_object_get(version, "reference")))
        fputs(" 1 |", out);
    else
        print_ratio(out, json_object_get(over_serial, "kernel"));
    print_ratio(out, json_object_get(over_below, "kernel"));
    if (peer && kernel_median(version) > 0) {
        fputc(' ', out);
        print_number(out, kernel_median(peer) / kernel_median(version));
        fputs(" |", out);
    } else if (peer) {
        fputs(" – |", out);
    }
    fputc('\n', out);
}

static void print_version(FILE *out, const json_t *version)
{
    const json_t *over_serial = json_object_get(version, "over_serial"),
                 *over_below = json_object_get(version, "over_below");
    const double fraction = json_real_value(json_object_get(version, "limit_fraction"));

    fprintf(out, "| `%s` |", json_string_value(json_object_get(version, "id")));
    print_verified(out, version);
    print_time(out, json_object_get(version, "kernel"));
    print_time(out, json_object_get(version, "end_to_end"));
    if (fraction > 0)
        fprintf(out, " %.*f %% |", fraction < 0.001 ? 2 : fraction < 0.1 ? 1 : 0, 100 * fraction);
    else
        fputs(" – |", out);
    print_ratio(out, json_object_get(over_serial, "kernel"));
    print_ratio(out, json_object_get(over_serial, "end_to_end"));
    print_ratio(out, json_object_get(over_below, "kernel"));
    print_ratio(out, json_object_get(over_below, "end_to_end"));
    fputc('\n', out);
}

/* Of a video algorithm: another schema, with steps. */
static bool is_video(const json_t *document)
{
    const char *schema = json_string_value(json_object_get(document, "schema"));

    return schema && strcmp(schema, "rungs-video-results") == 0;
}

/* Whether a document has what print_table() or print_video() reads. */
static bool is_results(const json_t *document)
{
    const char *schema = json_string_value(json_object_get(document, "schema"));
    const json_t *machine = json_object_get(document, "machine"), *versions = json_object_get(document, "versions");
    static const char *const texts[] = {"date", "commit", "command", "algorithm", "settings", "input"};
    size_t index;
    json_t *version;

    if (!schema || (strcmp(schema, "rungs-results") != 0 && !is_video(document)) ||
        json_integer_value(json_object_get(document, "version")) != 1)
        return false;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!json_is_string(json_object_get(document, texts[i])))
            return false;
    if (!json_is_string(json_object_get(machine, "cpu")) || !json_is_string(json_object_get(machine, "compiler")) ||
        !json_is_array(versions))
        return false;
    json_array_foreach(versions, index, version) if (!json_is_string(json_object_get(version, "id")) ||
                                                     !json_is_string(json_object_get(version, "outcome"))) return false;
    return true;
}

static void print_caption(FILE *out, const json_t *document, const char *path)
{
    const json_t *machine = json_object_get(document, "machine"), *gpu = json_object_get(machine, "gpu");
    const char *driver = json_string_value(json_object_get(gpu, "driver"));
    const char *settings = json_string_value(json_object_get(document, "settings"));

    fprintf(out, "%s, %s, %d×%d, ", json_string_value(json_object_get(document, "algorithm")),
            settings[0] ? settings : "no parameters", (int)json_integer_value(json_object_get(document, "width")),
            (int)json_integer_value(json_object_get(document, "height")));
    if (is_video(document))
        fprintf(out, "%d frames, ", (int)json_integer_value(json_object_get(document, "frames")));
    else
        fprintf(out, "%d channel%s, ", (int)json_integer_value(json_object_get(document, "channels")),
                json_integer_value(json_object_get(document, "channels")) == 1 ? "" : "s");
    fprintf(out, "%d thread%s. Input: %s.\n", (int)json_integer_value(json_object_get(document, "threads")),
            json_integer_value(json_object_get(document, "threads")) == 1 ? "" : "s",
            json_string_value(json_object_get(document, "input")));
    fprintf(out, "%s, %d cores, %s %s", json_string_value(json_object_get(machine, "cpu")),
            (int)json_integer_value(json_object_get(machine, "cores")),
            json_string_value(json_object_get(machine, "compiler")),
            json_string_value(json_object_get(machine, "flags")));
    if (json_is_object(gpu))
        fprintf(out, "; %s, driver %s, CUDA %s", json_string_value(json_object_get(gpu, "name")),
                driver ? driver : "unknown", json_string_value(json_object_get(gpu, "cuda")));
    fprintf(out, ". %s, commit %s: `%s` ([all numbers](%s))\n\n", json_string_value(json_object_get(document, "date")),
            json_string_value(json_object_get(document, "commit")),
            json_string_value(json_object_get(document, "command")), path);
}

static void print_table(FILE *out, const json_t *document, const char *path)
{
    const json_t *versions = json_object_get(document, "versions"), *peer = find_peer(versions);
    bool device = false;
    size_t index;
    json_t *version;

    json_array_foreach(versions, index, version)
    {
        const char *method = json_string_value(json_object_get(version, "kernel_method"));

        device |= method && strcmp(method, "host clock") != 0;
    }
    print_caption(out, document, path);
    if (device)
        fputs("| version | verified | kernel | end to end | of limit | × serial, kernel | × serial, end to end | "
              "× rung below, kernel | × rung below, end to end |\n"
              "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
              out);
    else
        fprintf(out, "| version | verified | × serial | × rung below |%s%s%s\n| --- | --- | ---: | ---: |%s\n",
                peer ? " × " : "", peer ? json_string_value(json_object_get(peer, "id")) : "", peer ? " |" : "",
                peer ? " ---: |" : "");
    json_array_foreach(versions, index, version)
    {
        const char *outcome = json_string_value(json_object_get(version, "outcome"));

        if (strcmp(outcome, "skipped") == 0)
            continue;
        if (device)
            print_version(out, version);
        else
            print_cpu_version(out, version, peer);
    }
    fputs(device ? "\nMedian ± half of the interquartile range; =: not different, the ranges overlap.\n"
                 : "\nRatios of medians within one run; =: not different, the interquartile ranges overlap.\n",
          out);
}

/* ------------------------------------------------------------------------------------------------- of a video */

static double median_of(const json_t *version)
{
    return json_real_value(json_object_get(json_object_get(version, "end_to_end"), "median"));
}

/* Seconds per frame of a version's step, 0 if it has none of that name. */
static double step_seconds(const json_t *version, const char *name)
{
    size_t index;
    json_t *step;

    json_array_foreach(json_object_get(version, "steps"), index,
                       step) if (strcmp(json_string_value(json_object_get(step, "name")), name) ==
                                 0) return json_real_value(json_object_get(step, "seconds"));
    return 0;
}

static double all_steps(const json_t *version)
{
    double seconds = 0;
    size_t index;
    json_t *step;

    json_array_foreach(json_object_get(version, "steps"), index, step) seconds +=
        json_real_value(json_object_get(step, "seconds"));
    return seconds;
}

/* A cell; no number where there is none to tell. */
static void print_times(FILE *out, double number)
{
    if (number > 0) {
        fputc(' ', out);
        print_number(out, number);
    }
    fputs(" |", out);
}

/* Bytes per pixel of one kind of traffic in a frame. */
static void print_traffic(FILE *out, const json_t *document, const json_t *version, const char *when, const char *kind)
{
    const json_t *traffic = json_object_get(json_object_get(json_object_get(version, "memory"), when), kind);
    const double pixels = (double)json_integer_value(json_object_get(document, "width")) *
                          (double)json_integer_value(json_object_get(document, "height"));

    if (!json_is_object(traffic))
        fputs(" – |", out);
    else if (json_integer_value(json_object_get(traffic, "calls")) == 0)
        fputs(" 0 |", out);
    else
        fprintf(out, " %.3g |", (double)json_integer_value(json_object_get(traffic, "bytes")) / pixels);
}

/* Every step's name once, in the order that the versions do them in; how many. */
static int collect_steps(const json_t *versions, const char **names, int capacity)
{
    size_t index, position;
    json_t *version, *step;
    int count = 0;

    json_array_foreach(versions, index, version)
    {
        int after = 0; /* where a step goes that only later versions have: behind the one it follows there */

        json_array_foreach(json_object_get(version, "steps"), position, step)
        {
            const char *name = json_string_value(json_object_get(step, "name"));
            int i = 0;

            while (i < count && strcmp(names[i], name) != 0)
                i++;
            if (i == count && count < capacity) {
                i = after;
                memmove(&names[i + 1], &names[i], (size_t)(count++ - i) * sizeof *names);
                names[i] = name;
            }
            after = i + 1;
        }
    }
    return count;
}

static void print_video(FILE *out, const json_t *document, const char *path)
{
    const json_t *versions = json_object_get(document, "versions");
    const json_t *peer = NULL, *serial = NULL;
    const int frames = (int)json_integer_value(json_object_get(document, "frames"));
    const int by_serial = (int)json_integer_value(json_object_get(document, "frames_by_serial"));
    const char *names[64];
    const int steps = collect_steps(versions, names, 64);
    bool device = false;
    size_t index;
    json_t *version;

    print_caption(out, document, path);
    json_array_foreach(versions, index,
                       version) if (strncmp(json_string_value(json_object_get(version, "id")), "peer/", 5) == 0 &&
                                    median_of(version) > 0) peer = version;
    json_array_foreach(versions, index, version)
    {
        device |= json_is_object(json_object_get(version, "memory"));
        if (strcmp(json_string_value(json_object_get(version, "id")), "cpu/serial") == 0)
            serial = version;
    }
    fprintf(out, "| version | boxes equal in | %s | × rung below |", device ? "a frame | FPS" : "× cpu/serial");
    if (peer)
        fprintf(out, " × %s |", json_string_value(json_object_get(peer, "id")));
    fprintf(out, "%s\n| --- | ---: | ---: | ---: |%s%s\n",
            device ? " allocated per frame, B/pixel | uploaded | downloaded |" : "", peer ? " ---: |" : "",
            device ? " ---: | ---: | ---: | ---: |" : "");
    json_array_foreach(versions, index, version)
    {
        if (median_of(version) <= 0)
            continue;
        fprintf(out, "| `%s` |", json_string_value(json_object_get(version, "id")));
        if (json_is_integer(json_object_get(version, "frames_verified")))
            fprintf(out, " %d |", (int)json_integer_value(json_object_get(version, "frames_verified")));
        else
            fputs(" – |", out);
        if (device) {
            print_time(out, json_object_get(version, "end_to_end"));
            print_times(out, 1 / median_of(version));
        } else {
            print_times(out, serial ? median_of(serial) / median_of(version) : 0);
        }
        print_ratio(out, json_object_get(version, "over_below"));
        if (peer)
            print_times(out, median_of(peer) / median_of(version));
        if (device) {
            print_traffic(out, document, version, "frame", "allocate");
            print_traffic(out, document, version, "frame", "upload");
            print_traffic(out, document, version, "frame", "download");
        }
        fputc('\n', out);
    }
    fputs("\nEnd to end: from the frame in host memory to its boxes there; decoding excluded, transfers included.\n",
          out);
    if (by_serial < frames)
        fprintf(out,
                "`cpu/serial` was given time for %d of the %d frames; the rest is compared with a fast version that\n"
                "agrees with it in those.\n",
                by_serial, frames);
    fprintf(out, "%s; =: not different, the ranges overlap.\n\n| step |",
            device ? "Median ± half of the interquartile range" : "Ratios of medians within one run");
    json_array_foreach(versions, index, version) if (median_of(version) > 0)
        fprintf(out, " `%s` |", json_string_value(json_object_get(version, "id")));
    fputs("\n| --- |", out);
    json_array_foreach(versions, index, version) if (median_of(version) > 0) fputs(" ---: |", out);
    for (int i = 0; i < steps; i++) {
        fprintf(out, "\n| %s |", names[i]);
        json_array_foreach(versions, index, version)
        {
            const double seconds = step_seconds(version, names[i]);

            if (median_of(version) <= 0)
                continue;
            if (seconds > 0 && device)
                print_duration(out, seconds);
            else if (seconds > 0)
                fprintf(out, " %.1f %%", 100 * seconds / all_steps(version));
            fputs(" |", out);
        }
    }
    fprintf(out, "\n\n%s of each step per frame, measured apart, frame by frame and without overlap.\n",
            device ? "Time" : "Share");
}

/* ------------------------------------------------------------------------------------------------ the document */

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, got;
    char part[4096];

    if (!file) {
        fail(path, strerror(errno));
        return NULL;
    }
    FILE *memory = open_memstream(&text, &size);
    while (memory && (got = fread(part, 1, sizeof part, file)) > 0)
        fwrite(part, 1, got, memory);
    if (!memory || ferror(file) || fclose(memory) != 0) {
        fail(path, "cannot be read");
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* Prints the table of the results file `name`, relative to the folder of `document`. */
static bool print_results(FILE *out, const char *document, const char *name)
{
    const char *slash = strrchr(document, '/');
    char path[4096], why[JSON_ERROR_TEXT_LENGTH + 32];
    json_error_t error;
    json_t *results;
    bool ok;

    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - document + 1) : 0, document, name);
    results = json_load_file(path, 0, &error);
    if (!results) {
        if (error.line > 0)
            snprintf(why, sizeof why, "line %d: %s", error.line, error.text);
        else
            snprintf(why, sizeof why, "%s", error.text);
        return fail(path, why);
    }
    ok = is_results(results);
    if (ok)
        (is_video(results) ? print_video : print_table)(out, results, name);
    else
        fail(path, "is no results file of rungs bench (schema rungs-results, version 1)");
    json_decref(results);
    return ok;
}

/* Copies the document with every table between markers made anew. A marker counts at the start of a line only. */
static bool rewrite(FILE *out, const char *path, const char *text)
{
    while (*text) {
        const char *line_end = text + strcspn(text, "\n");
        const size_t line = (size_t)(line_end - text) + (*line_end == '\n');
        char name[1024];

        fwrite(text, 1, line, out);
        if (strncmp(text, begin_marker, strlen(begin_marker)) == 0) {
            const char *name_begin = text + strlen(begin_marker), *name_end = strstr(name_begin, marker_end);
            const char *end = text + line;

            if (!name_end || name_end > line_end || (size_t)(name_end - name_begin) >= sizeof name)
                return fail(path, "a results marker does not end in \" -->\" on its line");
            snprintf(name, sizeof name, "%.*s", (int)(name_end - name_begin), name_begin);
            while (*end && strncmp(end, end_marker, strlen(end_marker)) != 0) {
                end += strcspn(end, "\n");
                end += *end == '\n';
                if (strncmp(end, begin_marker, strlen(begin_marker)) == 0)
                    break;
            }
            if (strncmp(end, end_marker, strlen(end_marker)) != 0)
                return fail(path, "a results marker has no <!-- /results --> line after it");
            if (!print_results(out, path, name))
                return false;
            text = end;
        } else {
            text += line;
        }
    }
    return true;
}

/* Under a temporary name first: a full disk must not cost the document. */
static bool replace(const char *path, const char *text, size_t size)
{
    char temporary[4096];
    struct stat old;
    FILE *file;
    bool ok;

    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    file = fopen(temporary, "wbx");
    if (!file)
        return fail(temporary, strerror(errno));
    ok = fwrite(text, 1, size, file) == size;
    ok = fclose(file) == 0 && ok;
    ok = ok && stat(path, &old) == 0 && chmod(temporary, old.st_mode & 07777) == 0 && rename(temporary, path) == 0;
    if (!ok) {
        fail(path, strerror(errno));
        unlink(temporary);
    }
    return ok;
}

int main(int argc, char **argv)
{
    const bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
    const char *path = argc == 2 + check ? argv[1 + check] : NULL;
    char *text = NULL, *made = NULL;
    size_t size = 0;
    FILE *out = NULL;
    int exit_status = 2;

    if (!path || path[0] == '-') {
        fputs("usage: readme-tables [--check] FILE.md\n", stderr);
        return path && strcmp(path, "--help") == 0 ? 0 : 2;
    }
    text = read_all(path);
    out = text ? open_memstream(&made, &size) : NULL;
    if (!out)
        goto out;
    if (!rewrite(out, path, text)) {
        fclose(out);
        goto out;
    }
    if (fclose(out) != 0) {
        fail(path, strerror(errno));
        goto out;
    }
    exit_status = 0;
    if (strcmp(text, made) != 0) {
        if (check) {
            fail(path, "a table does not match its results file; run `make readme`");
            exit_status = 1;
        } else if (!replace(path, made, size)) {
            exit_status = 2;
        }
    }
out:
    free(text);
    free(made);
    return exit_status;
}
