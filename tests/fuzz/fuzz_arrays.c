/*
 * IDX files and whatever else is read as an array or a matrix by its content.
 */
#include "common/image/array_io.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct image array;
    const char *path;

    if (size == 0)
        return 0;
    path = fuzz_file("a-idx3-ubyte", bytes + 1, size - 1);
    if ((bytes[0] % 2 ? array_load(&array, path, NULL) : array_load_matrix(&array, path)) == STATUS_OK)
        image_free(&array);
    return 0;
}
