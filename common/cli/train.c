/*
 * train.c: rungs train
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli/apart.h"
#include "common/core/file.h"
#include "common/core/progress.h"
#include "common/measure/machine.h"

static const char help[] =
    "usage: rungs train ALGO DATA... -o MODEL [-p name=value]... [--boxes FILE] [--resume] [--threads N]\n\n"
    "Makes the file that a model parameter of ALGO names (-p model=MODEL) out of data. `rungs list ALGO`\n"
    "says what DATA is and which parameters the training has. The same data, parameters and seed give the same model,\n"
    "whatever the threads.\n\n"
    "  -o, --output MODEL       the file to write: whole or not at all\n"
    "  -p, --param name=value   a parameter of the training\n"
    "      --boxes FILE         what is known about the data: the boxes of the objects in them, for example\n"
    "      --resume             go on from the checkpoint that an interrupted training has left beside MODEL;\n"
    "                           from the beginning when there is none, or the training writes none\n"
    "      --threads N          default: all cores that this process may use\n"
    "      --help               this text\n\n"
    "Ctrl-C ends it without a model; a training that takes long leaves a checkpoint for --resume.\n";

struct train_options {
    struct cli_list_option settings;
    struct training training;
};

static bool parse_options(struct train_options *options, int argc, char **argv, int *exit_status)
{
    static const struct option known[] = {{"output", required_argument, NULL, 'o'},
                                          {"param", required_argument, NULL, 'p'},
                                          {"boxes", required_argument, NULL, 'b'},
                                          {"resume", no_argument, NULL, 'r'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    enum { MAX_THREADS = 1024 };

    *exit_status = CLI_BAD_USE;
    for (int option; (option = getopt_long(argc, argv, "o:p:", known, NULL)) != -1;) {
        enum status status = STATUS_OK;

        switch (option) {
        case 'h':
            fputs(help, stdout);
            *exit_status = CLI_DONE;
            return false;
        case 'o':
            options->training.out = optarg;
            break;
        case 'p':
            status = cli_append(&options->settings, optarg);
            break;
        case 'b':
            options->training.extra = optarg;
            break;
        case 'r':
            options->training.resume = true;
            break;
        case 't':
            status = cli_parse_int("--threads", optarg, 1, MAX_THREADS, &options->training.threads);
            break;
        default:
            return false; /* getopt_long() has said why */
        }
        if (status != STATUS_OK) {
            cli_fail_status();
            return false;
        }
    }
    return true;
}

static enum status no_trainer(const struct algorithm *algorithm)
{
    char known[512] = "";

    for (const struct algorithm *a = registry_algorithms(); a; a = a->next)
        if (a->trainer)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", known[0] ? ", " : "", a->name);
    return status_set(STATUS_BAD_INPUT, "%s has no training; %s%s", algorithm->name,
                      known[0] ? "those that have one: " : "no algorithm here has one", known);
}

/* Everything that can be wrong before the training starts. */
static enum status check_files(const struct training *training, const struct trainer *trainer,
                               const struct algorithm *parameters, const struct cli_list_option *settings)
{
    enum status status = STATUS_OK;
    struct apart apart = {0};

    if (training->data_count == 0)
        return status_set(STATUS_BAD_INPUT, "train needs data: %s", trainer->data_help);
    if (!training->out)
        return status_set(STATUS_BAD_INPUT, "train needs -o MODEL");
    apart_output(&apart, APART_FILE, training->out);
    for (size_t i = 0; i < training->data_count; i++)
        apart_input(&apart, APART_TREE, training->data[i]);
    apart_input(&apart, APART_FILE, training->extra);
    apart_settings(&apart, parameters, settings);
    TRY(apart_check(&apart));
    for (size_t i = 0; i <= training->data_count; i++) {
        const char *path = i < training->data_count ? training->data[i] : training->extra;
        FILE *stream = NULL;
        uint64_t size;
        struct stat about;

        if (!path)
            continue;
        if (stat(path, &about) == 0 && S_ISDIR(about.st_mode) && i < training->data_count &&
            access(path, R_OK | X_OK) == 0)
            continue;
        TRY(file_open(path, &stream, &size));
        fclose(stream);
    }
    TRY(file_check_output(training->out));
out:
    return status;
}

int cli_train(int argc, char **argv)
{
    static const struct parameter none[] = {{0}};
    enum status status = STATUS_OK;
    struct train_options options = {0};
    struct training *training = &options.training;
    const struct algorithm *algorithm = NULL;
    const struct version *version = NULL;
    struct algorithm parameters; /* stands for the training where its parameters are parsed */
    void *params = NULL;
    struct stat about;
    int exit_status;

    if (!parse_options(&options, argc, argv, &exit_status))
        goto out;
    exit_status = CLI_BAD_USE;
    if (optind == argc) {
        status = status_set(STATUS_BAD_INPUT, "train needs an algorithm; `rungs train --help` shows how");
        goto out;
    }
    TRY(cli_find(argv[optind], &algorithm, &version));
    if (version) {
        status = status_set(STATUS_BAD_INPUT, "train takes an algorithm, not one of its versions");
        goto out;
    }
    if (!algorithm->trainer) {
        status = no_trainer(algorithm);
        goto out;
    }
    training->data = (const char *const *)argv + optind + 1;
    training->data_count = (size_t)(argc - optind - 1);
    training->threads = training->threads ? training->threads : machine_cores();
    parameters =
        (struct algorithm){.name = algorithm->name,
                           .params_size = algorithm->trainer->params_size,
                           .parameters = algorithm->trainer->parameters ? algorithm->trainer->parameters : none};
    params = calloc(1, parameters.params_size ? parameters.params_size : 1);
    if (!params) {
        status = status_set(STATUS_NO_MEMORY, "no memory for parameters");
        goto out;
    }
    training->params = params;
    TRY(check_files(training, algorithm->trainer, &parameters, &options.settings));
    TRY(params_parse(&parameters, NULL, 0, options.settings.items, options.settings.count, params));
    progress_start();
    status = algorithm->trainer->train(training);
    progress_clear();
    TRY(status);
    if (stat(training->out, &about) != 0) {
        status = status_set(STATUS_FAILED, "%s: the training has written no model", training->out);
        goto out;
    }
    printf("%s: trained with %zu input%s -> %s (%lld bytes)\n", algorithm->name, training->data_count,
           training->data_count == 1 ? "" : "s", training->out, (long long)about.st_size);
    exit_status = CLI_DONE;
out:
    if (status != STATUS_OK)
        exit_status = cli_fail_status();
    free(params);
    free(options.settings.items);
    return exit_status;
}
