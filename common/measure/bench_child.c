#include "common/measure/bench_task.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/contract/device_info.h"
#include "common/contract/inputs.h"
#include "common/core/clock.h"
#include "common/verify/compare.h"

int bench_keep(struct bench_task *task, enum status status)
{
    task->finished = true;
    task->status = status;
    if (status != STATUS_OK)
        snprintf(task->message, sizeof task->message, "%s", status_message());
    return status == STATUS_OK ? 0 : 1;
}

/* Threads and tunables of this task, in the child that does it. */
static void take_settings(const struct bench_task *task)
{
    const struct tunable *tunable = task->version->tunables;

    omp_set_num_threads(task->point ? task->point->threads : task->request->threads);
    for (int i = 0; task->point && tunable && tunable[i].name; i++)
        *tunable[i].value = task->point->values[i];
}

static enum status new_state(const struct version *version, void **state)
{
    *state = calloc(1, version->state_size ? version->state_size : 1);
    return *state ? STATUS_OK : status_set(STATUS_NO_MEMORY, "no memory for the state of %s", version->source->id);
}

static void end_state(const struct version *version, void *state)
{
    if (state && version->teardown)
        version->teardown(state);
    free(state);
}

/* The host's clock less what this version's calls do not have to pay for. */
static double clock_of(const struct version *version, void *state)
{
    return clock_seconds() - (version->uncharged ? version->uncharged(state) : 0);
}

/* Whether what a timed call left in the outputs is right; may put it into other words. */
static bool agrees(const struct bench_task *task, const struct image in[], struct image found[], int set)
{
    return compare_agrees(task->version, in, task->request->params, task->expected[set], found, NULL);
}

/* -------------------------------------------------------------------------------------------------- reference */

/* The reference results for sets 0 and 1, into the parent's shared memory. */
int bench_reference_in_child(void *argument)
{
    struct bench_task *task = argument;
    struct bench_sets sets = {0};
    const struct algorithm *algorithm = task->request->algorithm;
    void *state = NULL, *params = malloc(algorithm->params_size ? algorithm->params_size : 1);
    enum status status = STATUS_OK;

    omp_set_num_threads(task->request->threads);
    if (!params) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the bench");
        goto out;
    }
    if (algorithm->params_size)
        memcpy(params, task->request->params, algorithm->params_size);
    params_keep_own_steps(algorithm, task->version->source->id, params);
    TRY(bench_sets_create(&sets, task->source, 2, task->sets));
    TRY(new_state(task->version, &state));
    for (int set = 0; set < 2; set++) {
        const double start = clock_seconds();

        TRY(task->version->run(state, sets.in[set], sets.out[set], params));
        task->reference_seconds[set] = clock_seconds() - start;
        for (int i = 0; i < algorithm->output_count; i++) {
            struct image expected = task->expected[set][i];

            if (expected.width > 0)
                image_copy(&expected, &sets.out[set][i]);
        }
    }
    if (algorithm->count)
        TRY(algorithm->count(sets.in[0], params, task->counts));
out:
    end_state(task->version, state);
    free(params);
    bench_sets_free(&sets);
    return bench_keep(task, status);
}

/* ---------------------------------------------------------------------------------------------------- verifying */

/* The middle of a picture, from a column on that keeps rows aligned as image.h promises. */
static struct image middle_of(const struct image *whole)
{
    struct image piece = *whole;

    if (whole->width > BENCH_EMULATED_WIDTH)
        piece.width = BENCH_EMULATED_WIDTH;
    if (whole->height > BENCH_EMULATED_HEIGHT)
        piece.height = BENCH_EMULATED_HEIGHT;
    const int left = (whole->width - piece.width) / 2 / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
    const int top = (whole->height - piece.height) / 2;
    piece.data = (char *)image_row(whole, top) + (size_t)(left * whole->channels) * pixel_size(whole->type);
    return piece;
}

/* The emulator switches between fibers at every barrier, so it gets less: the middle of pictures; of other inputs what
 * the algorithm's maker gives for a smaller request, and all of them when that is refused. *made are to be freed. */
