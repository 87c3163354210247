#include "common/verify/session.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/device_info.h"
#include "common/verify/diagnose.h"

#define NEAR 1e-3 /* of the largest sample: no rounding of a sum in f32 comes near to it */

void session_free(struct session *session)
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

enum status session_open(struct session *session, const struct image in[])
{
    const struct version_remote *remote = session->version->remote;
    enum status status = STATUS_OK;

    for (size_t s = 0; s < (session->once ? 1 : 2); s++) {
        for (int i = 0; i < session->algorithm->input_count; i++)
            TRY(guarded_create(&session->in[s][i], &in[i], (size_t)(3 + 2 * i) * s * IMAGE_ALIGNMENT, i, true, remote));
        for (int slot = 0; slot < session->algorithm->output_count; slot++)
            TRY(guarded_create(&session->out[s][slot], &session->expected[slot],
                               (size_t)(2 + 2 * slot) * s * IMAGE_ALIGNMENT, slot, false, remote));
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

/* Where somebody wrote to an input, in words; "" when nobody did. */
struct written_input {
    char text[96];
};

/* run(), for a version of the CPU with inputs that it cannot write to unseen. */
static enum status run_watched(struct session *session, struct guarded in[], const struct image images[],
                               struct image out_images[], struct written_input *written)
{
    const struct version *version = session->version;
    const int inputs = session->algorithm->input_count;
    int which, x, y;
    enum status status;

    if (version->launch || version->remote)
        return version->run(session->state, images, out_images, session->params);
    guarded_forbid_writes(in, inputs);
    status = version->run(session->state, images, out_images, session->params);
    if (guarded_allow_writes(in, inputs, &which, &x, &y))
        snprintf(written->text, sizeof written->text, "%s at (%d,%d)", session->algorithm->inputs[which].name, x, y);
    return status;
}

/* What a version that says itself that it failed probably suffers from. */
static void explain_status(struct session *session, enum status status)
{
    static const struct {
        const char *word, *cause;
    } causes[] = {
        {"race: ", "race: two threads touch the same memory unordered (a missing barrier, or no atomic?)"},
        {"out-of-bounds: ", "out-of-bounds access in a kernel"},
        {"memory that has been freed",
         "a kernel uses memory that has been freed: a pointer is kept from an earlier call"},
        {"illegal memory access", "out-of-bounds access in a kernel"},
        {"system call", "a version may compute and nothing else: no files, processes, signals or network"},
        {"threads, of which", "threads are started in every call, and never end"},
        {"memory limit", "far too much memory: is something allocated in every call, and never freed?"},
        {"barrier", "barrier divergence: a __syncthreads that not all threads of the block reach"},
        {"threads per block", "illegal launch shape: the block is too large"},
        {"invalid configuration",
         "illegal launch shape: a block has at most 1024 threads; grids and shared memory have limits too"},
        {"too many resources", "illegal launch shape: the block needs more registers or shared memory than there are"},
        {"launch", "the kernel launch failed"},
        {"out-of-bounds", "out-of-bounds access in a kernel"},
        {"misaligned address",
         "misaligned access: a vector load or store on an address that is no multiple of its size"},
        {"out of memory", "not enough device memory"},
    };
    char message[480];

    snprintf(message, sizeof message, "%s", status_message());
    FAIL(session, CERTAINTY_SURE, "%sreturned a failure: %s", session_entry(session), message);
    session->verdict->returned = true;
    /* Skipping is not the version's to choose once it runs: it could skip every case that it gets wrong. */
    DIAGNOSIS(session, status == STATUS_UNSUPPORTED
                           ? "the version itself gives up; what it cannot do belongs in declines() or unavailable()"
                           : "the version itself reports the failure");
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (strstr(message, causes[i].word)) {
            /* That page may be where memory of an earlier call lay. */
            DIAGNOSIS(session, "%s%s", causes[i].cause,
                      strstr(causes[i].word, "freed") && guard_has_page()
                          ? ", or it reads past the end of its input, where nothing can be read in this case"
                          : "");
            session->verdict->faulty = true;
            break;
        }
    }
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
    struct written_input written = {""};
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
        version->remote->perturb(guard_heap_bytes[setting.heap], guard_heap_bytes[setting.shared]);
    else if (version_is_cuda(version))
        device_perturb(guard_heap_bytes[setting.heap], guard_heap_bytes[setting.shared]);
    if (session->by_launch) {
        status = version->remote ? version->remote->launch(version, buffers, algorithm->input_count, out_buffers,
                                                           algorithm->output_count, session->params, 1 + setting.again)
                                 : verify_launch(version, session->state, buffers, algorithm->input_count, out_buffers,
                                                 algorithm->output_count, session->params, 1 + setting.again,
                                                 setting.waits, session->company);
    } else {
        for (int i = 0; i < algorithm->input_count; i++)
            verify_protect(&buffers[i], buffers[i].memory, true, true);
        for (int slot = 0; slot < algorithm->output_count; slot++)
            verify_protect(&out_buffers[slot], out_buffers[slot].memory, false, true);
        status = run_watched(session, guarded_in, images, out_images, &written);
        for (int i = 0; i < algorithm->input_count; i++)
            verify_protect(&buffers[i], buffers[i].memory, true, false);
        for (int slot = 0; slot < algorithm->output_count; slot++)
            verify_protect(&out_buffers[slot], out_buffers[slot].memory, false, false);
    }
    mallopt(M_PERTURB, 0);
    if (!version->remote && version_is_cuda(version))
        device_perturb(0, 0);

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
    if (session->verdict->outcome == OUTCOME_PASS && written.text[0]) {
        FAIL(session, CERTAINTY_SURE, "wrote to its input %s, and put back what stood there", written.text);
        DIAGNOSIS(session, "input modified, if only for a while: a version may only read `in`");
    }
    if (session->verdict->outcome == OUTCOME_PASS)
        check_others(session, others);
}

/* ------------------------------------------------------------------------------------------------ its results */

size_t session_count_changes(const struct session *session, int slot, double tolerance, const struct image *first,
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

int session_first_wrong(const struct session *session, const struct image in[], const struct image expected[],
                        const struct image actual[], struct slot_difference *difference)
{
    for (int slot = 0; slot < session->algorithm->output_count; slot++) {
        compare_slot(session->version, slot, in, session->params, expected, actual, NULL, difference);
        if (difference->wrong)
            return slot;
    }
    return -1;
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

/* Whether two numbers look the same in 6 digits, as floats in their last bit do. */
static bool alike(double a, double b)
{
    char first[32], second[32];

    snprintf(first, sizeof first, "%g", a);
    snprintf(second, sizeof second, "%g", b);
    return strcmp(first, second) == 0;
}

/* "of samples", in an algorithm with several outputs "of the samples of corners". */
static const char *of_slot(const struct session *session, int slot, char text[96])
{
    if (session->algorithm->output_count == 1)
        return "samples";
    snprintf(text, 96, "samples of %s", session->algorithm->outputs[slot].name);
    return text;
}

/* What has not the property that it should have: where it is far from the reference's, if it should be near it. */
static void diagnose_property(struct session *session, const struct named_slot *named, const struct evidence *evidence)
{
    struct evidence far = *evidence;
    struct verdict *verdict = session->verdict;
    double largest = 0, farthest = 0;

    for (int y = 0; y < far.expected->height; y++)
        for (int x = 0; x < far.expected->width; x++) {
            const double e = image_sample(far.expected, x, y, 0);

            largest = fmax(largest, fabs(e));
            farthest = fmax(farthest, fabs(image_sample(far.actual, x, y, 0) - e));
        }
    far.tolerance = NEAR * largest;
    if (named->comparison.near_reference && farthest <= far.tolerance)
        DIAGNOSIS(session,
                  "%s is right to three digits, and has fewer than its sums could have: they lose some on the way",
                  named->name);
    else if (!named->comparison.near_reference ||
             diagnose(&far, verdict->diagnosis, sizeof verdict->diagnosis) == CERTAINTY_NONE)
        DIAGNOSIS(session, "%s does not have the property that the contract asks for", named->name);
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
        .names = named->names,
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
    verdict->unwritten = unwritten_count > 0;
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
            diagnose_property(session, named, &evidence);
        return;
    }
    if (expected[slot].channels > 1)
        snprintf(channel, sizeof channel, " channel %d", c);
    const double got = image_sample(&actual[slot], x, y, c), wanted = image_sample(&expected[slot], x, y, c);
    const int digits = alike(got, wanted) ? 9 : 6;
    FAIL(session, CERTAINTY_NONE, "%s%s of %s %s wrong (%.*g %%)%s, worst %g at (%d,%d)%s: got %.*g, expected %.*g",
         session_entry(session), grouped(difference->wrong, some), grouped(difference->samples, all),
         of_slot(session, slot, whose), percent < 1 ? 1 : 3, percent, lost, difference->worst, x, y, channel, digits,
         got, digits, wanted);
    verdict->certainty = diagnose(&evidence, verdict->diagnosis, sizeof verdict->diagnosis);
    /* A disk that is full must not hide the verdict. */
    verdict->pictured = picture && diagnose_picture(&evidence, picture) == STATUS_OK;
}
