/*
 * chosen.cuh: an LBP stage in one window, whose nine cells are chosen out of words of three rows.
 */
#ifndef RUNGS_DETECT_STEPS_CHOSEN_CUH
#define RUNGS_DETECT_STEPS_CHOSEN_CUH

#include "cuda/detect/shared/planes.cuh"

/* Of the cells that begin `skipped` bytes behind the first word and lie `step`, 1 or 2, bytes apart, which bytes of two words they are. */
static inline HOST_DEVICE unsigned chosen_bytes(unsigned skipped, unsigned step)
{
    return 0x111 * skipped + 0x210 * step;
}

/* The code of the cells in three rows of words, `stride` bytes apart. Behind a stage's rows there is a byte at least, of its plane or of
 * the next one, so that the second word may always be read: cells of two rows end a row before their plane does. */
static inline __device__ int chosen_code(const uint8_t *words, int stride, unsigned bytes)
{
    unsigned rows[3];

    for (int j = 0; j < 3; j++) {
        const unsigned *row = (const unsigned *)(words + j * stride);
        rows[j] = __byte_perm(row[0], row[1], bytes);
    }
    /* Cells 0 1 2 5 and 8 7 6 3 of the border, and of each whether it is above the centre; the product puts byte i's bit at 24 + i. */
    const unsigned centre = __byte_perm(rows[1], 0, 0x1111);
    const unsigned first = __vsetgtu4(__byte_perm(rows[0], rows[1], 0x6210), centre);
    const unsigned second = __vsetgtu4(__byte_perm(rows[2], rows[1], 0x4012), centre);

    return (first * 0x01020408u >> 24) | (second * 0x01020408u >> 24) << 4;
}

/* As planes_bin(), in planes whose rows are whole words. */
static inline __device__ int chosen_bin(int feature, const struct detect_stage &stage, const uint8_t *window, int width,
                                        int size)
{
    const uint8_t *from = window + (stage.width - 1 + 2 * (stage.height - 1)) * size + stage.y * width + stage.x;
    const unsigned skipped = (unsigned)(uintptr_t)from % 4;

    if (feature != DETECT_LBP)
        return planes_bin(feature, stage, window, width, size);
    return chosen_code(from - skipped, stage.height * width, chosen_bytes(skipped, stage.width));
}

#endif
