#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/contract/registry.h"

enum { MAX_FILES = 5, MAX_NAME = 32 };

static char folder[64];
static struct {
    char name[MAX_NAME], path[sizeof folder + MAX_NAME];
} files[MAX_FILES];
static int count;

static void remove_all(void)
{
    for (int i = 0; i < count; i++)
        unlink(files[i].path);
    rmdir(folder);
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size)
{
    int place = 0, descriptor;

    if (!folder[0]) {
        /* Memory rather than a disk, where there is one of that kind. */
        snprintf(folder, sizeof folder, "%s/rungs-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        if (!mkdtemp(folder))
            fail(folder);
        atexit(remove_all);
    }
    while (place < count && strcmp(files[place].name, name) != 0)
        place++;
    if (place == count) {
        if (count == MAX_FILES)
            abort();
        snprintf(files[place].name, sizeof files[place].name, "%s", name);
        snprintf(files[place].path, sizeof files[place].path, "%s/%s", folder, files[place].name);
        count++;
    }
    /* Opened each time: what is tried may have put another file in its place. */
    descriptor = open(files[place].path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor < 0 || (size > 0 && write(descriptor, bytes, size) != (ssize_t)size))
        fail(files[place].path);
    close(descriptor);
    return files[place].path;
}

void fuzz_open_registry(void)
{
    static int open;

    if (!open && registry_open() != STATUS_OK) {
        fprintf(stderr, "%s\n", status_message());
        exit(1);
    }
    open = 1;
}

void fuzz_silence(void)
{
    static int silent;

    if (!silent && !freopen("/dev/null", "w", stdout))
        fail("/dev/null");
    silent = 1;
}
