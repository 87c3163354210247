#include "common/image/pattern.h"

const char *pattern_name(enum pattern pattern)
{
    switch (pattern) {
    case PATTERN_ZERO:
        return "zero";
    case PATTERN_MAXIMUM:
        return "maximum";
    case PATTERN_CHECKERBOARD:
        return "checkerboard";
    case PATTERN_GRADIENT:
        return "gradient";
    case PATTERN_RANDOM:
        return "random";
    case PATTERN_BLOCKS:
        return "blocks";
    case PATTERN_COUNT:
        break;
    }
    return "?";
}

uint64_t pattern_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* Writes sample i of a row; `value` has 64 bits of which each type takes the topmost that it can hold. */
static void store(void *row, size_t i, enum pixel_type type, uint64_t value)
{
    switch (type) {
    case PIXEL_U8:
        ((uint8_t *)row)[i] = (uint8_t)(value >> 56);
        break;
    case PIXEL_U16:
        ((uint16_t *)row)[i] = (uint16_t)(value >> 48);
        break;
    case PIXEL_I32:
        ((int32_t *)row)[i] = (int32_t)(value >> 32);
        break;
    case PIXEL_F32:
        /* 24 bits fill a float's mantissa: every value is exact and the largest is 1. */
        ((float *)row)[i] = (float)(value >> 40) / 16777215.0f;
        break;
    case PIXEL_U32:
        ((uint32_t *)row)[i] = (uint32_t)(value >> 32);
        break;
    case PIXEL_F64:
        /* 53 bits likewise. */
        ((double *)row)[i] = (double)(value >> 11) / 9007199254740991.0;
        break;
    case PIXEL_TYPE_COUNT:
        break;
    }
}

void pattern_fill(struct image *image, enum pattern pattern, uint64_t seed)
{
    enum { BLOCK = 32 };
    const size_t channels = (size_t)image->channels;
    /* The largest i32 is 2^31 - 1; of the other types it is all ones. */
    const uint64_t maximum = image->type == PIXEL_I32 ? UINT64_MAX >> 1 : UINT64_MAX;

    for (int y = 0; y < image->height; y++) {
        void *row = image_row(image, y);

        for (size_t i = 0; i < (size_t)image->width * channels; i++) {
            const uint64_t x = i / channels, c = i % channels;
            uint64_t value = 0, block;

            switch (pattern) {
            case PATTERN_MAXIMUM:
                value = maximum;
                break;
            case PATTERN_CHECKERBOARD:
                value = (x + (uint64_t)y + c) % 2 ? maximum : 0;
                break;
            case PATTERN_GRADIENT:
                /* Steps of 3, 7 and 64 of 256: no two of the directions, and no small shift, look alike. */
                value = (3 * x + 7 * (uint64_t)y + 64 * c) << 56;
                break;
            case PATTERN_RANDOM:
                value = pattern_random(&seed);
                break;
            case PATTERN_BLOCKS:
                block = seed + (x / BLOCK) + (uint64_t)y / BLOCK * 0x10001;
                value = pattern_random(&block);
                break;
            case PATTERN_ZERO:
            case PATTERN_COUNT:
                break;
            }
            store(row, i, image->type, value);
        }
    }
}
