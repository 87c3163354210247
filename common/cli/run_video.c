/*
 * run_video.c: rungs run on a video: frames through a pipeline, their boxes or lines drawn on them and written down.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/boxes.h"
#include "common/cli/cli.h"
#include "common/cli/slot_file.h"
#include "common/cli/video_run.h"
#include "common/contract/device_info.h"
#include "common/contract/pipeline.h"
#include "common/core/clock.h"
#include "common/image/draw.h"
#include "common/image/image_io.h"
#include "common/video/boxes_csv.h"
#include "common/video/video.h"
#include "common/video/video_writer.h"

/* Frames decoded ahead, besides those in flight: evens out what varies between frames, and needs little memory. */
enum { FRAMES_AHEAD = 4 };

struct run {
    const struct video_job *job;
    const struct pipeline *pipeline;
    struct video_info info; /* of the output */
    struct video_reader *reader;
    struct video_writer *writer;
    struct output_file boxes;
    bool with_boxes;
    bool kept; /* what was written is complete and in place */
    void *state;
    struct image table;      /* the result of one frame */
    struct image background; /* the first frame, or a picture that takes its place; stays as it is to the end */
    /* Submitted and not received, the oldest first. */
    struct video_frame **in_flight;
    int first, count;
    /* So far. */
    long frames, row_count, overfull; /* overfull: frames with more boxes or lines than the table holds */
    double in_pipeline;
    struct video_progress progress;
};

/* Boxes are written in the columns of the MOT challenge and outlined; other tables are the slot's own rows and
 * picture. */
static bool has_boxes(const struct run *run)
{
    return run->job->algorithm->outputs[0].columns == boxes_column_names;
}

static enum status create_rows(struct run *run, const char *path)
{
    enum status status = STATUS_OK;

    if (has_boxes(run))
        return boxes_csv_create(&run->boxes, path);
    TRY(file_create(&run->boxes, path));
    slot_write_header(&run->boxes, &run->job->algorithm->outputs[0]);
out:
    return status;
}

static void add_rows(struct run *run, long frame)
{
    if (has_boxes(run))
        boxes_csv_add(&run->boxes, frame, &run->table);
    else
        slot_write_rows(&run->boxes, &run->job->algorithm->outputs[0], &run->table, frame);
}

static enum status write_picture(struct run *run, struct image *frame)
{
    const struct image in[2] = {run->background, *frame};
    struct image drawn = {0};
    enum status status = STATUS_OK;

    if (has_boxes(run)) {
        boxes_draw(frame, &run->table, draw_palette(0));
        return video_writer_add(run->writer, frame);
    }
    TRY(run->job->algorithm->outputs[0].draw(in, &run->table, run->job->params, &drawn));
    TRY(video_writer_add(run->writer, &drawn));
out:
    image_free(&drawn);
    return status;
}

/* What row 0 of the table counts, beyond what it holds, too. */
static long counted(const struct run *run)
{
    return has_boxes(run) ? *(const int32_t *)run->table.data : (long)*(const float *)run->table.data;
}

/* ------------------------------------------------------------------------------------------ before the first frame */

static enum status check_outputs(const struct video_job *job)
{
    enum status status = STATUS_OK;

    if (file_has_extension(job->out, ".csv"))
        TRY(file_check_output(job->out));
    else if (video_writer_fits(job->out))
        TRY(video_writer_check(job->out));
    else
        status = status_set(STATUS_BAD_INPUT,
                            "%s: what comes of a video goes to .mp4, .mov, .mkv, .avi, a folder, a pattern "
                            "(frame_%%04d.png), or, boxes alone, .csv",
                            job->out);
    if (status == STATUS_OK && job->boxes) {
        if (!file_has_extension(job->boxes, ".csv"))
            status = status_set(STATUS_BAD_INPUT, "%s: the file of --boxes must be .csv", job->boxes);
        else if (file_has_extension(job->out, ".csv"))
            status = status_set(STATUS_BAD_INPUT, "%s: the boxes go to -o already; leave --boxes out", job->out);
        else
            TRY(file_check_output(job->boxes));
    }
out:
    return status;
}

/* The picture that -p background=FILE names; else a copy of the first frame, whose own memory soon holds another. */
static enum status make_background(struct run *run, const struct image *first)
{
    enum status status = STATUS_OK;
    const struct video_job *job = run->job;
    const char *path = job->algorithm->background_file ? job->algorithm->background_file(job->params) : NULL;
    struct image *background = &run->background;

