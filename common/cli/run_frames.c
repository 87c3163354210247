/*
 * run_frames.c: rungs run of an algorithm for one picture on a video, each frame by itself. The reader's thread decodes
 * ahead, this one computes, a third draws and writes, so that a frame takes as long as the longest of the three. A
 * version with a queue (queue.h) has several frames under way.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli/apply.h"
#include "common/cli/slot_file.h"
#include "common/cli/video_run.h"
#include "common/contract/device_info.h"
#include "common/contract/queue.h"
#include "common/core/clock.h"
#include "common/image/image_io.h"
#include "common/video/video.h"
#include "common/video/video_writer.h"

enum {
    IN_FLIGHT = 3,   /* one is computed, one written, one waits between them; and whatever a queue has besides */
    FRAMES_AHEAD = 4 /* decoded: evens out what varies between frames */
};

/* A frame on its way from computing to writing. */
struct flight {
    struct video_frame *frame;
    struct image in; /* what the algorithm gets: the frame, or its copy in gray */
    struct image out[ALGORITHM_MAX_OUTPUTS];
};

/* One -o, a video that shows the slot or a .csv of its rows. */
struct output {
    const struct frames_output *asked;
    const struct named_slot *slot;
    bool rows, opened;
    long count; /* of rows */
    struct video_writer *writer;
    struct output_file file;
};

struct run {
    const struct frames_job *job;
    struct application *application;
    struct video_info info; /* of what is written */
    struct video_reader *reader;
    struct output *outputs;
    bool gray;
    int depth, in_flight; /* frames that may be under way in the version, and in all */
    struct flight *flights;
    long begun; /* frames that the version has been given */
    struct video_progress progress;
    double computing; /* seconds */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    long computed, written; /* frames; those between are in flights[number % in_flight] */
    long stored;            /* of those written: completely */
    bool ended;             /* no more are computed */
    bool kept;              /* what was written is complete and in place */
    struct video_fault writing;
};

/* ----------------------------------------------------------------------------------------- before the first frame */

static enum status check_outputs(struct run *run)
{
    const struct frames_job *job = run->job;
    const struct algorithm *algorithm = run->application->algorithm;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < job->count; i++) {
        struct output *output = &run->outputs[i];
        const char *path = job->outputs[i].path;

        output->asked = &job->outputs[i];
        output->slot = &algorithm->outputs[job->outputs[i].slot];
        output->rows = file_has_extension(path, ".csv") && slot_has_rows(output->slot);
        if (output->rows)
            TRY(file_check_output(path));
        else if (slot_is_drawn(output->slot) && video_writer_fits(path))
            TRY(video_writer_check(path));
        else
            return status_set(
                STATUS_BAD_INPUT, "%s: %s of a video goes to %s%s%s", path, output->slot->name,
                slot_is_drawn(output->slot) ? ".mp4, .mov, .mkv, .avi, a folder or a pattern (frame_%04d.png)" : "",
                slot_is_drawn(output->slot) && slot_has_rows(output->slot) ? ", or " : "",
                slot_has_rows(output->slot)   ? ".csv"
                : slot_is_drawn(output->slot) ? ""
                                              : "no file: it has neither pictures nor rows");
    }
out:
    return status;
}

/* With the first frame at hand: everything that shall not exist when there is none. A video is opened with the size of
 * its first drawn picture. */
static enum status begin(struct run *run, const struct image *first)
{
    struct application *application = run->application;
    const int outputs = application->algorithm->output_count;
    enum status status = STATUS_OK;
    struct image shapes[ALGORITHM_MAX_OUTPUTS], in = *first;

    run->gray = application_channels(application, &in) == 1;
    in.channels = run->gray ? 1 : in.channels;
    TRY(application_shape(application, run->job->in, &in, shapes));
    for (size_t i = 0; i < run->job->count; i++)
        if (shapes[run->outputs[i].asked->slot].width == 0)
            return status_set(STATUS_BAD_INPUT, "%s: with these parameters there is no %s", run->outputs[i].asked->path,
                              run->outputs[i].slot->name);
    for (int k = 0; k < run->in_flight; k++) {
        struct flight *flight = &run->flights[k];

        if (run->gray)
            TRY(image_create(&flight->in, in.width, in.height, 1, PIXEL_U8));
        memcpy(flight->out, shapes, (size_t)outputs * sizeof *shapes);
        TRY(application_create(application, flight->out));
    }
    for (size_t i = 0; i < run->job->count; i++) {
        struct output *output = &run->outputs[i];

        if (!output->rows)
            continue;
        TRY(file_create(&output->file, output->asked->path));
        output->opened = true;
        slot_write_header(&output->file, output->slot);
    }
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------------- writing */

static enum status show(struct run *run, struct output *output, const struct flight *flight)
{
    const struct application *application = run->application;
    struct video_info info = run->info;
    struct image drawn = {0};
    enum status status = STATUS_OK;

