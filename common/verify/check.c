#include "common/verify/check.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/contract/device_info.h"
#include "common/contract/inputs.h"
#include "common/contract/pipeline.h"
#include "common/core/clock.h"
#include "common/core/process.h"
#include "common/image/pattern.h"
#include "common/verify/case_settings.h"
#include "common/verify/check_cases.h"
#include "common/verify/circumstances.h"
#include "common/verify/diagnose.h"
#include "common/verify/growth.h"
#include "common/verify/outputs.h"

/* ----------------------------------------------------------------------------------------------- in the child */

enum { TINY_PIXELS = 64, ALONE_CALLS = 8 };

/* Seconds of a processor that all large pictures of a version may take, by what their pixels took before; and when one
 * that takes longer than that is given up, because its version's time does not grow with the pixels alone. */
static const double large_seconds = 0.5, large_limit = 6;

/* Shared with the parent, so that it knows where the child was when it died. */
struct shared {
    struct check_report report;
    char current[384];    /* the case being tried; "" before the first and after the last */
    volatile size_t turn; /* counts cases, each of which has its own limit of time */
    volatile double used; /* seconds, by the parent's account (struct limit) */
    bool in_reference;    /* the reference is at work, not the version */
    bool finished;        /* the child came to its own end; a version can call exit(0) too */
    bool tiny;            /* the case being tried is a row, a column, or has fewer than TINY_PIXELS pixels */
    int left;             /* cases, with the one being tried */
    int number;           /* of the case being tried, from 1 */
    int telling;          /* of the failure kept in the report, see telling() */
    char message[512];    /* why the check itself could not be done; "" when it could */
};

struct job {
    const struct version *version;
    int threads;                   /* of OpenMP, by the environment or the machine */
    const struct version *trusted; /* whose results are right for large pictures; NULL: the other cases */
    double large_used;             /* seconds of a processor that large pictures have taken */
    int alone;                     /* number of a case that is tried ALONE_CALLS times, and no other; 0: all once */
    struct check_options *options;
    struct shared *shared;
    void (*watch)(const struct check_report *report);
};

/* "blur-cuda-v1.2" */
static void picture_name(const struct version *version, char *text, size_t size)
{
    snprintf(text, size, "%s-%s", version->algorithm->name, version->source->id);
    for (char *c = text; *c; c++)
        if (*c == '/')
            *c = '-';
}

static void log_failure(struct check_report *report, const char *which, const char *what)
{
    const size_t length = strlen(report->failures);

    snprintf(report->failures + length, sizeof report->failures - length, "%s: %s\n", which, what);
}

/* Which failure to report of several: the one whose cause is surest. Of those that are equally sure it is the first
 * that is no more tiny, for small images are the easiest to follow by hand, but single pixels and rows show no pattern
 * to whoever looks for one. */
static int telling(const struct verdict *verdict, bool tiny)
{
    return 2 * verdict->certainty + !tiny;
}

static void take_verdict(struct job *job, const struct verdict *verdict, const char *picture)
{
    struct shared *shared = job->shared;
    struct check_report *report = &shared->report;
    char name[128];

    if (verdict->outcome == OUTCOME_SKIP) {
        report->declined++;
        snprintf(report->reason, sizeof report->reason, "%s", verdict->what);
        return;
    }
    report->checked++;
    if (verdict->outcome == OUTCOME_PASS) {
        report->worst = fmax(report->worst, verdict->worst);
        return;
    }
    log_failure(report, shared->current, verdict->what);
    if (report->failed++ > 0 && telling(verdict, shared->tiny) <= shared->telling) {
        remove(picture);
        return;
    }
    shared->telling = telling(verdict, shared->tiny);
    report->failed_number = verdict->vague ? 0 : shared->number;
    snprintf(report->failed_case, sizeof report->failed_case, "%s", shared->current);
    snprintf(report->what, sizeof report->what, "%s", verdict->what);
    snprintf(report->diagnosis, sizeof report->diagnosis, "%s", verdict->diagnosis);
    if (report->picture[0])
        remove(report->picture);
    report->picture[0] = '\0';
    if (!verdict->pictured)
        return;
    picture_name(job->version, name, sizeof name);
    snprintf(report->picture, sizeof report->picture, "%s/%s.png", job->options->pictures, name);
    if (rename(picture, report->picture) != 0)
        report->picture[0] = '\0';
}

