#include "cpu/labelling/shared/runs.h"

#include <stdlib.h>

/* `count` elements of `size` bytes out of the block that `at` counts the bytes of; NULL while there is no block. */
static void *part(uint8_t *block, size_t *at, size_t count, size_t size)
{
    void *here = block ? block + *at : NULL;

    *at += (count * size + 63) / 64 * 64;
    return here;
}

static size_t lay_out(struct runs *runs, size_t rows, size_t bands, int wanted)
{
    const size_t most = rows * (size_t)runs->most + bands * RUNS_SLACK;
    size_t at = 0;

    runs->bits = part(runs->block, &at, rows * (size_t)runs->words, sizeof *runs->bits);
    runs->first = part(runs->block, &at, rows, sizeof *runs->first);
    runs->count = part(runs->block, &at, rows, sizeof *runs->count);
    runs->parent = part(runs->block, &at, most, sizeof *runs->parent);
    runs->label = part(runs->block, &at, most, sizeof *runs->label);
    runs->roots = part(runs->block, &at, wanted & RUNS_NUMBERS ? rows : 0, sizeof *runs->roots);
    runs->number = part(runs->block, &at, wanted & RUNS_NUMBERS ? most : 0, sizeof *runs->number);
    runs->hung = part(runs->block, &at, wanted & RUNS_HUNG ? most : 0, sizeof *runs->hung);
    runs->edges = part(runs->block, &at, wanted & RUNS_EDGES ? 2 * most : 0, sizeof *runs->edges);
    return at;
}

/* One block: glibc learns to keep one of up to 32 MB from call to call, while several add up to what it gives back to the
 * system each time, and the system's clearing of new pages takes longer than all that the rungs do. */
enum status runs_reserve(struct runs *runs, const struct image *in, int bands, int wanted)
{
    struct runs need = {.words = (in->width + 63) / 64, .most = (in->width + 1) / 2};

    need.bytes = lay_out(&need, (size_t)in->height, (size_t)bands, wanted);
    if (need.bytes > runs->bytes) {
        free(runs->block);
        *runs = (struct runs){.block = malloc(need.bytes)};
        if (!runs->block)
            return status_set(STATUS_NO_MEMORY, "no memory for the runs of %dx%d pixels", in->width, in->height);
        runs->bytes = need.bytes;
    }
    need.block = runs->block;
    need.bytes = runs->bytes;
    lay_out(&need, (size_t)in->height, (size_t)bands, wanted);
    *runs = need;
    return STATUS_OK;
}

enum status runs_create(struct runs *runs, const struct image *in, int bands, int wanted)
{
    *runs = (struct runs){0};
    return runs_reserve(runs, in, bands, wanted);
}

void runs_free(struct runs *runs)
{
    free(runs->block);
}

int runs_find(const struct image *in, struct runs *runs, int y)
{
    const uint8_t *row = image_row(in, y);
    uint16_t *edges = runs_edges(runs, y);
    int count = 0;

    for (int x = 0; x < in->width; x++)
        if (!row[x] != (x == 0 || !row[x - 1]))
            edges[count++] = (uint16_t)x;
    if (count % 2)
        edges[count++] = (uint16_t)in->width;
    return count / 2;
}

int32_t runs_plant(struct runs *runs, int y, int width, int count)
{
    const uint16_t *edges = runs_edges(runs, y);
    const int32_t first = runs->first[y];

    runs->count[y] = count;
    for (int i = 0; i < count; i++) {
        runs->parent[first + i] = first + i;
        runs->label[first + i] = y * width + edges[2 * i] + 1;
    }
    return first + count;
}

void runs_flatten(struct runs *runs, int32_t first, int32_t next)
{
    for (int32_t i = first; i < next; i++) /* parents come first, so theirs are final */
        runs->parent[i] = runs->parent[runs->parent[i]];
}

void runs_label_row(const struct runs *runs, struct image *out, int y)
{
    const uint16_t *edges = runs_edges(runs, y);
    int32_t *labels = image_row(out, y);
    int x = 0;

    for (int i = 0; i < runs->count[y]; i++) {
        int32_t root = runs->parent[runs->first[y] + i];
        while (runs->parent[root] != root)
            root = runs->parent[root];
        for (; x < edges[2 * i]; x++)
            labels[x] = 0;
        for (; x < edges[2 * i + 1]; x++)
            labels[x] = runs->label[root];
    }
    for (; x < out->width; x++)
        labels[x] = 0;
}
