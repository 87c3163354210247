/*
 * races_which.cpp: which launches the watch over races looks at.
 */
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unordered_map>
#include <vector>

#include "common/emulator/emulator_internal.h"
#include "common/emulator/races_internal.h"

namespace emulated
{

bool is_told;

/* RUNGS_EMULATOR_RACES=2: of whole programs more is watched, and what is not is said, once for each kernel. */
bool of_program()
{
    static const bool it_is = [] {
        const char *const text = getenv("RUNGS_EMULATOR_RACES");

        return text != nullptr && strcmp(text, "2") == 0;
    }();

    return it_is;
}

/* CUDA threads of a launch that is watched, its accesses after which it is let go, and accesses of all launches of one
 * shape at one place after which the next ones are: a race that a shape has shows in the first of them, unless its
 * author has put others before it. So in emulator_watch_races() no grid is too large, no launch is let go half way, and
 * one in so many of the next ones is drawn by lot. */
static const uint64_t MOST_THREADS_WATCHED = 1 << 13, MOST_OF_LAUNCH = 1 << 17, MOST_ACCESSES_WATCHED = 1 << 18,
                      OF_PROGRAM = 1 << 7;
static const unsigned ONE_IN = 8;

static bool is_drawn()
{
    static uint64_t random = [] {
        const void *const bytes = (const void *)getauxval(AT_RANDOM); /* 16, the kernel's */
        uint64_t seed = 1;

        if (bytes != nullptr)
            memcpy(&seed, bytes, sizeof(seed));
        return seed;
    }();

    return is_told && next_random(&random) % ONE_IN == 0;
}

static void say_unwatched(const launch_site &site, const char *reason, unsigned long long count,
                          unsigned long long most)
{
    static std::vector<int> *const said = new std::vector<int>; /* lines */

    if (!of_program() || std::find(said->begin(), said->end(), site.line) != said->end())
        return;
    said->push_back(site.line);
    fprintf(stderr, "emulator: kernel %s (%s:%d) is not watched for races: ", site.name, site.file, site.line);
    fprintf(stderr, reason, count, most);
    fputc('\n', stderr);
}

bool is_to_be_watched(const launch_site &site, uint64_t **counter, uint64_t *most)
{
    static std::unordered_map<uint64_t, uint64_t> *const watched = new std::unordered_map<uint64_t, uint64_t>;
    const uint64_t numbers[] = {(uintptr_t)site.name, (uintptr_t)site.line, site.grid.x,  site.grid.y,      site.grid.z,
                                site.block.x,         site.block.y,         site.block.z, site.shared_bytes};
    uint64_t key = 1;

    const uint64_t most_threads = of_program() ? 1 << 20 : MOST_THREADS_WATCHED;
    const uint64_t threads =
        (uint64_t)site.grid.x * site.grid.y * site.grid.z * site.block.x * site.block.y * site.block.z;

    if (!is_told && threads > most_threads) {
        say_unwatched(site, "%llu threads, more than %llu", threads, most_threads);
        return false;
    }
    for (const uint64_t number : numbers) {
        key ^= number;
        key = next_random(&key);
    }
    *counter = &(*watched)[key];
    *most = is_told || of_program() ? UINT64_MAX : **counter + MOST_OF_LAUNCH;

    const uint64_t most_before = (of_program() ? OF_PROGRAM : 1) * MOST_ACCESSES_WATCHED;

    if (**counter < most_before || is_drawn())
        return true;
    say_unwatched(site, "%llu accesses in its launches before, more than %llu", **counter, most_before);
    return false;
}

} /* namespace emulated */

extern "C" void emulator_watch_races(void)
{
    emulated::is_told = emulated::listening = true;
}
