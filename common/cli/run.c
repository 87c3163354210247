/*
 * run.c: rungs run
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cli/apart.h"
#include "common/cli/apply.h"
#include "common/cli/several.h"
#include "common/cli/slot_file.h"
#include "common/cli/target.h"
#include "common/cli/video_run.h"
#include "common/contract/device_info.h"
#include "common/contract/inputs.h"
#include "common/measure/machine.h"
#include "common/measure/tuned.h"
#include "common/video/video_writer.h"

static const char help[] =
    "usage: rungs run ALGO[:VERSION] IN... -o OUT [-o SLOT=OUT]... [-p name=value]...\n"
    "       rungs run ALGO[:VERSION] FOLDER -o FOLDER [--format png] [--jobs N] [-p name=value]...\n"
    "       rungs run ALGO[:VERSION] VIDEO -o OUT [-o SLOT=OUT]... [--fps RATE] [-p name=value]...\n"
    "       rungs run motion[:VERSION] VIDEO -o OUT [--boxes FILE.csv] [--fps RATE] [-p name=value]...\n"
    "       rungs run ALGO[:VERSION] VIDEO... -o {}.mp4 [-o SLOT={}.csv]...\n\n"
    "Applies an algorithm to files. Without VERSION it takes the highest rung that runs on this machine, but never\n"
    "an emulated one. `rungs list ALGO` names the inputs and outputs and says of what kind they are:\n\n"
    "  kind      read from                                   written to\n"
    "  picture   PNG, JPEG, BMP, PGM, PPM, .npy              .png .jpg .bmp .pgm .ppm .npy\n"
    "  labels    PNG, BMP, PGM (gray or a palette), .npy     .png .jpg .bmp .ppm in colours, .npy as they are\n"
    "  table     .npy                                        .csv .json .npy, pictures where it can be drawn\n"
    "  matrix    .npy, ENVI, IDX, a gray picture             .csv .json .npy, pictures where it can be drawn\n"
    "  tensor    .npy, ENVI, IDX, a picture                  .npy, pictures where it can be drawn\n\n"
    "An ENVI cube is named by its .hdr or its data file. A .csv of a table begins with the column names; a\n"
    ".npy of a table is rows x columns, only the rows in use. Of an array of three dimensions a matrix is\n"
    "N rows of H*W samples.\n\n"
    "FOLDER: every picture in it, for algorithms that take one picture; the results bear the pictures' names,\n"
    "-o SLOT=FOLDER chooses another output. A file that cannot be read is reported and left out, and the exit\n"
    "status is 1.\n\n"
    "VIDEO is any file that ffmpeg decodes, raw y4m, a folder of images, a pattern (frame_%04d.png or a\n"
    "quoted glob), or - for y4m on standard input. OUT is then .mp4, .mov, .mkv or .avi, a new folder or a\n"
    "pattern of images, with the result drawn; or .csv, the rows of all frames, each behind its frame's number.\n"
    "An algorithm for one picture gets each frame by itself; a folder is its pictures unless OUT is a video\n"
    "file. Ctrl-C completes the files. Of several videos all are played at once, and {} in the names of the outputs\n"
    "stands for each one's name without folder and extension.\n\n"
    "A picture in colour is turned to gray for an algorithm that takes gray alone (0.299 R + 0.587 G + 0.114 B).\n\n"
    "  -o, --output OUT         write the first output that this file's extension fits, in the form that it says\n"
    "  -o, --output SLOT=OUT    the output of this name; -o may be given several times. All files are written\n"
    "                           whole or none is (a video: what there is of it)\n"
    "  -p, --param name=value   a parameter of the algorithm, as `rungs list ALGO` shows them\n"
    "      --format EXTENSION   of a folder: form of the results (default: png, csv for tables, npy for tensors)\n"
    "      --jobs N             of a folder: threads that read and write files (default: one for each "
    "core)\n" CLI_IN_FLIGHT_HELP
    "      --boxes FILE.csv     of a video: the boxes too, in MOT-challenge columns after a header line:\n"
    "                           frame,id,bb_left,bb_top,bb_width,bb_height,conf,x,y,z\n"
    "      --fps RATE           of a video: frames per second of OUT (default: VIDEO's own; images: 25)\n"
    "      --help               this text\n\n"
    "examples: rungs run blur:cpu/simd photo.jpg -o soft.png -p ksize=31\n"
    "          rungs run boxes labels.npy -o boxes.csv -o boxes.png\n"
    "          rungs run harris photo.jpg -o corners.csv -o corners.png -o response.npy\n"
    "          rungs run blur photos/ -o soft/ --format jpg\n"
    "          rungs run motion images/fetched/vtest.avi -o out.mp4 --boxes boxes.csv\n"
    "          rungs run detect images/fetched/vtest.avi -o faces.mp4 -o faces.csv\n"
    "          rungs run detect door.mp4 yard.mp4 -o faces/{}.mp4 -o faces/{}.csv\n"
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

/* ---------------------------------------------------------------------------------------------- one result */

