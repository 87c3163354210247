#include "common/core/progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "common/core/clock.h"

static double started;
static bool shown;

void progress_start(void)
{
    progress_clear();
    started = clock_seconds();
}

void progress(const char *format, ...)
{
    va_list arguments;

    if (!isatty(STDERR_FILENO) || clock_seconds() - started < 1.0)
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
