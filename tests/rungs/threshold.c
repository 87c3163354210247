/*
 * threshold.c: threshold with value=otsu, by a version of otsu that keeps a state: exit 0 when it got one.
 */
#include "common/algo/threshold.h"

#include <stdio.h>

#include "common/contract/device_info.h"

const char *device_needs_capability(int capability)
{
    (void)capability;
    return NULL;
}

int main(void)
{
    const struct threshold_params params = {.value = THRESHOLD_OTSU};
    const struct image in = {.width = 1, .height = 1, .channels = 1, .type = PIXEL_U8};
    int value = 0;

    if (registry_open() != STATUS_OK || threshold_value(&in, &params, "cpu/kept", &value) != STATUS_OK || value != 7) {
        printf("%d, %s\n", value, status_message());
        return 1;
    }
    return 0;
}
