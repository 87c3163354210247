#include "common/contract/algorithm.h"

#include <string.h>

const char *slot_kind_name(enum slot_kind kind)
{
    static const char *const names[] = {"picture", "labels", "table", "matrix", "tensor"};

    return names[kind];
}

int slot_table_rows(const struct image *table)
{
    const double count = image_sample(table, 0, 0, 0);

    if (!(count > 0))
        return 0;
    return count < table->height - 1 ? (int)count : table->height - 1;
}

const char *operation_name(enum operation operation)
{
    static const char *const names[] = {
        "8-bit multiply-accumulate",
        "16-bit multiply-accumulate",
        "f32 multiply-accumulate",
        "f64 multiply-accumulate",
        "table look-up",
        "counter increment",
        "8-bit comparison",
        "operation",
    };

    return names[operation];
}

enum operation cost_main_operation(const struct cost *cost)
{
    enum operation most = OPERATION_COUNT;

    for (int i = 0; i < OPERATION_COUNT; i++)
        if (cost->operations[i] > (most == OPERATION_COUNT ? 0 : cost->operations[most]))
            most = (enum operation)i;
    return most;
}

void algorithm_count_slots(struct algorithm *algorithm)
{
    algorithm->input_count = algorithm->output_count = 0;
    while (algorithm->input_count < ALGORITHM_MAX_INPUTS && algorithm->inputs[algorithm->input_count].name)
        algorithm->input_count++;
    while (algorithm->output_count < ALGORITHM_MAX_OUTPUTS && algorithm->outputs[algorithm->output_count].name)
        algorithm->output_count++;
}

int algorithm_find_output(const struct algorithm *algorithm, const char *name)
{
    for (int i = 0; i < algorithm->output_count; i++)
        if (strcmp(algorithm->outputs[i].name, name) == 0)
            return i;
    return -1;
}
