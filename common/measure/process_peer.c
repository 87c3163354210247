#include "common/measure/process_peer.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "common/core/clock.h"
#include "common/core/paths.h"
#include "common/measure/params_json.h"

static const double end_seconds = 1; /* to end by itself, and again once asked to */

/* ------------------------------------------------------------------------------------------------ the process */

static const char *interpreter(void)
{
    const char *name = getenv("RUNGS_PYTHON");

    return name && name[0] ? name : "python3";
}

/* Of peers/peer.py with `count` of the tree's Python files; `mode` may be NULL. STATUS_UNSUPPORTED without the
 * interpreter or the sources. */
static enum status start_python(struct program *program, const char *mode, const char *const paths[], size_t count,
                                enum program_input input)
{
    const char *const root = paths_root();
    char server[4096];
    const char **argv = calloc(count + 5, sizeof *argv);
    char(*files)[4096] = calloc(count, sizeof *files);
    int arguments = 0;
    enum status status = STATUS_OK;

    if (!argv || !files) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the names of Python files");
        goto out;
    }
    if (!root) {
        status = status_set(STATUS_UNSUPPORTED, "the source tree, with %s in it, is not here", paths[0]);
        goto out;
    }
    snprintf(server, sizeof server, "%s/peers/peer.py", root);
    argv[arguments++] = interpreter();
    argv[arguments++] = "-B";
    argv[arguments++] = server;
    if (mode)
        argv[arguments++] = mode;
    for (size_t i = 0; i < count; i++) {
        snprintf(files[i], sizeof files[i], "%s%s%s", paths[i][0] == '/' ? "" : root, paths[i][0] == '/' ? "" : "/",
                 paths[i]);
        argv[arguments++] = files[i];
    }
    if (program_start(program, argv, input) != STATUS_OK)
        status = status_set(STATUS_UNSUPPORTED, "no Python (%s) to run it with", interpreter());
out:
    free(files);
    free(argv);
    return status;
}

/* A descriptor that becomes readable after so many seconds; -1 when there is none. */
static int alarm_after(double seconds)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))}};
    const int alarm = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

    if (alarm >= 0)
        timerfd_settime(alarm, 0, &when, NULL);
    return alarm;
}

static double limit_of(const struct process_peer *peer)
{
    return peer->seconds > 0 ? peer->seconds : PROCESS_PEER_SECONDS;
}

/* The transfer's failure in words; the process is ended. */
static enum status lost(const struct process_peer *peer, struct program *program, enum transfer transfer)
{
    char said[512] = "";

    program_end(program, transfer == TRANSFER_STOPPED ? 0 : end_seconds);
    if (transfer == TRANSFER_STOPPED)
        return status_set(STATUS_FAILED, "its Python process did not answer within %g s and was ended", limit_of(peer));
    program_first_line(program, said, sizeof said);
    if (program->exit_code > 128)
        return status_set(STATUS_FAILED, "its Python process was killed by signal %d%s%s", program->exit_code - 128,
                          said[0] ? ": " : "", said);
    return status_set(STATUS_FAILED, "its Python process ended with exit code %d%s%s", program->exit_code,
                      said[0] ? ": " : "", said);
}

/* What the probe said of each Python file of the build, in the order of version_sources; NULL before it was asked. To
 * start an interpreter takes longer than to ask about a package, so that one is asked about all of them. */
static char (*probed)[256];

static bool is_python(const struct version_source *source)
{
    const char *const end = strrchr(source->path, '.');

    return end && strcmp(end, ".py") == 0 && strncmp(source->path, "peers/", 6) == 0;
}

/* Runs the probe on `count` files, whose lines come into missing[]; status_message() says what went wrong. */
static enum status probe(const struct process_peer *peer, const char *const paths[], size_t count, char missing[][256])
{
    struct program program = {0};
    const size_t size = count * sizeof *missing;
    char *text = calloc(size + 1, 1), *line = text;
    struct iovec part = {.iov_base = text, .iov_len = size};
    enum status status = STATUS_OK;

    if (!text)
        return status_set(STATUS_NO_MEMORY, "no memory for the list of Python packages");
    TRY(start_python(&program, "--probe", paths, count, PROGRAM_NO_INPUT));
    const int alarm = alarm_after(limit_of(peer));
    const enum transfer transfer = transfer_read(program.output, alarm, &program, &part, 1, NULL);

