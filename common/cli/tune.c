/*
 * tune.c: rungs tune
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli/cli.h"
#include "common/cli/workload.h"
#include "common/measure/machine.h"
#include "common/output/tune_report.h"

enum { MAX_THREAD_COUNTS = 16, MAX_THREADS = 1024 };

static const char help[] =
    "usage: rungs tune ALGO:VERSION [--size WxH | --input FILE] [--threads a,b] [-p name=value]...\n"
    "                               [--svg FILE] [--json FILE]\n\n"
    "Searches all legal combinations of a version's launch parameters (`rungs list ALGO` shows them), and of a CPU\n"
    "version's threads, for the fastest. Each is verified before it is timed. Prints them by time, and keeps the best\n"
    "for this GPU or CPU in tuned.json (or where RUNGS_TUNED says): run, bench and diff then use it, and say so. When\n"
    "the best is not different from the default, the default is kept.\n\n" WORKLOAD_HELP
    "                           tune: N may be a list (default: 1, 2, 4 ... and all cores), and a parameter\n"
    "                           given by -p keeps that value; such a partial search is not kept\n"
    "      --time SECONDS       time budget per combination (default 0.3)\n"
    "      --svg FILE           the times as a heat map (two parameters) or bars (one)\n"
    "      --json FILE          the results as JSON (results/README.md describes it)\n"
    "      --no-keep            leave tuned.json alone\n"
    "      --help               this text\n\n"
    "Exit status: 0 done, 1 a combination was wrong, 2 bad use or bad input, or no times to be had here.\n\n"
    "example: rungs tune blur:cuda/v1.3 --size 3840x2160 --svg blur.svg\n";

enum { OPTION_TIME = 256, OPTION_SVG, OPTION_JSON, OPTION_NO_KEEP, OPTION_HELP };

struct tune_options {
    struct workload workload;
    const char *svg, *json;
    int threads[MAX_THREAD_COUNTS];
    int thread_count;
    double seconds;
    bool no_keep, help;
};

static enum status parse_seconds(const char *text, double *seconds)
{
    char *end;

    errno = 0;
    *seconds = strtod(text, &end);
    if (end == text || *end || !(*seconds >= 0.01 && *seconds <= 3600))
        return status_set(STATUS_BAD_INPUT, "--time %s: must be 0.01 to 3600 seconds", text);
    return STATUS_OK;
}

/* "1,2,4", ascending whatever the order given. */
static enum status parse_threads(const char *text, struct tune_options *options)
{
    enum status status = STATUS_OK;
    char *copy = strdup(text), *rest = copy;

    if (!copy)
        return status_set(STATUS_NO_MEMORY, "no memory for --threads");
    options->thread_count = 0;
    for (char *word; (word = strsep(&rest, ","));) {
        int value, at = options->thread_count;

        TRY(cli_parse_int("--threads", word, 1, MAX_THREADS, &value));
        while (at > 0 && options->threads[at - 1] > value)
            at--;
        if (at > 0 && options->threads[at - 1] == value)
            continue;
        if (options->thread_count == MAX_THREAD_COUNTS) {
            status = status_set(STATUS_BAD_INPUT, "--threads: more than %d numbers", MAX_THREAD_COUNTS);
            goto out;
        }
        memmove(options->threads + at + 1, options->threads + at,
                (size_t)(options->thread_count - at) * sizeof *options->threads);
        options->threads[at] = value;
        options->thread_count++;
    }
out:
    free(copy);
    return status;
}

/* Powers of two below the number of cores, and that number. */
static void default_threads(struct tune_options *options)
{
    const int cores = machine_cores();

    for (int threads = 1; threads < cores && options->thread_count < MAX_THREAD_COUNTS - 1; threads *= 2)
        options->threads[options->thread_count++] = threads;
    options->threads[options->thread_count++] = cores;
}

static bool parse_options(int argc, char **argv, struct tune_options *parsed)
{
    static const struct option options[] = {WORKLOAD_OPTIONS,
                                            {"time", required_argument, NULL, OPTION_TIME},
                                            {"svg", required_argument, NULL, OPTION_SVG},
                                            {"json", required_argument, NULL, OPTION_JSON},
                                            {"no-keep", no_argument, NULL, OPTION_NO_KEEP},
                                            {"help", no_argument, NULL, OPTION_HELP},
                                            {0}};

    for (int option; (option = getopt_long(argc, argv, "p:", options, NULL)) != -1;) {
        enum status status = STATUS_OK;

        switch (option) {
        case 't':
            status = parse_threads(optarg, parsed);
            break;
        case OPTION_TIME:
            status = parse_seconds(optarg, &parsed->seconds);
            break;
        case OPTION_SVG:
            parsed->svg = optarg;
            break;
        case OPTION_JSON:
            parsed->json = optarg;
            break;
        case OPTION_NO_KEEP:
            parsed->no_keep = true;
            break;
        case OPTION_HELP:
            parsed->help = true;
            return true;
        default:
            if (!workload_option(&parsed->workload, option))
                return false;
        }
        if (status != STATUS_OK) {
            cli_fail_status();
            return false;
        }
    }
    return true;
}

