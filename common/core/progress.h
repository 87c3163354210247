/*
 * progress.h: one line on stderr that says what long work is doing. Shown only on a terminal, and only once the work
 * has taken a second; each call overwrites the line before.
 */
#ifndef RUNGS_PROGRESS_H
#define RUNGS_PROGRESS_H

/* Starts the second that must pass before anything is shown. */
void progress_start(void);
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Wipes the line; to be called before anything else is printed and at the end. */
void progress_clear(void);

#endif
