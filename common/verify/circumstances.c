#include "common/verify/circumstances.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/contract/device_info.h"
#include "common/image/pattern.h"
#include "common/trace/openmp.h"
#include "common/verify/guard.h"

__attribute__((format(printf, 2, 3))) static void append(char *text, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, CIRCUMSTANCES_WORDS - length, format, arguments);
    va_end(arguments);
}

/* Legal launch parameters by lot; the defaults where `drawn` is false. */
static void draw_tunables(const struct version *version, const struct image in[], const void *params, bool drawn,
                          uint64_t random)
{
    enum { ATTEMPTS = 8 };

    for (int attempt = 0; attempt <= ATTEMPTS; attempt++) {
        for (struct tunable *tunable = version->tunables; tunable && tunable->name; tunable++) {
            int values = 0;

            while (tunable->legal[values])
                values++;
            *tunable->value = drawn && attempt < ATTEMPTS ? tunable->legal[pattern_random(&random) % (uint64_t)values]
                                                          : tunable->preset;
        }
        if (!version->illegal || !version->illegal(in, params))
            return;
    }
}

/* Of the cases of one call six in eight have rows of inputs and of outputs farther apart than need be, by two
 * different numbers, and seven in eight a page beside each input that can't be read: five have both, behind the input,
 * for a load that ends with the stride shows only there. Where a row ends fewer than CLOSE bytes before what may be
 * read, a vector too many shows, and all have that page. Those with all calls have rows as close as they may be in
 * their first one, apart in their second one, and garbage on both sides. */
static struct guard_layout draw_layout(const struct version *version, const struct check_case *item,
                                       const struct image *in, uint64_t random)
{
    enum { LOTS = 8, APART = 6, BEFORE = 5, NO_PAGE = 6, CLOSE = 16 };
    struct guard_layout layout = {0};
    const bool once = item->calls == CHECK_ONE_RUN || item->calls == CHECK_ONE_LAUNCH;
    const unsigned lot = (unsigned)(pattern_random(&random) % LOTS);

    if (version->remote || item->golden || item->frames || item->queue || item->between || item->growth ||
        item->unanswered || !once)
        return layout;
    if (lot < APART) {
        layout.in_apart = 1 + (int)(pattern_random(&random) % 3);
        layout.out_apart = layout.in_apart ^ 1;
    }
    if (lot != NO_PAGE)
        layout.page = lot == BEFORE ? VERIFY_PAGE_BEFORE : VERIFY_PAGE_BEHIND;
    if (image_minimal_stride(in) - image_row_bytes(in) < CLOSE)
        layout.page = VERIFY_PAGE_BEHIND;
    return layout;
}

/* Which thread of a team is late, in one case in three of a version of the CPU that has more than one thread; 0:
 * nobody. */
static uint64_t draw_late(const struct version *version, const struct check_case *item, int threads, uint64_t random)
{
    if (version_is_cuda(version) || version_is_peer(version) || version->remote || item->golden || item->growth ||
        (item->threads ? item->threads : threads) < 2 || !openmp_can_record())
        return 0;
    return pattern_random(&random) % 3 ? 0 : pattern_random(&random) | 1;
}

void circumstances_set(const struct version *version, const struct check_case *item, const struct image in[],
                       const void *params, uint64_t seed, int threads, char words[CIRCUMSTANCES_WORDS])
{
    static const int blocks[] = {0, 1, 132, 2, 3};
    uint64_t random = seed ^ 0x7d2a11;
    const bool small = item->drawn && version_is_cuda(version) && !version_is_peer(version) && !version->remote;
    const int few = small ? blocks[pattern_random(&random) % (sizeof blocks / sizeof *blocks)] : 0;
    const struct guard_layout layout = draw_layout(version, item, in, seed ^ 0x57a1de5);

    const uint64_t late = draw_late(version, item, threads, seed ^ 0x1a7e);

    words[0] = '\0';
    if (!version->remote)
        draw_tunables(version, in, params, item->drawn, seed ^ 0x10a7);
    if (!version->remote && item->drawn && version->tunables) {
        snprintf(words, CIRCUMSTANCES_WORDS, ", ");
        version_describe_tunables(version, words + 2, CIRCUMSTANCES_WORDS - 2);
    }
    if (few)
        append(words, ", %d multiprocessors", few);
    if (item->threads)
        append(words, ", %d threads", item->threads);
    if (late)
        append(words, item->threads ? ", one of them late" : ", a late thread");
    if (layout.in_apart || layout.out_apart)
        append(words, ", rows %d bytes farther apart in the input and %d in the output",
               layout.in_apart * IMAGE_ALIGNMENT, layout.out_apart * IMAGE_ALIGNMENT);
    if (layout.page == VERIFY_PAGE_BEHIND)
        append(words, ", " CIRCUMSTANCES_PAGE "behind the input");
    if (layout.page == VERIFY_PAGE_BEFORE)
        append(words, ", " CIRCUMSTANCES_PAGE "before the input");
    omp_set_num_threads(item->threads ? item->threads : threads);
    if (version_is_cuda(version))
        device_make_small(few);
    openmp_hold_up(late);
    guard_lay_out(layout);
}
