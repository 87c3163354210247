#include "common/cli/bench_video.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/core/paths.h"
#include "common/core/progress.h"
#include "common/core/text.h"
#include "common/image/image_io.h"
#include "common/measure/machine.h"
#include "common/measure/video_bench.h"
#include "common/output/video_table.h"
#include "common/verify/scene.h"
#include "common/video/video.h"

enum { SCENE_WIDTH = 768, SCENE_HEIGHT = 576 };
static const double max_memory = 4e9; /* bytes of frames */

struct frames {
    struct image *items, first; /* first: a picture that takes the place of frame 0 as background; no data if none */
    int count;
    char description[2048]; /* a path and how it was changed */
};

static void frames_free(struct frames *frames)
{
    for (int i = 0; i < frames->count; i++)
        image_free(&frames->items[i]);
    free(frames->items);
    image_free(&frames->first);
    memset(frames, 0, sizeof *frames);
}

static enum status check_memory(int width, int height, int count)
{
    if (3.0 * width * height * count > max_memory)
        return status_set(STATUS_BAD_INPUT, "%d frames of %dx%d are %.1f GB in memory; --frames takes fewer", count,
                          width, height, 3e-9 * width * height * count);
    return STATUS_OK;
}

static enum status make_scene(struct frames *frames, int width, int height, int count)
{
    enum status status = STATUS_OK;

    TRY(check_memory(width, height, count));
    for (int i = 0; i < count; i++) {
        TRY(image_create(&frames->items[i], width, height, 3, PIXEL_U8));
        frames->count++;
        scene_frame(&frames->items[i], i);
    }
    snprintf(frames->description, sizeof frames->description, "synthetic scene (common/verify/scene.h)");
out:
    return status;
}

static enum status read_video(struct frames *frames, const char *name, int width, int height, int count)
{
    enum status status = STATUS_OK;
    struct video_reader *reader = NULL;
    const struct video_info *info;

    TRY(video_open(&reader, name, NULL));
    info = video_get_info(reader);
    const bool scale = width && (width != info->width || height != info->height);
    TRY(check_memory(scale ? width : info->width, scale ? height : info->height, count));
    while (frames->count < count) {
        struct video_frame *frame = NULL;

        TRY(video_next(reader, &frame));
        if (!frame)
            break;
        progress("reading %s: frame %d of %d", name, frames->count + 1, count);
        if (scale) {
            status = image_resize_to_cover(&frames->items[frames->count], &frame->image, width, height);
        } else {
            status = image_create_like(&frames->items[frames->count], &frame->image);
            if (status == STATUS_OK)
                image_copy(&frames->items[frames->count], &frame->image);
        }
        video_give_back(reader, frame);
        TRY(status);
        frames->count++;
    }
    text_append_plain(frames->description, sizeof frames->description, name);
    text_append_plain(frames->description, sizeof frames->description, scale ? ", scaled" : "");
out:
    video_close(reader);
    return status;
}

/* The real video if it has been fetched; "" when not. */
static void find_video(char *path, size_t size)
{
    const char *root = paths_root();

    snprintf(path, size, "%s/images/fetched/vtest.avi", root ? root : ".");
    if (access(path, R_OK) != 0)
        path[0] = '\0';
}

