#include "common/verify/verify.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/inputs.h"
#include "common/image/pattern.h"
#include "common/verify/session.h"

/* ------------------------------------------------------------------------------------------------ one session */

static void session_free(struct session *session)
{
    const struct version_remote *remote = session->version->remote;

    if (session->state && session->version->teardown)
        session->version->teardown(session->state);
    free(session->state);
    session->state = NULL;
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < session->algorithm->input_count; i++)
            guarded_free(&session->in[s][i], remote);
        for (int slot = 0; slot < session->algorithm->output_count; slot++)
            guarded_free(&session->out[s][slot], remote);
    }
}

enum status session_new_state(struct session *session)
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
        for (int i = 0; i < session->algorithm->input_count; i++)
            TRY(guarded_create(&session->in[s][i], &in[i], 3 * s * IMAGE_ALIGNMENT, remote));
        for (int slot = 0; slot < session->algorithm->output_count; slot++)
            TRY(guarded_create(&session->out[s][slot], &session->expected[slot], 2 * s * IMAGE_ALIGNMENT, remote));
    }
    TRY(session_new_state(session));
out:
    return status;
}

const char *session_entry(const struct session *session)
{
    return session->by_launch ? "launch(): " : session->version->launch ? "run(): " : "";
}

/* ------------------------------------------------------------------------------------------------------ one call */

/* "output" of an algorithm that has one; else "output response", "input model". */
static const char *slot_words(const char *what, const struct named_slot *slot, int count, char text[96])
{
    if (count == 1 || strcmp(what, "input") == 0)
        return what;
    snprintf(text, 96, "%s %s", what, slot->name);
    return text;
}

/* Fails the verdict when something around the pixels of a buffer was written. */
static void check_guards(struct session *session, const struct guarded *guarded, const char *name)
{
    char what[400], cause[200];

    if (!guarded_overrun(guarded, name, what, sizeof what, cause, sizeof cause))
        return;
    FAIL(session, CERTAINTY_SURE, "%s%s", session_entry(session), what);
    DIAGNOSIS(session, "%s", cause);
}

/* Fails the verdict when a pixel of an input changed. */
static void check_input(struct session *session, const struct guarded *guarded)
{
    int x, y;

    if (!guarded_changed(guarded, &x, &y))
        return;
    FAIL(session, CERTAINTY_SURE, "%schanged its input at (%d,%d)", session_entry(session), x, y);
    DIAGNOSIS(session, "input modified: a version may only read `in`");
}

/* Fills what the call before was given with garbage: a version that still reads it computes nonsense. */
static void spoil(struct guarded in[], int inputs, struct guarded out[], int outputs)
{
    for (int i = 0; i < inputs; i++)
        guarded_fill(&in[i].buffer, 0x0dd + (uint64_t)i);
    for (int slot = 0; slot < outputs; slot++) {
        guarded_fill(&out[slot].buffer, 0xe0dd + (uint64_t)slot);
        guarded_remember(&out[slot]);
    }
}

/* Fails the verdict when the call wrote to the outputs of the call before. */
static void check_others(struct session *session, const struct guarded out[])
{
    for (int slot = 0; slot < session->algorithm->output_count; slot++) {
        if (!guarded_touched(&out[slot]))
            continue;
        FAIL(session, CERTAINTY_SURE, "%swrote to the output of an earlier call", session_entry(session));
        DIAGNOSIS(session, "keeps a pointer to an output: when run() returns, `out` belongs to the caller again");
        return;
    }
}

