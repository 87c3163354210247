#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/device_info.h"
#include "common/contract/inputs.h"
#include "common/image/pattern.h"
#include "common/verify/session.h"

/* Whether one more call under `setting` gives `before` again. A call that fails otherwise counts as no. */
static bool gives_again(struct session *session, struct setting setting, const struct image in[],
                        const struct image before[], struct image scratch[])
{
    session_call(session, setting, in, scratch);
    return session->verdict->outcome == OUTCOME_PASS && outputs_same_but_rounding(before, scratch);
}

/* Results that do not come again, in the words of what the version is made of. */
static const char *race_of(const struct session *session)
{
    if (session->version->pipeline)
        return "differs between runs of the same input: a race between threads or streams (a result that is read "
               "before the wait for it?) or uninitialised memory";
    if (version_is_cuda(session->version))
        return device_is_emulated() ? "differs between runs of the same input: a race between threads (a missing "
                                      "barrier? one place for two?) or streams "
                                      "(a missing wait?)"
                                    : "differs between runs of the same input: a race between threads (a missing "
                                      "barrier? one place for two?) or streams "
                                      "(a missing wait?), shared memory that nobody loaded, or uninitialised memory";
    return "differs between runs of the same input: a race between threads (a variable that they share?) or "
           "uninitialised memory";
}

static const char *fresh_memory_of(const struct session *session)
{
    return version_is_cuda(session->version)
               ? "depends on what fresh memory holds: memory of the device or of the heap is read before it is written"
               : "depends on what fresh heap memory holds: memory is read before it is written";
}

/* What the two calls of a pass differ in. */
enum { OUTSIDE, POISON, STRIDE, SHARED, FRESH_MEMORY, AGAIN, SETTINGS };

/* The first setting, but for one thing, which is the second's. */
static struct setting with_one(const struct setting settings[2], int which)
{
    struct setting one = settings[0];

    if (which == OUTSIDE)
        one.outside = settings[1].outside;
    else if (which == POISON)
        one.poison = settings[1].poison;
    else if (which == STRIDE)
        one.stride = settings[1].stride;
    else if (which == SHARED)
        one.shared = settings[1].shared;
    else if (which == FRESH_MEMORY)
        one.heap = settings[1].heap;
    else
        one.again = settings[1].again;
    return one;
}

/* What is wrong with a version whose calls under such settings differ. */
static const char *cause_of(const struct session *session, int which)
{
    static const char *const causes[SETTINGS] = {
        [OUTSIDE] =
            "depends on what lies outside the input's pixels: reads the row padding, or before or after the rows",
        [POISON] = "depends on what the output held before: adds to it, or leaves samples out",
        [STRIDE] = "depends on how far apart the rows lie: ignores the stride",
        [SHARED] = "reads shared memory that no thread wrote: is all of it loaded, for each shape of the block?",
        [AGAIN] =
            "a second launch() after one setup() differs: something that launch() uses up is made ready in setup() "
            "alone",
    };

    return which == FRESH_MEMORY ? fresh_memory_of(session) : causes[which];
}

enum status explain_failure(struct session *session, const struct setting settings[2], const struct image in[],
                            struct image scratch[])
{
    const struct verdict kept = *session->verdict;
    const char *cause = NULL;
    enum status status = STATUS_OK;

    /* Whether a write beyond an allocation is found depends on what lies there: the first call may have been lucky. */
    TRY(session_new_state(session));
    session->verdict->outcome = OUTCOME_PASS;
    session_call(session, settings[0], in, scratch);
    if (session->verdict->outcome == OUTCOME_FAIL)
        goto out;
    for (int i = 0; i < SETTINGS && !cause; i++) {
        TRY(session_new_state(session));
        session->verdict->outcome = OUTCOME_PASS;
        session_call(session, with_one(settings, i), in, scratch);
        if (session->verdict->outcome == OUTCOME_FAIL)
            cause = cause_of(session, i);
    }
out:
    *session->verdict = kept;
    if (cause)
        DIAGNOSIS(session, "%s", cause);
    return status;
}

