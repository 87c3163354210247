#include "common/core/progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/core/text.h"

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
    char text[1024];

    if (!isatty(STDERR_FILENO) || clock_seconds() - started < 1.0)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_make_plain(text, sizeof text);
    fputs("\r\033[K", stderr); /* to the first column, and wipe what was there */
    fputs(text, stderr);
    fflush(stderr);
    shown = true;
}

void progress_clear(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}
