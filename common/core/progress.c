#include "common/core/progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double started;
static bool shown;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void progress_start(void)
{
    progress_clear();
    started = now();
}

void progress(const char *format, ...)
{
    va_list arguments;

    if (!isatty(STDERR_FILENO) || now() - started < 1.0)
        return;
    fputs("\r\033[K", stderr); /* to the first column, and wipe what was there */
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
    shown = true;
}

void progress_clear(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}
