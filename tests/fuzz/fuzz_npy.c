/*
 * .npy as an array, with and without room for a row in front. What is read is written and read again: the same.
 */
#include <stdlib.h>
#include <string.h>

#include "common/image/npy.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct image array, again;
    const char *path;

    if (size == 0)
        return 0;
    path = fuzz_file("a.npy", bytes + 1, size - 1);
    if (npy_load_array(&array, path, bytes[0] % 2) != STATUS_OK)
        return 0;
    if (bytes[0] % 2 == 0) {
        if (npy_save(&array, path) != STATUS_OK || npy_load_array(&again, path, 0) != STATUS_OK ||
            again.width != array.width || again.height != array.height || again.channels != array.channels)
            abort();
        for (int y = 0; y < array.height; y++)
            if (memcmp(image_row(&array, y), image_row(&again, y), image_row_bytes(&array)) != 0)
                abort();
        image_free(&again);
    }
    image_free(&array);
    return 0;
}
