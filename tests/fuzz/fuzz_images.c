/*
 * PNG, JPEG, BMP, PGM, PPM, and .npy as a picture. The first byte says how many channels are asked for.
 */
#include "common/image/image_io.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const int channels[] = {0, 1, 3};
    struct image image;

    if (size == 0)
        return 0;
    if (image_load(&image, fuzz_file("a.png", bytes + 1, size - 1), channels[bytes[0] % 3]) == STATUS_OK)
        image_free(&image);
    return 0;
}
