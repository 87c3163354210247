#include "cpu/motion/shared/components.h"

#include <stdlib.h>

/* Of a row: columns `from` to `to` - 1. A node of the union-find; the sums are those of its component if it is a
 * root. */
struct motion_run {
    int from, to, y, parent;
    struct boxes_sums sums;
};

void motion_components_free(struct motion_components *components)
{
    free(components->runs);
    *components = (struct motion_components){0};
}

static int root_of(struct motion_run *runs, int i)
{
    while (runs[i].parent != i)
        i = runs[i].parent = runs[runs[i].parent].parent;
    return i;
}

/* The smaller root wins: a component's root is its first run. */
static void unite(struct motion_run *runs, int a, int b)
{
    a = root_of(runs, a);
    b = root_of(runs, b);
    runs[a > b ? a : b].parent = a < b ? a : b;
}

/* Appends the runs of row y, found a word at a time. `count` are there already, and those from `first` on are the
 * row's. */
static int append_runs(const struct motion_bits *bits, int y, struct motion_run *runs, int count)
{
    const int first = count;

    for (int w = 0; w < bits->words; w++) {
        uint64_t left = motion_bits_row(bits, y)[w];
        while (left) {
            const int from = __builtin_ctzll(left), x = w * BITS_WORD + from;
            const uint64_t behind = ~(left >> from); /* the first 0 ends the run */
            const int length = behind ? __builtin_ctzll(behind) : BITS_WORD;
            if (count > first && runs[count - 1].to == x)
                runs[count - 1].to += length; /* continues from the word before */
            else {
                runs[count] = (struct motion_run){x, x + length, y, count, {0}};
                count++;
            }
            left = from + length < BITS_WORD ? left & (~UINT64_C(0) << (from + length)) : 0;
        }
    }
    return count;
}

/* Finds all runs and unites those of neighbouring rows that touch. */
static enum status find_runs(struct motion_components *found, const struct motion_bits *bits, int connectivity,
                             int *end)
{
    const int touch = connectivity == 8;
    int above = 0, first = 0; /* where the runs of the row above and of this row begin */

    *end = 0;
    for (int y = 0; y < bits->rows; y++, above = first, first = *end) {
        if (*end + bits->width / 2 + 1 > found->capacity) {
            const int capacity = 2 * (*end + bits->width / 2 + 1);
            struct motion_run *larger = realloc(found->runs, (size_t)capacity * sizeof *larger);
            if (!larger)
                return status_set(STATUS_NO_MEMORY, "no memory for %d runs", capacity);
            found->runs = larger;
            found->capacity = capacity;
        }
        struct motion_run *runs = found->runs;
        *end = append_runs(bits, y, runs, *end);
        for (int i = first, k = above; i < *end; i++) {
            while (k < first && runs[k].to + touch <= runs[i].from)
                k++;
            for (int m = k; m < first && runs[m].from < runs[i].to + touch; m++)
                unite(runs, i, m);
        }
    }
    return STATUS_OK;
}

enum status motion_components_write(struct motion_components *found, const struct motion_bits *bits,
                                    const struct motion_params *params, struct image *result)
{
    int count, listed = 0;
    enum status status = STATUS_OK;

    TRY(find_runs(found, bits, params->connectivity, &count));
    for (int i = 0; i < count; i++) {
        const struct motion_run *run = &found->runs[i];
        boxes_add_run(&found->runs[root_of(found->runs, i)].sums, run->from, run->to, run->y);
    }
    image_fill(result, 0);
    for (int i = 0; i < count; i++) {
        const struct motion_run *run = &found->runs[i];
        if (run->parent == i && run->sums.area >= params->min_area && ++listed <= params->max_boxes)
            boxes_write_row(&run->sums, run->y * bits->width + run->from + 1, image_row(result, listed));
    }
    *(int32_t *)image_row(result, 0) = listed;
out:
    return status;
}
