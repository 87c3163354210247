/*
 * diff.c: rungs diff
 */
#include <fcntl.h>
#include <locale.h>
#include <omp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cli/cli.h"
#include "common/cli/workload.h"
#include "common/contract/device_info.h"
#include "common/core/paths.h"
#include "common/core/process.h"
#include "common/core/progress.h"
#include "common/measure/bench.h"
#include "common/output/table.h"
#include "common/trace/phase.h"
#include "common/verify/outputs.h"

static const char help[] =
    "usage: rungs diff ALGO A B [--no-code] [--size WxH | --input FILE] [--threads N] [-p name=value]...\n\n"
    "Compares two versions: their code, whether both are right, what each phase of a call did (allocate, upload, "
    "kernel,\n"
    "download, free), and what the header of B predicts beside what was measured.\n\n"
    "      --no-code            leaves the code out, but for the count of changed lines\n" WORKLOAD_HELP
    "      --help               this text\n\n"
    "Exit status: 0 done, 1 a version was wrong, 2 bad use or bad input.\n\n"
    "example: rungs diff blur cuda/v1.1 cuda/v1.2\n";

enum { OPTION_NO_CODE = 256, OPTION_HELP };

extern char **environ;

/* -------------------------------------------------------------------------------------------------------- code */

/* Prints (or only counts) the lines of a unified diff. */
static void show_lines(FILE *lines, bool shown, int *added, int *removed)
{
    const bool colour = isatty(STDOUT_FILENO);
    char *line = NULL;
    size_t size = 0;
    int number = 0;

    while (getline(&line, &size, lines) > 0) {
        const bool heading = ++number <= 2;
        const char *paint = heading          ? "\033[1m"
                            : line[0] == '+' ? "\033[32m"
                            : line[0] == '-' ? "\033[31m"
                            : line[0] == '@' ? "\033[36m"
                                             : "";

        *added += !heading && line[0] == '+';
        *removed += !heading && line[0] == '-';
        line[strcspn(line, "\n")] = '\0';
        if (shown)
            printf("%s%s%s\n", colour ? paint : "", line, colour && *paint ? "\033[0m" : "");
    }
    free(line);
}

static enum status source_path(const struct version *version, char *path, size_t size)
{
    const char *root = paths_root();

    if (root)
        snprintf(path, size, "%s/%s", root, version->source->path);
    if (!root || access(path, R_OK) != 0)
        return status_set(STATUS_UNSUPPORTED, "%s: the source is not here, so there is no code to compare",
                          version->source->path);
    return STATUS_OK;
}

/* Through diff(1), which every Debian and Ubuntu has. */
static enum status show_code(const struct version *a, const struct version *b, bool shown)
{
    enum status status = STATUS_OK;
    char a_path[4096], b_path[4096];
    int pipe_ends[2] = {-1, -1}, added = 0, removed = 0, exit_status = -1, error = 0;
    posix_spawn_file_actions_t actions;
    FILE *lines = NULL;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    TRY(source_path(a, a_path, sizeof a_path));
    TRY(source_path(b, b_path, sizeof b_path));
    const char *const arguments[] = {"diff",          "-u", "--label", a->source->path, "--label",
                                     b->source->path, "--", a_path,    b_path,          NULL};

    if (pipe2(pipe_ends, O_CLOEXEC) != 0 || !(lines = fdopen(pipe_ends[0], "r"))) {
        status = status_set(STATUS_FAILED, "cannot make a pipe to read from diff");
        goto out;
    }
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    error = posix_spawnp(&child, arguments[0], &actions, NULL, (char *const *)arguments, environ);
    close(pipe_ends[1]);
    pipe_ends[1] = -1;
    if (error) {
        status = status_set(STATUS_UNSUPPORTED, "cannot run diff: %s", strerror(error));
        goto out;
    }
    show_lines(lines, shown, &added, &removed);
    waitpid(child, &exit_status, 0);
    if (!WIFEXITED(exit_status) || WEXITSTATUS(exit_status) > 1) {
        status = status_set(STATUS_FAILED, "diff of %s and %s failed", a_path, b_path);
        goto out;
    }
    printf("%s%s -> %s: %d lines added, %d removed\n\n", shown && added + removed ? "\n" : "", a->source->path,
           b->source->path, added, removed);
out:
    posix_spawn_file_actions_destroy(&actions);
    if (lines)
        fclose(lines);
    else if (pipe_ends[0] >= 0)
        close(pipe_ends[0]);
    if (pipe_ends[1] >= 0)
        close(pipe_ends[1]);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ phases */

enum { LATER_CALLS = 9, FIRST = 0, LATER = 1 };

struct phase_task {
    const struct version *version;
    const struct bench_request *request;
    int later_calls; /* 1 when emulated, for there are no times to take medians of */
    bool finished;   /* the child came to its own end; a version can call exit(0) too */
    enum status status;
    char message[512];
    struct phase_record records[2]; /* of the first call, and of a later one with the medians of later_calls */
};

static enum status record_call(struct phase_task *task, void *state, struct image *out, struct phase_record *record)
{
    enum status status;