enum status explain_change(struct session *session, const struct setting settings[2], const struct image in[],
                           const struct image first[], const struct image second[], struct image scratch[])
{
    const struct verdict kept = *session->verdict;
    const char *cause = NULL;
    bool unknown = false;
    enum status status = STATUS_OK;

    /* The same two calls from the beginning, twice: results that do not come again are a race. */
    for (int i = 0; i < 2 && !cause; i++) {
        TRY(session_new_state(session));
        session->verdict->outcome = OUTCOME_PASS;
        if (!gives_again(session, settings[0], in, first, scratch) ||
            !gives_again(session, settings[1], in, second, scratch))
            cause = race_of(session);
    }
    unknown = cause != NULL;
    /* It depends on something we changed: on the call before, or on one of the settings. */
    if (!cause) {
        TRY(session_new_state(session));
        session->verdict->outcome = OUTCOME_PASS;
        gives_again(session, settings[0], in, first, scratch);
        if (!gives_again(session, settings[0], in, first, scratch))
            cause =
                session->version->pipeline
                    ? "the first call and later calls with the same state differ: something is kept and not renewed, "
                      "or a result is read before the wait for it"
                    : "the first call and later calls with the same state differ: something is kept and not renewed";
    }
    for (int i = 0; i < SETTINGS && !cause; i++) {
        TRY(session_new_state(session));
        session->verdict->outcome = OUTCOME_PASS;
        if (!gives_again(session, with_one(settings, i), in, first, scratch)) {
            cause = cause_of(session, i);
            unknown = i == FRESH_MEMORY;
        }
    }
    /* The first call where it was, the next one, on the same input, elsewhere. */
    if (!cause) {
        struct setting elsewhere = settings[0];

        elsewhere.stride = settings[1].stride;
        TRY(session_new_state(session));
        session->verdict->outcome = OUTCOME_PASS;
        gives_again(session, settings[0], in, first, scratch);
        if (!gives_again(session, elsewhere, in, first, scratch))
            cause = "keeps a pointer to the input of an earlier call: `in` lies elsewhere in each call";
    }
out:
    *session->verdict = kept;
    session->verdict->certainty = CERTAINTY_SURE;
    session->verdict->vague = unknown;
    DIAGNOSIS(session, "%s", cause ? cause : "differs between runs, depending on several things at once");
    return status;
}

void explain_repeats(struct session *session, const struct image in[], const struct image first[],
                     struct image scratch[])
{
    enum { ATTEMPTS = 4 };
    const struct verdict kept = *session->verdict;
    bool repeats = true;

    /* With the same state: memory that nobody wrote is another one in each. */
    for (int i = 0; i < ATTEMPTS && repeats; i++) {
        session->verdict->outcome = OUTCOME_PASS;
        repeats = gives_again(session, (struct setting){0}, in, first, scratch);
    }
    *session->verdict = kept;
    if (!repeats) {
        session->verdict->certainty = CERTAINTY_SURE;
        session->verdict->vague = true;
        DIAGNOSIS(session, "%s", race_of(session));
    }
}

/* `image` with its channels in another order. */
static void exchange_channels(struct image *image, const int order[3])
{
    const size_t size = pixel_size(image->type);
    uint8_t pixel[3 * 8];

    for (int y = 0; y < image->height; y++) {
        uint8_t *row = image_row(image, y);

        for (int x = 0; x < image->width; x++, row += 3 * size) {
            memcpy(pixel, row, 3 * size);
            for (int c = 0; c < 3; c++)
                memcpy(row + (size_t)c * size, pixel + (size_t)order[c] * size, size);
        }
    }
}

enum status explain_channels(struct session *session, const struct image in[], const struct image actual[])
{
    static const struct {
        int order[3];
        const char *words;
    } exchanges[] = {{{2, 1, 0}, "channels 0 and 2 of the input exchanged (BGR for RGB)"},
                     {{1, 0, 2}, "channels 0 and 1 of the input exchanged"},
                     {{0, 2, 1}, "channels 1 and 2 of the input exchanged"},
                     {{1, 2, 0}, "channels of the input in the order 1, 2, 0"},
                     {{2, 0, 1}, "channels of the input in the order 2, 0, 1"}};
    const struct algorithm *algorithm = session->algorithm;
    struct image other[ALGORITHM_MAX_INPUTS] = {{0}}, expected[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct slot_difference difference;
    bool found = false;
    enum status status = STATUS_OK;

    for (int slot = 0; slot < algorithm->output_count; slot++)
        if (actual[slot].channels == 3)
            return STATUS_OK;
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges && !found; i++) {
        int exchanged = 0;

        for (int k = 0; k < algorithm->input_count; k++) {
            TRY(image_create_like(&other[k], &in[k]));
            image_copy(&other[k], &in[k]);
            if (other[k].channels == 3 && algorithm->inputs[k].kind == SLOT_PICTURE && ++exchanged)
                exchange_channels(&other[k], exchanges[i].order);
        }
        if (!exchanged)
            goto out;
        TRY(verify_reference_of(session->version, other, session->params, expected));
        TRY(compare_canonical_expected(algorithm, expected));
        found = outputs_same_shape(expected, actual) &&
                session_first_wrong(session, other, expected, actual, &difference) < 0;
        if (found) {
            session->verdict->certainty = diagnose_certainty(&expected[0]);
            DIAGNOSIS(session, "%s", exchanges[i].words);
        }
        inputs_free(algorithm, other);
        outputs_free(expected);
    }
out:
    inputs_free(algorithm, other);
    outputs_free(expected);
    return status;
}