    if (!path) {
        TRY(image_create_like(background, first));
        image_copy(background, first);
        goto out;
    }
    TRY(image_load(background, path, first->channels));
    if (!image_same_shape(background, first))
        status = status_set(STATUS_BAD_INPUT, "%s: %dx%d pixels of %s, but the frames of %s have %dx%d of u8", path,
                            background->width, background->height, pixel_name(background->type), job->in, first->width,
                            first->height);
out:
    return status;
}

/* With the first frame at hand: everything that shall not exist when there is none. */
static enum status begin(struct run *run, const struct image *first)
{
    enum status status = STATUS_OK;
    const struct video_job *job = run->job;
    struct image in[2] = {{0}, *first};
    const bool csv_alone = file_has_extension(job->out, ".csv");
    const char *why, *boxes = csv_alone ? job->out : job->boxes;
    struct image shape = {0};

    TRY(make_background(run, first));
    in[0] = run->background;
    if (job->algorithm->shape(in, job->params, &shape) != STATUS_OK) {
        status = status_set(STATUS_BAD_INPUT, "%s: %s", job->in, status_message());
        goto out;
    }
    why = job->version->declines ? job->version->declines(in, job->params) : NULL;
    if (why) {
        status =
            status_set(STATUS_UNSUPPORTED, "%s: %s cannot do this one: %s", job->in, job->version->source->id, why);
        goto out;
    }
    TRY(image_create_like(&run->table, &shape));
    run->state = calloc(1, job->version->state_size ? job->version->state_size : 1);
    if (!run->state) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the state of %s", job->version->source->id);
        goto out;
    }

    const double start = clock_seconds();

    TRY(run->pipeline->start(run->state, &in[0], job->params));
    run->in_pipeline += clock_seconds() - start;
    if (boxes) {
        TRY(create_rows(run, boxes));
        run->with_boxes = true;
    }
    if (!csv_alone)
        TRY(video_writer_open(&run->writer, job->out, &run->info));
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------------- frames */

/* Fills up what may be in flight, but does not wait for a frame while one is: a camera's boxes are not to be as many
 * frames late as the version has room for. *more: whether the video goes on after that. */
static enum status submit_frames(struct run *run, bool *more)
{
    enum status status = STATUS_OK;

    while (*more && !video_run_interrupted() && run->count < run->pipeline->depth) {
        struct video_frame *frame;
        double start;

        if (run->count > 0 && !video_next_is_ready(run->reader))
            break;
        TRY(video_next(run->reader, &frame));
        if (!frame) {
            *more = false;
            break;
        }
        if (!run->state)
            status = begin(run, &frame->image);
        start = clock_seconds();
        if (status == STATUS_OK)
            status = run->pipeline->submit(run->state, &frame->image);
        run->in_pipeline += clock_seconds() - start;
        if (status != STATUS_OK) {
            video_give_back(run->reader, frame);
            goto out;
        }
        run->in_flight[(run->first + run->count++) % run->pipeline->depth] = frame;
    }
out:
    return status;
}

static enum status receive_frame(struct run *run)
{
    enum status status = STATUS_OK;
    struct video_frame *frame = run->in_flight[run->first];
    const double start = clock_seconds();

