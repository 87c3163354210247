#include "cpu/motion/shared/components.h"

#include <stdlib.h>

/* A component while it is found: what it has so far, and the one it turned out to be a part of (itself: none). */
struct motion_component {
    int parent, label;
    struct boxes_sums sums;
};

struct motion_run {
    int from, to; /* columns, to excluded */
    int component;
};

enum status motion_components_create(struct motion_components *components, int width)
{
    components->runs = malloc(2 * (size_t)(width / 2 + 1) * sizeof *components->runs);
    return components->runs ? STATUS_OK : status_set(STATUS_NO_MEMORY, "no memory for runs of %d columns", width);
}

void motion_components_free(struct motion_components *components)
{
    free(components->list);
    free(components->runs);
    *components = (struct motion_components){0};
}

static int root_of(struct motion_component *components, int i)
{
    while (components[i].parent != i)
        i = components[i].parent = components[components[i].parent].parent;
    return i;
}

static void unite(struct motion_component *components, int a, int b)
{
    a = root_of(components, a);
    b = root_of(components, b);
    if (a != b)
        components[a > b ? a : b].parent = a < b ? a : b;
}

/* The row's runs of set bits, a word at a time; how many. */
static int find_runs(const uint64_t *row, int words, struct motion_run *runs)
{
    int count = 0;

    for (int w = 0; w < words; w++) {
        uint64_t left = row[w];

        while (left) {
            const int from = __builtin_ctzll(left);
            const uint64_t behind = ~(left >> from); /* the first 0 ends the run */
            const int length = behind ? __builtin_ctzll(behind) : BITS_WORD;

            if (count && runs[count - 1].to == w * BITS_WORD + from)
                runs[count - 1].to += length; /* goes on from the word before */
            else
                runs[count++] = (struct motion_run){w * BITS_WORD + from, w * BITS_WORD + from + length, -1};
            left = from + length < BITS_WORD ? left & (~UINT64_C(0) << (from + length)) : 0;
        }
    }
    return count;
}

static void add(struct boxes_sums *sums, const struct motion_run *run, int y)
{
    const int length = run->to - run->from;

    if (sums->area == 0)
        *sums = (struct boxes_sums){.x_min = run->from, .y_min = y, .x_max = run->to - 1, .y_max = y};
    sums->x_min = run->from < sums->x_min ? run->from : sums->x_min;
    sums->x_max = run->to - 1 > sums->x_max ? run->to - 1 : sums->x_max;
    sums->y_max = y;
    sums->area += length;
    sums->x_sum += (unsigned long long)length * (unsigned)(run->from + run->to - 1) / 2;
    sums->y_sum += (unsigned long long)length * (unsigned)y;
}

static void merge(struct boxes_sums *to, const struct boxes_sums *from)
{
    to->x_min = from->x_min < to->x_min ? from->x_min : to->x_min;
    to->y_min = from->y_min < to->y_min ? from->y_min : to->y_min;
    to->x_max = from->x_max > to->x_max ? from->x_max : to->x_max;
    to->y_max = from->y_max > to->y_max ? from->y_max : to->y_max;
    to->area += from->area;
    to->x_sum += from->x_sum;
    to->y_sum += from->y_sum;
}

/* Components in the order of their first pixels. A run that touches none of the row above begins one; a run that
 * touches several makes them one, and the earliest stands for all. */
static enum status find_components(struct motion_components *found, const struct motion_bits *bits, int connectivity,
                                   int *count)
{
    const int touch = connectivity == 8, width = bits->width;
    struct motion_run *above = found->runs, *row = found->runs + width / 2 + 1;
    int above_count = 0;

    *count = 0;
    for (int y = 0; y < bits->rows; y++) {
        const int row_count = find_runs(motion_bits_row(bits, y), (width + BITS_WORD - 1) / BITS_WORD, row);

        if (*count + row_count > found->capacity) {
            const int capacity = 2 * (*count + row_count);
            struct motion_component *larger = realloc(found->list, (size_t)capacity * sizeof *larger);
            if (!larger)
                return status_set(STATUS_NO_MEMORY, "no memory for %d components", capacity);
            found->list = larger;
            found->capacity = capacity;
        }
        for (int i = 0, k = 0; i < row_count; i++) {
            struct motion_run *run = &row[i];
            while (k < above_count && above[k].to + touch <= run->from)
                k++;
            for (int m = k; m < above_count && above[m].from < run->to + touch; m++) {
                if (run->component < 0)
                    run->component = above[m].component;
                else
                    unite(found->list, run->component, above[m].component);
            }
            if (run->component < 0) {
                run->component = (*count)++;
                found->list[run->component] =
                    (struct motion_component){.parent = run->component, .label = y * width + run->from + 1};
            }
            add(&found->list[run->component].sums, run, y);
        }
        struct motion_run *swap = above;
        above = row;
        row = swap;
        above_count = row_count;
    }
    return STATUS_OK;
}

enum status motion_components_write(struct motion_components *found, const struct motion_bits *bits,
                                    const struct motion_params *params, struct image *result)
{
    struct motion_component *components;
    int count, listed = 0;
    enum status status = STATUS_OK;

    TRY(find_components(found, bits, params->connectivity, &count));
    components = found->list;
    for (int i = count - 1; i >= 0; i--)
        if (components[i].parent != i)
            merge(&components[root_of(components, i)].sums, &components[i].sums);
    image_fill(result, 0);
    for (int i = 0; i < count; i++)
        if (components[i].parent == i && components[i].sums.area >= params->min_area && ++listed <= params->max_boxes)
            boxes_write_row(&components[i].sums, components[i].label, image_row(result, listed));
    *(int32_t *)image_row(result, 0) = listed;
out:
    return status;
}
