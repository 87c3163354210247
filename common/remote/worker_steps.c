/*
 * worker_steps.c: which runs of its steps a pipeline's result came from, and when they ran. A run is one that matters
 * where what it made is, sample by sample, what a later one that matters was given, or the result itself: what a thread
 * or a stream does for show, or burns its time with, is none of these.
 *
 * The linker puts __wrap_step_run() in the place of step_run() (assignments/labs.mk). It looks at pictures only while
 * the judge asks for it (channel.h, `listens`), never while a video is timed.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "common/contract/pipeline.h"
#include "common/remote/worker.h"

enum { MOST_RUNS = 512, MOST_INPUTS = 2 };

struct run {
    uint64_t what;      /* the step's version and settings */
    const void *stream; /* of a step of the device */
    bool on_device, between, matters;
    int inputs;
    struct image in_images[MOST_INPUTS], out_image;
    uint64_t in[MOST_INPUTS], out; /* what the pictures held */
    uint64_t begun, done;          /* moments, from 1; done = 0: not yet */
    uint64_t nanoseconds;          /* of the thread's processor time */
};

enum status __real_step_run(struct step *step, const struct image in[], struct image *out, struct CUstream_st *stream);
enum status __wrap_step_run(struct step *step, const struct image in[], struct image *out, struct CUstream_st *stream);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct run runs[MOST_RUNS];
static int run_count;
static uint64_t moment;
static bool listens, is_called;

static uint64_t mixed(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;

    for (; count >= sizeof hash; count -= sizeof hash, from += sizeof hash) {
        uint64_t word;

        memcpy(&word, from, sizeof word);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    for (; count > 0; count--, from++)
        hash = (hash ^ *from) * 0x100000001B3u;
    return hash;
}

static uint64_t contents(const struct image *image)
{
    const int shape[] = {image->width, image->height, image->channels, (int)image->type};
    uint64_t hash = mixed(1, shape, sizeof shape);

    for (int y = 0; y < image->height; y++)
        hash = mixed(hash, image_row(image, y), image_row_bytes(image));
    return hash;
}

static uint64_t processor_nanoseconds(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void look_at_inputs(void *argument)
{
    struct run *run = argument;

    for (int i = 0; i < run->inputs; i++)
        run->in[i] = contents(&run->in_images[i]);
    pthread_mutex_lock(&lock);
    run->begun = ++moment;
    pthread_mutex_unlock(&lock);
}

static void look_at_output(void *argument)
{
    struct run *run = argument;

    run->out = contents(&run->out_image);
    pthread_mutex_lock(&lock);
    run->between = !is_called;
    run->done = ++moment;
    pthread_mutex_unlock(&lock);
}

/* NULL where nobody listens, or too many have run. */
static struct run *new_run(const struct step *step, const struct image in[], const struct image *out,
                           const void *stream)
{
    const struct algorithm *const algorithm = step->version->algorithm;
    struct run *run = NULL;

    pthread_mutex_lock(&lock);
    if (listens && run_count < MOST_RUNS) {
        run = &runs[run_count++];
        *run = (struct run){.stream = stream, .on_device = step->version->launch != NULL};
    }
    pthread_mutex_unlock(&lock);
    if (!run)
        return NULL;
    run->what = mixed((uintptr_t)step->version, step->params, algorithm->params_size);
    run->inputs = algorithm->input_count < MOST_INPUTS ? algorithm->input_count : MOST_INPUTS;
    memcpy(run->in_images, in, (size_t)run->inputs * sizeof *in);
    run->out_image = *out;
    return run;
}

enum status __wrap_step_run(struct step *step, const struct image in[], struct image *out, struct CUstream_st *stream)
{
    struct run *const run = new_run(step, in, out, stream);
    enum status status = STATUS_OK;

    if (!run)
        return __real_step_run(step, in, out, stream);
    if (run->on_device) {
        worker_device_in_turn(stream, look_at_inputs, run);
        TRY(__real_step_run(step, in, out, stream));
        worker_device_in_turn(stream, look_at_output, run);
    } else {
        look_at_inputs(run);
        const uint64_t begun = processor_nanoseconds();

        TRY(__real_step_run(step, in, out, stream));
        run->nanoseconds = processor_nanoseconds() - begun;
        look_at_output(run);
    }
out:
    return status;
}

void worker_steps_begin(int wanted)
{
    pthread_mutex_lock(&lock);
    if (wanted == CHANNEL_LISTEN_ANEW)
        run_count = 0;
    listens = wanted != CHANNEL_LISTEN_NOT;
    is_called = true;
    pthread_mutex_unlock(&lock);
}

/* The run that ended last before that moment and made what is wanted, or NULL. */
static struct run *maker_of(uint64_t wanted, uint64_t before)
{
    struct run *latest = NULL;

    for (struct run *run = runs; run < runs + run_count; run++)
        if (run->done && run->done < before && run->out == wanted && (!latest || run->done > latest->done))
            latest = run;
    return latest;
}

static void mark_what_matters(uint64_t wanted, uint64_t before)
{
    struct run *const run = maker_of(wanted, before);

    if (!run || run->matters)
        return;
    run->matters = true;
    for (int i = 0; i < run->inputs; i++)
        mark_what_matters(run->in[i], run->done);
}

/* Whether another run, that does not matter, made the same of the same: nobody knows which of the two was for show. */
static const struct run *twin_of(const struct run *one)
{
    for (const struct run *run = runs; run < runs + run_count; run++)
        if (run != one && !run->matters && run->what == one->what && run->done && run->out == one->out)
            return run;
    return NULL;
}

/* Streams that were in the midst of a run that matters during this one. The emulator draws by lot which stream does the
 * next of its works, so what may happen at the same time does so in some frame, and what an event, a host's function or
 * the default stream puts behind another stream's work never does. */
static uint64_t streams_beside(const struct run *one)
{
    const void *streams[MOST_RUNS];
    uint64_t count = 0;

    for (const struct run *run = runs; run < runs + run_count; run++) {
        bool is_new =
            run->on_device && run->matters && run->begun < one->done && one->begun < run->done && !twin_of(run);

        for (uint64_t i = 0; i < count; i++)
            is_new = is_new && streams[i] != run->stream;
        if (is_new)
            streams[count++] = run->stream;
    }
    return count;
}

void worker_steps_count(const struct image *result, struct channel_counts *counts)
{
    pthread_mutex_lock(&lock);
    is_called = false;
    if (listens && result) {
        mark_what_matters(contents(result), moment + 1);
        for (const struct run *run = runs; run < runs + run_count; run++) {
            if (!run->matters)
                continue;
            const struct run *const twin = twin_of(run);
            const uint64_t streams = streams_beside(run);

            counts->steps_ns += run->nanoseconds;
            counts->between_ns += run->between && !(twin && !twin->between) ? run->nanoseconds : 0;
            counts->step_streams = counts->step_streams > streams ? counts->step_streams : streams;
        }
    }
    pthread_mutex_unlock(&lock);
}