    close(alarm);
    if (transfer != TRANSFER_END && transfer != TRANSFER_DONE) {
        status = lost(peer, &program, transfer);
        goto out;
    }
    program_finish(&program);
    for (size_t i = 0; i < count; i++) { /* no line: a fault of its file, and run() says which */
        const size_t length = strcspn(line, "\n");

        snprintf(missing[i], sizeof missing[i], "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
out:
    free(text);
    return status;
}

const char *process_peer_unavailable(struct process_peer *peer)
{
    const char **paths = NULL;
    size_t count = 0, place = version_source_count;
    enum status status = STATUS_OK;

    if (peer->asked)
        return peer->missing[0] ? peer->missing : NULL;
    peer->asked = true;
    if (!(paths = calloc(version_source_count + 1, sizeof *paths))) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the list of Python files");
        goto out;
    }
    for (size_t i = 0; i < version_source_count; i++) {
        if (!is_python(&version_sources[i]))
            continue;
        if (strcmp(version_sources[i].path, peer->path) == 0)
            place = count;
        paths[count++] = version_sources[i].path;
    }
    if (place == version_source_count) { /* a test's own */
        TRY(probe(peer, &peer->path, 1, &peer->missing));
    } else {
        if (!probed) {
            if (!(probed = calloc(count, sizeof *probed))) {
                status = status_set(STATUS_NO_MEMORY, "no memory for the list of Python packages");
                goto out;
            }
            TRY(probe(peer, paths, count, probed));
        }
        memcpy(peer->missing, probed[place], sizeof peer->missing);
    }
out:
    if (status != STATUS_OK) {
        free(probed);
        probed = NULL;
        snprintf(peer->missing, sizeof peer->missing, "%.250s", status_message());
    }
    free(paths);
    return peer->missing[0] ? peer->missing : NULL;
}

/* ------------------------------------------------------------------------------------------------- the messages */

static enum transfer send_text(struct program *program, int alarm, char *text)
{
    const size_t length = strlen(text);
    uint8_t head[4] = {(uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16), (uint8_t)(length >> 24)};
    struct iovec parts[2] = {{.iov_base = head, .iov_len = sizeof head}, {.iov_base = text, .iov_len = length}};

    return transfer_write(program->input, alarm, program, parts, 2);
}

/* *text is new, 0-terminated. */
static enum transfer receive_text(struct program *program, int alarm, char **text)
{
    uint8_t head[4];
    struct iovec part = {.iov_base = head, .iov_len = sizeof head};
    enum transfer transfer = transfer_read(program->output, alarm, program, &part, 1, NULL);
    size_t length;

