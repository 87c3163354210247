/*
 * races_of_kernels.c: makes the emulator watch the kernels of a worker for data races (common/emulator/races.h). The version
 * is compiled so that each of its accesses calls the emulator; this file says that it shall listen, since nothing of the
 * judge's environment reaches a worker. What the C library copies for a kernel is no access of the version's own code: its
 * object's calls are renamed to those of this file (assignments/labs.mk).
 */
#include <stdlib.h>
#include <string.h>

/* common/emulator/races_hooks.cpp */
void emulator_sees_copy(void *to, const void *from, size_t bytes, void *caller);

void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    emulator_sees_copy(to, from, bytes, __builtin_return_address(0));
    return memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    emulator_sees_copy(to, from, bytes, __builtin_return_address(0));
    return memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int value, size_t bytes)
{
    emulator_sees_copy(to, NULL, bytes, __builtin_return_address(0));
    return memset(to, value, bytes);
}

__attribute__((constructor)) static void watch_kernels(void)
{
    setenv("RUNGS_EMULATOR_RACES", "1", 1);
}
