#include "common/contract/sides.h"

#include <stddef.h>
#include <string.h>

static const struct side sides[] = {
    {.name = "cpu", .order = 0, .ladder = true, .limits = SIDE_LIMIT_CPU},
    {.name = "cuda", .order = 1, .ladder = true, .cuda = true, .limits = SIDE_LIMIT_GPU},
    {.name = "peer", .order = 2, .yardstick = true, .limits = SIDE_LIMIT_NONE},
    {.name = "student", .order = 3, .limits = SIDE_LIMIT_NONE},
    {.name = "mutant", .order = 4, .limits = SIDE_LIMIT_NONE},
};

const struct side *side_of(const char *id)
{
    static const struct side unknown = {.name = "", .order = 5, .limits = SIDE_LIMIT_NONE};
    const size_t length = strcspn(id, "/");

    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        if (strlen(sides[i].name) == length && strncmp(sides[i].name, id, length) == 0)
            return &sides[i];
    return &unknown;
}
