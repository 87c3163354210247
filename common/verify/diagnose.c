#include "common/verify/diagnose.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/verify/diagnose_kinds.h"
#include "common/verify/displacement.h"
#include "common/verify/marks.h"

/* ------------------------------------------------------------------------------------------------ the facts */

struct facts {
    struct marks wrong, unwritten;
    size_t samples, wrong_samples, unwritten_samples, nan_samples, infinite_samples, too_large, too_small;
    size_t written_but_wrong;
    double smallest, largest;                /* of the signed differences of wrong samples */
    double magnitude;                        /* largest absolute expected value */
    bool actual_constant, expected_constant; /* over all compared samples */
    double constant;                         /* the value of a constant actual image */
    size_t channel_wrong[4];                 /* wrong samples of the first channels */
    uint64_t divisor; /* the largest of all differences of wrong samples that are whole; else 1 */
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static enum status collect(const struct evidence *evidence, struct facts *facts)
{
    const struct image *expected = evidence->expected, *actual = evidence->actual;
    const int channels = expected->channels, margin = evidence->margin;
    double first_expected = 0;
    enum status status = STATUS_OK;

    memset(facts, 0, sizeof *facts);
    TRY(marks_create(&facts->wrong, expected->width, expected->height));
    TRY(marks_create(&facts->unwritten, expected->width, expected->height));
    facts->actual_constant = facts->expected_constant = true;
    facts->smallest = INFINITY;
    facts->largest = -INFINITY;

    for (int y = margin; y < expected->height - margin; y++) {
        for (int x = margin; x < expected->width - margin; x++) {
            for (int c = 0; c < channels; c++) {
                const double e = image_sample(expected, x, y, c), a = image_sample(actual, x, y, c);
                const size_t i = ((size_t)y * (size_t)expected->width + (size_t)x) * (size_t)channels + (size_t)c;
                const bool unwritten = evidence->unwritten && evidence->unwritten[i];

                if (facts->samples++ == 0) {
                    facts->constant = a;
                    first_expected = e;
                }
                facts->actual_constant &= a == facts->constant;
                facts->expected_constant &= e == first_expected;
                facts->magnitude = fmax(facts->magnitude, fabs(e));
                if (unwritten) {
                    facts->unwritten_samples++;
                    marks_add(&facts->unwritten, x, y);
                }
                if (!unwritten && fabs(a - e) <= evidence->tolerance)
                    continue;
                facts->wrong_samples++;
                facts->written_but_wrong += !unwritten;
                marks_add(&facts->wrong, x, y);
                if (c < 4)
                    facts->channel_wrong[c]++;
                if (isnan(a)) {
                    facts->nan_samples++;
                    continue;
                }
                facts->infinite_samples += isinf(a) != 0;
                facts->too_large += a > e;
                facts->too_small += a < e;
                facts->divisor = fabs(a - e) < 0x1p62 && a - e == trunc(a - e)
                                     ? common_divisor(facts->divisor, (uint64_t)fabs(a - e))
                                     : 1;
                facts->smallest = fmin(facts->smallest, a - e);
                facts->largest = fmax(facts->largest, a - e);
            }
        }
    }
out:
    return status;
}

static void facts_free(struct facts *facts)
{
    marks_free(&facts->wrong);
    marks_free(&facts->unwritten);
}

/* Whether each pixel of counts has as many in all as it should, and they have many channels: a histogram. */
static bool has_right_sums(const struct evidence *evidence)
{
    const struct image *expected = evidence->expected, *actual = evidence->actual;

    if (expected->channels < 16 || expected->type == PIXEL_F32 || expected->type == PIXEL_F64)
        return false;
    for (int y = 0; y < expected->height; y++)
        for (int x = 0; x < expected->width; x++) {
            double too_many = 0;

            for (int c = 0; c < expected->channels; c++)
                too_many += image_sample(actual, x, y, c) - image_sample(expected, x, y, c);
            if (too_many != 0)
                return false;
        }
    return true;
}

/* ------------------------------------------------------------------------------------------------ the verdict */

static int diagnose_facts(const struct evidence *evidence, const struct facts *facts, char *text, size_t size)
{
    const struct image *expected = evidence->expected;
    const int channels = expected->channels;
    const double wrong_share = (double)facts->wrong_samples / (double)facts->samples;
    const bool is_picture = evidence->kind == SLOT_PICTURE;
    const bool counts = evidence->kind == SLOT_MATRIX || evidence->kind == SLOT_TENSOR;
    char region[256] = "";
    int certainty;

    if (facts->unwritten_samples == facts->samples) {
        snprintf(text, size, "never written: not one sample of the output (does the work run, does it reach `out`?)");
        return CERTAINTY_SURE;
    }
    if (facts->nan_samples) {
        snprintf(text, size,
                 "NaN in %zu of %zu samples: 0 / 0, the root of what is below 0, or memory that nobody wrote",
                 facts->nan_samples, facts->samples);
        return CERTAINTY_SURE;
    }
    if (facts->unwritten_samples) {
        certainty = marks_find_region(&facts->unwritten, is_picture, 0, channels, region, sizeof region);
        snprintf(text, size, "never written: %s%s", certainty ? region : "samples all over the image",
                 facts->written_but_wrong ? "; others are wrong too" : "");
        return certainty == CERTAINTY_SURE ? CERTAINTY_SURE : CERTAINTY_GOOD;
    }
    if (facts->infinite_samples) {
        snprintf(text, size,
                 "infinite in %zu of %zu samples: a division by 0, a sum beyond the type, or an identity that nothing "
                 "has replaced",
                 facts->infinite_samples, facts->samples);
        return CERTAINTY_SURE;
    }
    if (evidence->kind == SLOT_TABLE)
        return diagnose_table(evidence, text, size);
    if (evidence->kind == SLOT_LABELS)
        return diagnose_labels(evidence, text, size);
    if (evidence->names && diagnose_are_names(evidence))
        return diagnose_names(evidence, text, size);
    if (counts && facts->too_large == 0 && facts->divisor >= 256 && facts->divisor % 256 == 0) {
        const bool wide = facts->divisor % 65536 == 0;

        snprintf(text, size, "too small by multiples of %d: counted in %d bits", wide ? 65536 : 256, wide ? 16 : 8);
        return CERTAINTY_SURE;
    }
    if (evidence->kind == SLOT_MATRIX && (certainty = diagnose_matrix(evidence, text, size)) != CERTAINTY_NONE)
        return certainty;
    if (evidence->kind == SLOT_TENSOR && has_right_sums(evidence)) {
        if (marks_find_region(&facts->wrong, is_picture, 0, channels, region, sizeof region))
            snprintf(region + strlen(region), sizeof region - strlen(region), "; ");
        snprintf(text, size, "%sthe sums over the %d channels are right: what is counted goes to a wrong one", region,
                 channels);
        return CERTAINTY_GOOD;
    }
    /* A result that is nearly flat can be flat by a few errors. */
    if (facts->actual_constant && !facts->expected_constant && wrong_share >= 0.05) {
        snprintf(text, size, "the output is constant: every sample is %g", facts->constant);
        return CERTAINTY_SURE;
    }

    certainty = find_displacement(evidence, text, size);
    if (certainty == CERTAINTY_SURE)
        return certainty;
    if (certainty)
        snprintf(region, sizeof region, "%s", text);

    if (evidence->kind == SLOT_MATRIX) { /* which of its rows are wrong may say as much as what their counts lack */
        char rows[256];
        const int counts_lack = diagnose_counts(evidence, text, size);
        const int place = marks_find_region(&facts->wrong, is_picture, 0, channels, rows, sizeof rows);

        if (counts_lack && place >= CERTAINTY_GOOD)
            snprintf(text, size, "%s", rows);
        if (counts_lack)
            return place >= CERTAINTY_GOOD ? place : counts_lack;
    }

    /* Differences in the last 10 of a float's 24 bits, or of a double's 53, are rounding. */
    const double step = expected->type == PIXEL_F32   ? facts->magnitude * 0x1p-14
                        : expected->type == PIXEL_F64 ? facts->magnitude * 0x1p-43
                                                      : 1;

    if (fmax(-facts->smallest, facts->largest) <= step && wrong_share >= 0.05 && facts->samples > 1) {
        const char *amount = step == 1 ? "by 1" : "slightly";

        if (facts->too_large == 0)
            snprintf(text, size,
                     "%.0f %% of the samples too small %s: rounding (truncated where it should be rounded?)",
                     100 * wrong_share, amount);
        else
            snprintf(text, size, "%.0f %% of the samples off %s: rounding", 100 * wrong_share, amount);
        return CERTAINTY_SURE;
    }
    if (facts->wrong_samples == facts->samples && facts->smallest == facts->largest) {
        snprintf(text, size, "every sample is off by %+g", facts->smallest);
        return CERTAINTY_SURE;
    }
    for (int c = 0; c < channels && channels > 1 && channels <= 4; c++) {
        if (facts->channel_wrong[c] == facts->wrong_samples && facts->wrong_samples > 8) {
            snprintf(text, size, "only channel %d (of %d) is wrong", c, channels);
            return CERTAINTY_GOOD;
        }
    }
    if (certainty) { /* more than one shift fits */
        snprintf(text, size, "%s", region);
        return certainty;
    }
    certainty = marks_find_region(&facts->wrong, is_picture, evidence->radius, channels, text, size);
    if (certainty)
        return certainty;
    if (fmax(-facts->smallest, facts->largest) <= step)
        snprintf(text, size, "a few samples off by no more than %g: rounding in rare cases", step);
    else
        snprintf(text, size, "no pattern recognised: wrong samples in x %d..%d, y %d..%d", facts->wrong.left,
                 facts->wrong.right, facts->wrong.top, facts->wrong.bottom);
    return CERTAINTY_NONE;
}

int diagnose_certainty(const struct image *image)
{
    const size_t pixels = (size_t)image->width * (size_t)image->height;

    return pixels < 64 ? CERTAINTY_WEAK : pixels < 512 ? CERTAINTY_GOOD : CERTAINTY_SURE;
}

int diagnose(const struct evidence *evidence, char *text, size_t size)
{
    struct facts facts;
    int certainty = CERTAINTY_NONE;

    if (collect(evidence, &facts) != STATUS_OK)
        snprintf(text, size, "none: %s", status_message());
    else if (facts.wrong_samples == 0)
        snprintf(text, size, "none: nothing is wrong");
    else
        certainty = diagnose_facts(evidence, &facts, text, size);

    const int most = diagnose_certainty(evidence->expected);

    facts_free(&facts);
    return certainty < most ? certainty : most;
}