void session_call(struct session *session, struct setting setting, const struct image in[], struct image result[])
{
    const struct algorithm *algorithm = session->algorithm;
    const struct version *version = session->version;
    struct guarded *const guarded_in = session->in[setting.stride], *const guarded_out = session->out[setting.stride];
    struct guarded *const others = session->out[!setting.stride];
    struct verify_buffer buffers[ALGORITHM_MAX_INPUTS], out_buffers[ALGORITHM_MAX_OUTPUTS];
    struct image images[ALGORITHM_MAX_INPUTS] = {{0}}, out_images[ALGORITHM_MAX_OUTPUTS] = {{0}};
    char name[96];
    enum status status;

    spoil(session->in[!setting.stride], algorithm->input_count, others, algorithm->output_count);
    for (int i = 0; i < algorithm->input_count; i++) {
        guarded_fill(&guarded_in[i].buffer, (uint64_t)(2 * i + setting.outside));
        image_copy(&guarded_in[i].buffer.image, &in[i]);
        guarded_remember(&guarded_in[i]);
        buffers[i] = guarded_in[i].buffer;
        images[i] = buffers[i].image;
    }
    for (int slot = 0; slot < algorithm->output_count; slot++) {
        guarded_fill(&guarded_out[slot].buffer, 99 + (uint64_t)slot);
        image_fill(&guarded_out[slot].buffer.image, guard_poisons[setting.poison]);
        guarded_remember(&guarded_out[slot]);
        out_buffers[slot] = guarded_out[slot].buffer;
        out_images[slot] = out_buffers[slot].image;
    }

    /* Perturbed memory shows reads of memory that nobody wrote. */
    mallopt(M_PERTURB, guard_heap_bytes[setting.heap]);
    if (version->remote)
        version->remote->perturb(guard_heap_bytes[setting.heap]);
    if (session->by_launch) {
        status = version->remote ? version->remote->launch(version, buffers, algorithm->input_count, out_buffers,
                                                           algorithm->output_count, session->params, 1 + setting.again)
                                 : verify_launch(version, session->state, buffers, algorithm->input_count, out_buffers,
                                                 algorithm->output_count, session->params, 1 + setting.again);
    } else {
        for (int i = 0; i < algorithm->input_count; i++)
            verify_protect(&buffers[i], buffers[i].memory, true, true);
        for (int slot = 0; slot < algorithm->output_count; slot++)
            verify_protect(&out_buffers[slot], out_buffers[slot].memory, false, true);
        status = version->run(session->state, images, out_images, session->params);
        for (int i = 0; i < algorithm->input_count; i++)
            verify_protect(&buffers[i], buffers[i].memory, true, false);
        for (int slot = 0; slot < algorithm->output_count; slot++)
            verify_protect(&out_buffers[slot], out_buffers[slot].memory, false, false);
    }
    mallopt(M_PERTURB, 0);

    if (status != STATUS_OK) {
        explain_status(session, status);
        return;
    }
    for (int slot = 0; slot < algorithm->output_count; slot++)
        image_copy(&result[slot], &guarded_out[slot].buffer.image);
    if (compare_canonical(version, in, session->params, session->expected, result) != STATUS_OK) {
        explain_status(session, STATUS_NO_MEMORY);
        return;
    }
    for (int slot = 0; slot < algorithm->output_count && session->verdict->outcome == OUTCOME_PASS; slot++)
        check_guards(session, &guarded_out[slot],
                     slot_words("output", &algorithm->outputs[slot], algorithm->output_count, name));
    for (int i = 0; i < algorithm->input_count && session->verdict->outcome == OUTCOME_PASS; i++) {
        check_input(session, &guarded_in[i]);
        if (session->verdict->outcome == OUTCOME_PASS)
            check_guards(session, &guarded_in[i], "input");
    }
    if (session->verdict->outcome == OUTCOME_PASS)
        check_others(session, others);
}

/* ------------------------------------------------------------------------------------------------ its results */

/* Samples of two results of a slot on one input that differ by more than the tolerance; NaN both times is the same. */
static size_t count_changes(const struct session *session, int slot, double tolerance, const struct image *first,
                            const struct image *second)
{
    const int margin = compare_margin(session->version, slot, session->params), channels = first->channels;
    const size_t size = pixel_size(first->type);
    size_t changes = 0;

    for (int y = margin; y < first->height - margin; y++) {
        const uint8_t *a = image_row(first, y), *b = image_row(second, y);

        if (memcmp(a, b, image_row_bytes(first)) == 0)
            continue;
        for (int x = margin; x < first->width - margin; x++) {
            for (int c = 0; c < channels; c++) {
                const size_t i = ((size_t)x * (size_t)channels + (size_t)c) * size;

                if (memcmp(a + i, b + i, size) != 0 &&
                    !(fabs(image_sample(first, x, y, c) - image_sample(second, x, y, c)) <= tolerance))
                    changes++;
            }
        }
    }
    return changes;
}

