#include "common/verify/verify.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/inputs.h"
#include "common/image/pattern.h"
#include "common/verify/diagnose.h"

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef UNDER_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

/* ----------------------------------------------------------------------------------------------- guarded buffers */

/* What may differ between two runs of a version on the same input without any effect on the result. */
struct setting {
    int stride;  /* 0: rows as close as they may be, 1: farther apart */
    int outside; /* which garbage lies outside the pixels of the inputs */
    int poison;  /* what the output holds before */
    int heap;    /* what fresh heap memory holds */
};

static const uint8_t poisons[2] = {0xa5, 0x5a};
static const int heap_bytes[2] = {0x3c, 0xc7};

struct guarded {
    struct verify_buffer buffer;
    uint8_t *before; /* what the memory held before the call */
};

static void guarded_free(struct guarded *guarded, const struct version_remote *remote)
{
    if (remote)
        remote->release(guarded->buffer.memory);
    else
        free(guarded->buffer.memory);
    free(guarded->before);
    memset(guarded, 0, sizeof *guarded);
}

/* A buffer for an image of the shape of `like` with `apart` bytes more than need be between the rows. */
static enum status guarded_create(struct guarded *guarded, const struct image *like, size_t apart,
                                  const struct version_remote *remote)
{
    struct verify_buffer *buffer = &guarded->buffer;

    buffer->image = *like;
    buffer->image.stride = image_minimal_stride(like) + apart;

    /* Room for two rows too many on either side. An odd multiple of 64: image.h promises that alignment and no more. */
    const size_t guard = (2 * buffer->image.stride + 1024) / 128 * 128 + IMAGE_ALIGNMENT;

    buffer->bytes = buffer->image.stride * (size_t)like->height + 2 * guard;
    buffer->memory = remote ? remote->allocate(buffer->bytes)
                            : aligned_alloc(2 * IMAGE_ALIGNMENT, (buffer->bytes + 127) / 128 * 128);
    guarded->before = malloc(buffer->bytes);
    if (!buffer->memory || !guarded->before) {
        guarded_free(guarded, remote);
        return status_set(STATUS_NO_MEMORY, "no memory to verify with an image of %dx%d pixels", like->width,
                          like->height);
    }
    buffer->image.data = buffer->memory + guard;
    return STATUS_OK;
}

static void fill_garbage(const struct verify_buffer *buffer, uint64_t seed)
{
    size_t i = 0;

    for (; i + 8 <= buffer->bytes; i += 8) {
        uint64_t number = pattern_random(&seed);
        memcpy(buffer->memory + i, &number, 8);
    }
    for (; i < buffer->bytes; i++)
        buffer->memory[i] = (uint8_t)pattern_random(&seed);
}

void verify_protect(const struct verify_buffer *buffer, void *memory, bool is_input, bool forbid)
{
#ifdef UNDER_ADDRESS_SANITIZER
    char *base = memory, *data = base + ((uint8_t *)buffer->image.data - buffer->memory);

    if (!forbid) {
        ASAN_UNPOISON_MEMORY_REGION(base, buffer->bytes);
        return;
    }
    ASAN_POISON_MEMORY_REGION(base, buffer->bytes);
    for (int y = 0; y < buffer->image.height; y++)
        ASAN_UNPOISON_MEMORY_REGION(data + (size_t)y * buffer->image.stride,
                                    is_input ? image_minimal_stride(&buffer->image) : image_row_bytes(&buffer->image));
#else
    (void)buffer, (void)memory, (void)is_input, (void)forbid;
#endif
}

/* ------------------------------------------------------------------------------------------------ one session */

/* One version on inputs of one shape, by run() or by launch(), with one state at a time. */
struct session {
    const struct version *version;
    const void *params;
    const struct image *expected;
    int inputs, margin, radius;
    double tolerance;
    bool by_launch;
    void *state;
    struct guarded in[2][ALGORITHM_MAX_INPUTS], out[2]; /* by setting.stride */
    struct verdict *verdict;
};

static void session_free(struct session *session)
{
    if (session->state && session->version->teardown)
        session->version->teardown(session->state);
    free(session->state);
    session->state = NULL;
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < session->inputs; i++)
            guarded_free(&session->in[s][i], session->version->remote);
        guarded_free(&session->out[s], session->version->remote);
    }
}

static enum status session_new_state(struct session *session)
{
    const size_t size = session->version->state_size;

