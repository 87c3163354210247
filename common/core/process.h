/*
 * process.h: runs a function in a child process, so that a crash, an endless loop or a poisoned GPU context is that
 * child's alone. The parent itself never starts an OpenMP team nor touches CUDA: neither survives a fork.
 */
#ifndef RUNGS_PROCESS_H
#define RUNGS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/core/limit.h"
#include "common/core/status.h"

struct process_result {
    enum limit_state limit; /* LIMIT_KEPT, unless the child was killed for it */
    int signal;             /* that ended the child, 0 if it exited */
    int exit_code;          /* what body returned */
    char late[96];          /* how the limit was broken, in words */
    /* What the child wrote to stdout and stderr, 0-terminated; when it is more than fits, the end of it, or a
     * sanitizer's report from its first line on. */
    char output[8192];
};

/* Memory that parent and child share, zeroed; NULL when there is none. */
void *process_shared_allocate(size_t bytes);
void process_shared_free(void *memory, size_t bytes);

/* Runs body(argument) in a child and waits for it within a limit of processor seconds (limit.h; 0 = no limit), then
 * kills its process group. The child sees a copy of all memory; what it writes is lost but for shared memory. Its
 * stdout and stderr go to result->output (a printf left in a version must not end up in a table), its stdin is empty,
 * it leaves no core file, and it dies with its parent. Fails only when no child could be made. */
enum status process_run(int (*body)(void *argument), void *argument, double limit_seconds,
                        struct process_result *result);

/* In memory that is shared with the child. */
struct process_limits {
    double seconds;              /* 0: no limit */
    const volatile size_t *turn; /* when this changes, the seconds begin anew; NULL: never */
    volatile double
        *used; /* kept up to date with what the child has used in all turns (struct limit); NULL: not asked */
};

/* The same; meanwhile calls watch(argument), unless it is NULL, in the parent about 50 times a second, to show
 * progress, say. */
enum status process_run_watched(int (*body)(void *argument), void (*watch)(void *argument), void *argument,
                                struct process_limits limits, struct process_result *result);

/* "killed by SIGSEGV (segmentation fault)", "ran past its limit of 60 s", "AddressSanitizer: heap-buffer-overflow ...",
 * for a message; `text` gets "" when the child ended well with exit code 0 and no sanitizer complained. */
void process_describe(const struct process_result *result, char *text, size_t size);

#endif