enum status session_find_unwritten(const struct session *session, int slot, const struct image *first,
                                   const struct image *second, uint8_t **unwritten, size_t *count)
{
    const int margin = compare_margin(session->version, slot, session->params);
    const size_t samples = (size_t)first->width * (size_t)first->channels, size = pixel_size(first->type);
    const size_t begin = (size_t)(margin * first->channels);

    *unwritten = NULL;
    *count = 0;
    if (!first->data)
        return STATUS_OK;
    for (int y = margin; y < first->height - margin; y++) {
        const uint8_t *a = image_row(first, y), *b = image_row(second, y);

        if (memcmp(a, b, image_row_bytes(first)) == 0)
            continue;
        if (!*unwritten && !(*unwritten = calloc((size_t)first->height, samples)))
            return status_set(STATUS_NO_MEMORY, "no memory to verify with an image of %dx%d pixels", first->width,
                              first->height);
        for (size_t i = begin; i < samples - begin; i++) {
            bool poisoned = true;

            for (size_t k = i * size; k < (i + 1) * size; k++)
                poisoned &= a[k] == guard_poisons[0] && b[k] == guard_poisons[1];
            (*unwritten)[(size_t)y * samples + i] = poisoned;
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

/* "of samples", in an algorithm with several outputs "of the samples of corners". */
static const char *of_slot(const struct session *session, int slot, char text[96])
{
    if (session->algorithm->output_count == 1)
        return "samples";
    snprintf(text, 96, "samples of %s", session->algorithm->outputs[slot].name);
    return text;
}

void session_report(struct session *session, const struct image in[], const struct image expected[],
                    const struct image actual[], int slot, const struct slot_difference *difference,
                    const uint8_t *unwritten, size_t unwritten_count, const char *picture)
{
    const struct named_slot *named = &session->algorithm->outputs[slot];
    struct verdict *verdict = session->verdict;
    char some[32], all[32], channel[24] = "", lost[64] = "", whose[96];
    const double percent = 100 * (double)difference->wrong / (double)difference->samples;
    const int x = difference->x, y = difference->y, c = difference->channel;
    const struct evidence evidence = {
        .expected = &expected[slot],
        .actual = &actual[slot],
        .unwritten = unwritten,
        .tolerance = difference->tolerance,
        .radius =
            named->kind == SLOT_PICTURE && session->algorithm->radius ? session->algorithm->radius(session->params) : 0,
        .margin = compare_margin(session->version, slot, session->params),
        .kind = named->kind,
        .columns = named->columns,
    };

    (void)in;
    verdict->slot = slot;
    verdict->wrong = difference->wrong;
    verdict->samples = difference->samples;
    verdict->worst = difference->worst;
    verdict->worst_x = x;
    verdict->worst_y = y;
    verdict->worst_channel = c;
    if (unwritten_count)
        snprintf(lost, sizeof lost, ", %s never written", grouped(unwritten_count, some));
    if (named->comparison.property) {
        FAIL(session, CERTAINTY_GOOD, "%s%s: %s is %g, more than %g%s", session_entry(session), named->name,
             named->comparison.property_name, difference->worst, difference->tolerance, lost);
        if (unwritten_count)
            DIAGNOSIS(session, "%s has samples that were never written", named->name);
        else if (isnan(difference->worst))
            DIAGNOSIS(session, "NaN in %s: a division by zero, or memory that nobody wrote", named->name);
        else
            DIAGNOSIS(session, "%s does not have the property that the contract asks for", named->name);
        return;
    }
    if (expected[slot].channels > 1)
        snprintf(channel, sizeof channel, " channel %d", c);
    FAIL(session, CERTAINTY_NONE, "%s%s of %s %s wrong (%.*g %%)%s, worst %g at (%d,%d)%s: got %g, expected %g",
         session_entry(session), grouped(difference->wrong, some), grouped(difference->samples, all),
         of_slot(session, slot, whose), percent < 1 ? 1 : 3, percent, lost, difference->worst, x, y, channel,
         image_sample(&actual[slot], x, y, c), image_sample(&expected[slot], x, y, c));
    verdict->certainty = diagnose(&evidence, verdict->diagnosis, sizeof verdict->diagnosis);
    /* A disk that is full must not hide the verdict. */
    verdict->pictured = picture && diagnose_picture(&evidence, picture) == STATUS_OK;
}

/* ---------------------------------------------------------------------------------------------- one whole pass */

/* Up to this many samples the result for the other input is compared in full; above, only when one of its slots is
 * the earlier result's. */
enum { COMPARE_OTHER_SAMPLES = 1 << 14 };

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
 * last results are `earlier`. */
static enum status check_on(struct session *session, const struct image other[], const struct image earlier[],
                            struct image scratch[], bool always)
{
    struct image expected[ALGORITHM_MAX_OUTPUTS] = {{0}}, again[ALGORITHM_MAX_OUTPUTS] = {{0}};
    const struct image *const before = session->expected;
    struct slot_difference difference;
    bool wrong = false;
    enum status status = STATUS_OK;

    session_call(session, (struct setting){0, 0, 0, 0, 0}, other, scratch);
    if (session->verdict->outcome != OUTCOME_PASS || (!always && !outputs_any_same(earlier, scratch)))
        goto out;
    TRY(verify_reference_of(session->version, other, session->params, expected));
    if (!outputs_same_shape(expected, scratch)) /* the shape of the result depends on the values: nothing to compare */
        goto out;
    TRY(compare_canonical_expected(session->algorithm, expected));
    compare_turn_columns(session->algorithm, expected, scratch);
    session->expected = expected;
    for (int slot = 0; slot < session->algorithm->output_count && !wrong; slot++) {
        compare_slot(session->version, slot, other, session->params, expected, scratch, NULL, &difference);
        wrong = difference.wrong > 0;
    }
    if (wrong) {
        TRY(outputs_create_like(again, scratch));
        TRY(explain_other_input(session, other, expected, earlier, scratch, again));
    }
out:
    session->expected = before;
    outputs_free(expected);
    outputs_free(again);
    return status;
}

/* The last input that is a picture of bytes, whose samples may have any value; -1 when there is none. */
static int free_input(const struct algorithm *algorithm, const struct image in[])
{
    for (int i = algorithm->input_count - 1; i >= 0; i--)
        if (algorithm->inputs[i].kind == SLOT_PICTURE && in[i].type == PIXEL_U8)
            return i;
    return -1;
}

/* Two more calls: on input that is different everywhere, then on that with but its inside changed. */
static enum status check_other_input(struct session *session, const struct image in[], const struct image earlier[],
                                     struct image scratch[])
{
    const struct algorithm *algorithm = session->algorithm;
    const bool small = outputs_samples(session->expected) <= COMPARE_OTHER_SAMPLES;
    struct image other[ALGORITHM_MAX_INPUTS] = {{0}}, second[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct input_request request = {.width = in[0].width, .height = in[0].height, .channels = in[0].channels};
    enum status status = STATUS_OK;

    if (session->request)
        request = *session->request;
    request.pattern = PATTERN_RANDOM;
    request.seed += 0x5eed0;
    request.hard_case = NULL;
    request.photograph = NULL;
    request.params = session->params;
    TRY(inputs_make(algorithm, &request, other));
    for (int i = 0; i < algorithm->input_count; i++)
        if (!image_same_shape(&other[i], &in[i])) /* a user's own input, or a maker that draws the shape, too */
            goto out;
    TRY(check_on(session, other, earlier, scratch, small));

    const int changed = free_input(algorithm, other);

    /* What lies on the device is not looked at by the host code that would keep a result. */
    if (session->verdict->outcome != OUTCOME_PASS || !small || session->by_launch || changed < 0 ||
        !change_inside(&other[changed], 0x1451de))
        goto out;
    TRY(outputs_create_like(second, scratch));
    outputs_copy(second, scratch);
    TRY(check_on(session, other, second, scratch, true));
out:
    inputs_free(algorithm, other);
    outputs_free(second);
    return status;
}

/* Compares both results of the first input, slot by slot; reports and explains what is wrong. */
static enum status check_values(struct session *session, const struct setting settings[2], const struct image in[],
                                struct image results[2][ALGORITHM_MAX_OUTPUTS], struct image scratch[],
                                const char *picture)
{
    uint8_t *unwritten = NULL;
    size_t unwritten_count = 0;
    enum status status = STATUS_OK;

    for (int slot = 0; slot < session->algorithm->output_count; slot++) {
        TRY(session_find_unwritten(session, slot, &results[0][slot], &results[1][slot], &unwritten, &unwritten_count));
        for (int i = 0; i < 2; i++) {
            struct slot_difference difference;

            compare_slot(session->version, slot, in, session->params, session->expected, results[i], unwritten,
                         &difference);
            if (!(difference.worst <= session->verdict->worst))
                session->verdict->worst = difference.worst;
            if (difference.wrong == 0)
                continue;
            session_report(session, in, session->expected, results[i], slot, &difference, unwritten, unwritten_count,
                           picture);
            /* Unwritten samples differ by their poison; what differs beside them is worth an inquiry. */
            if (count_changes(session, slot, difference.tolerance, &results[0][slot], &results[1][slot]) >
                unwritten_count)
                TRY(explain_change(session, settings, in, results[0], results[1], scratch));
            else if (outputs_same(results[0], results[1]))
                explain_repeats(session, in, results[0], scratch);
            goto out;
        }
        free(unwritten);
        unwritten = NULL;
    }
out:
    free(unwritten);
    return status;
}

static enum status verify_entry(struct session *session, const struct image in[], const char *picture)
{
    static const struct setting settings[2] = {{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}};
    struct image results[2][ALGORITHM_MAX_OUTPUTS] = {{{0}}}, scratch[ALGORITHM_MAX_OUTPUTS] = {{0}};
    enum status status = STATUS_OK;

    TRY(session_open(session, in));
    TRY(outputs_create_like(results[0], session->expected));
    TRY(outputs_create_like(results[1], session->expected));
    TRY(outputs_create_like(scratch, session->expected));

    for (int i = 0; i < 2; i++) {
        session_call(session, settings[i], in, results[i]);
        if (session->verdict->outcome != OUTCOME_PASS)
            goto out;
    }
    TRY(check_values(session, settings, in, results, scratch, picture));
    if (session->verdict->outcome == OUTCOME_PASS)
        TRY(check_other_input(session, in, results[0], scratch));
out:
    session_free(session);
    outputs_free(results[0]);
    outputs_free(results[1]);
    outputs_free(scratch);
    return status;
}

/* Whether some slot has no pixel that this version is compared in. */
static bool nothing_to_compare(const struct version *version, const struct image expected[], const void *params)
{
    for (int slot = 0; slot < version->algorithm->output_count; slot++) {
        const int margin = compare_margin(version, slot, params);

        if (expected[slot].data && margin > 0 &&
            (expected[slot].width <= 2 * margin || expected[slot].height <= 2 * margin))
            return true;
    }
    return false;
}

enum status verify_version(const struct version *version, const struct image in[], const void *params,
                           const struct image expected[], const struct input_request *request, const char *picture,
                           struct verdict *verdict)
{
    struct image canonical[ALGORITHM_MAX_OUTPUTS] = {{0}}, given[ALGORITHM_MAX_OUTPUTS] = {{0}};
    const char *why;
    enum status status = STATUS_OK;

    memset(verdict, 0, sizeof *verdict);
    why = version_unavailable(version);
    if (!why && version->declines)
        why = version->declines(in, params);
    if (!why && nothing_to_compare(version, expected, params))
        why = "the image has no pixels farther from the edge than the radius, and only those are compared";
    if (why) {
        verdict->outcome = OUTCOME_SKIP;
        snprintf(verdict->what, sizeof verdict->what, "%s", why);
        return STATUS_OK;
    }

    memcpy(given, expected, (size_t)version->algorithm->output_count * sizeof *given);
    TRY(outputs_create_like(canonical, given));
    outputs_copy(canonical, given);
    TRY(compare_canonical_expected(version->algorithm, canonical));
    verdict->outcome = OUTCOME_PASS;
    for (int slot = 0; slot < version->algorithm->output_count; slot++) {
        const int margin = compare_margin(version, slot, params);

        if (!given[slot].data)
            continue;
        verdict->samples += (size_t)(given[slot].width - 2 * margin) * (size_t)(given[slot].height - 2 * margin) *
                            (size_t)given[slot].channels;
    }
    for (int by_launch = 0; by_launch <= (version->launch ? 1 : 0); by_launch++) {
        struct session session = {
            .version = version,
            .algorithm = version->algorithm,
            .params = params,
            .request = request,
            .expected = canonical,
            .by_launch = by_launch == 1,
            .verdict = verdict,
        };

        TRY(verify_entry(&session, in, picture));
        if (verdict->outcome != OUTCOME_PASS)
            break;
    }
out:
    outputs_free(canonical);
    return status;
}
