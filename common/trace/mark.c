#include "common/trace/mark.h"

#include <stddef.h>

static const struct mark_listener *listeners[MARK_MAX_LISTENERS];
static int listener_count;
static _Thread_local const char *open_ranges[MARK_LEVELS]; /* NULL = none at this level */

void mark_listen(const struct mark_listener *listener)
{
    if (listener_count < MARK_MAX_LISTENERS)
        listeners[listener_count++] = listener;
}

void mark(enum mark_level level, const char *name)
{
    if (listener_count == 0)
        return;
    for (int inner = MARK_LEVELS - 1; inner >= (int)level; inner--) {
        if (!open_ranges[inner])
            continue;
        for (int i = 0; i < listener_count; i++)
            listeners[i]->end((enum mark_level)inner, open_ranges[inner]);
        open_ranges[inner] = NULL;
    }
    if (!name)
        return;
    open_ranges[level] = name;
    for (int i = 0; i < listener_count; i++)
        listeners[i]->begin(level, name);
}