    if (transfer != TRANSFER_DONE)
        return transfer;
    length = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    *text = length < (1 << 20) ? calloc(length + 1, 1) : NULL;
    if (!*text)
        return TRANSFER_FAILED;
    part = (struct iovec){.iov_base = *text, .iov_len = length};
    return transfer_read(program->output, alarm, program, &part, 1, NULL);
}

/* Asks and waits for the answer; gives up the caller's reference to `request`. *seconds, unless NULL, is what the
 * peer's clock says. A message is status_message() when the peer reports an error. */
static enum status ask(const struct process_peer *peer, struct process_peer_state *state, json_t *request,
                       double *seconds)
{
    const json_int_t number = ++state->requests;
    const double begin = clock_seconds();
    char *question = NULL, *text = NULL;
    const int alarm = alarm_after(limit_of(peer));
    enum status status = STATUS_OK;
    enum transfer transfer;
    json_t *answer = NULL;
    const char *error, *missing;

    if (request && json_object_set_new(request, "number", json_integer(number)) == 0)
        question = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    if (!question) {
        status = status_set(STATUS_FAILED, "no request can be made of the parameters");
        goto out;
    }
    transfer = send_text(&state->program, alarm, question);
    if (transfer == TRANSFER_DONE)
        transfer = receive_text(&state->program, alarm, &text);
    if (transfer != TRANSFER_DONE) {
        status = lost(peer, &state->program, transfer);
        goto out;
    }
    answer = json_loads(text, 0, NULL);
    error = json_string_value(json_object_get(answer, "error"));
    missing = json_string_value(json_object_get(answer, "missing"));
    if (!json_is_object(answer) || error || missing) {
        status = status_set(missing ? STATUS_UNSUPPORTED : STATUS_FAILED, "%.400s",
                            missing ? missing
                            : error ? error
                                    : "an answer that is no JSON object");
        goto out;
    }
    if (json_integer_value(json_object_get(answer, "number")) != number) {
        program_end(&state->program, end_seconds);
        status =
            status_set(STATUS_FAILED, "it answered twice: a process that it forked goes on as if it were the peer");
        goto out;
    }
    state->device_seconds = json_number_value(json_object_get(answer, "device_seconds"));
    if (seconds) {
        const double elapsed = clock_seconds() - begin;

        *seconds = json_number_value(json_object_get(answer, "seconds"));
        if (!(*seconds > 0 && *seconds <= elapsed))
            status = status_set(STATUS_FAILED, "its clock says %g s for a call that took %g s", *seconds, elapsed);
    }
out:
    if (alarm >= 0)
        close(alarm);
    json_decref(answer);
    free(question);
    free(text);
    return status;
}

/* --------------------------------------------------------------------------------------------------- the state */

static size_t place(struct image *image, const struct image *like, size_t at)
{
    *image = *like;
    image->stride = image_row_bytes(image);
    image->data = NULL;
    return at + (image->stride * (size_t)image->height + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
}

static json_t *slot_json(const struct image *image, const char *memory)
{
    static const char *const types[PIXEL_TYPE_COUNT] = {"<u1", "<u2", "<i4", "<f4", "<u4", "<f8"};
    json_t *shape = image->width == 0 ? json_null() : json_pack("[i, i]", image->height, image->width);

    if (image->width > 0 && image->channels > 1)
        json_array_append_new(shape, json_integer(image->channels));
    return json_pack("{s:s, s:o, s:I}", "type", types[image->type], "shape", shape, "offset",
                     (json_int_t)(image->width > 0 ? (char *)image->data - memory : 0));
}

/* Memory for all slots, and the process, set up for these shapes and parameters. */
static enum status open_state(struct process_peer *peer, struct process_peer_state *state, const struct image in[],
                              const void *params)
{
    const struct algorithm *algorithm = registry_find_algorithm(peer->algorithm);
    struct image out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    size_t at[ALGORITHM_MAX_INPUTS + ALGORITHM_MAX_OUTPUTS], bytes = 0;
    json_t *inputs = NULL, *outputs = NULL;
    enum status status = STATUS_OK;

    TRY(algorithm->shape(in, params, out));
    for (int i = 0; i < algorithm->input_count; i++) {
        at[i] = bytes;
        bytes = place(&state->in[i], &in[i], bytes);
    }
    for (int i = 0; i < algorithm->output_count; i++) {
        at[ALGORITHM_MAX_INPUTS + i] = bytes;
        bytes = place(&state->out[i], &out[i], bytes);
    }
    state->bytes = bytes;
    state->descriptor = memfd_create("rungs-peer", 0); /* inherited by the process */
    state->open = true;
    if (state->descriptor < 0 || ftruncate(state->descriptor, (off_t)bytes) != 0) {
        status = status_set(STATUS_NO_MEMORY, "no memory to share with a Python process: %s", strerror(errno));
        goto out;
    }
    state->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, state->descriptor, 0);
    if (state->memory == MAP_FAILED) {
        state->memory = NULL;
        status = status_set(STATUS_NO_MEMORY, "no memory to share with a Python process: %s", strerror(errno));
        goto out;
    }
    inputs = json_array();
    outputs = json_array();
    for (int i = 0; i < algorithm->input_count; i++) {
        state->in[i].data = state->memory + at[i];
        json_array_append_new(inputs, slot_json(&state->in[i], state->memory));
    }
    for (int i = 0; i < algorithm->output_count; i++) {
        state->out[i].data = state->memory + at[ALGORITHM_MAX_INPUTS + i];
        json_array_append_new(outputs, slot_json(&state->out[i], state->memory));
    }
    TRY(start_python(&state->program, NULL, &peer->path, 1, PROGRAM_TAKES_INPUT));
    status = ask(peer, state,
                 json_pack("{s:s, s:i, s:i, s:I, s:o, s:O, s:O}", "ask", "open", "threads", omp_get_max_threads(),
                           "memory", state->descriptor, "bytes", (json_int_t)bytes, "params",
                           params_json(algorithm, params), "inputs", inputs, "outputs", outputs),
                 NULL);
out:
    json_decref(inputs);
    json_decref(outputs);
    if (status != STATUS_OK)
        process_peer_teardown(state);
    return status;
}

void process_peer_teardown(void *erased)
{
    struct process_peer_state *state = erased;

    if (!state->open)
        return;
    program_end(&state->program, end_seconds);
    if (state->memory)
        munmap(state->memory, state->bytes);
    if (state->descriptor >= 0)
        close(state->descriptor);
    memset(state, 0, sizeof *state);
}

double process_peer_uncharged(void *erased)
{
    return ((struct process_peer_state *)erased)->uncharged;
}

double process_peer_device_seconds(void *erased)
{
    return ((struct process_peer_state *)erased)->device_seconds;
}

/* --------------------------------------------------------------------------------------------------- the calls */

/* A running state of which a call failed because the process is gone says so again. */
static enum status ready(const struct process_peer_state *state)
{
    return state->program.pid ? STATUS_OK : status_set(STATUS_FAILED, "its Python process has ended");
}

/* What lies in the shared memory goes to main memory, where a timed call of any other version finds its images, too:
 * copied a moment ago, it would be in the caches that both processes share. */
static void leave_caches(const struct process_peer_state *state)
{
    for (size_t at = 0; at < state->bytes; at += IMAGE_ALIGNMENT) {
#if defined(__x86_64__)
        _mm_clflush(state->memory + at);
#elif defined(__aarch64__)
        __asm__ volatile("dc civac, %0" : : "r"(state->memory + at) : "memory");
#endif
    }
#if defined(__x86_64__)
    _mm_mfence();
#elif defined(__aarch64__)
    __asm__ volatile("dsb ish" : : : "memory");
#endif
}

/* Calls run() there on what lies in the shared memory, and takes the results. `begin`: when our call began. */
static enum status compute(struct process_peer *peer, struct process_peer_state *state, struct image *out, double begin)
{
    enum status status = STATUS_OK;
    double seconds = 0;