    if (session->state && session->version->teardown)
        session->version->teardown(session->state);
    free(session->state);
    session->state = calloc(1, size ? size : 1);
    if (!session->state)
        return status_set(STATUS_NO_MEMORY, "no memory for the state of a version");
    return STATUS_OK;
}

static enum status session_open(struct session *session, const struct image in[])
{
    const struct version_remote *remote = session->version->remote;
    enum status status = STATUS_OK;

    for (size_t s = 0; s < 2; s++) {
        for (int i = 0; i < session->inputs; i++)
            TRY(guarded_create(&session->in[s][i], &in[i], 3 * s * IMAGE_ALIGNMENT, remote));
        TRY(guarded_create(&session->out[s], session->expected, 2 * s * IMAGE_ALIGNMENT, remote));
    }
    TRY(session_new_state(session));
out:
    return status;
}

/* A failure: sets what and diagnosis once, so that the first thing found stays. */
#define FAIL(session, sure, ...)                                                                                       \
    do {                                                                                                               \
        (session)->verdict->outcome = OUTCOME_FAIL;                                                                    \
        (session)->verdict->certainty = (sure);                                                                        \
        snprintf((session)->verdict->what, sizeof(session)->verdict->what, __VA_ARGS__);                               \
    } while (0)
#define DIAGNOSIS(session, ...)                                                                                        \
    snprintf((session)->verdict->diagnosis, sizeof(session)->verdict->diagnosis, __VA_ARGS__)

static const char *entry(const struct session *session)
{
    return session->by_launch ? "launch(): " : session->version->launch ? "run(): " : "";
}

