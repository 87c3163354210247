/*
 * The model files of every algorithm that has one. Where the first byte is even, a model of detect gets the checksum
 * that it should have, behind which there is most of its reader.
 */
#include <stdlib.h>
#include <string.h>

#include "common/contract/registry.h"
#include "tests/fuzz/fuzz.h"

/* As zlib's crc32(), of all bytes but the last four, which it becomes. */
static void mend_checksum(uint8_t *bytes, size_t size)
{
    uint32_t crc = ~(uint32_t)0;

    for (size_t i = 0; i < size - 4; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    for (int i = 0; i < 4; i++)
        bytes[size - 4 + (size_t)i] = (uint8_t)(~crc >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char magic[] = "RUNGSDET";
    uint8_t *file;
    const char *path;
    int models = 0;

    if (size == 0)
        return 0;
    fuzz_open_registry();
    file = malloc(size);
    if (!file)
        return 0;
    memcpy(file, bytes + 1, size - 1);
    if (bytes[0] % 2 == 0 && size > sizeof magic + 4 && memcmp(file, magic, sizeof magic - 1) == 0)
        mend_checksum(file, size - 1);
    path = fuzz_file("a.model", file, size - 1);
    free(file);
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
