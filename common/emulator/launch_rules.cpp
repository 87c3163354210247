/*
 * launch_rules.cpp: which launches the device refuses, and why; and who is told of those that it takes.
 */
#include <limits.h>
#include <string>

#include "common/emulator/emulator.h"
#include "common/emulator/emulator_state.h"

namespace emulated
{

static std::string describe_shape(const dim3 &shape)
{
    return formatted("%ux%ux%u", shape.x, shape.y, shape.z);
}

/* The rule that a launch breaks, in words; "" when it is legal. */
static std::string broken_rule(const launch_site &site)
{
    const dim3 &block = site.block, &grid = site.grid;
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    const std::string of_block = "block of " + describe_shape(block), of_grid = "grid of " + describe_shape(grid);

    if (threads == 0)
        return of_block + ": each side must be at least 1";
    if (block.z > MOST_BLOCK_Z)
        return of_block + formatted(": z is at most %d", (int)MOST_BLOCK_Z);
    if (block.x > MOST_THREADS || block.y > MOST_THREADS)
        return of_block + formatted(": x and y are at most %d", (int)MOST_THREADS);
    if (threads > MOST_THREADS)
        return of_block + formatted(" = %llu threads: at most %d", (unsigned long long)threads, (int)MOST_THREADS);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return of_grid + ": each side must be at least 1";
    if (grid.x > INT_MAX)
        return of_grid + formatted(": x is at most %d", INT_MAX);
    if (grid.y > MOST_GRID_YZ || grid.z > MOST_GRID_YZ)
        return of_grid + formatted(": y and z are at most %d", (int)MOST_GRID_YZ);
    if (site.shared_bytes > MOST_SHARED_BYTES)
        return formatted("%zu bytes of dynamic shared memory: at most %d", site.shared_bytes, (int)MOST_SHARED_BYTES);
    if (site.kernel != nullptr && site.shared_bytes > allowed_dynamic_bytes(site.kernel))
        return formatted("%zu bytes of dynamic shared memory: at most %zu unless cudaFuncSetAttribute(%s, "
                         "cudaFuncAttributeMaxDynamicSharedMemorySize, ...) allows more",
                         site.shared_bytes, allowed_dynamic_bytes(site.kernel), site.name);
    return "";
}

/* Whether the launch is legal; if not, its error is set. */
static bool obeys(const launch_site &site)
{
    const std::string rule = broken_rule(site);

    if (!rule.empty()) {
        set_error(cudaErrorInvalidConfiguration, "kernel %s (%s:%d): %s", site.name, site.file, site.line,
                  rule.c_str());
        return false;
    }
    if (!is_stream(site.stream)) {
        set_error(cudaErrorInvalidResourceHandle, "kernel %s (%s:%d): launched on a stream that does not exist",
                  site.name, site.file, site.line);
        return false;
    }
    if (!is_stream_of_device(site.stream)) {
        set_error(cudaErrorInvalidResourceHandle,
                  "kernel %s (%s:%d): launched on device %d, on another device's stream", site.name, site.file,
                  site.line, current_device);
        return false;
    }
    return true;
}

bool launch_is_legal(const launch_site &site)
{
    if (lasting_error() != cudaSuccess)
        return false;
    if (obeys(site))
        return true;
    owe_error();
    return false;
}

/* ------------------------------------------------------------------------------------------- who looks on */

static const struct emulator_observer *observer;

void observe_launch(const launch_site &site)
{
    const unsigned grid[] = {site.grid.x, site.grid.y, site.grid.z};
    const unsigned block[] = {site.block.x, site.block.y, site.block.z};

    if (observer != nullptr)
        observer->launch(site.name, grid, block, site.shared_bytes);
}

void observe_copy(const char *what, size_t bytes)
{
    if (observer != nullptr)
        observer->copy(what, bytes);
}

} /* namespace emulated */

void emulator_observe(const struct emulator_observer *observer)
{
    emulated::observer = observer;
}
