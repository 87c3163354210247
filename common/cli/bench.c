/*
 * bench.c: rungs bench
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli/bench_video.h"
#include "common/cli/cli.h"
#include "common/cli/workload.h"
#include "common/contract/device_info.h"
#include "common/measure/bench.h"
#include "common/output/results.h"
#include "common/output/table.h"

static const char help[] =
    "usage: rungs bench ALGO [--versions a,b] [--size WxH | --input FILE] [--threads N] [-p name=value]...\n"
    "                        [--frames N] [--pinned] [--rounds N] [--warm] [--json FILE] [--csv FILE]\n\n"
    "Verifies the versions of an algorithm on one input against cpu/serial, times those that are right, side by side,\n"
    "and prints a table. A version that is wrong gets no times.\n\n"
    "      --versions a,b       only these, and cpu/serial (default: all); a unique prefix of a name is\n"
    "                           enough, and cpu, cuda or peer stands for all of that side\n" WORKLOAD_HELP
    "      --frames N           of a video algorithm: how many are loaded (default 124); --input is a video there,\n"
    "                           by default images/fetched/vtest.avi, or a synthetic scene when there is none\n"
    "      --time SECONDS       time budget per version (default 1, and less where more than 24 are timed)\n"
    "      --rounds N           rounds that share the time, 1 to 3 (default 3): one starts a GPU less often, and does "
    "not\n"
    "                           show what differs from minute to minute\n"
    "      --warm               first calls are not timed, so that CUDA versions share a process\n"
    "      --pinned             pictures of the host lie in page-locked memory, which a GPU copies from and to by "
    "itself\n" CLI_IN_FLIGHT_HELP
    "      --json FILE          the results as JSON too (results/README.md describes both formats)\n"
    "      --csv FILE           the results as CSV too\n"
    "      --help               this text\n\n"
    "Exit status: 0 done, 1 a version was wrong, 2 bad use or bad input.\n\n"
    "example: rungs bench blur --versions serial,simd --size 3840x2160 --threads 4 -p ksize=31\n";

enum {
    OPTION_VERSIONS = 256,
    OPTION_FRAMES,
    OPTION_TIME,
    OPTION_ROUNDS,
    OPTION_WARM,
    OPTION_PINNED,
    OPTION_IN_FLIGHT,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_HELP
};

struct bench_options {
    struct workload workload;
    const char *names, *json, *csv;
    double seconds; /* 0 = not given */
    int frames;     /* 0 = not given */
    int rounds;     /* as well */
    bool pinned, warm, help;
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

static bool parse_options(int argc, char **argv, struct bench_options *parsed)
{
    static const struct option options[] = {WORKLOAD_OPTIONS,
                                            {"versions", required_argument, NULL, OPTION_VERSIONS},
                                            {"frames", required_argument, NULL, OPTION_FRAMES},
                                            {"time", required_argument, NULL, OPTION_TIME},
                                            {"rounds", required_argument, NULL, OPTION_ROUNDS},
                                            {"warm", no_argument, NULL, OPTION_WARM},
                                            {"pinned", no_argument, NULL, OPTION_PINNED},
                                            {"in-flight", required_argument, NULL, OPTION_IN_FLIGHT},
                                            {"json", required_argument, NULL, OPTION_JSON},
                                            {"csv", required_argument, NULL, OPTION_CSV},
                                            {"help", no_argument, NULL, OPTION_HELP},
                                            {0}};

    for (int option; (option = getopt_long(argc, argv, "p:", options, NULL)) != -1;) {
        switch (option) {
        case OPTION_VERSIONS:
            parsed->names = optarg;
            break;
        case OPTION_FRAMES:
            if (cli_parse_int("--frames", optarg, 1, 100000, &parsed->frames) != STATUS_OK) {
                cli_fail_status();
                return false;
            }
            break;
        case OPTION_TIME:
            if (parse_seconds(optarg, &parsed->seconds) != STATUS_OK) {
                cli_fail_status();
                return false;
            }
            break;
        case OPTION_ROUNDS:
            if (cli_parse_int("--rounds", optarg, 1, BENCH_ROUNDS, &parsed->rounds) != STATUS_OK) {
                cli_fail_status();
                return false;
            }
            break;
        case OPTION_WARM:
            parsed->warm = true;
            break;
        case OPTION_PINNED:
            parsed->pinned = true;
            break;
        case OPTION_IN_FLIGHT:
            if (cli_set_in_flight(optarg) != STATUS_OK) {
                cli_fail_status();
                return false;
            }
            break;
        case OPTION_JSON:
            parsed->json = optarg;
            break;
        case OPTION_CSV:
            parsed->csv = optarg;
            break;
        case OPTION_HELP:
            parsed->help = true;
            return true;
        default:
            if (!workload_option(&parsed->workload, option))
                return false;
        }
    }
    return true;
}

/* Marks the versions named in a comma-separated list. */
static enum status select_versions(const struct algorithm *algorithm, const char *names, bool *selected)
{
    enum status status = STATUS_OK;
    struct version *const *all;
    size_t count;
    char *copy = strdup(names), *rest = copy;

    if (!copy)
        return status_set(STATUS_NO_MEMORY, "no memory for the list of versions");
    registry_versions(algorithm, &all, &count);
    for (char *name; (name = strsep(&rest, ","));) {
        const struct version *found = NULL;
        const size_t length = strlen(name);
        bool side = false; /* "cuda": all of that side */

        for (size_t i = 0; i < count; i++)
            if (length > 0 && strncmp(all[i]->source->id, name, length) == 0 && all[i]->source->id[length] == '/')
                selected[i] = side = true;
        if (!side)
            TRY(registry_find_version(algorithm, name, &found));
        for (size_t i = 0; i < count; i++)
            selected[i] |= all[i] == found;
    }
out:
    free(copy);
    return status;
}

