/*
 * cli.h: what the subcommands of `rungs` share. Each is one function in a file of its name; it gets argv from the
 * subcommand's own name on, prints results on stdout and everything else on stderr, and returns the exit status.
 */
#ifndef RUNGS_CLI_H
#define RUNGS_CLI_H

#include "common/contract/registry.h"

struct application; /* apply.h */

enum { CLI_DONE = 0, CLI_CHECK_FAILED = 1, CLI_BAD_USE = 2, CLI_INTERRUPTED = 130 };

/* A collected list of repeated options such as -p; `items` grows as needed and is freed with free(). */
struct cli_list_option {
    const char **items;
    size_t count;
};

int cli_list(int argc, char **argv);
int cli_run(int argc, char **argv);
/* What `rungs run` does with a video (run_video.c). */
struct video_job {
    const struct algorithm *algorithm;
    const struct version *version;
    const void *params;
    const char *in, *out;
    const char *boxes; /* a CSV file besides; may be NULL */
    const char *fps;   /* frame rate of the output, as the user wrote it; NULL = the input's */
};
int cli_run_video(const struct video_job *job);
/* What it does with a video for an algorithm that takes one picture (run_frames.c). */
struct frames_output {
    int slot;
    const char *path; /* a video of the slot as it is drawn, or a .csv of its rows */
};
struct frames_job {
    struct application *application;
    const char *in;
    const struct frames_output *outputs;
    size_t count;
    const char *fps; /* as in struct video_job */
};
int cli_run_frames(const struct frames_job *job);
/* What it does with a folder of pictures (run_folder.c). */
struct folder_job {
    struct application *application;
    const char *in, *out;
    int slot;           /* the output that is written */
    const char *format; /* "png"; NULL = its usual form */
    const struct cli_list_option *settings;
    int jobs; /* threads that read and write files */
};
int cli_run_folder(const struct folder_job *job);
int cli_train(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_tune(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_diff(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_profile(int argc, char **argv);

/* Prints "rungs: <text>" as one line on stderr and returns CLI_BAD_USE. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with status_message(); for a failed status. */
int cli_fail_status(void);

/* Splits and looks up "ALGO" or "ALGO:VERSION"; *version stays NULL for the first form. */
enum status cli_find(const char *text, const struct algorithm **algorithm, const struct version **version);

/* Reads a whole number of an option ("--threads"), within minimum..maximum. */
enum status cli_parse_int(const char *option, const char *text, long minimum, long maximum, int *value);
/* Reads `--in-flight N`: from now on N pictures may be under way in every CUDA version for one picture. */
enum status cli_set_in_flight(const char *text);
#define CLI_IN_FLIGHT_HELP                                                                                             \
    "      --in-flight N        of CUDA versions for one picture: up to N (1 to 16) pictures under way, on streams "   \
    "of\n"                                                                                                             \
    "                           their own (default: 4 for versions that are listed with a queue, 1 for others)\n"
/* Reads "1920x1080". */
enum status cli_parse_size(const char *option, const char *text, int *width, int *height);

enum status cli_append(struct cli_list_option *list, const char *item);

#endif
