/*
 * run.c: rungs run
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/cli/cli.h"
#include "common/contract/device_info.h"
#include "common/image/image_io.h"
#include "common/measure/machine.h"
#include "common/measure/tuned.h"

static const char help[] =
    "usage: rungs run ALGO[:VERSION] IN... -o OUT [-p name=value]...\n"
    "       rungs run motion[:VERSION] VIDEO -o OUT [--boxes FILE.csv] [--fps RATE] [-p name=value]...\n\n"
    "Applies an algorithm to a file. IN is PNG, JPEG, BMP, PGM, PPM or .npy; OUT's extension picks its\n"
    "format. Without VERSION the highest rung that runs on this machine is taken (an emulated one never\n"
    "is). Labels go into a picture as colours, and as they are into .npy.\n\n"
    "VIDEO is any file that ffmpeg decodes, raw y4m, a folder of images, a pattern (frame_%04d.png or a\n"
    "quoted glob), or - for y4m on standard input. OUT is then .mp4, .mov, .mkv or .avi, a new folder or a\n"
    "pattern of images, with the boxes drawn; or .csv, the boxes alone. Ctrl-C completes the file.\n\n"
    "  -o, --output OUT         the file to write; written whole or not at all (a video: what there is of it)\n"
    "  -p, --param name=value   a parameter of the algorithm, as `rungs list ALGO` shows them\n"
    "      --boxes FILE.csv     of a video: the boxes too, in MOT-challenge columns after a header line:\n"
    "                           frame,id,bb_left,bb_top,bb_width,bb_height,conf,x,y,z\n"
    "      --fps RATE           of a video: frames per second of OUT (default: VIDEO's own; images: 25)\n"
    "      --help               this text\n\n"
    "examples: rungs run blur:cpu/simd photo.jpg -o soft.png -p ksize=31\n"
    "          rungs run motion images/fetched/vtest.avi -o out.mp4 --boxes boxes.csv\n"
    "          ffmpeg -i x.avi -pix_fmt yuv420p -f yuv4mpegpipe - | rungs run motion - -o out.mp4\n";

/* The last rung that can run: of the GPU's side if there is a GPU, else of the CPU's. */
static const struct version *best_version(const struct algorithm *algorithm)
{
    struct version *const *versions;
    const struct version *best_cpu = NULL, *best_cuda = NULL;
    size_t count;

    registry_versions(algorithm, &versions, &count);
    for (size_t i = 0; i < count; i++) {
        const struct version *version = versions[i];

        if (version_unavailable(version))
            continue;
        if (strncmp(version->source->id, "cpu/", 4) == 0)
            best_cpu = version;
        else if (strncmp(version->source->id, "cuda/", 5) == 0 && !device_is_emulated())
            best_cuda = version;
    }
    return best_cuda ? best_cuda : best_cpu;
}

static bool is_npy(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && strcasecmp(dot, ".npy") == 0;
}

static enum status apply(const struct algorithm *algorithm, const struct version *version, char *const *in_paths,
                         const char *out_path, const struct cli_list_option *settings, const void *params)
{
    enum status status = STATUS_OK;
    struct image in[ALGORITHM_MAX_INPUTS] = {{0}}, shape = {0}, out = {0}, colours = {0};
    void *state = NULL;
    const char *why = NULL;
    char names[2048];
    const bool two = algorithm->input_count == 2;

    snprintf(names, sizeof names, "%s%s%s", in_paths[0], two ? " and " : "", two ? in_paths[1] : "");
    TRY(image_save_check(out_path));
    for (int i = 0; i < algorithm->input_count; i++)
        TRY(image_load(&in[i], in_paths[i], 0));
    if (algorithm->shape(in, params, &shape) != STATUS_OK) {
        status = status_set(STATUS_BAD_INPUT, "%s: %s", names, status_message());
        goto out;
    }
    /* This process has started CUDA already: it cannot ask for the GPU's name in a child. */
    tuned_apply(&version, 1, settings->items, settings->count, machine_cores(), in, params, false);
    TRY(version_check_tunables(version, in, params));
    why = version->declines ? version->declines(in, params) : NULL;
    if (why) {
        status = status_set(STATUS_UNSUPPORTED, "%s: %s cannot do this one: %s", names, version->source->id, why);
        goto out;
    }
    TRY(image_create_like(&out, &shape));
    state = calloc(1, version->state_size ? version->state_size : 1);
    if (!state) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the state of %s", version->source->id);
        goto out;
    }
    TRY(version->run(state, in, &out, params));
    if (version->normalise)
        version->normalise(in, &out, params);
    if (out.type == PIXEL_I32 && out.width == in[0].width && out.height == in[0].height && !is_npy(out_path))
        TRY(image_colour_labels(&colours, &out));
    TRY(image_save(colours.data ? &colours : &out, out_path));
    printf("%s:%s%s  %s %dx%d -> %s\n", algorithm->name, version->source->id,
           version_is_cuda(version) && device_is_emulated() ? " (emulated)" : "", names, in[0].width, in[0].height,
           out_path);
    if (tuned_note(version, NULL))
        printf("tuned: %s\n", tuned_note(version, NULL));