enum status explain_stream(struct session *session, const struct image in[], struct image scratch[])
{
    enum { EARLY = 3, LATE = 8 };
    const struct verdict kept = *session->verdict;
    struct slot_difference difference;
    bool right = true, wrong = false, by_setup = true;
    enum status status = STATUS_OK;

    /* Three times right where all is waited for, and wrong where nothing is, all else being the same: not each time,
     * where streams get their turns by lot. */
    for (int i = 0; i < EARLY + LATE && (i < EARLY ? right : !wrong); i++) {
        TRY(session_new_state(session));
        session->verdict->outcome = OUTCOME_PASS;
        session_call(session, (struct setting){.waits = i < EARLY ? WAITS_FOR_ALL : WAITS_FOR_NOTHING}, in, scratch);
        const bool good = session->verdict->outcome == OUTCOME_PASS &&
                          session_first_wrong(session, in, session->expected, scratch, &difference) < 0;
        right &= good || i >= EARLY;
        wrong |= !good && i >= EARLY;
    }
    for (int i = 0; i < LATE && right && wrong && by_setup; i++) {
        TRY(session_new_state(session));
        session->verdict->outcome = OUTCOME_PASS;
        session_call(session, (struct setting){.waits = WAITS_FOR_SETUP}, in, scratch);
        by_setup = session->verdict->outcome == OUTCOME_PASS &&
                   session_first_wrong(session, in, session->expected, scratch, &difference) < 0;
    }
    *session->verdict = kept;
    if (right && wrong) {
        session->verdict->certainty = CERTAINTY_SURE;
        if (by_setup)
            DIAGNOSIS(session, "setup() returns before its work on the default stream has ended, and launch()'s stream "
                               "does not wait for that: clear memory by device_clear(), or wait at the end of setup()");
        else
            DIAGNOSIS(session, "ignores its stream: right only when the stream has nothing else to do, so some work is "
                               "on another stream (the default one?), or waits for nothing");
    }
out:
    return status;
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

static bool all_flat(const struct image outputs[])
{
    for (int slot = 0; slot < ALGORITHM_MAX_OUTPUTS; slot++)
        if (outputs[slot].data && !is_flat(&outputs[slot]))
            return false;
    return true;
}

enum status explain_flat(struct session *session, const struct image in[], const struct image first[],
                         struct image scratch[])
{
    const struct verdict kept = *session->verdict;
    enum status status = STATUS_OK;
    bool fresh;

    if (!all_flat(first) || all_flat(session->expected))
        return STATUS_OK;
    TRY(session_new_state(session));
    session->verdict->outcome = OUTCOME_PASS;
    fresh = !gives_again(session, (struct setting){.heap = 1}, in, first, scratch) &&
            session->verdict->outcome == OUTCOME_PASS && all_flat(scratch);
    *session->verdict = kept;
    if (fresh) {
        session->verdict->certainty = CERTAINTY_SURE;
        DIAGNOSIS(session, "%s; was it filled in an earlier call alone (a static variable)?", fresh_memory_of(session));
    }
out:
    return status;
}

/* The share of the wrong samples of a slot of `actual` that hold the result of the earlier call. */
static double share_of_earlier(const struct session *session, int slot, double tolerance, const struct image *expected,
                               const struct image *actual, const struct image *earlier)
{
    const int margin = compare_margin(session->version, slot, session->params);
    size_t wrong = 0, kept = 0;

    for (int y = margin; y < expected->height - margin; y++) {
        for (int x = margin; x < expected->width - margin; x++) {
            for (int c = 0; c < expected->channels; c++) {
                const double value = image_sample(actual, x, y, c);

                if (fabs(image_sample(expected, x, y, c) - value) <= tolerance)
                    continue;
                wrong++;
                kept += image_sample(earlier, x, y, c) == value;
            }
        }
    }
    return wrong ? (double)kept / (double)wrong : 0;
}

/* Changes one sample in sixteen, at least one, and keeps what a lazy key would be made of (session.h). */
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

/* The last input that is a picture of bytes, whose samples may have any value; -1 when there is none. */
static int free_input(const struct algorithm *algorithm, const struct image in[])
{
    for (int i = algorithm->input_count - 1; i >= 0; i--)
        if (algorithm->inputs[i].kind == SLOT_PICTURE && in[i].type == PIXEL_U8)
            return i;
    return -1;
}

bool session_change_inside(const struct session *session, struct image in[], uint64_t seed)
{
    const int changed = free_input(session->algorithm, in);

    return changed >= 0 && change_inside(&in[changed], seed);
}

/* `other` gave `earlier`, the result of another input. Whether that is what was kept: inputs that change step by step,
 * inside only, give it again although they should not. A version that merely misses what is new in `other` follows
 * them. */
static enum status stays_the_same(struct session *session, const struct image other[], const struct image earlier[],
                                  struct image scratch[], bool *stays)
{
    enum { STEPS = 8 };
    const struct algorithm *algorithm = session->algorithm;
    const struct image *const before = session->expected;
    struct image in[ALGORITHM_MAX_INPUTS] = {{0}}, expected[ALGORITHM_MAX_OUTPUTS] = {{0}};
    bool asked = false;
    enum status status = STATUS_OK;

