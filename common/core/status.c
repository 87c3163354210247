#include "common/core/status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char message[1024];

enum status status_set(enum status code, const char *format, ...)
{
    /* Formatted aside first: an argument may be the previous message itself ("%s: ...", status_message()). */
    char text[sizeof message];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(message, sizeof message, "%s", text);
    return code;
}

const char *status_message(void)
{
    return message;
}
