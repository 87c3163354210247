/*
 * random.cpp: what the emulator draws by lot: the order of things and the garbage in fresh memory.
 */
#include <atomic>
#include <mutex>
#include <stdlib.h>
#include <string.h>

#include "common/emulator/emulator.h"
#include "common/emulator/emulator_state.h"

namespace emulated
{

static std::atomic<int> fresh_device_byte, fresh_shared_byte; /* 0: garbage */

static std::mutex seed_mutex;
static uint64_t launch_random;
static bool launch_random_set;

uint64_t number_from_environment(const char *name, uint64_t preset)
{
    const char *text = getenv(name);
    char *end = nullptr;
    const unsigned long long value = text != nullptr ? strtoull(text, &end, 0) : 0;

    return text != nullptr && end != text && *end == '\0' ? value : preset;
}

uint64_t seed_from_environment()
{
    return number_from_environment("RUNGS_EMULATOR_SEED", 1);
}

uint64_t next_launch_seed()
{
    const std::lock_guard<std::mutex> lock(seed_mutex);

    if (!launch_random_set) {
        launch_random = seed_from_environment();
        launch_random_set = true;
    }
    return next_random(&launch_random);
}

uint64_t shuffled(uint64_t index, uint64_t count, uint64_t seed)
{
    int half = 1;

    while (half < 32 && count > UINT64_C(1) << 2 * half)
        half++;
    do {
        uint64_t left = index >> half, right = index & ((UINT64_C(1) << half) - 1);

        for (uint64_t round = 0; round < 4; round++) {
            uint64_t key = seed ^ round << 60 ^ right;
            const uint64_t mixed = left ^ (next_random(&key) & ((UINT64_C(1) << half) - 1));

            left = right;
            right = mixed;
        }
        index = left << half | right;
    } while (index >= count);
    return index;
}

void fill_with_garbage(void *memory, size_t bytes, uint64_t *random)
{
    unsigned char *p = static_cast<unsigned char *>(memory);

    while (bytes > 0) {
        const uint64_t word = next_random(random);
        const size_t part = bytes < sizeof(word) ? bytes : sizeof(word);

        memcpy(p, &word, part);
        p += part;
        bytes -= part;
    }
}

static void fill_fresh(void *memory, size_t bytes, int byte, uint64_t *random)
{
    if (byte != 0)
        memset(memory, byte, bytes);
    else
        fill_with_garbage(memory, bytes, random);
}

void fill_fresh_device_memory(void *memory, size_t bytes, uint64_t *random)
{
    fill_fresh(memory, bytes, fresh_device_byte.load(std::memory_order_relaxed), random);
}

void fill_fresh_shared_memory(void *memory, size_t bytes, uint64_t *random)
{
    fill_fresh(memory, bytes, fresh_shared_byte.load(std::memory_order_relaxed), random);
}

} /* namespace emulated */

void emulator_perturb(int device_byte, int shared_byte)
{
    emulated::fresh_device_byte = device_byte;
    emulated::fresh_shared_byte = shared_byte;
}

void emulator_seed(uint64_t seed)
{
    const std::lock_guard<std::mutex> lock(emulated::seed_mutex);

    emulated::launch_random = seed;
    emulated::launch_random_set = true;
}