/* The samples of an answer worked out by hand lie without padding. */
static void copy_packed(struct image *image, const uint8_t *samples)
{
    for (int y = 0; y < image->height; y++)
        memcpy(image_row(image, y), samples + (size_t)y * image_row_bytes(image), image_row_bytes(image));
}

static enum status golden_inputs(const struct algorithm *algorithm, const struct golden *golden, struct image in[])
{
    enum status status = STATUS_OK;

    for (int i = 0; i < algorithm->input_count; i++) {
        const int *shape = golden->shapes[i];

        TRY(array_create(&in[i], shape[0] ? shape[0] : golden->width, shape[1] ? shape[1] : golden->height,
                         shape[2] ? shape[2] : golden->channels,
                         golden->types ? golden->types[i] : algorithm->inputs[i].type));
        copy_packed(&in[i], golden->in[i]);
    }
out:
    return status;
}

/* The reference's answer, or the one worked out by hand. */
static enum status make_expected(const struct job *job, const struct check_case *item, const struct image in[],
                                 const void *params, struct image expected[])
{
    const struct algorithm *algorithm = job->version->algorithm;
    struct image shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
    enum status status = STATUS_OK;

    if (job->trusted)
        return verify_reference_by(job->trusted, in, params, expected);
    if (!item->golden)
        return verify_reference(algorithm, in, params, expected);
    TRY(algorithm->shape(in, params, shapes));
    TRY(outputs_create_like(expected, shapes));
    for (int slot = 0; slot < algorithm->output_count; slot++)
        if (expected[slot].data)
            copy_packed(&expected[slot], item->golden->out[slot]);
out:
    return status;
}

/* What large pictures will take. */
static void count_time(struct job *job, const struct check_case *item, double seconds)
{
    enum { CALLS = 4, PIXELS = 4000 }; /* calls of an entry in verify_version() */
    const bool some = item->calls == CHECK_ALL_RUNS || item->calls == CHECK_ALL_LAUNCHES;
    const double pixels = (double)item->width * item->height;
    double *pixel_seconds = &job->shared->report.pixel_seconds;

    if (job->trusted) {
        job->large_used += seconds;
        *pixel_seconds = fmin(*pixel_seconds, seconds / pixels);
    } else if (!item->settings && !item->hard_case && (some || item->calls == CHECK_ALL_CALLS) && pixels >= PIXELS) {
        *pixel_seconds = fmax(*pixel_seconds, seconds / pixels /
                                                  (some                   ? CALLS + 1
                                                   : job->version->launch ? 2 * CALLS
                                                                          : CALLS));
    }
}

/* Whether --case lets this one be tried; counts it out where not. */
static bool is_asked_for(const struct job *job, const struct check_case *item, const char *description)
{
    struct check_report *report = &job->shared->report;

    if (!job->options->only || strstr(description, job->options->only))
        return true;
    report->cases--;
    report->goldens -= item->golden != NULL;
    report->large -= job->trusted != NULL;
    return false;
}

static enum status try_case(struct job *job, const struct check_case *item, uint64_t seed)
{
    const struct algorithm *algorithm = job->version->algorithm;
    struct shared *shared = job->shared;
    struct image in[ALGORITHM_MAX_INPUTS] = {{0}};
    struct image expected[ALGORITHM_MAX_OUTPUTS] = {{0}}, shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct input_request request = {.width = item->width,
                                    .height = item->height,
                                    .channels = item->channels,
                                    .pattern = item->pattern,
                                    .seed = seed,
                                    .hard_case = item->hard_case};
    struct verdict verdict;
    char words[CIRCUMSTANCES_WORDS], description[sizeof shared->current], name[128], picture[1024] = "";
    const size_t params_size = algorithm->params_size ? algorithm->params_size : 1;
    void *params = calloc(1, params_size), *between = calloc(1, params_size);
    const clock_t start = clock();
    enum status status = STATUS_OK;

    if (!params || !between) {
        status = status_set(STATUS_NO_MEMORY, "no memory for parameters");
        goto out;
    }
    if (item->golden) /* whose answer is to its defaults */
        TRY(params_parse_text(algorithm, item->settings ? item->settings : "", params));
    else
        TRY(case_parse_settings(algorithm, item->settings, params));
    TRY(case_parse_settings(algorithm, item->between, between));
    if (item->golden) {
        TRY(golden_inputs(algorithm, item->golden, in));
    } else {
        request.params = params;
        TRY(inputs_make(algorithm, &request, in));
        if (case_find_settings(job->version, item, in, seed, params)) {
            inputs_free(algorithm, in);
            TRY(inputs_make(algorithm, &request, in));
        }
    }
    case_describe(algorithm, item, params, description, sizeof description);
    /* A shape that the contract refuses is no case. */
    if (algorithm->shape(in, params, shapes) != STATUS_OK ||
        (item->between && algorithm->shape(in, between, shapes) != STATUS_OK)) {
        shared->report.cases--;
        goto out;
    }

