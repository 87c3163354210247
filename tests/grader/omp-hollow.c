/* expect: right 0..0 | speed 0..0 | list has the attribute constructor */
/*
 * Idea:     registers nothing that can be called: no run(), a name that never ends.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"

__attribute__((constructor)) static void register_version(void)
{
    static struct version version = {.path = __FILE__, .algorithm_name = "grayscale", .state_size = (size_t)1 << 62};

    registry_add_version(&version);
}
