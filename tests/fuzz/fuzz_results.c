/*
 * Results files, as `rungs compare` reads them: a file with itself, and what it says of the two.
 */
#include <string.h>

#include "common/cli/compare_table.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("a.json", bytes, size);
    struct compare_report report = {.threshold = 1.05};
    struct compare_results a, b;

    fuzz_silence();
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    if (compare_load(&a, path) == STATUS_OK && compare_load(&b, path) == STATUS_OK) {
        compare_find_conditions(&a, &b, &report.conditions);
        compare_print(&report, &a, &b);
    }
    compare_unload(&a);
    compare_unload(&b);
    return 0;
}