static enum status load(struct frames *frames, const struct algorithm *algorithm, const struct workload *workload,
                        int count)
{
    enum status status = STATUS_OK;
    const bool given = workload->inputs.count > 0;
    const char *background = algorithm->background_file ? algorithm->background_file(workload->params) : NULL;
    char found[PATH_MAX + 64] = "";
    const char *video = given ? workload->inputs.items[0] : found;

    if (workload->inputs.count > 1)
        return status_set(STATUS_BAD_INPUT, "%s takes one video, got %zu", algorithm->name, workload->inputs.count);
    frames->items = calloc((size_t)count, sizeof *frames->items);
    if (!frames->items)
        return status_set(STATUS_NO_MEMORY, "no memory for %d frames", count);
    progress_start();
    if (!given)
        find_video(found, sizeof found);
    if (!video[0]) {
        TRY(make_scene(frames, workload->width ? workload->width : SCENE_WIDTH,
                       workload->height ? workload->height : SCENE_HEIGHT, count));
    } else {
        status = read_video(frames, video, workload->width, workload->height, count);
        if (status == STATUS_UNSUPPORTED && !given) { /* no ffmpeg: the bench goes on with what needs none */
            fprintf(stderr, "rungs: %s; using a synthetic scene\n", status_message());
            status = make_scene(frames, workload->width ? workload->width : SCENE_WIDTH,
                                workload->height ? workload->height : SCENE_HEIGHT, count);
        }
        TRY(status);
    }
    if (background) {
        struct image whole = {0};

        TRY(image_load(&whole, background, 3));
        status = image_resize_to_cover(&frames->first, &whole, frames->items[0].width, frames->items[0].height);
        image_free(&whole);
    }
out:
    progress_clear();
    return status;
}

/* As of pictures (bench.c). */
static void show_row(struct video_bench *bench, const struct video_bench_row *row)
{
    if (row->outcome == VIDEO_SKIPPED)
        return;
    if (bench->shown == 0)
        fprintf(stderr, "%s, the first of %d rounds:\n", bench->request->algorithm->name,
                video_bench_rounds(bench->request));
    video_table_print_row(bench, row, bench->shown == 0, stderr);
    bench->shown++;
}

enum status bench_video(struct workload *workload, const struct bench_video_options *options, bool *failed)
{
    const struct algorithm *algorithm = options->algorithm;
    struct video_bench bench = {0};
    struct frames frames = {0};
    struct video_bench_request request = {.algorithm = algorithm,
                                          .versions = options->versions,
                                          .version_count = options->version_count,
                                          .seconds = options->seconds,
                                          .rounds = options->rounds,
                                          .show = show_row,
                                          .command = workload->command};
    const char *root = paths_root();
    enum status status = STATUS_OK;
    char standard[PATH_MAX + 64];

    if (workload->channels == 1)
        return status_set(STATUS_BAD_INPUT, "--channels 1: %s takes frames of 3 channels", algorithm->name);
    find_video(standard, sizeof standard);
    TRY(workload_create_outputs(workload, algorithm, standard));
    if (workload->threads == 0)
        workload->threads = machine_cores();
    workload->params = calloc(1, algorithm->params_size ? algorithm->params_size : 1);
    if (!workload->params) {
        status = status_set(STATUS_NO_MEMORY, "no memory for parameters");
        goto out;
    }
    TRY(params_parse(algorithm, options->asked, options->asked_count, workload->settings.items,
                     workload->settings.count, workload->params));
    for (size_t i = 0; i < options->asked_count; i++)
        TRY(version_check_tunables(options->asked[i], NULL, workload->params));
    TRY(load(&frames, algorithm, workload, options->frames));
    request.frames = frames.items;
    request.frame_count = frames.count;
    request.first = frames.first.data ? &frames.first : &frames.items[0];
    request.params = workload->params;
    request.threads = workload->threads;
    request.input = frames.description;
    if (root && strncmp(request.input, root, strlen(root)) == 0 && request.input[strlen(root)] == '/')
        request.input += strlen(root) + 1;
    TRY(video_bench_run(&request, &bench));
    if (bench.shown > 0)
        fputc('\n', stderr);
    video_table_print(&bench, stdout);
    *failed = video_bench_any_failed(&bench);
    fflush(stdout);
    if (workload->outputs[OUTPUT_JSON].path)
        workload_wrote(workload, video_results_write_json(&bench, &workload->outputs[OUTPUT_JSON].file));
    if (workload->outputs[OUTPUT_CSV].path)
        workload_wrote(workload, video_results_write_csv(&bench, &workload->outputs[OUTPUT_CSV].file));
out:
    video_bench_free(&bench);
    frames_free(&frames);
    return status;
}
