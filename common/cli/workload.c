#include "common/cli/workload.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli/apart.h"
#include "common/cli/slot_file.h"
#include "common/contract/inputs.h"
#include "common/core/paths.h"
#include "common/core/text.h"
#include "common/image/image_io.h"
#include "common/image/pattern.h"
#include "common/measure/machine.h"
#include "common/measure/tuned.h"

enum { DEFAULT_WIDTH = 1920, DEFAULT_HEIGHT = 1080, MAX_THREADS = 1024 };

bool workload_option(struct workload *workload, int option)
{
    enum status status = STATUS_OK;

    switch (option) {
    case 's':
        status = cli_parse_size("--size", optarg, &workload->width, &workload->height);
        break;
    case 'i':
        status = *optarg ? cli_append(&workload->inputs, optarg)
                         : status_set(STATUS_BAD_INPUT, "--input '': the name of the input is empty");
        break;
    case 'c':
        status = cli_parse_int("--channels", optarg, 1, IMAGE_MAX_CHANNELS, &workload->channels);
        break;
    case 't':
        status = cli_parse_int("--threads", optarg, 1, MAX_THREADS, &workload->threads);
        break;
    case 'p':
        status = cli_append(&workload->settings, optarg);
        break;
    default:
        return false; /* getopt_long() has said why */
    }
    if (status != STATUS_OK)
        cli_fail_status();
    return status == STATUS_OK;
}

/* Whether the bench's default input is a photograph. */
static bool takes_photographs(const struct algorithm *algorithm)
{
    return algorithm->inputs[0].kind == SLOT_PICTURE && algorithm->inputs[0].type == PIXEL_U8;
}

/* Whether all inputs have a size in pixels. */
static bool takes_pictures(const struct algorithm *algorithm)
{
    for (int i = 0; i < algorithm->input_count; i++)
        if (algorithm->inputs[i].kind != SLOT_PICTURE && algorithm->inputs[i].kind != SLOT_LABELS)
            return false;
    return true;
}

static bool is_picture_name(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && (strcmp(dot, ".jpg") == 0 || strcmp(dot, ".png") == 0 || strcmp(dot, ".jpeg") == 0);
}

