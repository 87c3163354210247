/*
 * confine.h: what a worker (channel.h) may ask of the system. A child of the judge gives all else up before it becomes
 * the worker's program, so no code of that program, whatever it defines or registers, runs with more.
 */
#ifndef RUNGS_CONFINE_H
#define RUNGS_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/core/status.h"

/* A call of execve() that the filter knows by the addresses of its arguments, which nobody can guess. */
struct confine_program {
    char *path;
    char **arguments, **environment;
};

/* Copies path and lists to addresses drawn by lot. */
enum status confine_hide(struct confine_program *program, const char *path, char *const arguments[],
                         char *const environment[]);

struct confine_needs {
    bool gpu;    /* a GPU's driver: everything is allowed but what reaches other processes, files or the network */
    bool loader; /* the program's libraries are opened as it starts, so files may be opened for reading */
    bool told;   /* with a GPU: a call that would fail quietly raises SIGSYS instead, so that a handler learns of it */
};

/* In a child before exec: from now on it may make the calls that computing with threads needs, and execve() of
 * `program`, or of nothing when NULL. */
enum status confine_calls(struct confine_needs needs, const struct confine_program *program);

/* In a child before exec: of all files it may read the system's libraries and execute `program`, and write none; with a
 * GPU it may read more of the system, and write device files, shared memory and the names of its threads. False where
 * the kernel has no Landlock; the filter then is the only fence. */
bool confine_files(struct confine_needs needs, const char *program);

/* In a child before exec: what it becomes has no privileges, run by root or not. */
void confine_privileges(void);

/* Whether the program asks for a loader; true when it cannot be read. */
bool confine_has_loader(const char *program);

/* Whether what `start` does, a driver's start, goes through in a child that is confined as a worker on a GPU is; no
 * code of a version is in it. When it does not, STATUS_FAILED with what it said, and what was refused to it: the system
 * calls by name, or files (confine_try.c). */
enum status confine_try(enum status (*start)(void));

/* "openat" for 257, say; "number 999" when unknown. */
void confine_call_name(int number, char *text, size_t size);
/* What the version tried by that call, in words: "to start a process". */
const char *confine_call_meaning(int number);

#endif