static void choose_piece(const struct bench_request *request, struct image in[], struct image made[])
{
    const struct algorithm *algorithm = request->algorithm;
    struct image out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    bool pictures = !algorithm->inputs_stay_in_place;

    for (int i = 0; i < algorithm->input_count; i++)
        pictures &= algorithm->inputs[i].kind == SLOT_PICTURE || algorithm->inputs[i].kind == SLOT_LABELS;
    memcpy(in, request->in, sizeof request->in);
    if (pictures) {
        for (int i = 0; i < algorithm->input_count; i++)
            in[i] = middle_of(&request->in[i]);
    } else if (algorithm->make_inputs && request->made && !request->made->photograph) {
        struct input_request smaller = *request->made;

        if (smaller.width > BENCH_EMULATED_WIDTH)
            smaller.width = BENCH_EMULATED_WIDTH;
        if (smaller.height > BENCH_EMULATED_HEIGHT)
            smaller.height = BENCH_EMULATED_HEIGHT;
        if (inputs_make(algorithm, &smaller, made) == STATUS_OK)
            memcpy(in, made, sizeof request->in);
    }
    if (algorithm->shape(in, request->params, out) != STATUS_OK)
        memcpy(in, request->in, sizeof request->in);
}

void bench_piece_free(const struct algorithm *algorithm, struct bench_piece *piece)
{
    for (int i = 0; i < ALGORITHM_MAX_OUTPUTS; i++)
        image_free(&piece->expected[i]);
    inputs_free(algorithm, piece->own);
}

/* The piece and its reference are the same for all versions. */
static enum status verify_piece(struct bench_task *task, struct bench_piece *piece)
{
    const struct bench_request *request = task->request;
    enum status status = STATUS_OK;

    if (!piece->made) {
        choose_piece(request, piece->in, piece->own);
        TRY(verify_reference(request->algorithm, piece->in, request->params, piece->expected));
        piece->made = true;
    }
    TRY(verify_version(task->version, piece->in, request->params, piece->expected, request->made, NULL,
                       &task->verdict));
out:
    return status;
}

/* Since then, by the clock and in processor time as well: what a version is asked does not change because others use
 * the machine. */
static bool took_longer(double start, clock_t used, double seconds)
{
    return fmin(clock_seconds() - start, (double)(clock() - used) / CLOCKS_PER_SEC) > seconds;
}

enum status bench_verify(struct bench_task *task, struct bench_piece *piece)
{
    const struct version *version = task->version;
    const struct bench_request *request = task->request;
    enum status status = STATUS_OK;
    const char *why;

    take_settings(task);
    why = version_unavailable(version);
    if (!why && version->declines)
        why = version->declines(request->in, request->params);
    if (why) {
        task->verdict.outcome = OUTCOME_SKIP;
        snprintf(task->verdict.what, sizeof task->verdict.what, "%s", why);
        return STATUS_OK;
    }
    if (task->emulated)
        return verify_piece(task, piece);
    /* How long the first call takes decides how often the version is called: without the start of the device. */
    if (version_is_cuda(version))
        TRY(device_start());
    if (request->seconds > 0) {
        const double start = clock_seconds();
        const clock_t used = clock();

        TRY(verify_once(version, request->in, request->params, task->expected[0], false, NULL, &task->verdict));
        if (task->verdict.outcome == OUTCOME_PASS && version->launch && took_longer(start, used, request->seconds))
            TRY(verify_once(version, request->in, request->params, task->expected[0], true, NULL, &task->verdict));
        if (task->verdict.outcome != OUTCOME_PASS || took_longer(start, used, request->seconds))
            goto out;
    }
    /* Timed calls have other inputs, and what they leave is compared. */
    if (request->seconds > 0 && task->source->in_bytes + task->source->out_bytes > BENCH_LARGE_BYTES)
        return verify_on_this_input(version, request->in, request->params, task->expected[0], &task->verdict);
    return verify_version(version, request->in, request->params, task->expected[0], request->made, NULL,
                          &task->verdict);
out:
    return status;
}

int bench_verify_in_child(void *argument)
{
    struct bench_task *task = argument;
    struct bench_piece piece = {0};
    const enum status status = bench_verify(task, &piece);

    bench_piece_free(task->request->algorithm, &piece);
    return bench_keep(task, status);
}

