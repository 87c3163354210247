/*
 * compare.c: rungs compare
 */
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli/cli.h"
#include "common/cli/compare_table.h"

static const char help[] =
    "usage: rungs compare OLD.json NEW.json [--threshold RATIO]\n\n"
    "Says what changed between two results files of `rungs bench`, `tune` or `profile --json`, both of one kind: for\n"
    "each version (combination of launch parameters; kernel and copy) the two times, old / new, and faster, slower\n"
    "or same. Times that differ by less than the threshold are the same, because two runs differ by more than the\n"
    "spread within one of them. Times that differ by more, but whose interquartile ranges overlap, are unsure: that "
    "is\n"
    "no regression, and a longer measurement may decide. Files of different machines, sizes, inputs, parameters or\n"
    "numbers of threads are not compared, and a line says so.\n\n"
    "profile   bench: the version timed without a profiler. Kernels and copies, or steps on a CPU: what they take in\n"
    "          a call, unsure when the ranges from least to most overlap. Between two versions work moves from\n"
    "          kernel to kernel: there only bench counts as a regression.\n"
    "video     times a frame. A pipeline's steps are means without a spread: those beyond the threshold are shown, to\n"
    "          tell where the time went, but do not count as regressions.\n\n"
    "      --threshold RATIO    smallest ratio that counts, from 1 (default 1.05: 5 %)\n"
    "      --help               this text\n\n"
    "Exit status: 0 no regression, 1 something became slower or wrong, 2 bad use or bad input.\n\n"
    "example: rungs compare results/old.json results/new.json --threshold 1.1\n";

enum { OPTION_THRESHOLD = 256, OPTION_HELP };

static enum status compare(const char *old_path, const char *new_path, struct compare_report *report)
{
    enum status status = STATUS_OK;
    struct compare_results a = {0}, b = {0};

    TRY(compare_load(&a, old_path));
    TRY(compare_load(&b, new_path));
    if (a.kind != b.kind) {
        status = status_set(STATUS_BAD_INPUT, "%s is of %s%s and %s of %s%s", old_path, compare_kinds[a.kind].name,
                            a.kind == COMPARE_VIDEO ? " of a video" : "", new_path, compare_kinds[b.kind].name,
                            b.kind == COMPARE_VIDEO ? " of a video" : "");
        goto out;
    }
    for (int i = 0; i < 2; i++) {
        const char *const key = i ? "tuned_version" : "algorithm";

        if (strcmp(compare_text(a.document, key), compare_text(b.document, key)) != 0) {
            status = status_set(STATUS_BAD_INPUT, "%s is of %s and %s of %s", old_path, compare_text(a.document, key),
                                new_path, compare_text(b.document, key));
            goto out;
        }
    }
    compare_find_conditions(&a, &b, &report->conditions);
    report->two_versions =
        a.kind == COMPARE_PROFILE && strcmp(compare_text(json_object_get(a.document, "bench"), "id"),
                                            compare_text(json_object_get(b.document, "bench"), "id")) != 0;
    compare_print(report, &a, &b);
out:
    compare_unload(&a);
    compare_unload(&b);
    return status;
}

static enum status parse_threshold(const char *text, double *threshold)
{
    char *end;

    *threshold = strtod(text, &end);
    if (end == text || *end || !(*threshold >= 1 && *threshold <= 1000))
        return status_set(STATUS_BAD_INPUT, "--threshold %s: must be a ratio from 1 to 1000, such as 1.05", text);
    return STATUS_OK;
}

int cli_compare(int argc, char **argv)
{
    static const struct option options[] = {
        {"threshold", required_argument, NULL, OPTION_THRESHOLD}, {"help", no_argument, NULL, OPTION_HELP}, {0}};
    struct compare_report report = {.threshold = 1.05};

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
    return report.counts[COMPARE_SLOWER] || report.counts[COMPARE_WRONG] ? CLI_CHECK_FAILED : CLI_DONE;
}
