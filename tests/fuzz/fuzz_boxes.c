/*
 * Files of known boxes, as the training of barcode reads them. Without a picture it ends there.
 */
#include <stdlib.h>

#include "common/contract/registry.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char params[4096]; /* 0: no box comes to be compared with a patch */
    const struct training training = {.extra = fuzz_file("boxes.csv", bytes, size), .params = params, .threads = 1};

    fuzz_open_registry();
    if (registry_find_algorithm("barcode")->trainer->train(&training) == STATUS_OK)
        abort(); /* there is nothing to train with */
    return 0;
}