    phase_record_start(record);
    status = task->version->run(state, task->request->in, out, task->request->params);
    phase_record_stop();
    return status;
}

static int phases_in_child(void *argument)
{
    struct phase_task *task = argument;
    const struct bench_request *request = task->request;
    enum status status = STATUS_OK;
    struct phase_record later[LATER_CALLS];
    struct image shape[ALGORITHM_MAX_OUTPUTS] = {{0}}, out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    void *state = calloc(1, task->version->state_size ? task->version->state_size : 1);

    omp_set_num_threads(request->threads);
    if (!state) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the state of %s", task->version->source->id);
        goto out;
    }
    TRY(request->algorithm->shape(request->in, request->params, shape));
    TRY(outputs_create_like(out, shape));
    TRY(record_call(task, state, out, &task->records[FIRST]));
    for (int call = 0; call < task->later_calls; call++)
        TRY(record_call(task, state, out, &later[call]));
    task->records[LATER] = later[task->later_calls - 1];
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        double seconds[LATER_CALLS];

        for (int call = 0; call < task->later_calls; call++)
            seconds[call] = later[call].seconds[phase];
        task->records[LATER].seconds[phase] = statistics_of(seconds, (size_t)task->later_calls).median;
    }
out:
    if (state && task->version->teardown)
        task->version->teardown(state);
    free(state);
    outputs_free(out);
    task->finished = true;
    task->status = status;
    snprintf(task->message, sizeof task->message, "%s", status_message());
    return status == STATUS_OK ? 0 : 1;
}

static void print_cell(const char *text, int width)
{
    const int padding = width - table_columns(text);

    printf("%*s%s", padding > 0 ? padding : 0, "", text);
}

static void print_phase(const struct phase_record *record, int phase, bool timed)
{
    char text[TABLE_CELL];

    snprintf(text, sizeof text, "%d", record->calls[phase]);
    print_cell(phase == PHASE_OTHER ? "" : record->calls[phase] ? text : "-", 9);
    table_bytes((double)record->bytes[phase], text);
    print_cell(record->bytes[phase] ? text : "", 12);
    table_time(record->seconds[phase], text);
    if (timed)
        print_cell(record->calls[phase] || phase == PHASE_OTHER ? text : "", 11);
}

static void print_phases(const struct version *version, const struct phase_task *task, bool timed)
{
    /* In the order of a call, what is left over last. */
    static const enum phase order[] = {PHASE_ALLOCATE, PHASE_UPLOAD, PHASE_KERNEL,
                                       PHASE_DOWNLOAD, PHASE_FREE,   PHASE_OTHER};
    const int side_width = timed ? 32 : 21;

    printf("%-12s", version->source->id);
    print_cell("first call", side_width);
    print_cell("later call", side_width);
    printf("\n%-12s", "  phase");
    for (int side = 0; side < 2; side++) {
        print_cell("calls", 9);
        print_cell("bytes", 12);
        if (timed)
            print_cell("time", 11);
    }
    putchar('\n');
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (order[i] == PHASE_OTHER && !timed)
            continue;
        printf("  %-10s", phase_name(order[i]));
        print_phase(&task->records[FIRST], order[i], timed);
        print_phase(&task->records[LATER], order[i], timed);
        putchar('\n');
    }
    putchar('\n');
}

