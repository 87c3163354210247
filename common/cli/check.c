/*
 * check.c: rungs check
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/cli/cli.h"
#include "common/core/paths.h"
#include "common/core/progress.h"
#include "common/verify/check.h"
#include "common/verify/compare.h"

static const char help[] =
    "usage: rungs check [ALGO[:VERSION]] [--seed N] [--limit SECONDS] [--total SECONDS] [--pictures DIR]\n"
    "                   [--largest PIXELS] [--case TEXT] [--first] [--brief] [--share N] [--thorough] [--verbose]\n\n"
    "Verifies versions, each in a process of its own: the serial one against answers worked out by hand, every other\n"
    "one against the serial one, over many sizes, patterns and settings, in buffers whose surroundings are watched.\n"
    "Launch parameters, small grids and numbers of threads are drawn by lot, and memory left after calls is counted.\n"
    "On large pictures the serial one would take too long: there the fastest version of the CPU that agreed with it\n"
    "in all other cases takes its place.\n"
    "A failure is explained: what is wrong, its likely cause, a picture of the difference (red: too large, blue: too\n"
    "small, yellow: never written), and the line that repeats it.\n\n"
    "  --seed N          of the random inputs; without it RUNGS_SEED of the environment, or a new one that is printed\n"
    "  --limit SECONDS   a case that takes more processor time has failed (default 30)\n"
    "  --total SECONDS   once a version has taken so much, its further cases are left out (default 120)\n"
    "  --pictures DIR    where to put pictures of differences (default: check/ in the build folder)\n"
    "  --largest PIXELS  leave out the cases whose pictures have more pixels\n"
    "  --case TEXT       only cases whose description contains TEXT; a failure prints it behind `case:`\n"
    "  --first           end the check of a version at its first failure whose cause is certain\n"
    "  --brief           most cases by one call instead of several, and fewer settings: for builds with sanitizers\n"
    "  --share N         saves time in long ladders: an emulated version tries one in N of the settings, values, "
    "patterns\n"
    "                    and hard cases, the next versions of its ladder try the others, in an order that the seed\n"
    "                    draws; a peer in a process of its own tries one in N of all cases\n"
    "  --thorough        large pictures also where they take long: tens of seconds for an emulated version\n"
    "  --verbose         every case that failed, not just the most telling one\n"
    "  --help            this text\n\n"
    "Exit status: 0 nothing failed, 1 a version failed, 2 bad use.\n";

/* All cases of one version that have not begun after so long are left out, and the output says so (--total). Without a
 * sanitizer or a slow machine no version of today comes near it. */
static const double total_seconds = 120;

static struct {
    int passed, failed, skipped;
} totals;
static char watched[128];
static int id_width; /* of the longest id in the list */

static void watch(const struct check_report *report)
{
    progress("check %s: case %d of %d", watched, report->checked + report->declined + 1, report->cases);
}

/* Prints "label text" below a version's line. A terminal gets lines of at most 100 columns, a file one long line. */
static void print_detail(const char *label, const char *text)
{
    enum { INDENT = 15, COLUMNS = 100 };
    const size_t room = isatty(STDOUT_FILENO) ? COLUMNS - INDENT : SIZE_MAX;

    printf("    %s ", label);
    while (strlen(text) > room) {
        size_t cut = room;

        while (cut > 0 && text[cut] != ' ')
            cut--;
        if (cut == 0)
            break;
        printf("%.*s\n%*s", (int)cut, text, INDENT, "");
        text += cut + 1;
    }
    printf("%s\n", text);
}