/* `asked` are the versions that the user named (all by default), `versions` those and cpu/serial, both in the order of
 * the ladder. A version made to fail (a mutant) takes part only when named. */
static enum status collect_versions(const struct algorithm *algorithm, const char *names, const struct version **asked,
                                    size_t *asked_count, const struct version **versions, size_t *version_count)
{
    enum status status = STATUS_OK;
    struct version *const *all;
    size_t count;
    bool *selected;

    registry_versions(algorithm, &all, &count);
    selected = calloc(count + 1, sizeof *selected);
    if (!selected)
        return status_set(STATUS_NO_MEMORY, "no memory for the list of versions");
    if (names)
        TRY(select_versions(algorithm, names, selected));
    for (size_t i = 0; i < count; i++) {
        const char *id = all[i]->source->id;

        if (!names)
            selected[i] = strncmp(id, "mutant/", 7) != 0;
        if (selected[i])
            asked[(*asked_count)++] = all[i];
        if (selected[i] || strcmp(id, "cpu/serial") == 0)
            versions[(*version_count)++] = all[i];
    }
out:
    free(selected);
    return status;
}

/* So that the first times are there before the last version has had its turn; the table that follows has those of all
 * rounds. */
static void show_row(struct bench *bench, const struct bench_row *row)
{
    if (row->outcome == BENCH_SKIPPED)
        return;
    if (bench->shown == 0)
        fprintf(stderr, "%s, the first of %d rounds:\n", bench->request->algorithm->name, bench_rounds(bench->request));
    table_print_row(bench, row, bench->shown == 0, stderr);
    bench->shown++;
}

/* A long ladder's table shall take no longer than a short one's: a minute or two. */
static double default_seconds(const struct version *const *versions, size_t count)
{
    int timed = 0;

    for (size_t i = 0; i < count; i++)
        timed += !(version_is_cuda(versions[i]) && device_is_emulated());
    return timed > 24 ? 24. / timed : 1;
}

static enum status measure(struct bench_options *options, const struct algorithm *algorithm, bool *failed)
{
    enum status status = STATUS_OK;
    struct bench bench = {0};
    struct bench_request request = {.algorithm = algorithm,
                                    .pinned = options->pinned,
                                    .warm = options->warm,
                                    .rounds = options->rounds,
                                    .show = show_row};
    struct workload *workload = &options->workload;
    struct version *const *all;
    size_t count, asked_count = 0;

    workload->outputs[OUTPUT_JSON].path = options->json;
    workload->outputs[OUTPUT_CSV].path = options->csv;
    registry_versions(algorithm, &all, &count);
    const struct version **asked = calloc(count + 1, sizeof *asked), **versions = calloc(count + 1, sizeof *versions);
    if (!asked || !versions) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the list of versions");
        goto out;
    }
    TRY(collect_versions(algorithm, options->names, asked, &asked_count, versions, &request.version_count));
    request.seconds = options->seconds > 0 ? options->seconds : default_seconds(versions, request.version_count);
    if (algorithm->video && options->pinned) {
        status = status_set(STATUS_BAD_INPUT, "--pinned: a video's frames lie where the version wants them");
        goto out;
    }
    if (algorithm->video) {
        const struct bench_video_options video = {.algorithm = algorithm,
                                                  .asked = asked,
                                                  .asked_count = asked_count,
                                                  .versions = versions,
                                                  .version_count = request.version_count,
                                                  .frames = options->frames ? options->frames : BENCH_VIDEO_FRAMES,
                                                  .seconds = request.seconds,
                                                  .rounds = options->rounds};
        TRY(bench_video(workload, &video, failed));
        goto out;
    }
    if (options->frames) {
        status = status_set(STATUS_BAD_INPUT, "--frames: %s takes no video", algorithm->name);
        goto out;
    }
    TRY(workload_prepare(workload, algorithm, asked, asked_count));
    request.versions = versions;
    memcpy(request.in, workload->in, sizeof request.in);
    request.made = workload->made.width ? &workload->made : NULL;
    request.params = workload->params;
    request.threads = workload->threads;
    request.input = workload->description;
    request.command = workload->command;
    TRY(bench_run(&request, &bench));
    if (bench.shown > 0)
        fputc('\n', stderr);
    table_print(&bench, stdout);
    *failed = bench_any_failed(&bench);
    fflush(stdout);
    if (options->json)
        workload_wrote(workload, results_write_json(&bench, &workload->outputs[OUTPUT_JSON].file));
    if (options->csv)
        workload_wrote(workload, results_write_csv(&bench, &workload->outputs[OUTPUT_CSV].file));
out:
    bench_free(&bench);
    free(asked);
    free(versions);
    return status;
}

int cli_bench(int argc, char **argv)
{
    struct bench_options options = {0};
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
    if (!workload_argument(argc, argv, "an algorithm", "one algorithm", &algorithm, &version))
        goto out;
    if (version && options.names) {
        cli_fail("%s: name versions behind the colon or with --versions, not both", argv[optind]);
        goto out;
    }
    if (version)
        options.names = version->source->id;
    status = measure(&options, algorithm, &failed);
    exit_status = workload_exit_status(&options.workload, status, failed);
out:
    workload_free(&options.workload);
    return exit_status;
}
