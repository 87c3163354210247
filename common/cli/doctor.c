/*
 * doctor.c: rungs doctor. The work is a script's, which also runs where nothing can be built.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cli/cli.h"
#include "common/core/paths.h"

static const char help[] =
    "usage: rungs doctor\n\n"
    "Looks at what this machine has and lacks for Rungs, one line each: OK, note (what would be "
    "better, or is optional)\n"
    "or MISSING, with what to type. `make doctor`, or `sh common/build/doctor.sh` where there "
    "is no make, do the same.\n\n"
    "Exit status: 0 everything needed is there, 1 something is missing, 2 this machine cannot be looked at.\n";

int cli_doctor(int argc, char **argv)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    const char *root = paths_root();
    char script[PATH_MAX + 32];

    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option != 'h')
            return CLI_BAD_USE;
        fputs(help, stdout);
        return CLI_DONE;
    }
    if (optind < argc)
        return cli_fail("doctor takes no argument, not '%s'", argv[optind]);
    if (!root)
        return cli_fail("doctor needs the source tree, and %s is in none", paths_build());
    snprintf(script, sizeof script, "%s/common/build/doctor.sh", root);
    fflush(NULL);
    execl("/bin/sh", "sh", script, (char *)NULL);
    return cli_fail("/bin/sh: cannot be run: %s", strerror(errno));
}