    for (int i = 0; i < algorithm->input_count; i++) {
        TRY(image_create_like(&in[i], &other[i]));
        image_copy(&in[i], &other[i]);
    }
    for (int i = 0; i < STEPS && *stays && session_change_inside(session, in, 0xa5a5 + (uint64_t)i); i++) {
        outputs_free(expected);
        TRY(verify_reference_of(session->version, in, session->params, expected));
        if (!outputs_same_shape(expected, earlier))
            break;
        TRY(compare_canonical_expected(algorithm, expected));
        session->expected = expected;
        if (outputs_same(expected, earlier))
            continue;
        asked = true;
        session->verdict->outcome = OUTCOME_PASS;
        session_call(session, (struct setting){0}, in, scratch);
        *stays = session->verdict->outcome == OUTCOME_PASS && outputs_same(earlier, scratch);
    }
    *stays &= asked || free_input(algorithm, other) < 0;
out:
    session->expected = before;
    session->verdict->outcome = OUTCOME_PASS;
    inputs_free(algorithm, in);
    outputs_free(expected);
    return status;
}

enum status explain_other_input(struct session *session, const struct image other[], const struct image expected[],
                                const struct image earlier[], const struct image actual[], struct image scratch[])
{
    const struct setting setting = {0};
    /* A flat result may also be equal by chance. */
    const int certainty = all_flat(earlier) ? CERTAINTY_WEAK : CERTAINTY_SURE;
    bool same = outputs_same(earlier, actual);
    struct slot_difference difference, again;
    const int slot = session_first_wrong(session, other, expected, actual, &difference);
    bool repeats = true, kept;
    enum status status = STATUS_OK;

    for (int i = 0; i < 3 && repeats; i++)
        repeats = gives_again(session, setting, other, actual, scratch);
    session->verdict->outcome = OUTCOME_PASS;
    if (repeats && same)
        TRY(stays_the_same(session, other, earlier, scratch, &same));
    kept = same;
    if (repeats && !kept) {
        /* With a new state the result is right, or what is wrong is what the earlier call gave. */
        TRY(session_new_state(session));
        session_call(session, setting, other, scratch);
        kept = session->verdict->outcome == OUTCOME_PASS &&
               session_first_wrong(session, other, expected, scratch, &again) < 0;
        /* In an output of two values each wrong sample is as likely as not what stood there before. */
        kept |= difference.wrong >= 16 && share_of_earlier(session, slot, difference.tolerance, &expected[slot],
                                                           &actual[slot], &earlier[slot]) > 0.9;
        session->verdict->outcome = OUTCOME_PASS;
    }

    if (repeats && !kept) {
        session_report(session, other, expected, actual, slot, &difference, NULL, 0, NULL);
        goto out;
    }
    session->verdict->wrong = difference.wrong;
    session->verdict->slot = slot;
    if (!repeats) {
        FAIL(session, CERTAINTY_SURE, "%sright twice, then wrong for another input of the same shape (%zu samples)",
             session_entry(session), difference.wrong);
        session->verdict->vague = true;
        DIAGNOSIS(session, "%s", race_of(session));
    } else if (same) {
        FAIL(session, certainty, "%sgave the same result for two different inputs", session_entry(session));
        DIAGNOSIS(session, "returned the result of an earlier call");
    } else {
        FAIL(session, certainty, "%sright for one input, wrong for the next one of the same shape (%zu samples)",
             session_entry(session), difference.wrong);
        DIAGNOSIS(session, "something of an earlier call is kept and not renewed");
    }
out:
    return status;
}