    TRY(slot_draw(application->algorithm, output->asked->slot, &flight->frame->image, flight->out, application->params,
                  &drawn));
    info.width = drawn.width;
    info.height = drawn.height;
    if (!output->writer)
        TRY(video_writer_open(&output->writer, output->asked->path, &info));
    TRY(video_writer_add(output->writer, &drawn));
out:
    image_free(&drawn);
    return status;
}

static enum status write_flight(struct run *run, const struct flight *flight)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < run->job->count; i++) {
        struct output *output = &run->outputs[i];
        const struct image *array = &flight->out[output->asked->slot];

        if (!output->rows) {
            TRY(show(run, output, flight));
            continue;
        }
        slot_write_rows(&output->file, output->slot, array, flight->frame->number);
        output->count += output->slot->kind == SLOT_TABLE ? slot_table_rows(array) : array->height;
    }
out:
    return status;
}

/* Completes what can be completed, whatever happened before. */
static void complete(struct run *run)
{
    run->kept = run->stored > 0;

    for (size_t i = 0; i < run->job->count; i++) {
        struct output *output = &run->outputs[i];
        enum status status = STATUS_OK;

        if (output->writer)
            status = video_writer_finish(output->writer);
        else if (output->opened && run->stored > 0)
            status = file_commit(&output->file);
        output->writer = NULL;
        video_fault_note(&run->writing, status);
        run->kept = run->kept && status == STATUS_OK;
    }
}

/* After a failure frames are given back unwritten. Files are completed in this thread, too: ffmpeg, which it started,
 * ends with it (program.h). */