/* First and last byte of memory[from..to) that changed; false when none did. */
static bool changed(const struct guarded *guarded, size_t from, size_t to, size_t *first, size_t *last)
{
    const uint8_t *now = guarded->buffer.memory, *before = guarded->before;

    if (memcmp(now + from, before + from, to - from) == 0)
        return false;
    while (now[from] == before[from])
        from++;
    while (now[to - 1] == before[to - 1])
        to--;
    *first = from;
    *last = to - 1;
    return true;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Fails the verdict when something around the image's pixels was written. */
static void check_guards(struct session *session, const struct guarded *guarded, const char *name)
{
    const struct image *image = &guarded->buffer.image;
    const size_t start = (size_t)((uint8_t *)image->data - guarded->buffer.memory);
    const size_t row_bytes = image_row_bytes(image), end = start + image->stride * (size_t)image->height;
    size_t first = 0, last = 0, rows = 0;
    int row = -1;
    bool at_end = false;

    for (int y = 0; y < image->height; y++) {
        const size_t from = start + (size_t)y * image->stride + row_bytes;
        const size_t to = start + (size_t)(y + 1) * image->stride;
        size_t row_first, row_last;

        if (from == to || !changed(guarded, from, to, &row_first, &row_last))
            continue;
        if (rows++ == 0) {
            row = y;
            first = row_first;
            last = row_last;
            /* Nearer to the next row's first pixel than to this row's last one. */
            at_end = to - last < first - from + 1;
        }
    }
    if (rows && at_end) {
        FAIL(session, CERTAINTY_SURE, "%swrote %zu byte%s before the start of row %d of the %s (%zu such row%s)",
             entry(session), start + (size_t)(row + 1) * image->stride - first, plural(last - first + 1), row + 1, name,
             rows, plural(rows));
        DIAGNOSIS(session, "overrun: writes left of the first column, where x < 0");
    } else if (rows) {
        const size_t bytes = last + 1 - (start + (size_t)row * image->stride + row_bytes);

        FAIL(session, CERTAINTY_SURE, "%swrote %zu byte%s past the end of row %d of the %s (%zu such row%s)",
             entry(session), bytes, plural(bytes), row, name, rows, plural(rows));
        DIAGNOSIS(session, "overrun: writes right of the last column, into the row's padding (x >= %d)", image->width);
    } else if (changed(guarded, end, guarded->buffer.bytes, &first, &last)) {
        const size_t bytes = last + 1 - end;

        FAIL(session, CERTAINTY_SURE, "%swrote %zu byte%s past the last row of the %s", entry(session), bytes,
             plural(bytes), name);
        if (first - end < row_bytes || first - end >= image->stride)
            DIAGNOSIS(session, "overrun: writes below the last row, %zu row%s too many (y >= %d)",
                      (bytes + image->stride - 1) / image->stride, plural((bytes + image->stride - 1) / image->stride),
                      image->height);
        else
            DIAGNOSIS(session, "overrun: writes behind the last row's pixels");
    } else if (changed(guarded, 0, start, &first, &last)) {
        const size_t bytes = start - first;

        FAIL(session, CERTAINTY_SURE, "%swrote %zu byte%s before the first row of the %s", entry(session), bytes,
             plural(bytes), name);
        if (bytes <= image->stride - row_bytes)
            DIAGNOSIS(session, "overrun: writes left of the first column, where x < 0");
        else
            DIAGNOSIS(session, "overrun: writes above the first row, where y < 0");
    }
}

/* Fails the verdict when a pixel of an input changed. */
static void check_input(struct session *session, const struct guarded *guarded)
{
    const struct image *image = &guarded->buffer.image;
    const size_t start = (size_t)((uint8_t *)image->data - guarded->buffer.memory);

    for (int y = 0; y < image->height; y++) {
        const size_t from = start + (size_t)y * image->stride;
        size_t first, last;

        if (!changed(guarded, from, from + image_row_bytes(image), &first, &last))
            continue;
        FAIL(session, CERTAINTY_SURE, "%schanged its input at (%zu,%d)", entry(session),
             (first - from) / ((size_t)image->channels * pixel_size(image->type)), y);
        DIAGNOSIS(session, "input modified: a version may only read `in`");
        return;
    }
}

/* What a version that says itself that it failed probably suffers from. */
static void explain_status(struct session *session, enum status status)
{
    static const struct {
        const char *word, *cause;
    } causes[] = {
        {"system call", "a version may compute and nothing else: no files, processes, signals or network"},
        {"threads, of which", "threads are started in every call, and never end"},
        {"memory limit", "far too much memory: is something allocated in every call, and never freed?"},
        {"barrier", "barrier divergence: a __syncthreads that not all threads of the block reach"},
        {"threads per block", "illegal launch shape: the block is too large"},
        {"invalid configuration", "illegal launch shape: a block has at most 1024 threads, grids have limits too"},
        {"too many resources", "illegal launch shape: the block needs more registers or shared memory than there are"},
        {"launch", "the kernel launch failed"},
        {"illegal memory access", "out-of-bounds access in a kernel"},
        {"out-of-bounds", "out-of-bounds access in a kernel"},
        {"misaligned address",
         "misaligned access: a vector load or store on an address that is no multiple of its size"},
        {"out of memory", "not enough device memory"},
    };
    char message[400];

    snprintf(message, sizeof message, "%s", status_message());
    FAIL(session, CERTAINTY_SURE, "%sreturned a failure: %s", entry(session), message);
    /* Skipping is not the version's to choose once it runs: it could skip every case that it gets wrong. */
    DIAGNOSIS(session, status == STATUS_UNSUPPORTED
                           ? "the version itself gives up; what it cannot do belongs in declines() or unavailable()"
                           : "the version itself reports the failure");
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (strstr(message, causes[i].word)) {
            DIAGNOSIS(session, "%s", causes[i].cause);
            break;
        }
    }
}

/* One call of the version under a setting, on the pixels of `in`; its result goes to *result (made before). Sets the
 * verdict to FAIL or SKIP when the call itself, its guards or its inputs are not as they must be. */
static void call(struct session *session, struct setting setting, const struct image in[], struct image *result)
{
    struct guarded *const guarded_in = session->in[setting.stride], *const out = &session->out[setting.stride];
    struct verify_buffer buffers[ALGORITHM_MAX_INPUTS];
    struct image images[ALGORITHM_MAX_INPUTS], out_image = out->buffer.image;
    enum status status;

    for (int i = 0; i < session->inputs; i++) {
        struct guarded *guarded = &guarded_in[i];

        fill_garbage(&guarded->buffer, (uint64_t)(2 * i + setting.outside));
        image_copy(&guarded->buffer.image, &in[i]);
        memcpy(guarded->before, guarded->buffer.memory, guarded->buffer.bytes);
        buffers[i] = guarded->buffer;
        images[i] = guarded->buffer.image;
    }
    fill_garbage(&out->buffer, 99);
    image_fill(&out->buffer.image, poisons[setting.poison]);
    memcpy(out->before, out->buffer.memory, out->buffer.bytes);

    /* Perturbed memory shows reads of memory that nobody wrote. */
    mallopt(M_PERTURB, heap_bytes[setting.heap]);
    if (session->version->remote)
        session->version->remote->perturb(heap_bytes[setting.heap]);
    if (session->by_launch) {
        struct verify_buffer out_buffer = out->buffer;
        status = session->version->remote ? session->version->remote->launch(session->version, buffers, session->inputs,
                                                                             &out_buffer, session->params)
                                          : verify_launch(session->version, session->state, buffers, session->inputs,
                                                          &out_buffer, session->params);
    } else {
        for (int i = 0; i < session->inputs; i++)
            verify_protect(&buffers[i], buffers[i].memory, true, true);
        verify_protect(&out->buffer, out->buffer.memory, false, true);
        status = session->version->run(session->state, images, &out_image, session->params);
        for (int i = 0; i < session->inputs; i++)
            verify_protect(&buffers[i], buffers[i].memory, true, false);
        verify_protect(&out->buffer, out->buffer.memory, false, false);
    }
    mallopt(M_PERTURB, 0);

    if (status != STATUS_OK) {
        explain_status(session, status);
        return;
    }
    image_copy(result, &out->buffer.image);
    if (session->version->normalise)
        session->version->normalise(in, result, session->params);
    check_guards(session, out, "output");
    for (int i = 0; i < session->inputs && session->verdict->outcome == OUTCOME_PASS; i++) {
        check_input(session, &guarded_in[i]);
        if (session->verdict->outcome == OUTCOME_PASS)
            check_guards(session, &guarded_in[i], "input");
    }
}

