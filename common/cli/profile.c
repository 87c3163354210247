/*
 * profile.c: rungs profile
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli/cli.h"
#include "common/cli/workload.h"
#include "common/contract/device_info.h"
#include "common/core/paths.h"
#include "common/core/progress.h"
#include "common/output/profile_report.h"
#include "common/profile/counted.h"
#include "common/profile/ncu.h"

static const char help[] =
    "usage: rungs profile ALGO:VERSION [--calls N] [--size WxH | --input FILE] [--threads N] [-p name=value]...\n"
    "                                  [--json FILE] [--trace FILE] [--no-ncu | --bare]\n"
    "                                  [--counted PROGRAM [--lines]]\n\n"
    "Verifies one version, then shows where the time of its calls goes. CUDA versions: kernels and copies on the GPU,\n"
    "calls of the CUDA API, the launch of each kernel with its occupancy (from CUPTI), and hardware metrics (from "
    "ncu).\n"
    "CPU versions: what each OpenMP thread did, the imbalance of each parallel region, processor counters (from\n"
    "perf_event_open). What a machine lacks is said in one line, and the rest is shown.\n\n"
    "      --calls N            record N calls, 1 to 1000 (default: up to 10 within a second)\n" WORKLOAD_HELP
    "      --json FILE          the profile as JSON too (results/README.md describes it)\n"
    "      --trace FILE         a timeline too, in the trace-event format: open it in ui.perfetto.dev or\n"
    "                           chrome://tracing\n"
    "      --no-ncu             do not run ncu, which repeats every kernel some 10 times\n"
    "      --counted PROGRAM    emulated: what kernels cost in memory, counted by this program, which is built with\n"
    "                           COUNTED=1 (make profile-ALGO does it), at 256x144 unless --size or --input says else\n"
    "      --lines              with it, the source lines with what each costs\n"
    "      --bare               only make the calls, for nsys, ncu, perf and other tools to watch; ranges named\n"
    "                           after steps and phases reach them through NVTX\n"
    "      --help               this text\n\n"
    "Exit status: 0 done, 1 the version was wrong, 2 bad use or bad input, or it cannot run here.\n\n"
    "example: rungs profile blur:cuda/v1.2 --size 3840x2160 --trace blur.json\n";

enum {
    OPTION_CALLS = 256,
    OPTION_JSON,
    OPTION_TRACE,
    OPTION_NO_NCU,
    OPTION_COUNTED,
    OPTION_LINES,
    OPTION_BARE,
    OPTION_HELP
};

struct profile_options {
    struct workload workload;
    const char *json, *trace, *counted;
    int calls; /* 0 = not given */
    bool no_ncu, lines, bare, help;
};

