/*
 * judge.c: the program rungs-judge: verifies and times one version that runs in a worker, and writes what it found as
 * JSON. assignments/labs.py turns that into points. It holds the contracts and cpu/serial of every algorithm; the
 * version is in another process, with limits, and nothing that it says is trusted.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "common/lab/judge.h"
#include "common/measure/machine.h"

static const char help[] =
    "usage: rungs-judge check --worker FILE --id ID --json FILE [OPTION...]\n"
    "       rungs-judge time --worker FILE --reference FILE --size WxH[xC] --json FILE [OPTION...]\n"
    "       rungs-judge count --worker FILE --picture FILE --json FILE [OPTION...]\n"
    "       rungs-judge share --worker FILE --size WxH[xC] --json FILE [OPTION...]\n\n"
    "Verifies or times the version in a worker program, counts what one call does on the emulated device, or how\n"
    "threads share its accesses, and writes what was found as JSON; `make lab-NN` calls it.\n\n"
    "  --worker FILE     the program around the version\n"
    "  --json FILE       where the result goes\n"
    "  --threads N       OpenMP threads (default: all cores)\n"
    "  --memory MIB      the most memory that the version may take besides the images (default 1024)\n"
    "  --limit SECONDS   the most processor time that one case or call may take (default 30)\n"
    "  --unconfined      no system call filter: for code that you trust, where the kernel has none\n"
    "check:\n"
    "  --id ID           its name, student/omp say\n"
    "  --algorithm NAME  that it must be for (default: any)\n"
    "  --total SECONDS   once all have taken so much, further cases are left out (default 120)\n"
    "  --seed N          of the random inputs (default 1)\n"
    "  --largest PIXELS  of the inputs that are tried (default: all)\n"
    "  --without NAME    of a parameter that the version need not know: it keeps its default\n"
    "  --pictures DIR    where to put pictures of differences\n"
    "  --tune NAME=N     a tunable of the version\n"
    "  --size WxH[xC]    of the input of the calls that are counted (default 130x70)\n"
    "  --large           of a version for the CPU: large pictures, too\n"
    "  --watched         count calls alone: what they can do without is seen of the same version unwatched\n"
    "  --any-threads     of a version for the CPU: whether one thread gives the same bits as more\n"
    "count:\n"
    "  --picture FILE    the input\n"
    "  --moved           count a second call, on the picture moved round by lot\n"
    "  -p NAME=VALUE     a parameter of the algorithm\n"
    "share, with a worker that finds races:\n"
    "  --size WxH[xC]    of the input\n"
    "  -p NAME=VALUE     a parameter of the algorithm\n"
    "time:\n"
    "  --reference FILE  the worker of the rung to compare with\n"
    "  --size WxH[xC]    of the input, C bands or channels\n"
    "  --frames N        of the video that a pipeline gets (default 8)\n"
    "  -p NAME=VALUE     a parameter of the algorithm\n"
    "  --fewer N         OpenMP threads of the version, when they are not as many as the reference has\n"
    "  --seconds S       how long to go on (default 2)\n"
    "  --enough RATIO    stop after 60 calls of each when the medians are no further apart (default 0: go on)\n"
    "  --zero RATIO      stop early when the version takes more than twice that many times the reference\n"
    "  --kernel          time launch() on device images; without it run(), transfers and all\n\n"
    "Exit status: 0 the JSON is there, 2 bad use or no result.\n";

static int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int fail(const char *format, ...)
{
    va_list list;

    fputs("rungs-judge: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return 2;
}

static bool number(const char *option, const char *word, double minimum, double maximum, double *value)
{
    char *end;

    *value = strtod(word, &end);
    if (end != word && !*end && *value >= minimum && *value <= maximum)
        return true;
    fail("--%s: '%s' is no number from %g to %g", option, word, minimum, maximum);
    return false;
}

static bool parse(int argc, char **argv, struct judge_arguments *a)
{
    enum {
        WORKER = 256,
        REFERENCE,
        ID,
        JSON,
        THREADS,
        MEMORY,
        LIMIT,
        TOTAL,
        FEWER,
        SEED,
        LARGEST,
        WITHOUT,
        PICTURES,
        PICTURE,
        TUNE,
        SIZE,
        SECONDS,
        ZERO,
        ENOUGH,
        KERNEL,
        UNCONFINED,
        FRAMES,
        ALGORITHM,
        ANY_THREADS,
        MOVED,
        LARGE,
        WATCHED
    };
    static const struct option options[] = {
        {"worker", required_argument, NULL, WORKER},
        {"reference", required_argument, NULL, REFERENCE},
        {"id", required_argument, NULL, ID},
        {"json", required_argument, NULL, JSON},
        {"threads", required_argument, NULL, THREADS},
        {"memory", required_argument, NULL, MEMORY},
        {"limit", required_argument, NULL, LIMIT},
        {"total", required_argument, NULL, TOTAL},
        {"fewer", required_argument, NULL, FEWER},
        {"seed", required_argument, NULL, SEED},
        {"largest", required_argument, NULL, LARGEST},
        {"without", required_argument, NULL, WITHOUT},
        {"pictures", required_argument, NULL, PICTURES},
        {"picture", required_argument, NULL, PICTURE},
        {"tune", required_argument, NULL, TUNE},
        {"size", required_argument, NULL, SIZE},
        {"seconds", required_argument, NULL, SECONDS},
        {"zero", required_argument, NULL, ZERO},
        {"enough", required_argument, NULL, ENOUGH},
        {"kernel", no_argument, NULL, KERNEL},
        {"unconfined", no_argument, NULL, UNCONFINED},
        {"frames", required_argument, NULL, FRAMES},
        {"algorithm", required_argument, NULL, ALGORITHM},
        {"any-threads", no_argument, NULL, ANY_THREADS},
        {"moved", no_argument, NULL, MOVED},
        {"large", no_argument, NULL, LARGE},
        {"watched", no_argument, NULL, WATCHED},
        {0},
    };
    double value = 0;
    int option;
    char rest;

    while ((option = getopt_long(argc, argv, "p:", options, NULL)) != -1) {
        switch (option) {
        case WORKER:
            a->worker.program = optarg;
            break;
        case REFERENCE:
            a->reference.program = optarg;
            break;
        case ID:
            a->id = optarg;
            break;
        case JSON:
            a->json = optarg;
            break;
        case THREADS:
            if (!number("threads", optarg, 1, 1024, &value))
                return false;
            a->worker.threads = (int)value;
            break;
        case MEMORY:
            if (!number("memory", optarg, 1, 1 << 20, &value))
                return false;
            a->worker.memory_bytes = (size_t)value << 20;
            break;
        case LIMIT:
            if (!number("limit", optarg, 0.1, 86400, &a->worker.call_seconds))
                return false;
            break;
        case TOTAL:
            if (!number("total", optarg, 0.1, 86400, &a->total_seconds))
                return false;
            break;
        case FEWER:
            if (!number("fewer", optarg, 1, 1024, &value))
                return false;
            a->fewer = (int)value;
            break;
        case SEED:
            if (!number("seed", optarg, 0, 1e15, &value))
                return false;
            a->seed = (uint64_t)value;
            break;
        case LARGEST:
            if (!number("largest", optarg, 1, 1e9, &value))
                return false;
            a->largest = (long)value;
            break;
        case WITHOUT:
            if (a->without_count < sizeof a->without / sizeof *a->without)
                a->without[a->without_count++] = optarg;
            break;
        case PICTURES:
            a->pictures = optarg;
            break;
        case PICTURE:
            a->picture = optarg;
            break;
        case TUNE:
            if (a->tune_count < CHANNEL_MAX_TUNABLES)
                a->tune[a->tune_count++] = optarg;
            break;
        case 'p':
            if (a->setting_count < sizeof a->settings / sizeof *a->settings)
                a->settings[a->setting_count++] = optarg;
            break;
        case SIZE:
            a->shape[2] = 0;
            if ((sscanf(optarg, "%5dx%5d%c", &a->shape[0], &a->shape[1], &rest) != 2 &&
                 (sscanf(optarg, "%5dx%5dx%5d%c", &a->shape[0], &a->shape[1], &a->shape[2], &rest) != 3 ||
                  a->shape[2] < 1)) ||
                a->shape[0] < 1 || a->shape[1] < 1)
                return fail("--size: '%s' is no size such as 1920x1080 or 64x64x31", optarg) == 0;
            break;
        case SECONDS:
            if (!number("seconds", optarg, 0.01, 3600, &a->seconds))
                return false;
            break;
        case ZERO:
            if (!number("zero", optarg, 1, 1e6, &a->zero))
                return false;
            break;
        case ENOUGH:
            if (!number("enough", optarg, 0, 1e6, &a->enough))
                return false;
            break;
        case ANY_THREADS:
            a->any_threads = true;
            break;
        case KERNEL:
            a->kernel = true;
            break;
        case FRAMES:
            if (!number("frames", optarg, 2, JUDGE_MAX_FRAMES, &value))
                return false;
            a->frames = (int)value;
            break;
        case ALGORITHM:
            a->algorithm = optarg;
            break;
        case WATCHED:
            a->watched = true;
            break;
        case LARGE:
            a->large = true;
            break;
        case MOVED:
            a->moved = true;
            break;
        case UNCONFINED:
            a->worker.unconfined = true;
            break;
        default:
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct judge_arguments arguments = {
        .worker = {.threads = machine_cores(), .memory_bytes = (size_t)1 << 30, .call_seconds = 30},
        .total_seconds = 120,
        .seconds = 2,
        .frames = 8,
        .seed = 1};
    enum status status;

    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return 0;
    }
    const bool checks = argc > 1 && strcmp(argv[1], "check") == 0, times = argc > 1 && strcmp(argv[1], "time") == 0;
    const bool counts = argc > 1 && strcmp(argv[1], "count") == 0, shares = argc > 1 && strcmp(argv[1], "share") == 0;

    if (!checks && !times && !counts && !shares)
        return fail("the first word must be check, time, count or share; rungs-judge --help");
    if (!parse(argc - 1, argv + 1, &arguments))
        return 2;
    if (!arguments.worker.program || !arguments.json || (checks && !arguments.id) ||
        (times && (!arguments.reference.program || !arguments.shape[0])) || (counts && !arguments.picture) ||
        (shares && !arguments.shape[0]))
        return fail("an option that must be there is missing; rungs-judge --help");
    /* The worker runs under our user id, so it could trace this process or read its memory. This forbids both. */
    prctl(PR_SET_DUMPABLE, 0);
    arguments.reference = (struct remote_options){.program = arguments.reference.program,
                                                  .threads = arguments.worker.threads,
                                                  .memory_bytes = (size_t)4 << 30,
                                                  .call_seconds = 120,
                                                  .quiet = true,
                                                  .unconfined = arguments.worker.unconfined};
    if (times)
        arguments.worker.quiet = true;
    if (arguments.fewer)
        arguments.worker.threads = arguments.fewer;
    status = checks   ? judge_check(&arguments)
             : times  ? judge_time(&arguments)
             : shares ? judge_share(&arguments)
                      : judge_count(&arguments);
    if (status == STATUS_OK)
        return 0;
    fail("%s", status_message());
    return status == STATUS_UNSUPPORTED ? 3 : 2;
}
