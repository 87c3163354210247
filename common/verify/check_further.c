#include "common/verify/check_further.h"

#include <stdio.h>
#include <string.h>

#include "common/contract/device_info.h"
#include "common/image/pattern.h"
#include "common/verify/check_values.h"

/* The second of two is for pipelines: the reference takes naive steps one after the other. */

/* Every other of the contract's settings, by lot: more columns than a block of any version has, and few rows. */
static const int wide_sizes[2][2][2] = {{{1030, 7}, {517, 13}}, {{517, 5}, {261, 9}}};
/* Several blocks of one value, and several tiles of any kind. */
static const int blocks_size[2][2] = {{257, 131}, {97, 67}};
static const int ends_size[2][2] = {{97, 67}, {65, 35}};
/* Flat pictures of 7 to 12 times 64 columns, each as it is and with a few more columns, by lot: whatever number of
 * vectors up to six a version takes at once, some end with the last of these and some behind each part of it. */
static const int strip_heights[] = {3, 5, 2, 7, 4, 6};

/* Of what is dealt out, emulated versions, of which a ladder has many, get every other one, the next version the
 * others. */
struct hand {
    bool half;
    uint64_t turn;
};

static bool is_dealt(struct hand hand, unsigned number)
{
    return !hand.half || (number + hand.turn) % 2 == 0;
}

/* Among the versions of its ladder. */
static size_t place_of(const struct version *version)
{
    struct version *const *versions;
    size_t count, place = 0;

    registry_versions(version->algorithm, &versions, &count);
    while (place < count && versions[place] != version)
        place++;
    return place;
}

static enum status add_hard_cases(const struct algorithm *algorithm, struct case_list *list)
{
    enum status status = STATUS_OK;

    for (const struct hard_case *hard = algorithm->hard_cases; hard && hard->name; hard++)
        for (int i = 0; hard->further && hard->shapes[i][0]; i++)
            TRY(case_add(list, (struct check_case){.width = hard->shapes[i][0],
                                                   .height = hard->shapes[i][1],
                                                   .channels = hard->shapes[i][2],
                                                   .pattern = PATTERN_RANDOM,
                                                   .settings = hard->settings,
                                                   .hard_case = hard->name,
                                                   .unanswered = hard->unanswered,
                                                   .long_emulated = hard->long_emulated,
                                                   .calls = case_one_call(list)}));
out:
    return status;
}

static enum status add_wide(const struct algorithm *algorithm, uint64_t seed, struct case_list *list)
{
    enum status status = STATUS_OK;

    for (size_t s = 0; algorithm->check_settings && algorithm->check_settings[s]; s++) {
        const int *size = wide_sizes[algorithm->video][s / 2 % 2];

        if ((s + seed) % 2)
            continue;
        TRY(case_add(list, (struct check_case){.width = size[0],
                                               .height = size[1],
                                               .channels = algorithm->check_channels[0],
                                               .pattern = PATTERN_RANDOM,
                                               .settings = algorithm->check_settings[s],
                                               .calls = case_one_call(list)}));
    }
out:
    return status;
}

static enum status add_strips(const struct algorithm *algorithm, uint64_t random, struct hand hand,
                              struct case_list *list)
{
    enum { LEAST = 7, UNIT = 64, WIDTHS = sizeof strip_heights / sizeof *strip_heights };
    int channel_counts = 0;
    enum status status = STATUS_OK;

    while (algorithm->check_channels[channel_counts])
        channel_counts++;
    for (unsigned i = 0; i < 2 * WIDTHS; i++) {
        const int more = i < WIDTHS ? 0 : 1 + (int)(pattern_random(&random) % (UNIT - 1));

        if (!is_dealt(hand, i / WIDTHS + i))
            continue;
        TRY(case_add(list, (struct check_case){.width = UNIT * (LEAST + (int)(i % WIDTHS)) + more,
                                               .height = strip_heights[i % WIDTHS],
                                               .channels = algorithm->check_channels[i % (unsigned)channel_counts],
                                               .pattern = PATTERN_RANDOM,
                                               .calls = case_one_call(list)}));
    }
out:
    return status;
}

enum { MAX_FACTORS = 7, RUNS = 8 };

/* Every two parameters at each pair of their ends, in RUNS sets: the columns of an orthogonal array of two levels. Lots
 * say which parameters stand in it where there are more than it has columns, and which level is the lower end. The one
 * set in which all are at the same end is tried already. */
static enum status add_pairs(const struct algorithm *algorithm, struct check_case item, uint64_t random,
                             struct hand hand, struct case_list *list)
{
    const struct parameter *factors[MAX_FACTORS];
    int count = 0, seen = 0;
    enum status status = STATUS_OK;