static bool parse_options(int argc, char **argv, struct profile_options *parsed)
{
    static const struct option options[] = {WORKLOAD_OPTIONS,
                                            {"calls", required_argument, NULL, OPTION_CALLS},
                                            {"json", required_argument, NULL, OPTION_JSON},
                                            {"trace", required_argument, NULL, OPTION_TRACE},
                                            {"no-ncu", no_argument, NULL, OPTION_NO_NCU},
                                            {"counted", required_argument, NULL, OPTION_COUNTED},
                                            {"lines", no_argument, NULL, OPTION_LINES},
                                            {"bare", no_argument, NULL, OPTION_BARE},
                                            {"help", no_argument, NULL, OPTION_HELP},
                                            {0}};

    for (int option; (option = getopt_long(argc, argv, "p:", options, NULL)) != -1;) {
        switch (option) {
        case OPTION_CALLS:
            if (cli_parse_int("--calls", optarg, 1, PROFILE_MAX_CALLS, &parsed->calls) != STATUS_OK) {
                cli_fail_status();
                return false;
            }
            break;
        case OPTION_JSON:
            parsed->json = optarg;
            break;
        case OPTION_TRACE:
            parsed->trace = optarg;
            break;
        case OPTION_NO_NCU:
            parsed->no_ncu = true;
            break;
        case OPTION_COUNTED:
            parsed->counted = optarg;
            break;
        case OPTION_LINES:
            parsed->lines = true;
            break;
        case OPTION_BARE:
            parsed->bare = true;
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

/* Options that a bare call does not have; those that take a value first. */
static const char *const not_bare[] = {"--json", "--trace", "--calls", "--counted", "--no-ncu", "--lines"};
enum { WITH_VALUE = 4, NOT_BARE = sizeof not_bare / sizeof not_bare[0] };

/* The same work as one bare call: what ncu and the emulator watch. `arguments` has room for argc + 8. */
static size_t bare_arguments(int argc, char **argv, const char *program, const char **arguments)
{
    size_t count = 0;

    arguments[count++] = program;
    arguments[count++] = "profile";
    for (int i = 1; i < argc; i++) {
        int k = 0;

        for (size_t length = 0; k < NOT_BARE; k++) {
            length = strlen(not_bare[k]);
            if (strncmp(argv[i], not_bare[k], length) == 0 && (argv[i][length] == '\0' || argv[i][length] == '='))
                break;
        }
        if (k == NOT_BARE)
            arguments[count++] = argv[i];
        else if (k < WITH_VALUE && !strchr(argv[i], '='))
            i++;
    }
    arguments[count++] = "--bare";
    arguments[count++] = "--calls";
    arguments[count++] = "1";
    arguments[count] = NULL;
    return count;
}

/* Runs ncu, or says why not and what to type. */
static enum status add_metrics(struct profile_report *report, const struct profile_options *options, int argc,
                               char **argv)
{
    const char **arguments = malloc(((size_t)argc + 8) * sizeof *arguments);
    char self[4096];
    const char *program;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    enum status status;

    if (!arguments)
        return status_set(STATUS_NO_MEMORY, "no memory for ncu's arguments");
    self[length > 0 ? length : 0] = '\0';
    program = strchr(paths_from_here(self), '/') ? paths_from_here(self) : self; /* a bare name is looked for in PATH */
    bare_arguments(argc, argv, program, arguments);
    if (options->no_ncu) {
        profile_report_missing(report, "hardware metrics: not asked for (--no-ncu)");
        status = STATUS_UNSUPPORTED;
    } else {
        progress("%s: ncu measures hardware metrics", report->bench->request->algorithm->name);
        status = ncu_run(arguments, &report->metrics, &report->metric_count);
        progress_clear();
        if (status == STATUS_UNSUPPORTED)
            profile_report_missing(report, "hardware metrics: %s; the line below asks for them", status_message());
    }
    if (status == STATUS_UNSUPPORTED) {
        ncu_command(arguments, report->ncu_line, sizeof report->ncu_line);
        status = STATUS_OK;
    }
    free(arguments);
    return status;
}

/* Of an emulated version what its kernels cost is counted, or it is said how to have that. */
static enum status add_counts(struct profile_report *report, const struct profile_options *options, int argc,
                              char **argv, const char **arguments)
{
    const struct workload *workload = &options->workload;
    enum status status;

    if (!options->counted) {
        profile_report_missing(report, "what kernels cost in memory: make profile-%s V=%s counts it",
                               report->bench->request->algorithm->name, report->row->version->source->id);
        return STATUS_OK;
    }
    const size_t count = bare_arguments(argc, argv, options->counted, arguments);

    if (workload->width == 0 && workload->inputs.count == 0) {
        arguments[count] = "--size=256x144";
        report->metrics_size = "256x144";
        arguments[count + 1] = NULL;
    }
    progress("%s: counting what kernels cost", report->bench->request->algorithm->name);
    status = counted_run(arguments, &report->metrics, &report->metric_count);
    progress_clear();
    if (status != STATUS_UNSUPPORTED)
        return status;
    profile_report_missing(report, "what kernels cost in memory: %s", status_message());
    return STATUS_OK;
}

/* The trace's region events get the names that the report found for them. */
static void name_regions(struct trace *trace, const struct profile_team *team)
{
    for (size_t i = 0; i < trace_count(trace); i++) {
        struct trace_event *event = trace_at(trace, i);

        for (size_t k = 0; event->kind == TRACE_REGION && k < team->region_count; k++)
            if (team->regions[k].code == event->code)
                snprintf(event->name, sizeof event->name, "%.*s", (int)sizeof event->name - 1, team->regions[k].place);
    }
}

static enum status write_timeline(const struct profile_report *report, struct output_file *file)
{
    const struct machine *machine = &report->bench->machine;
    char title[256], gpu[256] = "";

    snprintf(title, sizeof title, "rungs %s:%s on %.120s", report->bench->request->algorithm->name,
             report->row->version->source->id, machine->cpu);
    if (report->profile->device)
        snprintf(gpu, sizeof gpu, "%s", machine->emulated ? "emulated GPU: order only, no times" : machine->gpu);
    name_regions(report->profile->trace, &report->team);
    return trace_write(report->profile->trace, file, title, gpu);
}

static enum status show(struct profile_options *options, struct bench_request *request, const struct version *version,
                        int argc, char **argv, bool *failed)
{
    enum status status = STATUS_OK;
    struct bench bench = {0};
    struct profile profile = {0};
    struct profile_report report = {0};
    const struct bench_row *row;
    const char **arguments = NULL;

    TRY(bench_run(request, &bench));
    row = bench_find(&bench, version);
    *failed = row->outcome == BENCH_FAILED;
    if (*failed) {
        printf("%s of %s is wrong, so it has no profile: %s%s%s\n", version->source->id, request->algorithm->name,
               row->why, row->diagnosis[0] ? "; likely " : "", row->diagnosis);
        goto out;
    }
    if (row->outcome == BENCH_SKIPPED) {
        status = status_set(STATUS_UNSUPPORTED, "%s:%s cannot run here: %s", request->algorithm->name,
                            version->source->id, row->why);
        goto out;
    }
    progress("%s: recording %s", request->algorithm->name, version->source->id);
    /* An emulated call takes long, and each is like the other. */
    TRY(profile_record(request, version, options->calls ? options->calls : row->outcome == BENCH_EMULATED, &profile));
    progress_clear();
    TRY(profile_report_make(&bench, row, &profile, &report));
    if (profile.device && !bench.machine.emulated)
        TRY(add_metrics(&report, options, argc, argv));
    if (profile.device && bench.machine.emulated) {
        arguments = malloc(((size_t)argc + 8) * sizeof *arguments);
        if (!arguments) {
            status = status_set(STATUS_NO_MEMORY, "no memory for the counting program's arguments");
            goto out;
        }
        TRY(add_counts(&report, options, argc, argv, arguments));
    }
    profile_report_print(&report, stdout);
    fflush(stdout);
    if (options->lines && report.metric_count > 0)
        TRY(counted_lines(arguments));
    if (options->json)
        workload_wrote(&options->workload, profile_report_write(&report, &options->workload.outputs[OUTPUT_JSON].file));
    if (options->trace)
        workload_wrote(&options->workload, write_timeline(&report, &options->workload.outputs[OUTPUT_TRACE].file));
out:
    progress_clear();
    free(arguments);
    profile_report_free(&report);
    profile_free(&profile);
    bench_free(&bench);
    return status;
}

static enum status make_bare_calls(const struct profile_options *options, const struct bench_request *request,
                                   const struct version *version)
{
    enum status status = STATUS_OK;
    const char *why = version_unavailable(version);
    int made = 0;

    if (why)
        return status_set(STATUS_UNSUPPORTED, "%s:%s cannot run here: %s", request->algorithm->name,
                          version->source->id, why);
    TRY(profile_bare(request, version, options->calls, &made));
    printf("%d call%s of %s:%s, not verified\n", made, made == 1 ? "" : "s", request->algorithm->name,
           version->source->id);
out:
    return status;
}

static enum status profile(struct profile_options *options, const struct algorithm *algorithm,
                           const struct version *version, int argc, char **argv, bool *failed)
{
    enum status status = STATUS_OK;
    struct workload *workload = &options->workload;
    const struct version *versions[2];
    struct bench_request request = {.algorithm = algorithm, .versions = versions, .reference_untimed = true};
    struct version *const *all;
    size_t count;

    registry_versions(algorithm, &all, &count);
    for (size_t i = 0; i < count; i++)
        if (all[i] == version || strcmp(all[i]->source->id, "cpu/serial") == 0)
            versions[request.version_count++] = all[i];
    workload->outputs[OUTPUT_JSON].path = options->json;
    workload->outputs[OUTPUT_TRACE].path = options->trace;
    TRY(workload_prepare(workload, algorithm, &version, 1));
    memcpy(request.in, workload->in, sizeof request.in);
    request.made = workload->made.width ? &workload->made : NULL;
    request.params = workload->params;
    request.threads = workload->threads;
    request.input = workload->description;
    request.command = workload->command;
    /* The bench's times stand beside the profiler's; of the emulator it takes none. */
    request.seconds = version_is_cuda(version) && device_is_emulated() ? 0 : 0.3;
    if (options->bare)
        TRY(make_bare_calls(options, &request, version));
    else
        TRY(show(options, &request, version, argc, argv, failed));
out:
    return status;
}

int cli_profile(int argc, char **argv)
{
    struct profile_options options = {0};
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
    if (options.bare && (options.json || options.trace)) {
        cli_fail("--bare records nothing, so there is nothing to write into a file");
        goto out;
    }
    if (options.lines && !options.counted) {
        cli_fail("--lines shows what is counted: name the program with --counted");
        goto out;
    }
    if (!workload_argument(argc, argv, "one version, such as blur:cpu/omp", "one version", &algorithm, &version))
        goto out;
    if (!version) {
        cli_fail("%s: name a version too, such as %s:cpu/serial; `rungs list %s` shows them", argv[optind],
                 algorithm->name, algorithm->name);
        goto out;
    }
    status = profile(&options, algorithm, version, argc, argv, &failed);
    exit_status = workload_exit_status(&options.workload, status, failed);
out:
    workload_free(&options.workload);
    return exit_status;
}