static void print_summary(const struct application *application, const char *names, const struct image in[],
                          const struct image fitted[], const struct kept_pixels *kept, const struct target *targets,
                          size_t count)
{
    const struct version *version = application->version;
    const int width = kept->places ? kept->width : in[0].width, height = kept->places ? kept->height : in[0].height;

    printf("%s:%s%s  %s %dx%d%s -> ", application->algorithm->name, version->source->id,
           version_is_cuda(version) && device_is_emulated() ? " (emulated)" : "", names, width, height,
           fitted[0].channels < in[0].channels ? ", in gray" : "");
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i ? ", " : "", targets[i].path);
    putchar('\n');
    if (kept->places)
        printf("%lld of them have the data ignore value and are left out\n",
               (long long)width * height - (long long)kept->count);
    if (tuned_note(version, NULL))
        printf("tuned: %s\n", tuned_note(version, NULL));
}

static enum status apply(struct application *application, char *const *in_paths, const struct cli_list_option *outputs)
{
    enum status status = STATUS_OK;
    const struct algorithm *algorithm = application->algorithm;
    struct image in[ALGORITHM_MAX_INPUTS] = {{0}}, fitted[ALGORITHM_MAX_INPUTS] = {{0}};
    struct image out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct target *targets = calloc(outputs->count, sizeof *targets);
    struct kept_pixels kept = {0};
    char names[8192] = "";

    if (!targets)
        return status_set(STATUS_NO_MEMORY, "no memory for the outputs");
    TRY(targets_parse(algorithm, outputs, targets));
    for (int i = 0; i < algorithm->input_count; i++) {
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " and " : "", in_paths[i]);
        TRY(slot_load(&in[i], &algorithm->inputs[i], in_paths[i], i == 0 ? &kept : NULL));
    }
    TRY(application_fit(application, names, in, fitted));
    TRY(application_shape(application, names, fitted, out));
    for (size_t i = 0; i < outputs->count; i++) {
        if (!targets[i].named)
            targets[i].slot = target_slot(algorithm, targets[i].path, out, targets[i].slot);
        TRY(slot_check_shape(&algorithm->outputs[targets[i].slot], &out[targets[i].slot], targets[i].path));
    }
    TRY(application_run(application, fitted, out));
    if (kept.places)
        TRY(application_spread(application, &kept, out));
    TRY(targets_write(application, targets, outputs->count, in, out));
    print_summary(application, names, in, fitted, &kept, targets, outputs->count);
    const char *const advice = algorithm->advise ? algorithm->advise(fitted, application->params) : NULL;
    if (advice)
        fprintf(stderr, "note: %s\n", advice);
out:
    application_end(application);
    application_unfit(application, in, fitted);
    for (int i = 0; i < algorithm->output_count; i++)
        if (out[i].data)
            image_free(&out[i]);
    inputs_free(algorithm, in);
    kept_free(&kept);
    free(targets);
    return status;
}

/* ------------------------------------------------------------------------------------------------- the command */

struct run_options {
    struct cli_list_option settings, outputs;
    const char *boxes, *fps, *format;
    int jobs; /* 0 = not given */
};