/* ----------------------------------------------------------------------------------------------- comparing */

static bool same_pixels(const struct image *a, const struct image *b)
{
    for (int y = 0; y < a->height; y++)
        if (memcmp(image_row(a, y), image_row(b, y), image_row_bytes(a)) != 0)
            return false;
    return true;
}

static bool is_flat(const struct image *image)
{
    const uint8_t *first = image->data;
    const size_t size = pixel_size(image->type);

    for (int y = 0; y < image->height; y++) {
        const uint8_t *row = image_row(image, y);

        for (size_t i = 0; i < image_row_bytes(image); i += size)
            if (memcmp(row + i, first, size) != 0)
                return false;
    }
    return true;
}

/* Samples that differ by more than the tolerance, in the part that counts. With `verdict`, which may be NULL, worst and
 * where are kept. `unwritten` as in struct evidence: such a sample is always wrong. */
static size_t compare(const struct session *session, const struct image *expected, const struct image *actual,
                      const uint8_t *unwritten, struct verdict *verdict)
{
    const int margin = session->margin, channels = expected->channels;
    /* NaN in the reference must fail too, so equal bytes of floats prove nothing. */
    const bool bytes_decide = !unwritten && margin == 0 && expected->type != PIXEL_F32;
    size_t wrong = 0;

    for (int y = margin; y < expected->height - margin; y++) {
        if (bytes_decide && memcmp(image_row(expected, y), image_row(actual, y), image_row_bytes(expected)) == 0)
            continue;
        for (int x = margin; x < expected->width - margin; x++) {
            for (int c = 0; c < channels; c++) {
                const size_t i = ((size_t)y * (size_t)expected->width + (size_t)x) * (size_t)channels + (size_t)c;
                const double difference = fabs(image_sample(expected, x, y, c) - image_sample(actual, x, y, c));

                if (!(difference <= session->tolerance) || (unwritten && unwritten[i]))
                    wrong++;
                if (verdict && !isnan(verdict->worst) && !(difference <= verdict->worst)) {
                    verdict->worst = difference;
                    verdict->worst_x = x;
                    verdict->worst_y = y;
                    verdict->worst_channel = c;
                }
            }
        }
    }
    return wrong;
}

/* Samples of two results on one input that differ by more than the tolerance; NaN both times is the same. */
static size_t count_changes(const struct session *session, const struct image *first, const struct image *second)
{
    const int margin = session->margin, channels = first->channels;
    const size_t size = pixel_size(first->type);
    size_t changes = 0;

    for (int y = margin; y < first->height - margin; y++) {
        const uint8_t *a = image_row(first, y), *b = image_row(second, y);

        for (int x = margin; x < first->width - margin; x++) {
            for (int c = 0; c < channels; c++) {
                const size_t i = ((size_t)x * (size_t)channels + (size_t)c) * size;

                if (memcmp(a + i, b + i, size) != 0 &&
                    !(fabs(image_sample(first, x, y, c) - image_sample(second, x, y, c)) <= session->tolerance))
                    changes++;
            }
        }
    }
    return changes;
}

/* Marks the samples that hold the first poison in one result and the second in the other. Returns how many in the part
 * that counts; *unwritten is a new array, or NULL when there is none. */