    circumstances_set(job->version, item, in, params, seed, job->threads, words);
    snprintf(description + strlen(description), sizeof description - strlen(description), "%s", words);
    if (!is_asked_for(job, item, description))
        goto out;
    shared->tiny = item->width == 1 || item->height == 1 || item->width * item->height < TINY_PIXELS;
    memcpy(shared->current, description, sizeof description);
    picture_name(job->version, name, sizeof name);
    if (job->options->pictures)
        snprintf(picture, sizeof picture, "%s/%s-next.png", job->options->pictures, name);

    shared->turn++;
    if (item->frames || item->queue || item->between) {
        status = item->queue ? verify_queue(job->version, &request, params, &verdict)
                 : item->frames
                     ? verify_stream(job->version, in, params, item->frames, &verdict)
                     : verify_alternating(job->version, in, (const void *[]){params, between}, &request, &verdict);
        if (status == STATUS_OK)
            take_verdict(job, &verdict, "");
        goto out;
    }
    if (item->unanswered) {
        TRY(verify_unanswered(job->version, in, params, &request, &verdict));
        take_verdict(job, &verdict, "");
        goto out;
    }
    shared->in_reference = true;
    status = make_expected(job, item, in, params, expected);
    shared->in_reference = false;
    if (status == STATUS_OK && item->growth)
        status = verify_growth(job->version, in, params, expected, &verdict);
    else if (status == STATUS_OK && (item->calls == CHECK_ONE_RUN || item->calls == CHECK_ONE_LAUNCH))
        status = verify_once(job->version, in, params, expected, item->calls == CHECK_ONE_LAUNCH,
                             picture[0] ? picture : NULL, &verdict);
    else if (status == STATUS_OK && item->calls != CHECK_ALL_CALLS)
        status = verify_mostly(job->version, in, params, expected, &request, item->calls == CHECK_ALL_LAUNCHES,
                               picture[0] ? picture : NULL, &verdict);
    else if (status == STATUS_OK)
        status = verify_version(job->version, in, params, expected, item->golden ? NULL : &request,
                                picture[0] ? picture : NULL, &verdict);
    count_time(job, item, (double)(clock() - start) / CLOCKS_PER_SEC);
    if (status == STATUS_OK)
        take_verdict(job, &verdict, picture);
out:
    shared->current[0] = '\0';
    inputs_free(algorithm, in);
    outputs_free(expected);
    free(between);
    free(params);
    return status;
}

/* Whether a case is one of those to be tried; counts it where it is not. */
static bool is_wanted(const struct job *job, const struct check_case *item)
{
    struct check_report *report = &job->shared->report;
    const long pixels = (long)item->width * item->height, largest = job->options->largest_pixels;

    /* Bands count as well: a few pixels of 198 bands are no small input. */
    if (item->left_out || (largest && (pixels > largest || pixels * item->channels > 3 * largest))) {
        report->cases--;
        return false;
    }
    if (item->long_emulated && report->emulated && !job->options->thorough) {
        report->cases--;
        report->too_long++;
        return false;
    }
    /* Threads beside a narrow picture are emulated, too: a warp is 32 wide. */
    const double emulated_pixels = (double)((item->width + 31) / 32 * 32) * item->height;

    if (job->trusted && !job->options->thorough &&
        ((report->emulated && pixels >= LARGE_EMULATED) ||
         job->large_used + report->pixel_seconds * (report->emulated ? emulated_pixels : (double)pixels) >
             large_seconds)) {
        report->cases--;
        report->too_long++;
        return false;
    }
    return true;
}

