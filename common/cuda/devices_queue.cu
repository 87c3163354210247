#include "common/cuda/devices_queue.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

#include "common/cuda/flight.h"
#include "common/cuda/streams_queue.h"

enum { MOST_DEVICES = 32, EACH = STREAMS_QUEUE_DEPTH /* pictures under way on a device */ };

enum stage { WAITING, TAKEN, DONE };

/* One picture. */
struct job {
    struct image in[ALGORITHM_MAX_INPUTS], out[ALGORITHM_MAX_OUTPUTS];
    enum stage stage;
    unsigned tried; /* a bit for each device that it failed on */
    enum status status;
    char message[1024];
};

struct devices;

struct worker {
    struct devices *owner;
    int device;
    pthread_t thread;
    struct flight flights[EACH];
    struct job *jobs[EACH]; /* theirs */
    unsigned begun, ended;  /* pictures; those between have places number % EACH */
};

struct devices {
    const struct version *version;
    const void *params;
    int count; /* of workers, one for each device */
    struct worker workers[MOST_DEVICES];
    pthread_mutex_t lock; /* of all that follows, and of the jobs */
    pthread_cond_t changed;
    struct job jobs[MOST_DEVICES * EACH]; /* picture n has place n % (count * EACH) */
    unsigned long submitted, received;
    unsigned alive; /* a bit for each device */
    bool closing;
    char lost[1100], note[1200]; /* the last device that was, and why */
};

static int device_count(void)
{
    int count = 0;

    if (cudaGetDeviceCount(&count) != cudaSuccess)
        cudaGetLastError();
    return count < 1 ? 1 : count < MOST_DEVICES ? count : MOST_DEVICES;
}

static int depth(void)
{
    return device_count() * EACH;
}

/* ----------------------------------------------------------------------- one device's thread, with the lock held */

static unsigned bit_of(const struct worker *worker)
{
    return 1u << worker->device;
}

/* The oldest picture that waits and that this device has not failed on. */
static struct job *next_job(const struct worker *worker)
{
    struct devices *devices = worker->owner;

    for (unsigned long n = devices->received; n != devices->submitted; n++) {
        struct job *job = &devices->jobs[n % (unsigned long)(devices->count * EACH)];
        if (job->stage == WAITING && !(job->tried & bit_of(worker)))
            return job;
    }
    return NULL;
}

/* A picture that failed here waits for another device; those that no device is left for are done. */
static void give_back(struct worker *worker, struct job *job, enum status status, const char *message)
{
    job->stage = WAITING;
    job->tried |= bit_of(worker);
    job->status = status;
    snprintf(job->message, sizeof job->message, "%s", message);
}

static void settle(struct devices *devices)
{
    for (unsigned long n = devices->received; n != devices->submitted; n++) {
        struct job *job = &devices->jobs[n % (unsigned long)(devices->count * EACH)];
        if (job->stage != WAITING || (devices->alive & ~job->tried))
            continue;
        job->stage = DONE;
        if (job->status == STATUS_OK) { /* it came when no device was left */
            job->status = STATUS_FAILED;
            snprintf(job->message, sizeof job->message, "no device is left: %.900s", devices->lost);
        }
    }
    pthread_cond_broadcast(&devices->changed);
}

static void lose(struct worker *worker, const char *message)
{
    struct devices *devices = worker->owner;

    devices->alive &= ~bit_of(worker);
    snprintf(devices->lost, sizeof devices->lost, "device %d: %s", worker->device, message);
}

/* After a failure with `job`. A device that cannot even wait for its work is lost, with all that is under way on it. */
static void fail(struct worker *worker, struct job *job, enum status status)
{
    struct devices *devices = worker->owner;
    char message[1024];

    snprintf(message, sizeof message, "%s", status_message());
    give_back(worker, job, status, message);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        lose(worker, message);
        for (; worker->ended != worker->begun; worker->ended++)
            give_back(worker, worker->jobs[worker->ended % EACH], status, message);
    }
    settle(devices);
}

/* Begins `job`, or where that is NULL ends the oldest; opens the lock meanwhile. */
static void step(struct worker *worker, struct job *job)
{
    struct devices *devices = worker->owner;
    const unsigned place = (job ? worker->begun : worker->ended) % EACH;
    enum status status;

    if (job) {
        job->stage = TAKEN;
        worker->jobs[place] = job;
    }
    pthread_mutex_unlock(&devices->lock);
    if (job)
        status = flight_begin(&worker->flights[place], devices->version, job->in, job->out, devices->params);
    else
        status = flight_end(&worker->flights[place], devices->version);
    pthread_mutex_lock(&devices->lock);
    worker->begun += job && status == STATUS_OK;
    worker->ended += !job;
    if (status != STATUS_OK) {
        fail(worker, worker->jobs[place], status);
    } else if (!job) {
        worker->jobs[place]->stage = DONE;
        worker->jobs[place]->status = STATUS_OK;
        pthread_cond_broadcast(&devices->changed);
    }
}