static void *write_frames(void *run_erased)
{
    struct run *run = run_erased;

    pthread_mutex_lock(&run->lock);
    while (!run->ended || run->written < run->computed) {
        const struct flight *flight = &run->flights[run->written % run->in_flight];
        enum status status = STATUS_OK;

        if (run->written == run->computed) {
            pthread_cond_wait(&run->changed, &run->lock);
            continue;
        }
        if (run->writing.status == STATUS_OK) {
            pthread_mutex_unlock(&run->lock);
            status = write_flight(run, flight);
            pthread_mutex_lock(&run->lock);
        }
        video_fault_note(&run->writing, status);
        run->stored += run->writing.status == STATUS_OK;
        video_give_back(run->reader, flight->frame);
        run->written++;
        pthread_cond_broadcast(&run->changed);
    }
    pthread_mutex_unlock(&run->lock);
    complete(run);
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- computing */

static enum status submit(struct run *run, struct flight *flight)
{
    struct application *application = run->application;
    enum status status = STATUS_OK;
    double start;

    if (run->gray)
        TRY(image_convert(&flight->in, &flight->frame->image, run->job->in));
    else
        flight->in = flight->frame->image;
    start = clock_seconds();
    TRY(application_submit(application, &flight->in, flight->out));
    run->computing += clock_seconds() - start;
out:
    return status;
}

static enum status receive(struct run *run, struct flight *flight)
{
    const double start = clock_seconds();
    enum status status = STATUS_OK;

    TRY(application_receive(run->application, &flight->in, flight->out));
    run->computing += clock_seconds() - start;
out:
    return status;
}

/* False once the writer has failed. */
static bool wait_for_flight(struct run *run)
{
    bool fine;

    pthread_mutex_lock(&run->lock);
    while (run->begun - run->written == run->in_flight)
        pthread_cond_wait(&run->changed, &run->lock);
    fine = run->writing.status == STATUS_OK;
    pthread_mutex_unlock(&run->lock);
    return fine;
}

/* Hands the next frame to the version; *ended: there is none, or the writer has failed. */
static enum status begin_frame(struct run *run, bool *ended)
{
    struct flight *flight = &run->flights[run->begun % run->in_flight];
    enum status status = STATUS_OK;

    *ended = !wait_for_flight(run);
    if (*ended)
        return STATUS_OK;
    TRY(video_next(run->reader, &flight->frame));
    *ended = !flight->frame;
    if (*ended)
        return STATUS_OK;
    if (run->begun == 0)
        status = begin(run, &flight->frame->image);
    if (status == STATUS_OK)
        status = submit(run, flight);
    if (status != STATUS_OK)
        video_give_back(run->reader, flight->frame);
    run->begun += status == STATUS_OK;
out:
    return status;
}

/* All frames, until the video ends, breaks or is interrupted; those before the first that failed are written. */
static enum status compute_frames(struct run *run)
{
    enum status first = STATUS_OK;
    struct video_fault fault = {0};
    bool ended = false;

    for (long number = 0; !ended || number < run->begun; number++) {
        while (!ended && run->begun - number < run->depth) {
            video_fault_note(&fault, begin_frame(run, &ended));
            ended |= fault.status != STATUS_OK;
        }
        if (number == run->begun)
            break;

        struct flight *flight = &run->flights[number % run->in_flight];
        const enum status status = receive(run, flight);

        video_fault_note(&fault, status);
        first = first == STATUS_OK ? status : first;
        if (first != STATUS_OK) {
            ended = true;
            video_give_back(run->reader, flight->frame);
            continue;
        }
        pthread_mutex_lock(&run->lock);
        run->computed++;
        pthread_cond_broadcast(&run->changed);
        pthread_mutex_unlock(&run->lock);
        video_progress_show(&run->progress, run->computed, run->reader);
    }
    return fault.status == STATUS_OK ? STATUS_OK : status_set(fault.status, "%s", fault.message);
}

static void run_frames(struct run *run, struct video_fault *fault)
{
    pthread_t writer;
    enum status status;

    if (pthread_create(&writer, NULL, write_frames, run) != 0) {
        video_fault_note(fault, status_set(STATUS_FAILED, "%s: no thread could be started", run->job->in));
        return;
    }
    status = compute_frames(run);
    /* Ctrl-C also ends a program that pipes into this one: the end of its video needs no message. */
    if (!video_run_interrupted())
        video_fault_note(fault, status);
    pthread_mutex_lock(&run->lock);
    run->ended = true;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    pthread_join(writer, NULL);
    if (fault->status == STATUS_OK && run->writing.status != STATUS_OK)
        *fault = run->writing;
}

/* ------------------------------------------------------------------------------------------------------- the end */

static void name_outputs(const struct run *run, char *text, size_t size)
{
    *text = '\0';
    for (size_t i = 0; i < run->job->count; i++)
        snprintf(text + strlen(text), size - strlen(text), "%s%s", i ? ", " : "", run->job->outputs[i].path);
}

static void print_summary(const struct run *run, const char *names)
{
    const struct application *application = run->application;
    const struct video_info *info = video_get_info(run->reader);
    const double seconds = clock_seconds() - run->progress.start, frames = (double)run->stored;

    printf("%s:%s%s  %s %dx%d%s -> %s\n", application->algorithm->name, application->version->source->id,
           run->progress.timed ? "" : " (emulated)", run->job->in, info->width, info->height,
           run->gray ? ", in gray" : "", names);
    printf("%ld frame%s", run->stored, run->stored == 1 ? "" : "s");
    for (size_t i = 0; i < run->job->count; i++)
        if (run->outputs[i].rows)
            printf(", %ld row%s in %s", run->outputs[i].count, run->outputs[i].count == 1 ? "" : "s",
                   run->outputs[i].asked->path);
    if (run->progress.timed)
        printf("; %.2f s, %.1f frames per second with decoding, drawing and writing (%.2f ms a frame in %s)", seconds,
               frames / seconds, 1e3 * run->computing / frames, application->algorithm->name);
    putchar('\n');
}

int cli_run_frames(const struct frames_job *job)
{
    struct run run = {.job = job,
                      .application = job->application,
                      .progress = {.start = clock_seconds()},
                      .outputs = calloc(job->count, sizeof *run.outputs),
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .changed = PTHREAD_COND_INITIALIZER};
    const struct version *version = job->application->version;
    struct video_options options = {0};
    struct video_info asked = {0};
    struct video_fault fault = {0};
    enum status status = STATUS_OK;
    char names[8192];
    int exit_status = CLI_BAD_USE;

    run.progress.timed = !(version_is_cuda(version) && device_is_emulated());
    run.depth = application_depth(run.application);
    run.in_flight = IN_FLIGHT + run.depth - 1;
    run.flights = calloc((size_t)run.in_flight, sizeof *run.flights);
    if (!run.outputs || !run.flights) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", job->in);
        goto out;
    }
    options.capacity = run.in_flight + FRAMES_AHEAD;
    if (version->queue) {
        options.allocate = version->queue->allocate;
        options.release = version->queue->release;
    }
    TRY(check_outputs(&run));
    if (job->fps)
        TRY(video_run_take_rate(&asked, job->fps));
    TRY(video_open(&run.reader, job->in, &options));
    run.info = *video_get_info(run.reader);
    if (job->fps) {
        run.info.rate = asked.rate;
        run.info.rate_base = asked.rate_base;
    }
    video_run_catch(run.reader);
    run_frames(&run, &fault);
    video_run_print_begin();
    if (application_note(run.application))
        cli_fail("%s", application_note(run.application));
    name_outputs(&run, names, sizeof names);
    if (run.kept)
        print_summary(&run, names);
    if (fault.status != STATUS_OK && run.kept)
        exit_status =
            cli_fail("%s%s; what came before is in %s", video_run_whose(&fault, job->in), fault.message, names);
    else if (fault.status != STATUS_OK)
        exit_status = cli_fail("%s%s", video_run_whose(&fault, job->in), fault.message);
    else if (video_run_interrupted())
        cli_fail("interrupted: %ld frame%s written to %s", run.stored, run.stored == 1 ? "" : "s", names);
    if (fault.status == STATUS_OK)
        exit_status = video_run_interrupted() ? CLI_INTERRUPTED : CLI_DONE;
    video_run_print_end();
    video_run_release(run.reader);
out:
    if (status != STATUS_OK)
        exit_status = cli_fail_status();
    for (size_t i = 0; run.outputs && i < job->count; i++) {
        video_writer_discard(run.outputs[i].writer);
        file_discard(&run.outputs[i].file);
    }
    for (int k = 0; run.flights && k < run.in_flight; k++) {
        if (run.gray)
            image_free(&run.flights[k].in);
        application_free(run.application, run.flights[k].out);
    }
    video_close(run.reader);
    free(run.flights);
    free(run.outputs);
    return exit_status;
}