static void print_report(const struct version *version, const struct check_report *report,
                         const struct check_options *options, bool verbose)
{
    const double tolerance = fmax(version->algorithm->outputs[0].comparison.tolerance, version->tolerance);
    const char *const words[] = {"PASS", "FAIL", "SKIP"};
    const int left_out = report->cases - report->checked - report->declined;
    char agreement[64] = "exact", cases[64], note[128] = "", repeat[256];

    if (report->outcome == OUTCOME_SKIP) {
        printf("  SKIP  %-*s  %s\n", id_width, version->source->id, report->reason);
        return;
    }
    /* Outputs have bounds of their own, in units of their own: the main one's says nothing of a larger difference. */
    if (tolerance >= COMPARE_ANY_RESULT)
        snprintf(agreement, sizeof agreement, "timed, not compared");
    else if (report->worst > tolerance)
        snprintf(agreement, sizeof agreement, "within each output's bound");
    else if (tolerance > 0 && report->worst > 0)
        snprintf(agreement, sizeof agreement, "within %g, worst %g", tolerance, report->worst);
    if (report->emulated)
        snprintf(note, sizeof note, "emulated");
    else if (version->instruction_set)
        snprintf(note, sizeof note, "%s", version->instruction_set);

    if (report->outcome == OUTCOME_PASS) {
        snprintf(cases, sizeof cases, "%d cases", report->checked);
        printf("  PASS  %-*s  %-10s %s", id_width, version->source->id, cases, agreement);
        if (report->goldens)
            printf(", %d answers worked out by hand", report->goldens);
        printf("%s%s%s\n", note[0] ? "  [" : "", note, note[0] ? "]" : "");
    } else {
        printf("  %s  %-*s  %d of %d cases%s%s%s%s\n", words[report->outcome], id_width, version->source->id,
               report->failed, report->cases, report->ended_early ? ", the rest not tried" : "", note[0] ? "  [" : "",
               note, note[0] ? "]" : "");
        print_detail("case:     ", report->failed_case);
        print_detail("wrong:    ", report->what);
        print_detail("diagnosis:", report->diagnosis);
        if (report->picture[0])
            print_detail("picture:  ", report->picture);
        snprintf(repeat, sizeof repeat, "rungs check %s:%s --seed %llu", version->algorithm->name, version->source->id,
                 (unsigned long long)options->seed);
        print_detail("repeat:   ", repeat);
    }
    /* What was not checked is never left unsaid. */
    if (left_out > 0 && !report->ended_early)
        printf("        %d of %d cases left out: %g s were over\n", left_out, report->cases, options->total_seconds);
    if (report->too_long && report->outcome == OUTCOME_PASS)
        printf("        %d large pictures left out: they would take too long%s (--thorough tries them)\n",
               report->too_long, report->emulated ? " emulated" : "");
    if (report->declined)
        printf("        %d of %d cases declined: %s\n", report->declined, report->cases, report->reason);
    for (const char *line = report->failures; verbose && *line;) {
        const size_t length = strcspn(line, "\n");

        printf("        %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* Of the emulator (emulator.h), which a build for a GPU does not have. */
extern bool emulator_can_watch_races(void) __attribute__((weak));

/* What no case of this program can see, and who does. */
static void print_unwatched(void)
{
    const char *const races = !emulator_can_watch_races     ? "races of kernels (make sanitize MACHINE=name)"
                              : !emulator_can_watch_races() ? "races of kernels (a build with gcc, without sanitizers)"
                                                            : NULL;
#if defined(__SANITIZE_ADDRESS__)
    printf("  Not watched: ");
#else
    printf("  Not watched: accesses outside of memory and shifts too far (make check SANITIZE=1), ");
#endif
    printf("%s%sraces of the CPU's threads (sh tests/openmp_races.sh).\n", races ? races : "", races ? ", " : "");
}

static void announce(const struct version *version)
{
    snprintf(watched, sizeof watched, "%s:%s", version->algorithm->name, version->source->id);
}

/* Whose results are right for large pictures: the fastest and the second fastest of those of the CPU that agreed with
 * cpu/serial to the bit in every other case; cpu/serial where there are not two. */
static void find_trusted(struct version *const *versions, size_t count, const struct check_report *reports,
                         const struct version *trusted[2])
{
    double seconds[2] = {INFINITY, INFINITY};

    trusted[0] = trusted[1] = versions[0];
    for (size_t i = 0; i < count; i++) {
        const struct check_report *report = &reports[i];

        if (side_of(versions[i]->source->id) != side_of("cpu/serial") || report->outcome != OUTCOME_PASS ||
            report->declined || report->worst > 0)
            continue;
        if (report->seconds < seconds[0]) {
            seconds[1] = seconds[0];
            trusted[1] = trusted[0];
            seconds[0] = report->seconds;
            trusted[0] = versions[i];
        } else if (report->seconds < seconds[1]) {
            seconds[1] = report->seconds;
            trusted[1] = versions[i];
        }
    }
}

static enum status check_algorithm(const struct algorithm *algorithm, const struct version *only,
                                   const struct check_options *options, bool verbose)
{
    struct version *const *versions;
    const struct version *trusted[2];
    struct check_report *reports = NULL;
    size_t count;
    bool large = false;
    enum status status = STATUS_OK;

    registry_versions(algorithm, &versions, &count);
    printf("%s: %s (seed %llu", algorithm->name, algorithm->summary, (unsigned long long)options->seed);
    if (options->largest_pixels)
        printf(", pictures of at most %ld pixels", options->largest_pixels);
    if (options->share)
        printf(", of settings and hard cases one in %d for each emulated version", options->share);
    printf(")\n");
    id_width = 0;
    for (size_t i = 0; i < count; i++)
        if ((!only || versions[i] == only) && (int)strlen(versions[i]->source->id) > id_width)
            id_width = (int)strlen(versions[i]->source->id);
    reports = calloc(count, sizeof *reports);
    if (!reports)
        return status_set(STATUS_NO_MEMORY, "no memory for the reports of %zu versions", count);
    /* Without memory for them, each version's child computes the references anew. */
    (void)reference_store_open(VERIFY_REFERENCE_BYTES);
    /* The first pass decides whom the second one trusts. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            const bool of_cpu = side_of(versions[i]->source->id) == side_of("cpu/serial");

            if (only ? versions[i] != only : pass == 0 && !of_cpu)
                continue;
            announce(versions[i]);
            if (pass == 0 || (!only && !of_cpu))
                TRY(check_version(versions[i], options, watch, &reports[i]));
            if (pass == 0)
                continue;
            TRY(check_version_large(versions[i], trusted[versions[i] == trusted[0]], options, watch, &reports[i]));
            large |= reports[i].large > 0;
            progress_clear();
            print_report(versions[i], &reports[i], options, verbose);
            fflush(stdout);
            totals.passed += reports[i].outcome == OUTCOME_PASS;
            totals.failed += reports[i].outcome == OUTCOME_FAIL;
            totals.skipped += reports[i].outcome == OUTCOME_SKIP;
        }
        trusted[0] = trusted[1] = versions[0];
        if (!only)
            find_trusted(versions, count, reports, trusted);
    }
    if (large && trusted[0] == versions[0])
        printf("  Large pictures are compared with %s.\n", trusted[0]->source->id);
    else if (large)
        printf("  Large pictures are compared with %s, the fastest that agreed with cpu/serial in all other cases, and "
               "%s's with %s's.\n",
               trusted[0]->source->id, trusted[0]->source->id, trusted[1]->source->id);
out:
    free(reports);
    reference_store_close();
    return status;
}

static enum status parse_seed(const char *text, uint64_t *seed)
{
    char *end;

    errno = 0;
    *seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno)
        return status_set(STATUS_BAD_INPUT, "--seed: '%s' is not a whole number from 0 to 2^64-1", text);
    return STATUS_OK;
}

static enum status parse_limit(const char *option, const char *text, double *seconds)
{
    char *end;

    *seconds = strtod(text, &end);
    if (end == text || *end || !(*seconds >= 0.1 && *seconds <= 86400))
        return status_set(STATUS_BAD_INPUT, "%s: '%s' is not a number of seconds from 0.1 to 86400", option, text);
    return STATUS_OK;
}

static enum status parse_largest(const char *text, long *pixels)
{
    char *end;

    errno = 0;
    *pixels = strtol(text, &end, 10);
    if (end == text || *end || errno || *pixels < 1)
        return status_set(STATUS_BAD_INPUT, "--largest: '%s' is not a number of pixels from 1", text);
    return STATUS_OK;
}

static enum status parse_share(const char *text, int *share)
{
    char *end;
    const long value = strtol(text, &end, 10);

    if (end == text || *end || value < 1 || value > 100)
        return status_set(STATUS_BAD_INPUT, "--share: '%s' is not a number from 1 to 100", text);
    *share = (int)value;
    return STATUS_OK;
}

int cli_check(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"limit", required_argument, NULL, 'l'},
        {"total", required_argument, NULL, 'a'},
        {"pictures", required_argument, NULL, 'p'},
        {"largest", required_argument, NULL, 'm'},
        {"case", required_argument, NULL, 'c'},
        {"first", no_argument, NULL, 'f'},
        {"verbose", no_argument, NULL, 'v'},
        {"brief", no_argument, NULL, 'b'},
        {"share", required_argument, NULL, 'n'},
        {"thorough", no_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    /* Five digits are short enough to type again. */
    struct check_options check = {.seed = ((uint64_t)time(NULL) * 2654435761u + (uint64_t)getpid()) % 100000,
                                  .case_seconds = 30,
                                  .total_seconds = total_seconds};
    const struct algorithm *algorithm = NULL;
    const struct version *version = NULL;
    struct stat folder;
    char pictures[1024];
    bool verbose = false, pictures_given = false;
    int option;

    snprintf(pictures, sizeof pictures, "%s/check", paths_build());
    check.pictures = pictures;
    /* So that a landing can be repeated (tests/verify.sh). */
    if (getenv("RUNGS_SEED") && parse_seed(getenv("RUNGS_SEED"), &check.seed) != STATUS_OK)
        return cli_fail_status();
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case 's':
            if (parse_seed(optarg, &check.seed) != STATUS_OK)
                return cli_fail_status();
            break;
        case 'l':
            if (parse_limit("--limit", optarg, &check.case_seconds) != STATUS_OK)
                return cli_fail_status();
            break;
        case 'a':
            if (parse_limit("--total", optarg, &check.total_seconds) != STATUS_OK)
                return cli_fail_status();
            break;
        case 'p':
            check.pictures = optarg;
            pictures_given = true;
            break;
        case 'm':
            if (parse_largest(optarg, &check.largest_pixels) != STATUS_OK)
                return cli_fail_status();
            break;
        case 'c':
            check.only = optarg;
            break;
        case 'f':
            check.first = true;
            break;
        case 'b':
            check.brief = true;
            break;
        case 'n':
            if (parse_share(optarg, &check.share) != STATUS_OK)
                return cli_fail_status();
            break;
        case 't':
            check.thorough = true;
            break;
        case 'v':
            verbose = true;
            break;
        case 'h':
            fputs(help, stdout);
            return CLI_DONE;
        default: /* getopt_long() has said what is wrong */
            return CLI_BAD_USE;
        }
    }
    if (argc - optind > 1)
        return cli_fail("check takes one ALGO[:VERSION], not %d; `rungs check --help`", argc - optind);
    if (pictures_given && mkdir(check.pictures, 0777) != 0 && errno != EEXIST)
        return cli_fail("%s: cannot make this folder: %s", check.pictures, strerror(errno));
    if (stat(check.pictures, &folder) == 0 && (!S_ISDIR(folder.st_mode) || access(check.pictures, W_OK | X_OK) != 0)) {
        if (pictures_given)
            return cli_fail("%s: %s", check.pictures,
                            S_ISDIR(folder.st_mode) ? "no permission to write pictures there" : "not a folder");
        check.pictures = NULL;
    }
    if (optind < argc && cli_find(argv[optind], &algorithm, &version) != STATUS_OK)
        return cli_fail_status();

    progress_start();
    for (const struct algorithm *a = registry_algorithms(); a; a = a->next)
        if ((!algorithm || a == algorithm) && check_algorithm(a, version, &check, verbose) != STATUS_OK)
            return cli_fail_status();
    if (totals.passed)
        print_unwatched();
    printf("%d passed, %d failed, %d skipped\n", totals.passed, totals.failed, totals.skipped);
    return totals.failed ? CLI_CHECK_FAILED : CLI_DONE;
}
