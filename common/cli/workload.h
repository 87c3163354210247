/*
 * workload.h: what `rungs bench` and `rungs diff` give the versions to do: input images, parameters and threads, from
 * the options that both commands have.
 */
#ifndef RUNGS_WORKLOAD_H
#define RUNGS_WORKLOAD_H

#include <getopt.h>

#include "common/cli/cli.h"
#include "common/core/file.h"

/* Places among a workload's outputs: --json, and --csv, --svg or --trace. */
enum { OUTPUT_JSON, OUTPUT_CSV, OUTPUT_SVG = OUTPUT_CSV, OUTPUT_TRACE = OUTPUT_CSV, WORKLOAD_OUTPUTS };

struct workload {
    /* As the options say. */
    struct cli_list_option inputs, settings;
    int width, height; /* 0 = not given */
    int channels;      /* 0 = not given */
    int threads;       /* 0 = not given */
    bool untuned;      /* keeps tunables away from tuned.json (tuned.h) */
    /* Ready to use. */
    struct image in[ALGORITHM_MAX_INPUTS];
    struct input_request made; /* how in[] were made; width 0: from a picture or the user's own files */
    void *params;
    char description[1024]; /* of the input, in words */
    char command[1024];     /* the command line */
    /* Files for the results, as the options name them (NULL = not asked for); created before anything is measured. */
    struct workload_output {
        const char *path;
        struct output_file file;
    } outputs[WORKLOAD_OUTPUTS];
    bool unwritten; /* one of them could not be completed, and that has been said */
};

/* For a getopt_long() table: --size, --input, --channels, --threads, --param (-p). */
#define WORKLOAD_OPTIONS                                                                                               \
    {"size", required_argument, NULL, 's'}, {"input", required_argument, NULL, 'i'},                                   \
        {"channels", required_argument, NULL, 'c'}, {"threads", required_argument, NULL, 't'},                         \
    {                                                                                                                  \
        "param", required_argument, NULL, 'p'                                                                          \
    }

#define WORKLOAD_HELP                                                                                                  \
    "      --size WxH           pixels; a photograph is scaled to cover them (default: 1920x1080, or what the\n"       \
    "                           algorithm names)\n"                                                                    \
    "      --input FILE         use this file, a picture as it is unless --size is given; once for each input\n"       \
    "                           (kinds as in `rungs run --help`). Default: a photograph from images/fetched, or\n"     \
    "                           made inputs where there is none or no pictures are taken\n"                            \
    "      --channels 1|3       gray or RGB (default: the algorithm's own; with --input, the file's)\n"                \
    "      --threads N          threads of CPU versions (default: all cores that this process may use)\n"              \
    "  -p, --param name=value   a parameter, as `rungs list ALGO` shows them\n"

/* Takes one of WORKLOAD_OPTIONS: `option` as getopt_long() returned it, with optarg. Complains by cli_fail() and
 * returns false when it is wrong or none of these. */
bool workload_option(struct workload *workload, int option);

/* Refuses outputs that are an input, each other, or the file of tuned values, then creates them. Called by
 * workload_prepare(); `standard` is what is read when no input is given, or NULL. */
enum status workload_create_outputs(struct workload *workload, const struct algorithm *algorithm, const char *standard);
/* Takes what came of writing one: says what is missing when it failed, so that the others can still be written. */
void workload_wrote(struct workload *workload, enum status status);

/* Parses the settings, creates the outputs, loads or makes the input, and gives tunables that -p does not name their
 * kept values (tuned.h). */
enum status workload_prepare(struct workload *workload, const struct algorithm *algorithm,
                             const struct version *const *versions, size_t version_count);
/* Keeps the command line for the record, without --json, --csv and --svg. */
void workload_set_command(struct workload *workload, int argc, char **argv);
/* What stands behind the options of bench, tune and profile: one ALGO or ALGO:VERSION (cli_find()). Complains by
 * cli_fail() and returns false when it is something else; `needs` and `takes` say what the command needs and takes: "an
 * algorithm" ... */
bool workload_argument(int argc, char **argv, const char *needs, const char *takes, const struct algorithm **algorithm,
                       const struct version **version);
/* The exit status of a command that ended with `status`; `failed`: a version was wrong. Says what a failed status
 * means. */
int workload_exit_status(const struct workload *workload, enum status status, bool failed);
void workload_free(struct workload *workload);

#endif