/* A photograph with detail everywhere if there is one of that name, else the first by name; "" when there is none. */
static void find_photograph(char *path, size_t size)
{
    static const char *const preferred[] = {"aloeL.jpg", "building.jpg", "astronaut.png"};
    const char *root = paths_root();
    char folder[2048];
    struct dirent **entries = NULL;
    int count, best = -1;

    path[0] = '\0';
    if (!root)
        return;
    snprintf(folder, sizeof folder, "%s/images/fetched", root);
    count = scandir(folder, &entries, NULL, alphasort);
    for (int i = count - 1; i >= 0; i--)
        if (is_picture_name(entries[i]->d_name))
            best = i;
    for (int want = (int)(sizeof preferred / sizeof preferred[0]) - 1; want >= 0; want--)
        for (int i = 0; i < count; i++)
            if (strcmp(entries[i]->d_name, preferred[want]) == 0)
                best = i;
    if (best >= 0)
        snprintf(path, size, "%s/%s", folder, entries[best]->d_name);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

/* The path as a reader of the table would type it at the top of the source tree. */
static const char *shown_path(const char *path)
{
    const char *root = paths_root();
    const size_t length = root ? strlen(root) : 0;

    return root && strncmp(path, root, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

/* Loads one input. Sizes and channel counts are asked of pictures only (check_options()). */
static enum status load(struct image *image, const struct named_slot *slot, const char *path, int channels, int width,
                        int height)
{
    enum status status = STATUS_OK;
    struct image whole = {0};

    if (channels)
        TRY(image_load(&whole, path, channels));
    else
        TRY(slot_load(&whole, slot, path, NULL));
    if (width == 0 || (width == whole.width && height == whole.height)) {
        *image = whole;
        return STATUS_OK;
    }
    status = image_resize_to_cover(image, &whole, width, height);
    if (status != STATUS_OK)
        status = status_set(status, "%s: %s", path, status_message());
out:
    image_free(&whole);
    return status;
}

static enum status make_pattern(struct workload *workload, const struct algorithm *algorithm, int width, int height,
                                int channels)
{
    enum status status = STATUS_OK;
    const struct input_request request = {.width = width,
                                          .height = height,
                                          .channels = channels,
                                          .pattern = PATTERN_RANDOM,
                                          .seed = 1,
                                          .params = workload->params};

    TRY(inputs_make(algorithm, &request, workload->in));
    workload->made = request;
    snprintf(workload->description, sizeof workload->description, "synthetic, %s",
             takes_photographs(algorithm) && !algorithm->make_inputs
                 ? "uniform random samples (no photograph in images/fetched: make images)"
                 : "made from uniform random samples");
out:
    return status;
}

/* Refuses what the contract or this machine's memory will not take before any time is spent on it. Needs shapes only.
 * Counted is what every version costs: the input and the expected results of two sets in this process, and two sets in
 * a child; what a version allocates by itself comes on top. */
static enum status check_room(const struct algorithm *algorithm, const struct image in[], const void *params)
{
    enum status status = STATUS_OK;
    const double available = (double)machine_available_memory();
    struct image out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    double needed = 0;

    TRY(algorithm->shape(in, params, out));
    for (int i = 0; i < algorithm->output_count; i++)
        needed += 4.0 * (double)image_pixel_bytes(&out[i]);
    for (int i = 0; i < algorithm->input_count; i++)
        needed += 3.0 * (double)image_pixel_bytes(&in[i]);
    if (available > 0 && needed > available)
        status = status_set(STATUS_BAD_INPUT, "%dx%d%s: measuring %s takes %.1f GB, and %.1f GB are free", in[0].width,
                            in[0].height, takes_pictures(algorithm) ? " pixels" : "", algorithm->name, 1e-9 * needed,
                            1e-9 * available);
out:
    return status;
}

/* The same for inputs that are still to be made, of the requested shape. What a maker of arrays makes out of it is its
 * own matter, so that only the shape itself is counted; the rest is checked once the inputs are there. */
static enum status check_request(const struct algorithm *algorithm, int width, int height, int channels,
                                 const void *params)
{
    struct image shapes[ALGORITHM_MAX_INPUTS] = {{0}};
    const double available = (double)machine_available_memory();
    double needed = 0;

    for (int i = 0; i < algorithm->input_count; i++) {
        shapes[i] =
            (struct image){.width = width, .height = height, .channels = channels, .type = algorithm->inputs[i].type};
        needed += 3.0 * width * height * channels * (double)pixel_size(shapes[i].type);
    }
    if (takes_pictures(algorithm))
        return check_room(algorithm, shapes, params);
    if (available > 0 && needed > available)
        return status_set(STATUS_BAD_INPUT, "%dx%dx%d: measuring %s takes more than %.1f GB, and %.1f GB are free",
                          width, height, channels, algorithm->name, 1e-9 * needed, 1e-9 * available);
    return STATUS_OK;
}

/* Appends to the description, whose end it may cut off. */
static void describe(struct workload *workload, const char *text)
{
    text_append_plain(workload->description, sizeof workload->description, text);
}

/* Options that fit the algorithm: files for all its inputs, or one picture for a maker to make them of. */
static enum status check_options(const struct workload *workload, const struct algorithm *algorithm)
{
    const size_t given = workload->inputs.count, wanted = (size_t)algorithm->input_count;

    if (given != 0 && given != wanted && (given != 1 || !takes_photographs(algorithm)))
        return status_set(STATUS_BAD_INPUT, "%s takes %zu input%s, got %zu (--input FILE for each)", algorithm->name,
                          wanted, wanted == 1 ? "" : "s", given);
    if (takes_pictures(algorithm) && workload->channels && workload->channels != 1 && workload->channels != 3)
        return status_set(STATUS_BAD_INPUT, "--channels %d: must be 1 or 3", workload->channels);
    if (given && !takes_pictures(algorithm) && (workload->width || workload->channels))
        return status_set(STATUS_BAD_INPUT, "--%s is for pictures; %s takes a %s as it is in its file",
                          workload->width ? "size" : "channels", algorithm->name,
                          slot_kind_name(algorithm->inputs[0].kind));
    return STATUS_OK;
}

static enum status load_inputs(struct workload *workload, const struct algorithm *algorithm)
{
    enum status status = STATUS_OK;
    const bool given = workload->inputs.count > 0;
    const int *shape = algorithm->bench_shape;
    const int width = workload->width ? workload->width : given ? 0 : shape ? shape[0] : DEFAULT_WIDTH;
    const int height = workload->height ? workload->height : given ? 0 : shape ? shape[1] : DEFAULT_HEIGHT;
    const int usual = shape ? shape[2] : algorithm->bench_channels;
    const int channels = workload->channels ? workload->channels : given ? 0 : usual;
    char photograph[4096] = "", scaled[64];
    struct image picture = {0};

    TRY(check_options(workload, algorithm));
    if (!given)
        TRY(check_request(algorithm, width, height, channels, workload->params));
    if (!given && takes_photographs(algorithm))
        find_photograph(photograph, sizeof photograph);
    if (!given && !photograph[0]) {
        TRY(make_pattern(workload, algorithm, width, height, channels));
    } else if (workload->inputs.count < (size_t)algorithm->input_count) {
        /* One picture in the place of all inputs is no choice: the contract makes legal ones out of it. */
        const char *path = given ? workload->inputs.items[0] : photograph;

        TRY(load(&picture, &algorithm->inputs[0], path, channels, width, height));
        const struct input_request request = {.width = picture.width,
                                              .height = picture.height,
                                              .channels = picture.channels,
                                              .pattern = PATTERN_RANDOM,
                                              .seed = 1,
                                              .photograph = &picture,
                                              .params = workload->params};

        TRY(inputs_make(algorithm, &request, workload->in));
        describe(workload, shown_path(path));
    } else {
        for (int i = 0; i < algorithm->input_count; i++) {
            TRY(load(&workload->in[i], &algorithm->inputs[i], workload->inputs.items[i], channels, width, height));
            describe(workload, i ? " and " : "");
            describe(workload, shown_path(workload->inputs.items[i]));
        }
    }
    if (width && (given || photograph[0])) {
        snprintf(scaled, sizeof scaled, ", scaled to cover %dx%d", width, height);
        describe(workload, scaled);
    }
    status = check_room(algorithm, workload->in, workload->params);
    if (status != STATUS_OK && given)
        status = status_set(status, "%s: %s", workload->description, status_message());
out:
    image_free(&picture);
    return status;
}

enum status workload_create_outputs(struct workload *workload, const struct algorithm *algorithm, const char *standard)
{
    enum status status = STATUS_OK;
    struct apart apart = {0};

    for (int i = 0; i < WORKLOAD_OUTPUTS; i++) {
        if (workload->outputs[i].path && !*workload->outputs[i].path)
            TRY(file_check_output(""));
        apart_output(&apart, APART_FILE, workload->outputs[i].path);
    }
    for (size_t i = 0; i < workload->inputs.count; i++)
        apart_input(&apart, algorithm->video ? APART_VIDEO : APART_FILE, workload->inputs.items[i]);
    if (workload->inputs.count == 0)
        apart_input(&apart, APART_FILE, standard);
    apart_input(&apart, APART_FILE, tuned_path());
    apart_settings(&apart, algorithm, &workload->settings);
    TRY(apart_check(&apart));
    for (int i = 0; i < WORKLOAD_OUTPUTS; i++)
        if (workload->outputs[i].path)
            TRY(file_create(&workload->outputs[i].file, workload->outputs[i].path));
out:
    apart_free(&apart);
    return status;
}

void workload_wrote(struct workload *workload, enum status status)
{
    if (status == STATUS_OK)
        return;
    cli_fail("%s; the results are not in it", status_message());
    workload->unwritten = true;
}

enum status workload_prepare(struct workload *workload, const struct algorithm *algorithm,
                             const struct version *const *versions, size_t version_count)
{
    enum status status = STATUS_OK;
    char photograph[4096] = "";

    if (takes_photographs(algorithm))
        find_photograph(photograph, sizeof photograph);
    TRY(workload_create_outputs(workload, algorithm, photograph));
    if (workload->threads == 0)
        workload->threads = machine_cores();
    workload->params = calloc(1, algorithm->params_size ? algorithm->params_size : 1);
    if (!workload->params) {
        status = status_set(STATUS_NO_MEMORY, "no memory for parameters");
        goto out;
    }
    TRY(params_parse(algorithm, versions, version_count, workload->settings.items, workload->settings.count,
                     workload->params));
    TRY(load_inputs(workload, algorithm));
    if (!workload->untuned)
        tuned_apply(versions, version_count, workload->settings.items, workload->settings.count, workload->threads,
                    workload->in, workload->params, true);
    for (size_t i = 0; i < version_count; i++)
        TRY(version_check_tunables(versions[i], workload->in, workload->params));
out:
    return status;
}

void workload_set_command(struct workload *workload, int argc, char **argv)
{
    text_append_plain(workload->command, sizeof workload->command, argv[0]);
    for (int i = 1; i < argc; i++) {
        /* Where the results went is no part of what was measured, and may name a folder of one machine. */
        if (strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "--csv") == 0 || strcmp(argv[i], "--svg") == 0 ||
            strcmp(argv[i], "--trace") == 0) {
            i++;
            continue;
        }
        if (strncmp(argv[i], "--json=", 7) == 0 || strncmp(argv[i], "--csv=", 6) == 0 ||
            strncmp(argv[i], "--svg=", 6) == 0 || strncmp(argv[i], "--trace=", 8) == 0)
            continue;
        text_append_plain(workload->command, sizeof workload->command, " ");
        text_append_plain(workload->command, sizeof workload->command, argv[i]);
    }
}

bool workload_argument(int argc, char **argv, const char *needs, const char *takes, const struct algorithm **algorithm,
                       const struct version **version)
{
    if (optind == argc)
        cli_fail("%s needs %s; `rungs %s --help` shows how", argv[0], needs, argv[0]);
    else if (argc - optind > 1)
        cli_fail("%s takes %s, not also '%s'", argv[0], takes, argv[optind + 1]);
    else if (cli_find(argv[optind], algorithm, version) != STATUS_OK)
        cli_fail_status();
    else
        return true;
    return false;
}

int workload_exit_status(const struct workload *workload, enum status status, bool failed)
{
    if (status != STATUS_OK)
        cli_fail_status();
    if (workload->unwritten || (status != STATUS_OK && status != STATUS_FAILED))
        return CLI_BAD_USE;
    return status == STATUS_FAILED || failed ? CLI_CHECK_FAILED : CLI_DONE;
}

void workload_free(struct workload *workload)
{
    for (int i = 0; i < ALGORITHM_MAX_INPUTS; i++)
        image_free(&workload->in[i]);
    for (int i = 0; i < WORKLOAD_OUTPUTS; i++)
        file_discard(&workload->outputs[i].file);
    free(workload->params);
    free(workload->inputs.items);
    free(workload->settings.items);
    memset(workload, 0, sizeof *workload);
}