/* False when there is nothing more to do; *exit_status says how it ended. */
static bool parse_options(struct run_options *options, int argc, char **argv, int *exit_status)
{
    static const struct option known[] = {{"output", required_argument, NULL, 'o'},
                                          {"param", required_argument, NULL, 'p'},
                                          {"boxes", required_argument, NULL, 'b'},
                                          {"fps", required_argument, NULL, 'f'},
                                          {"format", required_argument, NULL, 'F'},
                                          {"jobs", required_argument, NULL, 'j'},
                                          {"in-flight", required_argument, NULL, 'n'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    enum { MAX_JOBS = 256 };

    *exit_status = CLI_BAD_USE;
    for (int option; (option = getopt_long(argc, argv, "o:p:", known, NULL)) != -1;) {
        enum status status = STATUS_OK;

        switch (option) {
        case 'h':
            fputs(help, stdout);
            *exit_status = CLI_DONE;
            return false;
        case 'o':
            status = cli_append(&options->outputs, optarg);
            break;
        case 'p':
            status = cli_append(&options->settings, optarg);
            break;
        case 'b':
            options->boxes = optarg;
            break;
        case 'f':
            options->fps = optarg;
            break;
        case 'F':
            options->format = optarg;
            break;
        case 'j':
            status = cli_parse_int("--jobs", optarg, 1, MAX_JOBS, &options->jobs);
            break;
        case 'n':
            status = cli_set_in_flight(optarg);
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

static bool is_folder(const char *path)
{
    struct stat about;

    return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* What the inputs are, and so how the algorithm is applied. */
enum form {
    FORM_FILES,  /* one for each input */
    FORM_FOLDER, /* of pictures, each by itself */
    FORM_FRAMES, /* a video, each frame by itself */
    FORM_VIDEO   /* a video for an algorithm that compares frames */
};

static enum form form_of(const struct run_options *options, const struct algorithm *algorithm, char *const *in,
                         int in_count)
{
    const bool one_picture = algorithm->input_count == 1 && algorithm->inputs[0].kind == SLOT_PICTURE;
    /* A frame is a cube of three bands where a picture comes out of one. */
    const bool one_cube = algorithm->input_count == 1 && algorithm->inputs[0].kind == SLOT_TENSOR &&
                          algorithm->outputs[0].kind == SLOT_PICTURE;

    if (in_count != 1 || (!algorithm->video && !one_picture && !one_cube))
        return FORM_FILES;
    if (algorithm->video)
        return !algorithm->background_file && !is_folder(in[0]) && !video_has_name(in[0]) ? FORM_FILES : FORM_VIDEO;
    for (size_t i = 0; i < options->outputs.count; i++) {
        const char *equals = strchr(options->outputs.items[i], '=');

        if (video_writer_makes_file(equals ? equals + 1 : options->outputs.items[i]))
            return FORM_FRAMES;
    }
    return one_picture && is_folder(in[0]) ? FORM_FOLDER : video_has_name(in[0]) ? FORM_FRAMES : FORM_FILES;
}

/* Checks that options and inputs fit the algorithm and one another. */
static enum status check_use(const struct run_options *options, const struct algorithm *algorithm, char *const *in,
                             int in_count, enum form form)
{
    const bool plays = form == FORM_VIDEO || form == FORM_FRAMES;
    enum status status = STATUS_OK;
    struct apart apart = {0};

    if (form != FORM_VIDEO && options->boxes)
        return status_set(STATUS_BAD_INPUT, "--boxes is for a video and motion or lines%s",
                          form == FORM_FRAMES ? "; rows of others go to -o FILE.csv" : "");
    if (!plays && options->fps)
        return status_set(STATUS_BAD_INPUT, "--fps is for a video");
    if (form != FORM_FOLDER && (options->format || options->jobs))
        return status_set(STATUS_BAD_INPUT, "--%s is for a folder of pictures", options->format ? "format" : "jobs");
    for (int i = 0; i < in_count && video_has_name(in[i]); i++)
        if (!plays && i > 0 && i == in_count - 1 && (algorithm->video || algorithm->input_count == 1))
            return status_set(STATUS_BAD_INPUT, "of several videos each has results of its own: -o {}.mp4, say");
    if (algorithm->video && !plays && in_count != algorithm->input_count)
        return status_set(
            STATUS_BAD_INPUT, "%s takes a video, or %s, got %d inputs (the result goes after -o)", algorithm->name,
            !algorithm->background_file ? "one picture" : "two pictures (background and frame)", in_count);
    if (!plays && in_count != algorithm->input_count)
        return status_set(STATUS_BAD_INPUT, "%s takes %d input file%s, got %d (the result goes after -o)",
                          algorithm->name, algorithm->input_count, algorithm->input_count == 1 ? "" : "s", in_count);
    if (options->outputs.count == 0)
        return status_set(STATUS_BAD_INPUT, "run needs -o OUT");
    if ((form == FORM_VIDEO || form == FORM_FOLDER) && options->outputs.count > 1)
        return status_set(STATUS_BAD_INPUT, "of a %s there is one -o%s", form == FORM_VIDEO ? "video" : "folder",
                          form == FORM_VIDEO ? "; the boxes go to --boxes FILE.csv, too" : "");
    for (size_t i = 0; i < options->outputs.count && form != FORM_FOLDER; i++) {
        struct target target = {.path = options->outputs.items[i]};

        if (form != FORM_VIDEO)
            TRY(target_parse(algorithm, options->outputs.items[i], &target));
        apart_output(&apart, plays ? APART_VIDEO : APART_FILE, target.path);
    }
    apart_output(&apart, APART_FILE, options->boxes);
    for (int i = 0; i < in_count && form != FORM_FOLDER; i++)
        apart_input(&apart, plays ? APART_VIDEO : APART_FILE, in[i]);
    apart_settings(&apart, algorithm, &options->settings);
out:
    if (status == STATUS_OK)
        return apart_check(&apart);
    apart_free(&apart);
    return status;
}

static int run_video(const struct run_options *options, const struct application *application, const char *in)
{
    if (version_check_tunables(application->version, NULL, application->params) != STATUS_OK)
        return cli_fail_status();
    return cli_run_video(&(struct video_job){.algorithm = application->algorithm,
                                             .version = application->version,
                                             .params = application->params,
                                             .in = in,
                                             .out = options->outputs.items[0],
                                             .boxes = options->boxes,
                                             .fps = options->fps});
}

static int run_frames(const struct run_options *options, struct application *application, const char *in)
{
    const size_t count = options->outputs.count;
    struct frames_output *outputs = calloc(count, sizeof *outputs);
    int exit_status = CLI_BAD_USE;

    if (!outputs)
        return cli_fail("%s: no memory", in);
    for (size_t i = 0; i < count; i++) {
        struct target target;

        if (target_parse(application->algorithm, options->outputs.items[i], &target) != STATUS_OK) {
            cli_fail_status();
            goto out;
        }
        outputs[i] = (struct frames_output){.slot = target.slot, .path = target.path};
    }
    exit_status = cli_run_frames(&(struct frames_job){
        .application = application, .in = in, .outputs = outputs, .count = count, .fps = options->fps});
    application_end(application);
out:
    free(outputs);
    return exit_status;
}

/* Of a folder, where the pictures' shapes are not known: the first output that these parameters leave of a small
 * picture, gray or in colour, and that has the format. */
static int slot_of_folder(const struct application *application, const char *format)
{
    const struct algorithm *algorithm = application->algorithm;
    struct image small = {.width = 64, .height = 64, .type = PIXEL_U8}, shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};
    enum status status = STATUS_FAILED;
    char extension[16];
    int first = 0;

    for (small.channels = 1; small.channels <= 3 && status != STATUS_OK; small.channels += 2)
        status = algorithm->shape(&small, application->params, shapes);
    if (status != STATUS_OK)
        return 0;
    while (first < algorithm->output_count - 1 && shapes[first].width == 0)
        first++;
    snprintf(extension, sizeof extension, ".%s", format ? format : slot_extension(&algorithm->outputs[first]) + 1);
    return target_slot(algorithm, extension, shapes, first);
}

static int run_folder(const struct run_options *options, struct application *application, const char *in)
{
    struct target target;
    int exit_status;

    if (target_parse(application->algorithm, options->outputs.items[0], &target) != STATUS_OK)
        return cli_fail_status();
    if (!target.named && slot_check_form(&application->algorithm->outputs[target.slot], target.path) != STATUS_OK)
        target.slot = slot_of_folder(application, options->format);
    exit_status = cli_run_folder(&(struct folder_job){.application = application,
                                                      .in = in,
                                                      .out = target.path,
                                                      .slot = target.slot,
                                                      .format = options->format,
                                                      .settings = &options->settings,
                                                      .jobs = options->jobs ? options->jobs : machine_cores()});

    application_end(application);
    return exit_status;
}

/* ------------------------------------------------------------------------------------------------ several videos */

/* One of the videos: the options with its name in the place of {}. */
struct stream {
    char *in;
    enum form form;
    struct run_options options;
    struct application application;
};

static bool has_place(const struct run_options *options)
{
    bool found = several_has_place(options->boxes);

    for (size_t i = 0; i < options->outputs.count; i++)
        found = found || several_has_place(options->outputs.items[i]);
    return found;
}

/* In every name: results of two videos in one folder would be one beside the other at best. */
static enum status check_places(const struct run_options *options)
{
    const char *text = options->boxes;

    for (size_t i = 0; i < options->outputs.count && (!text || several_has_place(text)); i++)
        text = options->outputs.items[i];
    return several_has_place(text)
               ? STATUS_OK
               : status_set(STATUS_BAD_INPUT,
                            "%s: of several videos, each has results of its own: {} stands for its name", text);
}

static enum status fill_stream(struct stream *stream, const struct run_options *options)
{
    enum status status = STATUS_OK;
    char *filled;

    stream->options = *options;
    stream->options.outputs = (struct cli_list_option){0};
    stream->options.boxes = NULL;
    for (size_t i = 0; i < options->outputs.count; i++) {
        TRY(several_fill(&filled, options->outputs.items[i], stream->in));
        status = cli_append(&stream->options.outputs, filled);
        if (status != STATUS_OK)
            free(filled);
        TRY(status);
    }
    if (options->boxes) {
        TRY(several_fill(&filled, options->boxes, stream->in));
        stream->options.boxes = filled;
    }
out:
    return status;
}

static void free_stream(struct stream *stream)
{
    for (size_t i = 0; i < stream->options.outputs.count; i++)
        free((char *)stream->options.outputs.items[i]);
    free(stream->options.outputs.items);
    free((char *)stream->options.boxes);
}

/* That each is a video and that no file is that of another. */
static enum status check_streams(struct stream *streams, int count, const struct algorithm *algorithm)
{
    enum status status = STATUS_OK;
    struct apart apart = {0};

    for (int k = 0; k < count; k++) {
        struct stream *stream = &streams[k];
        const struct run_options *options = &stream->options;

        stream->form = form_of(options, algorithm, &stream->in, 1);
        if (stream->form != FORM_VIDEO && stream->form != FORM_FRAMES) {
            status =
                status_set(STATUS_BAD_INPUT, "%s: {} in the name of an output is for videos, and %s is none for %s",
                           stream->in, stream->in, algorithm->name);
            goto out;
        }
        TRY(check_use(options, algorithm, &stream->in, 1, stream->form));
        apart_input(&apart, APART_VIDEO, stream->in);
        for (size_t i = 0; i < options->outputs.count; i++) {
            struct target target = {.path = options->outputs.items[i]};

            if (stream->form == FORM_FRAMES)
                TRY(target_parse(algorithm, options->outputs.items[i], &target));
            apart_output(&apart, APART_VIDEO, target.path);
        }
        apart_output(&apart, APART_FILE, options->boxes);
    }
out:
    if (status == STATUS_OK)
        return apart_check(&apart);
    apart_free(&apart);
    return status;
}

static int play_stream(void *stream_erased)
{
    struct stream *stream = stream_erased;

    return stream->form == FORM_VIDEO ? run_video(&stream->options, &stream->application, stream->in)
                                      : run_frames(&stream->options, &stream->application, stream->in);
}

static int run_several(const struct run_options *options, const struct application *application, char *const *in,
                       int count)
{
    enum status status = STATUS_OK;
    struct application_tuning tuning = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct stream streams[SEVERAL_MOST] = {{0}};
    struct video_info asked;
    void *arguments[SEVERAL_MOST];
    int exit_status = CLI_BAD_USE;

    if (count > SEVERAL_MOST)
        return cli_fail("%d videos; at most %d are played at once", count, SEVERAL_MOST);
    if (count > 1)
        TRY(check_places(options));
    if (options->fps) /* said once, not by each video */
        TRY(video_run_take_rate(&asked, options->fps));
    for (int k = 0; k < count; k++) {
        streams[k].in = in[k];
        streams[k].application = *application;
        streams[k].application.tuning = &tuning;
        arguments[k] = &streams[k];
        TRY(fill_stream(&streams[k], options));
    }
    TRY(check_streams(streams, count, application->algorithm));
    exit_status =
        several_play(count, play_stream, arguments, !(version_is_cuda(application->version) && device_is_emulated()));
out:
    if (status != STATUS_OK)
        cli_fail_status();
    for (int k = 0; k < count; k++)
        free_stream(&streams[k]);
    return exit_status;
}

int cli_run(int argc, char **argv)
{
    enum status status = STATUS_OK;
    struct run_options options = {0};
    struct application application = {.settings = &options.settings};
    const struct algorithm *algorithm = NULL;
    const char *why;
    char *const *in;
    bool several;
    enum form form = FORM_FILES;
    void *params = NULL;
    char *twice[2]; /* one picture in both places */
    int exit_status, in_count;

    if (!parse_options(&options, argc, argv, &exit_status))
        goto out;
    exit_status = CLI_BAD_USE;
    if (optind == argc) {
        status = status_set(STATUS_BAD_INPUT, "run needs an algorithm; `rungs run --help` shows how");
        goto out;
    }
    TRY(cli_find(argv[optind], &application.algorithm, &application.version));
    algorithm = application.algorithm;
    in = argv + optind + 1;
    in_count = argc - optind - 1;
    several = in_count > 0 && has_place(&options);
    if (!several)
        form = form_of(&options, algorithm, in, in_count);
    if (!several && form == FORM_FILES && algorithm->video && !algorithm->background_file && in_count == 1) {
        twice[0] = twice[1] = in[0];
        in = twice;
        in_count = 2;
    }
    if (!several)
        TRY(check_use(&options, algorithm, in, in_count, form));
    if (!application.version)
        application.version = best_version(algorithm);
    if (!application.version) {
        status = status_set(STATUS_UNSUPPORTED, "%s has no version that runs here", algorithm->name);
        goto out;
    }
    why = version_unavailable(application.version);
    if (why) {
        status = status_set(STATUS_UNSUPPORTED, "%s:%s cannot run here: %s", algorithm->name,
                            application.version->source->id, why);
        goto out;
    }
    params = calloc(1, algorithm->params_size ? algorithm->params_size : 1);
    if (!params) {
        status = status_set(STATUS_NO_MEMORY, "no memory for parameters");
        goto out;
    }
    application.params = params;
    TRY(params_parse(algorithm, &application.version, 1, options.settings.items, options.settings.count, params));
    if (several) {
        exit_status = run_several(&options, &application, in, in_count);
    } else if (form == FORM_VIDEO) {
        exit_status = run_video(&options, &application, in[0]);
    } else if (form == FORM_FRAMES) {
        exit_status = run_frames(&options, &application, in[0]);
    } else if (form == FORM_FOLDER) {
        exit_status = run_folder(&options, &application, in[0]);
    } else if (algorithm->background_file && algorithm->background_file(params)) {
        status =
            status_set(STATUS_BAD_INPUT, "background=%s is for a video; of two pictures the first is the background",
                       algorithm->background_file(params));
    } else {
        TRY(apply(&application, in, &options.outputs));
        exit_status = CLI_DONE;
    }
out:
    if (status != STATUS_OK)
        exit_status = cli_fail_status();
    free(params);
    free(options.settings.items);
    free(options.outputs.items);
    return exit_status;
}
