#include "cpu/labelling/shared/numbers.h"

int32_t numbers_by_run(struct runs *runs, struct image out[], const struct labelling_params *params)
{
    int32_t count = 0;

    for (int y = 0; y < out->height; y++)
        for (int32_t i = runs->first[y]; i < runs->first[y] + runs->count[y]; i++) {
            if (runs->parent[i] != i)
                continue;
            runs->number[i] = ++count;
            if (params->consecutive)
                runs->label[i] = count;
            if (params->statistics && count <= params->max_components)
                *(int32_t *)image_row(&out[1], count) = runs->label[i];
        }
    return count;
}

void numbers_add_row(const struct runs *runs, struct boxes_sums *sums, int rows, int y)
{
    const uint64_t *bits = runs->bits + (size_t)y * runs->words;
    uint64_t carry = 0;
    int32_t i = runs->first[y];
    int start = -1;

    for (int word = 0; word <= runs->words; word++) { /* the last run may end behind the last word */
        const uint64_t x = word < runs->words ? bits[word] : 0;
        for (uint64_t edges = x ^ (x << 1 | carry); edges; edges &= edges - 1) {
            const int at = 64 * word + __builtin_ctzll(edges);
            if (start < 0) {
                start = at;
                continue;
            }
            int32_t root = i++;
            while (runs->parent[root] != root)
                root = runs->parent[root];
            if (runs->number[root] <= rows)
                boxes_add_run(&sums[runs->number[root] - 1], start, at, y);
            start = -1;
        }
        carry = x >> 63;
    }
}

void numbers_write(struct image *table, struct boxes_sums *sums, int threads, int32_t count)
{
    const int rows = table->height - 1;

    for (int i = 0; i < rows && i < count; i++) {
        for (int t = 1; t < threads; t++)
            boxes_add_sums(&sums[i], &sums[(size_t)t * rows + i]);
        boxes_write_row(&sums[i], *(int32_t *)image_row(table, 1 + i), image_row(table, 1 + i));
    }
    *(int32_t *)table->data = count;
}