/* Buffers of a case go back to this process's heap and not to the system, whose fresh pages would take a tenth of the
 * time. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 16 << 20);
}

static int check_body(void *argument)
{
    struct job *job = argument;
    struct shared *shared = job->shared;
    struct check_report *report = &shared->report;
    struct case_list list = {0};
    bool made_folder = false;
    const double start = clock_seconds();
    const struct itimerval limit = {.it_value = {.tv_sec = (time_t)large_limit}};
    enum status status = STATUS_OK;

    keep_memory();
    job->threads = omp_get_max_threads();
    /* A missing wait shall show, and so shall a race; for the device that this process is to start. */
    setenv("RUNGS_EMULATOR_LATE", "1", 0);
    setenv("RUNGS_EMULATOR_RACES", "1", 0);
    setenv("RUNGS_DEVICES", "3", 0); /* what shares pictures out has some to share them out to */
    const char *why = version_unavailable(job->version);

    report->emulated = version_is_cuda(job->version) && device_is_emulated();
    if (why) {
        report->declined++;
        snprintf(report->reason, sizeof report->reason, "%s", why);
        goto out;
    }
    if (job->trusted)
        TRY(check_cases_make_large(job->version, &list));
    else
        TRY(check_cases_make(job->version, job->options->seed, &list));
    check_cases_vary(job->version, job->options->seed, &list);
    if (job->options->brief)
        check_cases_shorten(&list, job->options->seed);
    if (report->emulated && job->options->share)
        check_cases_deal(job->version, &list, job->options->share, job->options->seed);
    if (job->version->uncharged && job->options->share)
        check_cases_thin(&list, job->options->share, job->options->seed);
    if (!job->options->brief && job->version->launch && !job->version->remote)
        check_cases_share(&list);
    report->cases += (int)list.count;
    if (job->options->pictures) {
        made_folder = mkdir(job->options->pictures, 0777) == 0;
        if (!made_folder && errno != EEXIST)
            job->options->pictures = NULL;
    }
    for (size_t i = 0; i < list.count && shared->used < job->options->total_seconds; i++) {
        const struct check_case *item = &list.items[i];

        if ((job->alone && (int)i + 1 != job->alone) || !is_wanted(job, item))
            continue;
        shared->number = (int)i + 1;
        report->goldens += item->golden != NULL;
        report->large += job->trusted != NULL;
        shared->left = (int)(list.count - i);
        if (job->trusted && !job->options->thorough)
            setitimer(ITIMER_PROF, &limit, NULL);
        for (int call = 0; call < (job->alone ? ALONE_CALLS : 1) && (call == 0 || !report->failed); call++)
            TRY(try_case(job, item, job->options->seed + 1000 * i));
        /* A kernel that failed takes the device's context with it: what follows would say nothing. */
        const struct version_remote *remote = job->version->remote;
        const bool lost =
            report->failed &&
            (remote ? remote->lost() : version_is_cuda(job->version) && version_unavailable(job->version));

        if (lost || (job->options->first && report->failed && shared->telling > 2 * CERTAINTY_SURE)) {
            report->ended_early = i + 1 < list.count;
            break;
        }
    }
    if (report->cases == 0 && job->options->only)
        snprintf(report->reason, sizeof report->reason, "no case in whose line '%s' stands", job->options->only);
    if (!job->trusted)
        report->seconds = clock_seconds() - start;
out:
    if (status != STATUS_OK)
        snprintf(shared->message, sizeof shared->message, "%s", status_message());
    if (made_folder)
        rmdir(job->options->pictures); /* refused unless it is empty */
    check_cases_free(&list);
    shared->finished = true;
    return 0;
}

/* ---------------------------------------------------------------------------------------------- in the parent */

static void watch_job(void *argument)
{
    const struct job *job = argument;

    if (job->watch)
        job->watch(&job->shared->report);
}

