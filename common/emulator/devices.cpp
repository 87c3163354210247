/*
 * devices.cpp: how many devices the emulator presents, which one is whose, and how one is lost. Memory, streams and
 * errors belong to a device; global variables (__device__, __constant__) and kernels' attributes are all devices'
 * together.
 */
#include <algorithm>
#include <atomic>
#include <stdlib.h>
#include <string.h>

#include "common/emulator/emulator_state.h"

namespace emulated
{

__thread int current_device;

int device_count()
{
    static const int count = (int)std::clamp<uint64_t>(number_from_environment("RUNGS_DEVICES", 1), 1, MOST_DEVICES);

    return count;
}

size_t told_device_bytes()
{
    const char *text = getenv("RUNGS_EMULATOR_MEMORY");
    char *end = nullptr;

    for (int device = 0; text != nullptr; device++) {
        const size_t bytes = (size_t)strtoull(text, &end, 10);

        text = *end == ',' ? end + 1 : nullptr;
        if (device == current_device || text == nullptr)
            return bytes;
    }
    return 0;
}

/* RUNGS_EMULATOR_LOSE, "DEVICE:LAUNCH DEVICE:LAUNCH": the launch of that device with that number is its end. */
bool device_is_lost_now()
{
    static std::atomic<long> launches[MOST_DEVICES];
    const long own = ++launches[current_device];
    const char *text = getenv("RUNGS_EMULATOR_LOSE");

    while (text != nullptr && *text != '\0') {
        char *end = nullptr;
        const long device = strtol(text, &end, 10), launch = *end == ':' ? strtol(end + 1, &end, 10) : 0;

        if (device == current_device && launch == own) {
            set_lasting_error(cudaErrorLaunchFailure, formatted("device %ld is lost", device));
            return true;
        }
        text = strchr(text, ' ');
        text = text != nullptr ? text + 1 : nullptr;
    }
    return false;
}

} /* namespace emulated */
