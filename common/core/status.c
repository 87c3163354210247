#include "common/core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024];

/* Keeps beginning and end of a text that is too long: a path may have 4095 characters, and the reason stands behind
 * it. */
static void keep(const char *text)
{
    static const char gap[] = " ... ";
    const size_t length = strlen(text), head = (sizeof message - sizeof gap) / 2,
                 tail = sizeof message - sizeof gap - head;

    if (length < sizeof message)
        memcpy(message, text, length + 1);
    else
        snprintf(message, sizeof message, "%.*s%s%s", (int)head, text, gap, text + length - tail);
}

enum status status_set(enum status code, const char *format, ...)
{
    /* Formatted aside first: an argument may be the previous message itself ("%s: ...", status_message()). */
    char text[8192];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    keep(text);
    return code;
}

const char *status_message(void)
{
    return message;
}
