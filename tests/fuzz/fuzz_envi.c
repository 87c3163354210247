/*
 * ENVI cubes, with what they leave out: the header, a 0 byte, the samples. A header that names its data file finds
 * cube.img alone.
 */
#include <string.h>

#include "common/image/envi.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = size ? memchr(bytes, 0, size) : NULL;
    const size_t header = end ? (size_t)(end - bytes) : size;
    struct kept_pixels kept;
    struct image cube, whole;
    const char *path;

    fuzz_file("cube.img", end ? end + 1 : bytes, end ? size - header - 1 : 0);
    path = fuzz_file("cube.hdr", bytes, header);
    if (envi_load(&cube, path, &kept) == STATUS_OK && kept.places && kept_spread(&whole, &cube, &kept) == STATUS_OK)
        image_free(&whole);
    image_free(&cube);
    kept_free(&kept);
    return 0;
}