static void print_call_times(const struct bench_row *row)
{
    char first[TABLE_CELL], later[TABLE_CELL];

    if (row->outcome == BENCH_EMULATED) {
        printf("%-12s no phases of a pipeline's call; no times: emulated\n\n", row->version->source->id);
        return;
    }
    table_time(row->first_call, first);
    table_time(row->end_to_end.median, later);
    printf("%-12s no phases %s: first call %s, later calls %s\n\n", row->version->source->id,
           version_is_cuda(row->version) ? "of a pipeline's call" : "on the CPU", first, later);
}

static enum status show_phases(const struct bench *bench, const struct version *version)
{
    enum status status = STATUS_OK;
    const struct bench_row *row = bench_find(bench, version);
    struct phase_task *task = NULL;
    struct process_result result;
    char text[512];

    if (row->outcome == BENCH_FAILED || row->outcome == BENCH_SKIPPED)
        return STATUS_OK;
    if (!version->launch) {
        print_call_times(row);
        return STATUS_OK;
    }
    task = process_shared_allocate(sizeof *task);
    if (!task)
        return status_set(STATUS_NO_MEMORY, "no memory to record phases");
    task->version = version;
    task->request = bench->request;
    task->later_calls = row->outcome == BENCH_TIMED ? LATER_CALLS : 1;
    progress("%s: recording the phases of %s", bench->request->algorithm->name, version->source->id);
    TRY(process_run(phases_in_child, task, 3600, &result));
    progress_clear();
    process_describe(&result, text, sizeof text);
    if (task->finished && task->status != STATUS_OK)
        status = status_set(STATUS_FAILED, "%s: %s", version->source->id, task->message);
    else if (!task->finished || text[0])
        status = status_set(STATUS_FAILED, "%s: %s", version->source->id,
                            text[0] ? text : "ended the process with exit code 0 before its work was done");
    else
        print_phases(version, task, row->outcome == BENCH_TIMED);
out:
    process_shared_free(task, sizeof *task);
    return status;
}

/* -------------------------------------------------------------------------------------- verdicts and prediction */

static void print_verdict(const struct bench_row *row)
{
    char verified[TABLE_CELL];

    table_verified(row, verified);
    printf("%-12s %s%s%s%s%s\n", row->version->source->id, verified, row->why[0] ? ": " : "", row->why,
           row->diagnosis[0] ? "; likely " : "", row->diagnosis);
}

static void print_change(const char *what, const struct statistics *a, const struct statistics *b)
{
    const struct bench_ratio ratio = bench_ratio(a, b);
    char before[TABLE_CELL], after[TABLE_CELL], times[TABLE_CELL];

    table_time(a->median, before);
    table_time(b->median, after);
    table_number(ratio.times >= 1 ? ratio.times : 1 / ratio.times, times);
    printf("          %-11s %s %s%.1f%% -> %s %s%.1f%%: ", what, before, table_spread_sign(),
           100 * statistics_spread(a), after, table_spread_sign(), 100 * statistics_spread(b));
    if (!ratio.differs)
        printf("not different\n");
    else
        printf("%s %s as %s\n", times, table_times_sign(), ratio.times >= 1 ? "fast" : "slow");
}

static void print_prediction(const struct bench *bench, const struct version *a, const struct version *b)
{
    const struct bench_row *before = bench_find(bench, a), *after = bench_find(bench, b);
    const bool emulated = before->outcome == BENCH_EMULATED || after->outcome == BENCH_EMULATED;

    char text[TABLE_CELL * 8];

    if (b->source->problem)
        table_wrapped(stdout, "problem", b->source->problem);
    table_wrapped(stdout, "predicted", b->source->expect);
    if (b->source->result)
        table_wrapped(stdout, "result", b->source->result);
    if (version_below(b) && version_below(b) != a) {
        snprintf(text, sizeof text, "(of %s over %s, the rung below it)", b->source->id, version_below(b)->source->id);
        table_wrapped(stdout, "", text);
    }
    snprintf(text, sizeof text, "from %s to %s:%s", a->source->id, b->source->id,
             emulated ? " no times: emulated" : "");
    table_wrapped(stdout, "measured", text);
    if (emulated)
        return;
    if (before->kernel.count == 0 || after->kernel.count == 0) {
        printf("          nothing: not both were right and ran here\n");
        return;
    }
    if (a->launch || b->launch)
        print_change("kernel", &before->kernel, &after->kernel);
    print_change("end to end", &before->end_to_end, &after->end_to_end);
}