out:
    if (state && version->teardown)
        version->teardown(state);
    free(state);
    image_free(&out);
    image_free(&colours);
    for (int i = 0; i < algorithm->input_count; i++)
        image_free(&in[i]);
    return status;
}

int cli_run(int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'}, {"param", required_argument, NULL, 'p'},
        {"boxes", required_argument, NULL, 'b'},  {"fps", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},         {0}};
    struct cli_list_option settings = {0};
    const struct algorithm *algorithm = NULL;
    const struct version *version = NULL;
    const char *out_path = NULL, *boxes_path = NULL, *fps = NULL, *why;
    bool is_video;
    void *params = NULL;
    int exit_status = CLI_BAD_USE;

    for (int option; (option = getopt_long(argc, argv, "o:p:", options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            exit_status = CLI_DONE;
            goto out;
        }
        if (option == 'o')
            out_path = optarg;
        else if (option == 'b')
            boxes_path = optarg;
        else if (option == 'f')
            fps = optarg;
        else if (option != 'p' || cli_append(&settings, optarg) != STATUS_OK)
            goto out;
    }
    if (optind == argc) {
        cli_fail("run needs an algorithm; `rungs run --help` shows how");
        goto out;
    }
    if (cli_find(argv[optind], &algorithm, &version) != STATUS_OK) {
        cli_fail_status();
        goto out;
    }
    is_video = algorithm->video && argc - optind - 1 == 1;
    if (!is_video && (boxes_path || fps)) {
        cli_fail("--%s is for a video", boxes_path ? "boxes" : "fps");
        goto out;
    }
    if (algorithm->video && !is_video && argc - optind - 1 != algorithm->input_count) {
        cli_fail("%s takes a video, or two pictures (background and frame), got %d inputs (the result goes after -o)",
                 algorithm->name, argc - optind - 1);
        goto out;
    }
    if (!is_video && argc - optind - 1 != algorithm->input_count) {
        cli_fail("%s takes %d input file%s, got %d (the result goes after -o)", algorithm->name, algorithm->input_count,
                 algorithm->input_count == 1 ? "" : "s", argc - optind - 1);
        goto out;
    }
    if (!out_path) {
        cli_fail("run needs -o OUT");
        goto out;
    }
    if (!version)
        version = best_version(algorithm);
    why = version_unavailable(version);
    if (why) {
        cli_fail("%s:%s cannot run here: %s", algorithm->name, version->source->id, why);
        goto out;
    }
    params = calloc(1, algorithm->params_size ? algorithm->params_size : 1);
    if (!params) {
        cli_fail("no memory for parameters");
        goto out;
    }
    if (params_parse(algorithm, &version, 1, settings.items, settings.count, params) != STATUS_OK) {
        cli_fail_status();
        goto out;
    }
    if (is_video) {
        if (version_check_tunables(version, NULL, params) != STATUS_OK) {
            cli_fail_status();
            goto out;
        }
        exit_status = cli_run_video(&(struct video_job){.algorithm = algorithm,
                                                        .version = version,
                                                        .params = params,
                                                        .in = argv[optind + 1],
                                                        .out = out_path,
                                                        .boxes = boxes_path,
                                                        .fps = fps});
        goto out;
    }
    if (algorithm->background_file && algorithm->background_file(params)) {
        cli_fail("background=%s is for a video; of two pictures the first is the background",
                 algorithm->background_file(params));
        goto out;
    }
    if (apply(algorithm, version, argv + optind + 1, out_path, &settings, params) != STATUS_OK) {
        cli_fail_status();
        goto out;
    }
    exit_status = CLI_DONE;
out:
    free(params);
    free(settings.items);
    return exit_status;
}