    for (const struct parameter *p = algorithm->parameters; p && p->name; p++) {
        if (!value_is_drawn(p))
            continue;
        seen++;
        if (count < MAX_FACTORS)
            factors[count++] = p;
        else if (pattern_random(&random) % (uint64_t)seen < MAX_FACTORS)
            factors[pattern_random(&random) % MAX_FACTORS] = p;
    }
    if (count < 2)
        goto out;
    const unsigned turned = (unsigned)pattern_random(&random);
    /* Three columns need two bits. */
    for (unsigned run = 0; run < (count <= 3 ? RUNS / 2 : RUNS); run++) {
        char text[512] = "";

        if (!is_dealt(hand, run))
            continue;
        for (int f = 0; f < count; f++) {
            const unsigned column = (unsigned)f + 1; /* which of the bits of `run` count */

            value_append_end_beside(text, sizeof text, factors[f],
                                    (__builtin_popcount(run & column) & 1) != (int)(turned >> f & 1));
        }
        item.calls = case_one_call(list);
        if ((item.settings = case_keep_settings(list, algorithm, text)))
            TRY(case_add(list, item));
    }
out:
    return status;
}

/* Each other model that the contract's settings name, with both ends of what those settings leave at its default. */
static enum status add_models(const struct algorithm *algorithm, struct check_case item, struct case_list *list)
{
    enum { PIXELS = 8000 }; /* more patches than a version takes at once */
    enum status status = STATUS_OK;

    for (int i = 0; algorithm->check_shapes && algorithm->check_shapes[i][0]; i++) {
        item.width = algorithm->check_shapes[i][0];
        item.height = algorithm->check_shapes[i][1];
        item.channels = algorithm->check_shapes[i][2];
        if (item.width * item.height >= PIXELS)
            break;
    }
    for (const struct parameter *model = algorithm->parameters; model && model->name; model++)
        for (int s = 0; algorithm->check_settings && algorithm->check_settings[s]; s++)
            for (const struct parameter *p = algorithm->parameters; p->name; p++)
                for (int end = 0; end < 2; end++) {
                    const char *own = algorithm->check_settings[s];
                    char text[512];

                    if (model->kind != PARAMETER_MODEL || !check_settings_name(own, model->name) ||
                        !value_is_drawn(p) || check_settings_name(own, p->name))
                        continue;
                    snprintf(text, sizeof text, "%s", own);
                    value_append_end_beside(text, sizeof text, p, end == 1);
                    item.calls = case_one_call(list);
                    if ((item.settings = case_keep_settings(list, algorithm, text)))
                        TRY(case_add(list, item));
                }
out:
    return status;
}

/* At the lower ends of all ranges, then at the upper ones; where the contract refuses all together, at the first that
 * it allows alone. */
static enum status add_growth(const struct algorithm *algorithm, struct check_case item, struct hand hand,
                              struct case_list *list)
{
    enum status status = STATUS_OK;

    item.growth = true;
    for (int end = 0; end < 2; end++) {
        char all[512] = "";

        if (!is_dealt(hand, (unsigned)end))
            continue;
        item.settings = NULL;
        for (const struct parameter *p = algorithm->parameters; p && p->name; p++)
            if (value_is_drawn(p))
                value_append_end_beside(all, sizeof all, p, end == 1);
        if (all[0])
            item.settings = case_keep_settings(list, algorithm, all);
        for (const struct parameter *p = algorithm->parameters; all[0] && !item.settings && p->name; p++) {
            char one[96] = "";

            if (!value_is_drawn(p))
                continue;
            value_append_end_beside(one, sizeof one, p, end == 1);
            item.settings = case_keep_settings(list, algorithm, one);
        }
        if (item.settings)
            TRY(case_add(list, item));
    }
out:
    return status;
}

enum status check_cases_further(const struct version *version, uint64_t seed, struct case_list *list)
{
    const struct algorithm *algorithm = version->algorithm;
    struct check_case item = check_values_case(algorithm);
    const struct check_case growth = item;
    const struct hand hand = {.half = version_is_cuda(version) && device_is_emulated(),
                              .turn = place_of(version) + seed};
    enum status status = STATUS_OK;

    TRY(add_hard_cases(algorithm, list));
    if (!algorithm->check_shapes) {
        item.width = ends_size[algorithm->video][0];
        item.height = ends_size[algorithm->video][1];
        TRY(add_wide(algorithm, seed, list));
        TRY(case_add(list, (struct check_case){.width = blocks_size[algorithm->video][0],
                                               .height = blocks_size[algorithm->video][1],
                                               .channels = algorithm->check_channels[0],
                                               .pattern = PATTERN_BLOCKS,
                                               .calls = case_one_call(list)}));
    }
    if (version_is_peer(version)) /* each state of one may be a process */
        goto out;
    TRY(add_pairs(algorithm, item, seed ^ 0x0a7a, hand, list));
    if (!version->remote)
        TRY(add_growth(algorithm, growth, hand, list));
    TRY(add_models(algorithm, growth, list));
    if (!algorithm->check_shapes)
        TRY(add_strips(algorithm, seed ^ 0x571195, hand, list));
out:
    return status;
}
