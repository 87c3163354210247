/*
 * PNG, JPEG, BMP, PGM, PPM, and .npy as a picture. The first byte says how many channels are asked for, or labels.
 */
#include "common/image/image_io.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const int channels[] = {0, 1, 3};
    const char *path;
    struct image image;

    if (size == 0)
        return 0;
    path = fuzz_file("a.png", bytes + 1, size - 1);
    if ((bytes[0] % 4 == 3 ? image_load_labels(&image, path) : image_load(&image, path, channels[bytes[0] % 4])) ==
        STATUS_OK)
        image_free(&image);
    return 0;
}