static void *work(void *argument)
{
    struct worker *worker = (struct worker *)argument;
    struct devices *devices = worker->owner;

    const enum status status = cuda_status(cudaSetDevice(worker->device), "cudaSetDevice", __FILE__, __LINE__);
    pthread_mutex_lock(&devices->lock);
    if (status != STATUS_OK) {
        lose(worker, status_message());
        settle(devices);
    }
    while (devices->alive & bit_of(worker)) {
        struct job *job = worker->begun - worker->ended < EACH ? next_job(worker) : NULL;
        if (job || worker->begun != worker->ended)
            step(worker, job);
        else if (devices->closing)
            break;
        else
            pthread_cond_wait(&devices->changed, &devices->lock);
    }
    pthread_mutex_unlock(&devices->lock);
    for (struct flight &flight : worker->flights)
        flight_free(&flight, devices->version);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------ the queue */

static void close_devices(void *queue)
{
    struct devices *devices = (struct devices *)queue;

    if (!devices)
        return;
    pthread_mutex_lock(&devices->lock);
    devices->closing = true;
    pthread_cond_broadcast(&devices->changed);
    pthread_mutex_unlock(&devices->lock);
    for (int i = 0; i < devices->count; i++)
        pthread_join(devices->workers[i].thread, NULL);
    pthread_cond_destroy(&devices->changed);
    pthread_mutex_destroy(&devices->lock);
    free(devices);
}

static enum status open_queue(const struct version *version, const void *params, bool records, void **queue)
{
    struct devices *devices = (struct devices *)calloc(1, sizeof *devices);
    const int count = device_count();

    if (!devices)
        return status_set(STATUS_NO_MEMORY, "no memory for the queue of %s", version->source->id);
    devices->version = version;
    devices->params = params;
    pthread_mutex_init(&devices->lock, NULL);
    pthread_cond_init(&devices->changed, NULL);
    devices->alive = count < 32 ? (1u << count) - 1 : ~0u;
    for (int i = 0; i < count; i++) {
        struct worker *worker = &devices->workers[i];
        worker->owner = devices;
        worker->device = i;
        for (struct flight &flight : worker->flights)
            flight.records = records;
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            close_devices(devices);
            return status_set(STATUS_FAILED, "%s: no thread for device %d could be started", version->source->id, i);
        }
        devices->count = i + 1; /* a worker reads it when there are pictures */
    }
    *queue = devices;
    return STATUS_OK;
}

static enum status open_devices(const struct version *version, const void *params, void **queue)
{
    return open_queue(version, params, false, queue);
}

static enum status open_recorded(const struct version *version, const void *params, void **queue)
{
    return open_queue(version, params, true, queue);
}

static enum status submit(void *queue, const struct image in[], const struct image out[])
{
    struct devices *devices = (struct devices *)queue;
    const unsigned long places = (unsigned long)(devices->count * EACH);
    enum status status = STATUS_OK;

    pthread_mutex_lock(&devices->lock);
    if (devices->submitted - devices->received == places) {
        status =
            status_set(STATUS_FAILED, "%s has at most %lu pictures under way", devices->version->source->id, places);
    } else {
        struct job *job = &devices->jobs[devices->submitted++ % places];
        *job = {};
        memcpy(job->in, in, (size_t)devices->version->algorithm->input_count * sizeof *in);
        memcpy(job->out, out, (size_t)devices->version->algorithm->output_count * sizeof *out);
        settle(devices);
    }
    pthread_mutex_unlock(&devices->lock);
    return status;
}

static enum status receive(void *queue)
{
    struct devices *devices = (struct devices *)queue;
    struct job *job = &devices->jobs[devices->received % (unsigned long)(devices->count * EACH)];
    enum status status = STATUS_OK;

    pthread_mutex_lock(&devices->lock);
    if (devices->submitted == devices->received) {
        status = status_set(STATUS_FAILED, "%s has no picture under way", devices->version->source->id);
    } else {
        while (job->stage != DONE)
            pthread_cond_wait(&devices->changed, &devices->lock);
        if (job->status != STATUS_OK)
            status = status_set(job->status, "%s", job->message);
        devices->received++;
    }
    pthread_mutex_unlock(&devices->lock);
    return status;
}

static const char *note(void *queue)
{
    struct devices *devices = (struct devices *)queue;

    if (!devices->lost[0] || !devices->alive) /* then each picture that is left says it */
        return NULL;
    snprintf(devices->note, sizeof devices->note, "%s; its pictures went to other devices", devices->lost);
    return devices->note;
}

const struct version_queue devices_queue = {depth, open_devices,  submit,          receive,
                                            note,  close_devices, flight_allocate, flight_release};

const struct version_queue recorded_queue = {depth, open_recorded, submit,          receive,
                                             note,  close_devices, flight_allocate, flight_release};