static enum status find_unwritten(const struct session *session, const struct image *first, const struct image *second,
                                  uint8_t **unwritten, size_t *count)
{
    const int margin = session->margin, samples = first->width * first->channels;
    const size_t size = pixel_size(first->type);

    *unwritten = NULL;
    *count = 0;
    if (same_pixels(first, second))
        return STATUS_OK;
    *unwritten = calloc((size_t)first->height, (size_t)samples);
    if (!*unwritten)
        return status_set(STATUS_NO_MEMORY, "no memory to verify with an image of %dx%d pixels", first->width,
                          first->height);
    for (int y = margin; y < first->height - margin; y++) {
        const uint8_t *a = image_row(first, y), *b = image_row(second, y);

        for (int i = margin * first->channels; i < samples - margin * first->channels; i++) {
            bool poisoned = true;

            for (size_t k = (size_t)i * size; k < ((size_t)i + 1) * size; k++)
                poisoned &= a[k] == poisons[0] && b[k] == poisons[1];
            (*unwritten)[(size_t)y * (size_t)samples + (size_t)i] = poisoned;
            *count += poisoned;
        }
    }
    if (*count == 0) {
        free(*unwritten);
        *unwritten = NULL;
    }
    return STATUS_OK;
}

/* "1,234,567" */
static const char *grouped(size_t number, char text[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%zu", number), out = 0;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = '\0';
    return text;
}

static void report_values(struct session *session, const struct image *actual, size_t wrong, size_t unwritten)
{
    struct verdict *verdict = session->verdict;
    const struct image *expected = session->expected;
    char some[32], all[32], channel[24] = "", lost[64] = "";
    const double percent = 100 * (double)wrong / (double)verdict->samples;
    const int x = verdict->worst_x, y = verdict->worst_y, c = verdict->worst_channel;

    verdict->wrong = wrong;
    if (expected->channels > 1)
        snprintf(channel, sizeof channel, " channel %d", c);
    if (unwritten)
        snprintf(lost, sizeof lost, ", %s never written", grouped(unwritten, some));
    FAIL(session, CERTAINTY_NONE, "%s%s of %s samples wrong (%.*g %%)%s, worst %g at (%d,%d)%s: got %g, expected %g",
         entry(session), grouped(wrong, some), grouped(verdict->samples, all), percent < 1 ? 1 : 3, percent, lost,
         verdict->worst, x, y, channel, image_sample(actual, x, y, c), image_sample(expected, x, y, c));
}

/* ------------------------------------------------------------------------------------ results that change */

/* Whether one more call under `setting` gives `before` again. A call that fails otherwise counts as no. */
static bool gives_again(struct session *session, struct setting setting, const struct image in[],
                        const struct image *before, struct image *scratch)
{
    call(session, setting, in, scratch);
    return session->verdict->outcome == OUTCOME_PASS && same_pixels(before, scratch);
}

static const char *const race =
    "differs between runs of the same input: a race between threads (a missing barrier?) or uninitialised memory";

/* Two calls on the same input gave `first` and `second`: finds out what makes the difference. */
static enum status explain_change(struct session *session, const struct setting settings[2], const struct image in[],
                                  const struct image *first, const struct image *second, struct image *scratch)
{
    const struct verdict kept = *session->verdict;
    const char *cause = NULL;
    enum status status = STATUS_OK;

    /* The same two calls from the beginning, twice; whoever cannot repeat himself has a race. */
    for (int i = 0; i < 2 && !cause; i++) {
        TRY(session_new_state(session));
        session->verdict->outcome = OUTCOME_PASS;
        if (!gives_again(session, settings[0], in, first, scratch) ||
            !gives_again(session, settings[1], in, second, scratch))
            cause = race;
    }
    /* It depends on something we changed: on the call before, or on one of the settings. */
    if (!cause) {
        TRY(session_new_state(session));
        session->verdict->outcome = OUTCOME_PASS;
        gives_again(session, settings[0], in, first, scratch);
        if (!gives_again(session, settings[0], in, first, scratch))
            cause = "the first call and later calls with the same state differ: something is kept and not renewed";
    }
    for (int i = 0; i < 4 && !cause; i++) {
        static const char *const causes[4] = {
            "depends on what lies outside the input's pixels: reads the row padding, or before or after the rows",
            "depends on what the output held before: adds to it, or leaves samples out",
            "depends on how far apart the rows lie: ignores the stride",
            "depends on what fresh heap memory holds: memory is read before it is written",
        };
        struct setting one = settings[0];

        if (i == 0)
            one.outside = settings[1].outside;
        else if (i == 1)
            one.poison = settings[1].poison;
        else if (i == 2)
            one.stride = settings[1].stride;
        else
            one.heap = settings[1].heap;
        TRY(session_new_state(session));
        session->verdict->outcome = OUTCOME_PASS;
        if (!gives_again(session, one, in, first, scratch))
            cause = causes[i];
    }
out:
    *session->verdict = kept;
    session->verdict->certainty = CERTAINTY_SURE;
    DIAGNOSIS(session, "%s", cause ? cause : "differs between runs, depending on several things at once");
    return status;
}

/* ------------------------------------------------------------------------------------------------ the reference */

/* Runs `serial` on `in` with a state of its own; *out is a new image. */
static enum status run_reference(const struct version *serial, const struct image in[], const void *params,
                                 struct image *out)
{
    void *state = calloc(1, serial->state_size ? serial->state_size : 1);
    struct image shape = {0};
    enum status status = STATUS_OK;

    memset(out, 0, sizeof *out);
    if (!state)
        return status_set(STATUS_NO_MEMORY, "no memory for the state of a version");
    TRY(serial->algorithm->shape(in, params, &shape));
    TRY(image_create_like(out, &shape));
    image_fill(out, poisons[0]);
    TRY(serial->run(state, in, out, params));
out:
    if (serial->teardown)
        serial->teardown(state);
    free(state);
    if (status != STATUS_OK)
        image_free(out);
    return status;
}

static bool is_reference(const struct version *version)
{
    return strcmp(version->source->id, "cpu/serial") == 0;
}

enum status verify_reference(const struct algorithm *algorithm, const struct image in[], const void *params,
                             struct image *out)
{
    struct version *const *versions;
    size_t count;

    memset(out, 0, sizeof *out);
    registry_versions(algorithm, &versions, &count);
    for (size_t i = 0; i < count; i++)
        if (is_reference(versions[i]))
            return run_reference(versions[i], in, params, out);
    return status_set(STATUS_FAILED, "%s has no version cpu/serial to compare with", algorithm->name);
}

/* ---------------------------------------------------------------------------------------------- one whole pass */

/* Up to this many samples the result for the other input is compared in full; above, only with the earlier result. */
enum { COMPARE_OTHER_SAMPLES = 1 << 14 };

/* The share of the wrong samples of `actual` that hold the result of the earlier call. */
static double share_of_earlier(const struct session *session, const struct image *expected, const struct image *actual,
                               const struct image *earlier)
{
    size_t wrong = 0, kept = 0;

    for (int y = session->margin; y < expected->height - session->margin; y++) {
        for (int x = session->margin; x < expected->width - session->margin; x++) {
            for (int c = 0; c < expected->channels; c++) {
                const double value = image_sample(actual, x, y, c);

                if (fabs(image_sample(expected, x, y, c) - value) <= session->tolerance)
                    continue;
                wrong++;
                kept += image_sample(earlier, x, y, c) == value;
            }
        }
    }
    return wrong ? (double)kept / (double)wrong : 0;
}

/* The version was right for one input, and its result `actual` for `other` is wrong: a race, something that is kept of
 * the earlier call, or a fault that only this input shows. */
static enum status explain_other_input(struct session *session, const struct image other[],
                                       const struct image *expected, const struct image *earlier,
                                       const struct image *actual, struct image *scratch)
{
    const struct setting setting = {0, 0, 0, 0};
    /* A flat result may also be equal by chance. */
    const int certainty = is_flat(earlier) ? CERTAINTY_WEAK : CERTAINTY_SURE;
    const bool same = same_pixels(earlier, actual);
    const size_t wrong = compare(session, expected, actual, NULL, session->verdict);
    bool repeats = true, kept = same;
    enum status status = STATUS_OK;

    for (int i = 0; i < 3 && repeats; i++)
        repeats = gives_again(session, setting, other, actual, scratch);
    session->verdict->outcome = OUTCOME_PASS;
    if (repeats && !kept) {
        /* With a new state the result is right, or what is wrong is what the earlier call gave. */
        TRY(session_new_state(session));
        call(session, setting, other, scratch);
        kept = session->verdict->outcome == OUTCOME_PASS && compare(session, expected, scratch, NULL, NULL) == 0;
        /* In an output of two values each wrong sample is as likely as not what stood there before. */
        kept |= wrong >= 16 && share_of_earlier(session, expected, actual, earlier) > 0.9;
        session->verdict->outcome = OUTCOME_PASS;
    }

    if (repeats && !kept) {
        const struct evidence evidence = {.expected = expected,
                                          .actual = actual,
                                          .tolerance = session->tolerance,
                                          .radius = session->radius,
                                          .margin = session->margin,
                                          .kind = session->version->algorithm->outputs[0].kind,
                                          .columns = session->version->algorithm->outputs[0].columns};

        session->expected = expected;
        report_values(session, actual, wrong, 0);
        session->verdict->certainty =
            diagnose(&evidence, session->verdict->diagnosis, sizeof session->verdict->diagnosis);
        goto out;
    }
    session->verdict->wrong = wrong;
    if (!repeats) {
        FAIL(session, CERTAINTY_SURE, "%sright twice, then wrong for another input of the same shape (%zu samples)",
             entry(session), wrong);
        DIAGNOSIS(session, "%s", race);
    } else if (same) {
        FAIL(session, certainty, "%sgave the same result for two different inputs", entry(session));
        DIAGNOSIS(session, "returned the result of an earlier call");
    } else {
        FAIL(session, certainty, "%sright for one input, wrong for the next one of the same shape (%zu samples)",
             entry(session), wrong);
        DIAGNOSIS(session, "something of an earlier call is kept and not renewed");
    }
out:
    return status;
}

/* Changes one sample in sixteen, at least one, and keeps what a lazy key would be made of: the corners, or for every other
 * size the whole frame. False when nothing is left to change. */
static bool change_inside(struct image *image, uint64_t seed)
{
    const bool keep_frame = ((image->width + image->height) & 1) && image->width > 2 && image->height > 2;
    const int samples = image->width * image->channels;
    bool any = false;

    for (int pass = 0; pass < 2 && !any; pass++) {
        for (int y = 0; y < image->height; y++) {
            uint8_t *row = image_row(image, y);
            const bool edge_row = y == 0 || y == image->height - 1;

            for (int i = 0; i < samples; i++) {
                const bool edge_column = i < image->channels || i >= samples - image->channels;

                if (keep_frame ? edge_row || edge_column : edge_row && edge_column)
                    continue;
                if (pass == 0 && pattern_random(&seed) % 16)
                    continue;
                row[i] ^= 0xff;
                any = true;
            }
        }
    }
    return any;
}

/* One call on `other`, input of the same shape as before, in the buffers and with the state of the calls before, whose
 * last result is `earlier`. */
static enum status check_on(struct session *session, const struct image other[], const struct image *earlier,
                            struct image *scratch, bool always)
{
    const struct algorithm *algorithm = session->version->algorithm;
    struct image expected = {0}, again = {0};
    enum status status = STATUS_OK;

    call(session, (struct setting){0, 0, 0, 0}, other, scratch);
    if (session->verdict->outcome != OUTCOME_PASS || (!always && !same_pixels(earlier, scratch)))
        goto out;
    TRY(is_reference(session->version) ? run_reference(session->version, other, session->params, &expected)
                                       : verify_reference(algorithm, other, session->params, &expected));
    if (!image_same_shape(&expected, scratch)) /* the shape of the result depends on the values: nothing to compare */
        goto out;
    if (compare(session, &expected, scratch, NULL, NULL) > 0) {
        TRY(image_create_like(&again, scratch));
        TRY(explain_other_input(session, other, &expected, earlier, scratch, &again));
    }
out:
    image_free(&expected);
    image_free(&again);
    return status;
}

/* Two more calls: on input that is different everywhere, then on that with but its inside changed. */
static enum status check_other_input(struct session *session, const struct image in[], const struct image *earlier,
                                     struct image *scratch)
{
    const struct algorithm *algorithm = session->version->algorithm;
    const bool small =
        image_pixel_bytes(session->expected) / pixel_size(session->expected->type) <= COMPARE_OTHER_SAMPLES;
    struct image other[ALGORITHM_MAX_INPUTS] = {{0}}, second = {0};
    enum status status = STATUS_OK;

    const struct input_request request = {.width = in[0].width,
                                          .height = in[0].height,
                                          .channels = in[0].channels,
                                          .pattern = PATTERN_RANDOM,
                                          .seed = 0x5eed0,
                                          .params = session->params};
    TRY(inputs_make(algorithm, &request, other));
    TRY(check_on(session, other, earlier, scratch, small));
    /* What lies on the device is not looked at by the host code that would keep a result. */
    if (session->verdict->outcome != OUTCOME_PASS || !small || session->by_launch || in->type != PIXEL_U8 ||
        !change_inside(&other[session->inputs - 1], 0x1451de))
        goto out;
    TRY(image_create_like(&second, scratch));
    image_copy(&second, scratch);
    TRY(check_on(session, other, &second, scratch, true));
out:
    for (int i = 0; i < session->inputs; i++)
        image_free(&other[i]);
    image_free(&second);
    return status;
}

static enum status verify_entry(struct session *session, const struct image in[], const char *picture)
{
    static const struct setting settings[2] = {{0, 0, 0, 0}, {1, 1, 1, 1}};
    const struct image *expected = session->expected;
    struct image results[2] = {{0}}, scratch = {0};
    uint8_t *unwritten = NULL;
    size_t unwritten_count = 0, wrong[2], changes;
    enum status status = STATUS_OK;

    TRY(session_open(session, in));
    TRY(image_create_like(&results[0], expected));
    TRY(image_create_like(&results[1], expected));
    TRY(image_create_like(&scratch, expected));

    for (int i = 0; i < 2; i++) {
        call(session, settings[i], in, &results[i]);
        if (session->verdict->outcome != OUTCOME_PASS)
            goto out;
    }
    TRY(find_unwritten(session, &results[0], &results[1], &unwritten, &unwritten_count));
    for (int i = 0; i < 2; i++) {
        wrong[i] = compare(session, expected, &results[i], unwritten, session->verdict);
        if (wrong[i] == 0)
            continue;

        const struct evidence evidence = {.expected = expected,
                                          .actual = &results[i],
                                          .unwritten = unwritten,
                                          .tolerance = session->tolerance,
                                          .radius = session->radius,
                                          .margin = session->margin,
                                          .kind = session->version->algorithm->outputs[0].kind,
                                          .columns = session->version->algorithm->outputs[0].columns};

        report_values(session, &results[i], wrong[i], unwritten_count);
        session->verdict->certainty =
            diagnose(&evidence, session->verdict->diagnosis, sizeof session->verdict->diagnosis);
        /* A disk that is full must not hide the verdict. */
        session->verdict->pictured = picture && diagnose_picture(&evidence, picture) == STATUS_OK;
        /* Unwritten samples differ by their poison; what differs beside them is worth an inquiry. */
        changes = count_changes(session, &results[0], &results[1]);
        if (changes > unwritten_count)
            TRY(explain_change(session, settings, in, &results[0], &results[1], &scratch));
        goto out;
    }
    TRY(check_other_input(session, in, &results[0], &scratch));
out:
    session_free(session);
    free(unwritten);
    image_free(&results[0]);
    image_free(&results[1]);
    image_free(&scratch);
    return status;
}

enum status verify_version(const struct version *version, const struct image in[], const void *params,
                           const struct image *expected, const char *picture, struct verdict *verdict)
{
    const struct algorithm *algorithm = version->algorithm;
    const char *why;
    enum status status = STATUS_OK;

    memset(verdict, 0, sizeof *verdict);
    why = version_unavailable(version);
    if (!why && version->declines)
        why = version->declines(in, params);

    const int radius = algorithm->radius ? algorithm->radius(params) : 0;
    const int margin = version->compare_interior ? radius : 0;

    if (!why && (expected->width <= 2 * margin || expected->height <= 2 * margin))
        why = "the image has no pixels farther from the edge than the radius, and only those are compared";
    if (why) {
        verdict->outcome = OUTCOME_SKIP;
        snprintf(verdict->what, sizeof verdict->what, "%s", why);
        return STATUS_OK;
    }

    verdict->outcome = OUTCOME_PASS;
    verdict->samples =
        (size_t)(expected->width - 2 * margin) * (size_t)(expected->height - 2 * margin) * (size_t)expected->channels;
    for (int by_launch = 0; by_launch <= (version->launch ? 1 : 0); by_launch++) {
        struct session session = {
            .version = version,
            .params = params,
            .expected = expected,
            .inputs = algorithm->input_count,
            .margin = margin,
            .radius = radius,
            .tolerance = fmax(algorithm->outputs[0].comparison.tolerance, version->tolerance),
            .by_launch = by_launch == 1,
            .verdict = verdict,
        };

        TRY(verify_entry(&session, in, picture));
        if (verdict->outcome != OUTCOME_PASS)
            break;
    }
out:
    return status;
}
