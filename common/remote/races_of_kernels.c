/*
 * races_of_kernels.c: makes the emulator watch the kernels of a worker for data races (common/emulator/races.h). The
 * version is compiled so that each of its accesses calls the emulator; this file says that it shall listen, by a call,
 * since a version can read its environment. What the C library copies for a kernel is no access of the version's own
 * code: its object's calls are renamed to those of this file (assignments/labs.mk). What CUDA does not have in a kernel
 * ends it: nobody would count what such a function reads.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/emulator/emulator.h"
#include "common/image/image.h"

/* common/emulator/races_hooks.cpp */
void emulator_sees_copy(void *to, const void *from, size_t bytes, void *caller);
void emulator_sees_host_call(const char *name);
/* common/remote/kernels_seen.cu */
void seen_copy(const void *at, size_t bytes, bool reads);

void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    emulator_sees_copy(to, from, bytes, __builtin_return_address(0));
    seen_copy(to, bytes, false);
    seen_copy(from, bytes, true);
    return memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    emulator_sees_copy(to, from, bytes, __builtin_return_address(0));
    seen_copy(to, bytes, false);
    seen_copy(from, bytes, true);
    return memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int value, size_t bytes)
{
    emulator_sees_copy(to, NULL, bytes, __builtin_return_address(0));
    return memset(to, value, bytes);
}

#define FOR_THE_HOST(result, name, parameters, ...)                                                                    \
    result __wrap_##name parameters;                                                                                   \
    result __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        emulator_sees_host_call(#name "()");                                                                           \
        return name(__VA_ARGS__);                                                                                      \
    }

FOR_THE_HOST(int, memcmp, (const void *a, const void *b, size_t bytes), a, b, bytes)
FOR_THE_HOST(void *, memchr, (const void *in, int byte, size_t bytes), in, byte, bytes)
FOR_THE_HOST(size_t, strlen, (const char *text), text)
FOR_THE_HOST(int, strcmp, (const char *a, const char *b), a, b)
FOR_THE_HOST(int, strncmp, (const char *a, const char *b, size_t bytes), a, b, bytes)
FOR_THE_HOST(void, qsort, (void *list, size_t count, size_t bytes, int (*order)(const void *a, const void *b)), list,
             count, bytes, order)
FOR_THE_HOST(void *, bsearch,
             (const void *key, const void *list, size_t count, size_t bytes,
              int (*order)(const void *a, const void *b)),
             key, list, count, bytes, order)
FOR_THE_HOST(void, image_fill, (struct image * image, uint8_t byte), image, byte)

void __wrap_image_copy(struct image *to, const struct image *from);
void __wrap_image_copy(struct image *to, const struct image *from)
{
    const size_t bytes = image_row_bytes(from) * (size_t)from->height;

    emulator_sees_host_call("image_copy()");
    seen_copy(to->data, bytes, false);
    seen_copy(from->data, bytes, true);
    image_copy(to, from);
}

int __wrap_snprintf(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int __wrap_snprintf(char *to, size_t size, const char *format, ...)
{
    va_list list;

    emulator_sees_host_call("snprintf()");
    va_start(list, format);
    const int length = vsnprintf(to, size, format, list);
    va_end(list);
    return length;
}

__attribute__((constructor)) static void watch_kernels(void)
{
    emulator_watch_races();
}