    run->first = (run->first + 1) % run->pipeline->depth;
    run->count--;
    TRY(run->pipeline->receive(run->state, &run->table));
    run->in_pipeline += clock_seconds() - start;
    if (run->with_boxes)
        add_rows(run, frame->number);
    if (run->writer)
        TRY(write_picture(run, &frame->image));
    run->frames++;
    run->row_count += slot_table_rows(&run->table);
    run->overfull += counted(run) > slot_table_rows(&run->table);
    video_progress_show(&run->progress, run->frames, run->reader);
out:
    video_give_back(run->reader, frame);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ the end */

static void print_summary(const struct run *run, double seconds)
{
    const struct video_job *job = run->job;
    const struct video_info *info = video_get_info(run->reader);
    const char *one = has_boxes(run) ? "box" : "line", *many = has_boxes(run) ? "boxes" : "lines";

    printf("%s:%s%s  %s %dx%d -> %s%s%s\n", job->algorithm->name, job->version->source->id,
           run->progress.timed ? "" : " (emulated)", job->in, info->width, info->height, job->out,
           job->boxes ? ", " : "", job->boxes ? job->boxes : "");
    printf("%ld frame%s, %ld %s", run->frames, run->frames == 1 ? "" : "s", run->row_count,
           run->row_count == 1 ? one : many);
    if (run->progress.timed)
        printf("; %.2f s, %.1f frames per second with decoding, drawing and writing (%.2f ms a frame in %s)", seconds,
               (double)run->frames / seconds, 1e3 * run->in_pipeline / (double)run->frames, job->algorithm->name);
    putchar('\n');
    if (run->overfull)
        printf("%ld frame%s more than %d %s (%s); the rest of them was left out\n", run->overfull,
               run->overfull == 1 ? " has" : "s have", run->table.height - 1, many,
               has_boxes(run) ? "max_boxes" : "maximum");
}

/* All frames, until the video ends, breaks or is interrupted; what was submitted before that is received. */
static void run_frames(struct run *run, struct video_fault *fault)
{
    bool more = true;

    for (;;) {
        enum status status = STATUS_OK;

        if (more && !video_run_interrupted() && fault->status == STATUS_OK)
            status = submit_frames(run, &more);
        /* Ctrl-C also ends a program that pipes into this one: the end of its video needs no message. */
        if (!video_run_interrupted())
            video_fault_note(fault, status);
        if (run->count == 0 && (!more || video_run_interrupted() || fault->status != STATUS_OK))
            return;
        status = run->count > 0 ? receive_frame(run) : STATUS_OK;
        video_fault_note(fault, status);
        if (status != STATUS_OK)
            return;
    }
}

/* Completes what can be completed, whatever happened before. */
static void complete(struct run *run, struct video_fault *fault)
{
    const enum status video = run->writer ? video_writer_finish(run->writer) : STATUS_OK;
    enum status boxes = STATUS_OK;

    video_fault_note(fault, video);
    run->writer = NULL;
    if (run->with_boxes && run->frames > 0) {
        boxes = file_commit(&run->boxes);
        video_fault_note(fault, boxes);
    }
    run->kept = run->frames > 0 && video == STATUS_OK && boxes == STATUS_OK;
}

int cli_run_video(const struct video_job *job)
{
    enum status status = STATUS_OK;
    struct run run = {.job = job, .pipeline = job->version->pipeline, .progress.start = clock_seconds()};
    struct video_info asked = {0};
    struct video_fault fault = {0};
    const struct video_options options = {.capacity = run.pipeline->depth + FRAMES_AHEAD,
                                          .allocate = run.pipeline->allocate,
                                          .release = run.pipeline->release};
    int exit_status = CLI_BAD_USE;

    run.progress.timed = !(version_is_cuda(job->version) && device_is_emulated());
    TRY(check_outputs(job));
    if (job->fps)
        TRY(video_run_take_rate(&asked, job->fps));
    TRY(video_open(&run.reader, job->in, &options));
    run.info = *video_get_info(run.reader);
    if (job->fps) {
        run.info.rate = asked.rate;
        run.info.rate_base = asked.rate_base;
    }
    run.in_flight = calloc((size_t)run.pipeline->depth, sizeof *run.in_flight);
    if (!run.in_flight) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", job->in);
        goto out;
    }
    video_run_catch(run.reader);
    run_frames(&run, &fault);
    complete(&run, &fault);
    video_run_print_begin();
    if (run.kept)
        print_summary(&run, clock_seconds() - run.progress.start);
    if (fault.status != STATUS_OK && run.kept)
        exit_status =
            cli_fail("%s%s; what came before is in %s", video_run_whose(&fault, job->in), fault.message, job->out);
    else if (fault.status != STATUS_OK)
        exit_status = cli_fail("%s%s", video_run_whose(&fault, job->in), fault.message);
    else if (video_run_interrupted())
        cli_fail("interrupted: %ld frame%s written to %s", run.frames, run.frames == 1 ? "" : "s", job->out);
    if (fault.status == STATUS_OK)
        exit_status = video_run_interrupted() ? CLI_INTERRUPTED : CLI_DONE;
    video_run_print_end();
    video_run_release(run.reader);
out:
    if (status != STATUS_OK)
        exit_status = cli_fail_status();
    if (run.state && job->version->teardown)
        job->version->teardown(run.state);
    free(run.state);
    image_free(&run.table);
    image_free(&run.background);
    video_writer_discard(run.writer);
    file_discard(&run.boxes);
    video_close(run.reader);
    free(run.in_flight);
    return exit_status;
}