/* ------------------------------------------------------------------------------------------------------- timing */

/* The rotation stops when the median is stable after a quarter of the time, or when the time is over. */
static bool enough(const double *samples, size_t count, double elapsed, double seconds, size_t *next_look)
{
    double sorted[BENCH_MAX_SAMPLES];
    struct statistics statistics;

    if (count == BENCH_MAX_SAMPLES || elapsed >= seconds)
        return true;
    if (count < *next_look || elapsed < seconds / 4)
        return false;
    *next_look = count + count / 4 + 1;
    memcpy(sorted, samples, count * sizeof *samples);
    statistics = statistics_of(sorted, count);
    return statistics_stable(&statistics);
}

static enum status wrong_after_timing(const char *what)
{
    return status_set(STATUS_FAILED, "right when verified, but wrong %s", what);
}

bool bench_has_time_left(const struct bench_task *task)
{
    double used = 0;

    for (size_t i = 0; i < task->end_to_end_count; i++)
        used += task->end_to_end[i];
    if (task->end_to_end_count > 0 && task->end_to_end[0] > 3 * task->request->seconds)
        return false;
    return task->end_to_end_count < 3 || used < task->request->seconds;
}

/* Whether a call takes longer than all of its time. */
static bool is_slow(const struct bench_task *task)
{
    return task->end_to_end_count > 0 && task->end_to_end[0] > task->request->seconds;
}

/* One more call at addresses whose input has changed, which must not give the earlier result. */
static enum status call_with_changed_input(const struct bench_task *task, struct bench_sets *sets, void *state)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < task->request->algorithm->input_count; i++)
        image_copy(&sets->in[0][i], &sets->in[1][i]);
    TRY(task->version->run(state, sets->in[0], sets->out[0], task->request->params));
    if (!agrees(task, sets->in[1], sets->out[0], 1))
        status = wrong_after_timing("once the input at the same address had changed: a cached result");
    bench_sets_fill(sets, 0, sets->count); /* the device timing that follows uploads it */
out:
    return status;
}

/* Host clock around run(): the samples of one round. */
static enum status time_end_to_end(struct bench_task *task, struct bench_sets *sets, double seconds)
{
    const struct bench_request *request = task->request;
    const struct version *version = task->version;
    double *samples = task->end_to_end + task->end_to_end_count, *kernel = task->kernel + task->kernel_count;
    enum status status = STATUS_OK;
    size_t count = 0, kernels = 0, next_look = STATISTICS_STABLE_SAMPLES;
    const bool of_reference = task->round == 0 && task->end_to_end_count > 0; /* its two calls are samples already */
    bool slow = false, called[2] = {false, false};
    void *state = NULL;
    double start = clock_seconds();
    int set = 1;

    if (task->round == 0 && version_is_cuda(version))
        TRY(bench_device_start(&task->start));
    TRY(new_state(version, &state));
    if (task->round == 0 && !of_reference) {
        const double begin = clock_seconds();

        TRY(version->run(state, sets->in[set], sets->out[set], request->params));
        task->first_call = clock_seconds() - start;
        task->first_run = clock_seconds() - begin;
        /* What a first call takes besides does not matter in one that takes longer than all of its time: it is a
         * sample. The start of a device, 0.2 s, is none of its own. */
        slow =
            !version->uncharged && !version->device_seconds && !request->pinned && task->first_run > request->seconds;
    }
    if (request->pinned && version_is_cuda(version))
        TRY(bench_sets_pin(sets));
    /* Page faults and the start of threads do not matter to calls that take longer than a round. */
    if (task->round > 0 && task->first_run < seconds)
        TRY(version->run(state, sets->in[set], sets->out[set], request->params));
    while (clock_seconds() - start < seconds / 10) {
        set = (set + 1) % sets->count;
        TRY(version->run(state, sets->in[set], sets->out[set], request->params));
    }
    if (slow) {
        samples[count++] = task->first_run;
        called[1] = true;
    }
    for (set = 0; set < 2 && !slow; set++)
        bench_sets_poison(sets, set);

