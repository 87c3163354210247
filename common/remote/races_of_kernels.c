/*
 * races_of_kernels.c: makes the emulator watch the kernels of a worker for data races (common/emulator/races.h). The version
 * is compiled so that each of its accesses calls the emulator; this file says that it shall listen, since nothing of the
 * judge's environment reaches a worker.
 */
#include <stdlib.h>

__attribute__((constructor)) static void watch_kernels(void)
{
    setenv("RUNGS_EMULATOR_RACES", "1", 1);
}
