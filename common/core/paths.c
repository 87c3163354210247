#include "common/core/paths.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void cut_last_part(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        *slash = '\0';
}

const char *paths_build(void)
{
    static char folder[PATH_MAX];

    if (!folder[0]) {
        ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);

        folder[length > 0 ? length : 0] = '\0';
        cut_last_part(folder);
    }
    return folder;
}

const char *paths_root(void)
{
    static char folder[PATH_MAX];

    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s", paths_build());
        while (folder[0]) {
            char landmark[PATH_MAX + 32];

            snprintf(landmark, sizeof landmark, "%s/common/contract/registry.h", folder);
            if (access(landmark, R_OK) == 0)
                break;
            cut_last_part(folder);
        }
    }
    return folder[0] ? folder : NULL;
}

const char *paths_from_here(const char *path)
{
    char here[PATH_MAX];
    const size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;

    return length > 1 && strncmp(path, here, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}