static bool is_partial(const struct tune_request *request)
{
    for (const struct tunable *tunable = request->version->tunables; tunable && tunable->name; tunable++)
        if (params_assigned(request->assignments, request->assignment_count, tunable->name))
            return true;
    return false;
}

static enum status keep(const struct tune *tune)
{
    struct tuned_entry entries[MAX_THREAD_COUNTS];
    const size_t count = tune_kept(tune, entries, MAX_THREAD_COUNTS);
    enum status status = STATUS_OK;

    if (count == 0)
        return STATUS_OK;
    TRY(tuned_keep(entries, count));
    for (size_t i = 0; i < count; i++) {
        const struct tunable *tunables = tune->request->version->tunables;
        bool preset = true;
        char values[256] = "";

        for (int k = 0; tunables[k].name; k++) {
            preset &= entries[i].values[k] == tunables[k].preset;
            tunable_describe(&tunables[k], entries[i].values[k], values, sizeof values);
        }
        printf("kept in %s for %s", tuned_path(), entries[i].processor);
        if (entries[i].threads)
            printf(", %d thread%s", entries[i].threads, entries[i].threads == 1 ? "" : "s");
        printf(": %s%s\n", values, preset ? ", the default: nothing beat it beyond the noise" : "");
    }
out:
    return status;
}

static enum status search(struct tune_options *options, const struct algorithm *algorithm,
                          const struct version *version, bool *failed)
{
    enum status status = STATUS_OK;
    struct workload *workload = &options->workload;
    struct tune tune = {0};
    struct tune_request request = {
        .algorithm = algorithm, .version = version, .threads = options->threads, .seconds = options->seconds};

    if (options->thread_count == 0)
        default_threads(options);
    request.thread_count = options->thread_count;
    request.assignments = workload->settings.items;
    request.assignment_count = workload->settings.count;
    TRY(tune_possible(version));
    workload->outputs[OUTPUT_SVG].path = options->svg;
    workload->outputs[OUTPUT_JSON].path = options->json;
    const bool keeps = !options->no_keep && !is_partial(&request) && version->tunables && tuned_path();
    if (keeps)
        TRY(tuned_check());
    workload->untuned = true;
    workload->threads = options->threads[options->thread_count - 1];
    TRY(workload_prepare(workload, algorithm, &version, 1));
    memcpy(request.in, workload->in, sizeof request.in);
    request.params = workload->params;
    request.input = workload->description;
    request.command = workload->command;
    TRY(tune_run(&request, &tune));
    tune_print(&tune, stdout);
    *failed = tune.failed > 0;
    fflush(stdout);
    if (options->svg)
        workload_wrote(workload, tune_write_svg(&tune, &workload->outputs[OUTPUT_SVG].file));
    if (options->json)
        workload_wrote(workload, results_write_tune_json(&tune, &workload->outputs[OUTPUT_JSON].file));
    if (keeps)
        TRY(keep(&tune));
out:
    tune_free(&tune);
    return status;
}

int cli_tune(int argc, char **argv)
{
    struct tune_options options = {.seconds = 0.3};
    const struct algorithm *algorithm = NULL;
    const struct version *version = NULL;
    int exit_status = CLI_BAD_USE;
    bool failed = false;
    enum status status;

    setlocale(LC_CTYPE, "");
    workload_set_command(&options.workload, argc, argv);
    if (!parse_options(argc, argv, &options))
        goto out;
    if (options.help) {
        fputs(help, stdout);
        exit_status = CLI_DONE;
        goto out;
    }
    if (!workload_argument(argc, argv, "ALGO:VERSION", "one ALGO:VERSION", &algorithm, &version))
        goto out;
    if (!version) {
        cli_fail("%s: name the version to tune, for example %s:cuda/v1.3", argv[optind], argv[optind]);
        goto out;
    }
    status = search(&options, algorithm, version, &failed);
    exit_status = workload_exit_status(&options.workload, status, failed);
out:
    workload_free(&options.workload);
    return exit_status;
}
