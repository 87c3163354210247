/*
 * main.c: the program `rungs`: picks the subcommand.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/cli/cli.h"
#include "common/core/file.h"

static const struct subcommand {
    const char *name;
    int (*function)(int argc, char **argv);
    const char *summary;
    const char *spins; /* how often threads look before they sleep, NULL: as often as libgomp has it */
} subcommands[] = {
    {"list", cli_list, "algorithms and versions, with their ideas, and why one cannot run here", NULL},
    {"run", cli_run, "apply a version to real files, a folder of pictures or a video", "10000"},
    {"train", cli_train, "make the model that an algorithm works with, out of data", NULL},
    {"check", cli_check, "verify versions against the reference", "0"},
    {"bench", cli_bench, "verify, then time versions side by side", "10000"},
    {"tune", cli_tune, "search a version's launch parameters for the fastest, and keep them", "10000"},
    {"compare", cli_compare, "two results files: what changed beyond the noise", NULL},
    {"diff", cli_diff, "two versions: code, verification, phases, prediction and measurement", "10000"},
    {"doctor", cli_doctor, "what this machine has and lacks, and what to type", NULL},
    {"profile", cli_profile, "one version: where the time of its calls goes", "10000"},
};
enum { SUBCOMMAND_COUNT = sizeof subcommands / sizeof subcommands[0] };

/* libgomp's threads spin for up to a millisecond at a barrier before they sleep. On a machine that others use too they
 * so keep from its core the very thread that they wait for: medians of 0.4 ms became 12 ms here. A spin count of 10,000
 * (some 20 us) costs nothing on a quiet machine. The same goes for a video, with one ffmpeg decoding and one encoding
 * beside us. A check times nothing, and half of its processor time was spinning (blur: 34 s in place of 18): it has
 * none. libgomp reads it before main() runs, hence the second start. */
static void limit_openmp_spinning(char **argv, const char *spins)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length < 0 || getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY"))
        return;
    self[length] = '\0';
    setenv("GOMP_SPINCOUNT", spins, 0);
    execv(self, argv);
    /* Under an emulator such as qemu-user exec fails; the run goes on with libgomp's default. */
}

/* What an environment variable of OpenMP's gives as the stack of a thread ("512", in KiB, "64B", "1M"), 0 when there is
 * none or it cannot be read, which libgomp itself complains of. */
static double openmp_stack_bytes(void)
{
    const char *text = getenv("OMP_STACKSIZE") ? getenv("OMP_STACKSIZE") : getenv("GOMP_STACKSIZE");
    char *end;
    const double number = text ? strtod(text, &end) : 0;

    if (!(number > 0))
        return 0;
    end += strspn(end, " ");
    switch (toupper((unsigned char)*end)) {
    case 'B':
        return number;
    case 'M':
        return number * (1 << 20);
    case 'G':
        return number * (1 << 30);
    default:
        return number * 1024;
    }
}

/* A stack that is too small and a team that is too large both end in a segmentation fault, which `check` would take for
 * a fault of the version. */
static enum status check_environment(void)
{
    /* Seven times the largest frame, the 131 KiB of tables in cpu/labelling/simd.c: sanitizers make frames larger. */
    enum { LEAST_STACK_KIB = 1024, MAX_THREADS = 1024 };
    const double of_threads = openmp_stack_bytes();
    struct rlimit stack;

    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY &&
        stack.rlim_cur < LEAST_STACK_KIB * 1024)
        return status_set(STATUS_BAD_INPUT,
                          "the stack is limited to %llu KiB, and at least %d KiB are needed: ulimit -s 8192",
                          (unsigned long long)stack.rlim_cur / 1024, LEAST_STACK_KIB);
    if (of_threads > 0 && of_threads < LEAST_STACK_KIB * 1024.0)
        return status_set(STATUS_BAD_INPUT,
                          "OMP_STACKSIZE gives each thread a stack of %.0f KiB, and at least %d KiB are needed",
                          of_threads / 1024, LEAST_STACK_KIB);
    if (omp_get_max_threads() > MAX_THREADS)
        return status_set(STATUS_BAD_INPUT, "OMP_NUM_THREADS asks for %d threads; at most %d are supported",
                          omp_get_max_threads(), MAX_THREADS);
    return STATUS_OK;
}

/* Opens what the caller closed of the three standard streams, the wrong way round, so that using it still fails but no
 * file of ours can become it. */
static void fill_standard_streams(void)
{
    for (int i = 0; i < 3; i++)
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", i == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
}

static void print_help(FILE *stream)
{
    fputs("rungs: image processing as ladders of versions, from a serial loop to a tuned GPU kernel\n\n"
          "usage: rungs COMMAND ...\n\n",
          stream);
    for (int i = 0; i < SUBCOMMAND_COUNT; i++)
        fprintf(stream, "  %-7s %s\n", subcommands[i].name, subcommands[i].summary);
    fputs("\n`rungs COMMAND --help` explains one.\n"
          "Exit status: 0 done, 1 a check failed, 2 bad use or bad input.\n",
          stream);
}

/* The exit status of the program: what was printed must have arrived. */
static int finish(int exit_status)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail("cannot write to standard output: %s", strerror(errno));
    return exit_status;
}

int main(int argc, char **argv)
{
    int exit_status;
    char name[32]; /* what getopt_long() puts before its messages */

    fill_standard_streams();
    file_discard_at_signals();
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write, which removes the unfinished file */
    if (check_environment() != STATUS_OK || registry_open() != STATUS_OK)
        return cli_fail_status();
    if (argc < 2) {
        print_help(stderr);
        return CLI_BAD_USE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return finish(CLI_DONE);
    }
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(argv[1], subcommands[i].name) != 0)
            continue;
        if (subcommands[i].spins)
            limit_openmp_spinning(argv, subcommands[i].spins);
        snprintf(name, sizeof name, "rungs %s", argv[1]);
        argv[1] = name;
        exit_status = subcommands[i].function(argc - 1, argv + 1);
        return finish(exit_status);
    }
    return cli_fail("no command '%s'; `rungs --help` lists them", argv[1]);
}
