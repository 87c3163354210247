/*
 * program.h: another program run beside this one, spoken to through pipes (ffmpeg, ffprobe). No shell is involved, so
 * no file name can be taken for a command.
 *
 * While bytes go to and fro, what the program says on its stderr is read too (else it would block once that pipe is
 * full) and its first lines are kept. The program gets a process group of its own: Ctrl-C on the terminal reaches only
 * us, and we decide how it ends. It dies with the thread that started it, also when that is killed.
 *
 * A program that was stopped or hangs would keep us for ever. One with a `patience` counts as hung once it has moved no
 * byte and used no processor time for so many seconds: then it is asked to end (SIGTERM), given a second, and killed.
 */
#ifndef RUNGS_PROGRAM_H
#define RUNGS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "common/core/status.h"

struct program {
    const char *name;
    pid_t pid;                          /* 0 = not running */
    int input, output;                  /* our ends of its stdin and stdout; -1 = closed */
    int errors;                         /* our end of its stderr */
    int exit_code;                      /* once it has ended; 128 + the signal's number if one ended it */
    double patience;                    /* seconds without a sign of life, 0 = for ever; the starter's to set */
    bool hung;                          /* it was ended for that, and `said` says so */
    double alive_at, processor_seconds; /* the last sign of life: when, and the processor time used until then */
    char said[2048];                    /* the beginning of what it said on stderr */
    size_t said_length;
};

/* Instead of a descriptor: /dev/null, or a pipe from us. */
enum program_input { PROGRAM_NO_INPUT = -1, PROGRAM_TAKES_INPUT = -2 };

/* Starts argv[0], found on PATH; argv ends with NULL and argv[0] must outlive the struct. input: an enum program_input,
 * or the descriptor that becomes its stdin, which stays the caller's. STATUS_UNSUPPORTED when there is no such program,
 * with what to install. */
enum status program_start(struct program *program, const char *const *argv, int input);
/* Seconds of patience with a program that works on files, as ffmpeg does: 30, or what RUNGS_PATIENCE says. */
double program_usual_patience(void);
/* The same answer as program_start() would give, without starting it. */
enum status program_check(const char *name);

/* How a transfer ended. */
enum transfer {
    TRANSFER_DONE,    /* all bytes */
    TRANSFER_END,     /* the other side has closed the pipe, or was hung and ended */
    TRANSFER_STOPPED, /* `wake` became readable */
    TRANSFER_FAILED   /* errno says why */
};

/* Fills or writes out all parts, which are used up on the way. descriptor: program->input, program->output, or, with
 * program NULL, any other. wake: a descriptor that ends the transfer when it becomes readable, -1 for none. A closed
 * pipe never raises SIGPIPE. *moved (may be NULL) gets the bytes that went through. */
enum transfer transfer_read(int descriptor, int wake, struct program *program, struct iovec *parts, size_t count,
                            size_t *moved);
enum transfer transfer_write(int descriptor, int wake, struct program *program, struct iovec *parts, size_t count);

/* Closes its stdin, waits until it has ended, and fills exit_code. Fine when it is not running. */
void program_finish(struct program *program);
/* Closes its pipes and gives it so many seconds to end by itself, as many more once it is asked to (SIGTERM), then
 * kills it. Fills exit_code. Fine when it is not running. */
void program_end(struct program *program, double seconds);
/* Kills it and its process group and waits for its end, so that no zombie is left. Fine when it is not running. */
void program_kill(struct program *program);

/* The first line of what it said that tells something, without ffmpeg's "[decoder @ 0x55d8...] "; "" if none. Written
 * into text. */
const char *program_first_line(const struct program *program, char *text, size_t size);

#endif
