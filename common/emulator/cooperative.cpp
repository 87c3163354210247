/*
 * cooperative.cpp: launches whose blocks wait for each other (cudaLaunchCooperativeKernel): each block has a host
 * thread of its own, on which its threads are fibers as ever. Where all meet, one fiber of each block waits with its
 * host thread. Nobody looks for races in such a launch.
 */
#include <condition_variable>
#include <mutex>

#include "common/emulator/emulator_state.h"

namespace emulated
{

enum : uint64_t { MOST_COOPERATIVE_BLOCKS = 256 };

static thread_local bool wanted; /* by the launch that this host thread is about to make */
static std::mutex meeting_mutex;
static std::condition_variable meeting;
static uint64_t arrived, meetings;
static std::atomic<bool> cooperative; /* the launch that runs now */

void want_cooperative_launch(bool now)
{
    wanted = now;
}

bool begin_cooperative_launch(const launch_site &site, uint64_t blocks)
{
    cooperative = false;
    if (!wanted)
        return true;
    if (blocks > MOST_COOPERATIVE_BLOCKS) {
        set_error(cudaErrorCooperativeLaunchTooLarge, "kernel %s (%s:%d): %llu blocks, at most %d at the same time",
                  site.name, site.file, site.line, (unsigned long long)blocks, (int)MOST_COOPERATIVE_BLOCKS);
        return false;
    }
    arrived = 0;
    cooperative = true;
    return true;
}

bool is_cooperative_launch()
{
    return cooperative;
}

bool grid_can_meet()
{
    return cooperative;
}

void grid_barrier(const char *file, int line)
{
    worker &w = *active;

    if (!cooperative)
        fault("grid.sync() in %s:%d needs a launch by cudaLaunchCooperativeKernel()", file, line);
    barrier(vote::none, 0, "grid.sync", file, line);
    if (self->place == 0) {
        std::unique_lock<std::mutex> lock(meeting_mutex);
        const uint64_t own = meetings;

        if (++arrived == w.launch->blocks) {
            arrived = 0;
            meetings++;
            meeting.notify_all();
        }
        while (meetings == own && !w.launch->failed)
            meeting.wait_for(lock, std::chrono::milliseconds(10));
    }
    barrier(vote::none, 0, "grid.sync", file, line);
}

} /* namespace emulated */
