/*
 * Checkpoints of detect's training, which goes on from what is read until it has two stages: ten flat faces of 6x6
 * pixels and a photograph of 8x7, so that this takes little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/registry.h"
#include "tests/fuzz/fuzz.h"

static void *params_of(const struct trainer *trainer)
{
    /* Those of the seed in corpus.py: a checkpoint of another training is refused. */
    static const char *const settings[] = {"stages=2", "samples=100", "features=12"};
    const struct algorithm parameters = {
        .name = "detect", .params_size = trainer->params_size, .parameters = trainer->parameters};
    void *params = calloc(1, trainer->params_size);

    if (!params ||
        params_parse(&parameters, NULL, 0, settings, sizeof settings / sizeof *settings, params) != STATUS_OK)
        abort();
    return params;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char head[] = "\x93NUMPY\x01\0\x76\0{'descr': '|u1', 'fortran_order': False, 'shape': (10, 6, 6)}";
    static const char photograph[] = "P5 8 7 255\n:(R*m:C}<e;!RkX>1%cQ:mN&s#zL'pTb~a5-vG)w^Yd2@oJ7|fB";
    static const char *data[2];
    static void *params;
    uint8_t faces[128 + 360];
    struct training training = {.data = data, .data_count = 2, .threads = 1, .resume = true};
    const struct trainer *trainer;

    fuzz_open_registry();
    trainer = registry_find_algorithm("detect")->trainer;
    if (!params) {
        memset(faces, ' ', 127);
        memcpy(faces, head, sizeof head - 1);
        faces[127] = '\n';
        memset(faces + 128, 7, 360);
        data[0] = fuzz_file("faces.npy", faces, sizeof faces);
        data[1] = fuzz_file("photograph.pgm", (const uint8_t *)photograph, sizeof photograph - 1);
        params = params_of(trainer);
    }
    fuzz_file("a.model.csv", NULL, 0); /* written beside it; they go with the folder */
    fuzz_file("a.model.checkpoint", bytes, size);
    training.out = fuzz_file("a.model", NULL, 0);
    training.params = params;
    trainer->train(&training);
    return 0;
}
