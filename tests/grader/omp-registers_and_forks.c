/* expect: right 0..0 | speed 0..0 | says tried to start a process | list has the attribute constructor */
/*
 * Idea:     registers itself by a constructor of its own, which does more.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <unistd.h>

#include "common/algo/grayscale.h"

static void compute(const struct image *in, struct image *out)
{
    for (int y = 0; y < out->height; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
}

static enum status run_erased(void *state, const struct image in[], struct image *out, const void *params)
{
    (void)state, (void)params;
    compute(in, out);
    return STATUS_OK;
}

__attribute__((constructor)) static void register_version(void)
{
    static struct version version = {.path = __FILE__, .algorithm_name = "grayscale", .run = run_erased};

    registry_add_version(&version);
    if (fork() == 0)
        _exit(0);
}