static enum status compare(struct workload *workload, const struct algorithm *algorithm, const struct version *a,
                           const struct version *b, bool code, bool *failed)
{
    enum status status = STATUS_OK;
    const struct version *asked[2] = {a, b}, *versions[3];
    struct bench_request request = {.algorithm = algorithm, .versions = versions, .seconds = 1};
    struct bench bench = {0};
    struct version *const *all;
    char text[1536];
    size_t count;

    /* Serial by itself would be timed for nothing. */
    if (device_is_emulated() && version_is_cuda(a) && version_is_cuda(b))
        request.seconds = 0;
    registry_versions(algorithm, &all, &count);
    for (size_t i = 0; i < count; i++)
        if (all[i] == a || all[i] == b || strcmp(all[i]->source->id, "cpu/serial") == 0)
            versions[request.version_count++] = all[i];
    TRY(workload_prepare(workload, algorithm, asked, 2));
    memcpy(request.in, workload->in, sizeof request.in);
    request.made = workload->made.width ? &workload->made : NULL;
    request.params = workload->params;
    request.threads = workload->threads;
    request.input = workload->description;
    request.command = workload->command;

    if (show_code(a, b, code) != STATUS_OK)
        printf("no code: %s\n\n", status_message());
    fflush(stdout);
    TRY(bench_run(&request, &bench));
    snprintf(text, sizeof text, "%s, %s, %dx%d, %d channel%s, %d thread%s", workload->description, bench.settings,
             request.in[0].width, request.in[0].height, request.in[0].channels, request.in[0].channels == 1 ? "" : "s",
             request.threads, request.threads == 1 ? "" : "s");
    table_wrapped(stdout, "input", text);
    print_verdict(bench_find(&bench, a));
    print_verdict(bench_find(&bench, b));
    table_tuned(stdout, a);
    table_tuned(stdout, b);
    putchar('\n');
    fflush(stdout);
    TRY(show_phases(&bench, a));
    TRY(show_phases(&bench, b));
    print_prediction(&bench, a, b);
    *failed = bench_any_failed(&bench);
out:
    progress_clear();
    bench_free(&bench);
    return status;
}

int cli_diff(int argc, char **argv)
{
    static const struct option options[] = {WORKLOAD_OPTIONS,
                                            {"no-code", no_argument, NULL, OPTION_NO_CODE},
                                            {"help", no_argument, NULL, OPTION_HELP},
                                            {0}};
    struct workload workload = {0};
    const struct algorithm *algorithm = NULL;
    const struct version *a = NULL, *b = NULL;
    int exit_status = CLI_BAD_USE;
    bool code = true, failed = false;
    enum status status = STATUS_OK;

    setlocale(LC_CTYPE, "");
    workload_set_command(&workload, argc, argv);
    for (int option; (option = getopt_long(argc, argv, "p:", options, NULL)) != -1;) {
        if (option == OPTION_HELP) {
            fputs(help, stdout);
            exit_status = CLI_DONE;
            goto out;
        }
        if (option == OPTION_NO_CODE)
            code = false;
        else if (!workload_option(&workload, option))
            goto out;
    }
    if (argc - optind != 3) {
        cli_fail("diff needs an algorithm and two versions; `rungs diff --help` shows how");
        goto out;
    }
    if (cli_find(argv[optind], &algorithm, &a) != STATUS_OK) {
        cli_fail_status();
        goto out;
    }
    if (a) {
        cli_fail("%s: name the versions behind the algorithm, separated by a blank", argv[optind]);
        goto out;
    }
    if (registry_find_version(algorithm, argv[optind + 1], &a) != STATUS_OK ||
        registry_find_version(algorithm, argv[optind + 2], &b) != STATUS_OK) {
        cli_fail_status();
        goto out;
    }
    if (a == b) {
        cli_fail("diff needs two versions, and both of these are %s", a->source->id);
        goto out;
    }
    status = compare(&workload, algorithm, a, b, code, &failed);
    if (status != STATUS_OK)
        cli_fail_status();
    exit_status = status == STATUS_FAILED || (status == STATUS_OK && failed) ? CLI_CHECK_FAILED
                  : status != STATUS_OK                                      ? CLI_BAD_USE
                                                                             : CLI_DONE;
out:
    workload_free(&workload);
    return exit_status;
}
