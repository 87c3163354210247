/*
 * Files of tuned values, applied to all CPU versions of blur.
 */
#include <stdlib.h>

#include "common/measure/tuned.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("tuned.json", bytes, size);
    struct version *const *versions;
    size_t count;

    setenv("RUNGS_TUNED", path, 1);
    fuzz_open_registry();
    registry_versions(registry_find_algorithm("blur"), &versions, &count);
    tuned_apply((const struct version *const *)versions, count, NULL, 0, bytes && size ? bytes[size - 1] % 4 : 0, NULL,
                NULL, false);
    for (size_t i = 0; i < count; i++) {
        const char *note = tuned_note(versions[i], NULL);

        /* A note ends on a terminal. */
        for (const char *c = note; c && *c; c++)
            if ((unsigned char)*c < ' ' || *c == 127)
                abort();
    }
    return 0;
}
