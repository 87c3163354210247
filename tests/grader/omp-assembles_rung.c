/* expect: right 0..0 | speed 0..0 | says alone | list names __asm__ */
/*
 * Idea:     assembles a built reference rung into itself.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"

__asm__(".section .rodata\n.incbin \"build/cpu/grayscale/1_omp.c.o\"\n.text\n");

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

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    compute(in, out);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
