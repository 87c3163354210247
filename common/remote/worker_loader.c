/*
 * worker_loader.c: what dlopen() is in a worker that is linked without a loader (-Wl,--wrap=dlopen). Libraries could
 * not be opened there anyway, and libgomp, which looks for plugins of devices at its start, goes on without them.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode)
{
    (void)file, (void)mode;
    return NULL;
}