    leave_caches(state);
    TRY(ask(peer, state, json_pack("{s:s}", "ask", "run"), &seconds));
    for (int i = 0; i < ALGORITHM_MAX_OUTPUTS; i++)
        if (state->out[i].width > 0)
            image_copy(&out[i], &state->out[i]);
    state->uncharged += clock_seconds() - begin - seconds;
out:
    return status;
}

enum status process_peer_run(struct process_peer *peer, void *erased, const struct image in[], struct image *out,
                             const void *params)
{
    struct process_peer_state *state = erased;
    enum status status = STATUS_OK;

    if (!state->open)
        TRY(open_state(peer, state, in, params));
    TRY(ready(state));
    const double begin = clock_seconds();
    for (int i = 0; i < ALGORITHM_MAX_INPUTS; i++)
        if (state->in[i].width > 0)
            image_copy(&state->in[i], &in[i]);
    TRY(compute(peer, state, out, begin));
out:
    return status;
}

enum status process_peer_start(struct process_peer *peer, void *erased, const struct image *first, const void *params)
{
    struct process_peer_state *state = erased;
    const struct image in[2] = {*first, *first};
    enum status status = STATUS_OK;
    double seconds = 0;

    if (!state->open)
        TRY(open_state(peer, state, in, params));
    TRY(ready(state));
    const double begin = clock_seconds();
    image_copy(&state->in[0], first);
    TRY(ask(peer, state, json_pack("{s:s}", "ask", "start"), &seconds));
    state->uncharged += clock_seconds() - begin - seconds;
out:
    return status;
}

enum status process_peer_submit(void *erased, const struct image *frame)
{
    ((struct process_peer_state *)erased)->submitted = *frame;
    return STATUS_OK;
}

enum status process_peer_receive(struct process_peer *peer, void *erased, struct image *result)
{
    struct process_peer_state *state = erased;
    enum status status = STATUS_OK;

    TRY(ready(state));
    const double begin = clock_seconds();
    image_copy(&state->in[1], &state->submitted);
    TRY(compute(peer, state, result, begin));
out:
    return status;
}