/* A child that did not come to its end: names the case and what ended it. */
static void report_death(const struct job *job, const struct process_result *result, const char *how)
{
    struct check_report *report = &job->shared->report;
    const char *current = job->shared->current;
    const bool late = result->limit != LIMIT_KEPT;

    report->failed++;
    report->checked++;
    report->failed_number = 0;
    report->ended_early = true;
    snprintf(report->failed_case, sizeof report->failed_case, "%s", current[0] ? current : "before the first case");
    if (job->shared->in_reference)
        snprintf(report->what, sizeof report->what, "the reference %s %s",
                 job->trusted ? job->trusted->source->id : "cpu/serial", how);
    else if (result->limit == LIMIT_SPENT)
        snprintf(report->what, sizeof report->what, "%s for one case", how);
    else
        snprintf(report->what, sizeof report->what, "%s", how);

    if (late)
        snprintf(report->diagnosis, sizeof report->diagnosis, "time-out: %s",
                 result->limit == LIMIT_SPENT ? "an endless loop, or far too slow (--limit allows more)"
                                              : "a deadlock, or a wait for what never comes");
    else if (strstr(how, "ThreadSanitizer: data race"))
        snprintf(report->diagnosis, sizeof report->diagnosis, "race: two threads touch the line above unordered");
    else if (strstr(how, "Sanitizer"))
        snprintf(report->diagnosis, sizeof report->diagnosis, "memory error, found by a sanitizer: see the line above");
    else if (result->signal == SIGFPE)
        snprintf(report->diagnosis, sizeof report->diagnosis,
                 "arithmetic: a division by zero, or of the least integer");
    else if (!result->signal)
        snprintf(report->diagnosis, sizeof report->diagnosis,
                 "the version ended the process: a call of exit(), or a check of a library that failed");
    else if (strstr(current, CIRCUMSTANCES_PAGE))
        snprintf(report->diagnosis, sizeof report->diagnosis,
                 "crash: probably a read past the end of its input, where nothing can be read in this case");
    else
        snprintf(report->diagnosis, sizeof report->diagnosis,
                 "crash: probably a pointer or an index out of bounds (make check SANITIZE=1 names the line)");
    report->picture[0] = '\0';
    log_failure(report, report->failed_case, report->what);
}

/* Runs the cases in a child, or one of them `alone` (struct job); *report is what is known so far. */
static enum status run_child(const struct version *version, const struct version *trusted, int alone,
                             const struct check_options *options, void (*watch)(const struct check_report *report),
                             struct check_report *report)
{
    struct check_options own = *options;
    struct shared *shared = process_shared_allocate(sizeof *shared);
    struct job job = {
        .version = version, .trusted = trusted, .alone = alone, .options = &own, .shared = shared, .watch = watch};
    struct process_result result;
    char how[400];
    enum status status = STATUS_OK;

    if (!shared)
        return status_set(STATUS_NO_MEMORY, "no memory to share with a child process");
    shared->report = *report;
    TRY(process_run_watched(check_body, watch_job, &job,
                            (struct process_limits){options->case_seconds, &shared->turn, &shared->used}, &result));
    process_describe(&result, how, sizeof how);
    if (!how[0] && !shared->finished)
        snprintf(how, sizeof how, "ended with exit code 0 before all cases were tried");
    if (result.signal == SIGPROF && trusted) {
        shared->report.cases -= shared->left;
        shared->report.too_long += shared->left;
    } else if (how[0])
        report_death(&job, &result, how);
    else if (shared->message[0])
        TRY(status_set(STATUS_FAILED, "%s:%s: %s", version->algorithm->name, version->source->id, shared->message));

    *report = shared->report;
    report->outcome = report->failed ? OUTCOME_FAIL : report->checked ? OUTCOME_PASS : OUTCOME_SKIP;
out:
    process_shared_free(shared, sizeof *shared);
    return status;
}

/* The case that failed, in a process that tries no other. Right there each time: what another case left behind was
 * wrong. */
static void explain_alone(const struct version *version, const struct check_options *options,
                          struct check_report *report)
{
    struct check_options own = *options;
    struct check_report alone = {0};

    own.pictures = NULL;
    own.first = false;
    if (run_child(version, NULL, report->failed_number, &own, NULL, &alone) == STATUS_OK && alone.failed == 0 &&
        alone.checked == ALONE_CALLS)
        snprintf(report->diagnosis, sizeof report->diagnosis,
                 "right in a process of its own, wrong after other cases: something is kept from one of them, in a "
                 "static variable or in __constant__ memory");
}

enum status check_version(const struct version *version, const struct check_options *options,
                          void (*watch)(const struct check_report *report), struct check_report *report)
{
    enum status status = STATUS_OK;

    memset(report, 0, sizeof *report);
    TRY(run_child(version, NULL, 0, options, watch, report));
    if (report->outcome == OUTCOME_FAIL && report->failed_number > 1 && !version->remote)
        explain_alone(version, options, report);
out:
    return status;
}

enum status check_version_large(const struct version *version, const struct version *trusted,
                                const struct check_options *options, void (*watch)(const struct check_report *report),
                                struct check_report *report)
{
    const bool good = report->outcome == OUTCOME_PASS || (options->only && report->checked + report->declined == 0);

    return good ? run_child(version, trusted, 0, options, watch, report) : STATUS_OK;
}