    start = clock_seconds();
    for (set = 0; !slow && (!enough(samples, count, clock_seconds() - start, seconds, &next_look) || count == 0);
         set = (set + 1) % sets->count) {
        const double begin = clock_of(version, state);

        TRY(version->run(state, sets->in[set], sets->out[set], request->params));
        samples[count++] = clock_of(version, state) - begin;
        if (set < 2)
            called[set] = true;
        if (version->device_seconds && version->device_seconds(state) > 0)
            kernel[kernels++] = version->device_seconds(state);
    }
    task->end_to_end_count += count;
    task->kernel_count += kernels;

    for (set = 0; set < 2; set++)
        if (called[set] && !agrees(task, sets->in[set], sets->out[set], set)) {
            status = wrong_after_timing("in a result that a timed call left");
            goto out;
        }
    if (!of_reference && (task->round >= bench_rounds(task->request) - 1 || !bench_has_time_left(task)))
        TRY(call_with_changed_input(task, sets, state));
out:
    end_state(version, state);
    return status;
}

/* Device events around launches: the samples of one round. */
static enum status time_kernel(struct bench_task *task, struct bench_sets *sets, double seconds)
{
    struct device_timing timing = {.version = task->version,
                                   .in = (const struct image(*)[ALGORITHM_MAX_INPUTS])sets->in,
                                   .sets = sets->count,
                                   .out_shapes = sets->out[0],
                                   .params = task->request->params,
                                   .seconds = seconds,
                                   .samples = task->kernel + task->kernel_count,
                                   .capacity = BENCH_MAX_SAMPLES,
                                   .once = is_slow(task)};
    const int outputs = task->request->algorithm->output_count;
    enum status status = STATUS_OK;
    void *state = NULL;

    TRY(new_state(task->version, &state));
    for (int i = 0; i < 3 * outputs; i++)
        if (sets->out[0][i % outputs].width > 0)
            TRY(image_create_like(&timing.results[i / outputs][i % outputs], &sets->out[0][i % outputs]));
    TRY(bench_device_time(&timing, state));
    task->kernel_count += timing.count;
    task->graph = timing.graph;
    task->batch = timing.batch;
    if (!agrees(task, sets->in[0], timing.results[0], 0) ||
        (!timing.once && !agrees(task, sets->in[1], timing.results[1], 1)))
        status = wrong_after_timing("in a result that a timed launch left");
    else if (!timing.once && !agrees(task, sets->in[1], timing.results[2], 1))
        status = wrong_after_timing("once the input at the same device address had changed: a cached result");
out:
    end_state(task->version, state);
    for (int i = 0; i < 3 * outputs; i++)
        image_free(&timing.results[i / outputs][i % outputs]);
    return status;
}

enum status bench_time(struct bench_task *task, struct bench_sets *sets)
{
    const double seconds = task->request->seconds / bench_rounds(task->request);
    enum status status = STATUS_OK;

    if (!sets->in) {
        omp_set_num_threads(task->request->threads);
        TRY(bench_sets_create(sets, task->source, task->sets, task->sets));
    }
    take_settings(task);
    if (!task->point || !task->version->launch)
        TRY(time_end_to_end(task, sets, seconds));
    if (task->version->launch)
        TRY(time_kernel(task, sets, seconds));
    if (!task->point && task->queue && !is_slow(task) && (task->version->queue || version_is_cuda(task->version)))
        TRY(bench_time_pictures(task, sets, seconds));
out:
    return status;
}

int bench_time_in_child(void *argument)
{
    struct bench_task *task = argument;
    struct bench_sets sets = {0};
    const enum status status = bench_time(task, &sets);

    bench_sets_free(&sets);
    return bench_keep(task, status);
}

/* ----------------------------------------------------------------------------------------------------- ceilings */

int bench_ceilings_in_child(void *argument)
{
    struct bench_task *task = argument;
    const struct bench_request *request = task->request;

    omp_set_num_threads(request->threads);
    return bench_keep(task,
                      ceilings_measure(task->source->in_bytes, task->source->out_bytes, task->sets, request->threads,
                                       fmin(request->seconds, 0.6), task->cost, &task->ceilings));
}

int bench_device_ceilings_in_child(void *argument)
{
    struct bench_task *task = argument;

    return bench_keep(task, bench_device_ceilings(task->cost, &task->ceilings));
}
