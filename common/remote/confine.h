/*
 * confine.h: what a worker (channel.h) may ask of the system.
 */
#ifndef RUNGS_CONFINE_H
#define RUNGS_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/remote/channel.h"

/* Writes the system call filter for a worker into its channel. With `gpu` everything is allowed but what reaches other
 * processes or the network, since a GPU's driver needs much; without, only what computing with threads needs. */
enum status confine_filter(struct channel *channel, bool gpu);

/* In a child before exec: no files can be written or made any more, by this process or what it becomes, but with `gpu`
 * device files, shared memory and the names of its threads. False where the kernel has no Landlock; the filter then is the only fence. */
bool confine_files(bool gpu);

/* "openat" for 257, say; "number 999" when unknown. */
void confine_call_name(int number, char *text, size_t size);
/* What the version tried by that call, in words: "to start a process". */
const char *confine_call_meaning(int number);

#endif
