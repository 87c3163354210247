/*
 * The model files of every algorithm that has one, and parameters that name one. The first byte chooses.
 */
#include <stdlib.h>

#include "common/contract/registry.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path;
    int models = 0;

    if (size == 0)
        return 0;
    fuzz_open_registry();
    path = fuzz_file("a.model", bytes + 1, size - 1);
    for (const struct algorithm *a = registry_algorithms(); a; a = a->next) {
        for (const struct parameter *p = a->parameters; p && p->name; p++) {
            struct model model = {0};

            if (p->kind != PARAMETER_MODEL)
                continue;
            models++;
            if (model_open(&model, path, p->load) == STATUS_OK && (!model.data || (uintptr_t)model.data % 64 != 0))
                abort();
            model_close_all();
        }
    }
    if (models == 0)
        abort(); /* it would try nothing */
    return 0;
}
