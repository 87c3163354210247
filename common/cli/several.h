/*
 * several.h: several videos in one call of `rungs run`, all played at once.
 */
#ifndef RUNGS_SEVERAL_H
#define RUNGS_SEVERAL_H

#include "common/cli/cli.h"

enum { SEVERAL_MOST = 64 /* videos of a call */ };

/* Whether {}, the place of a video's name, is in the name of an output. */
bool several_has_place(const char *text);
/* The text with the video's name, without folder and extension, in each place; to be freed. */
enum status several_fill(char **filled, const char *text, const char *video);

/* Calls play(arguments[i]) for all i at once, each in a thread of its own to which an equal share of the cores belongs,
 * and prints how many frames that were in all. Returns CLI_DONE when all did, CLI_INTERRUPTED when one did,
 * CLI_CHECK_FAILED when some failed, and CLI_BAD_USE when all did. Where Ctrl-C has ended all but those that have not
 * begun, it ends the program. */
int several_play(int count, int (*play)(void *argument), void *const arguments[], bool timed);

#endif
