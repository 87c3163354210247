/* Right: whatever POSIX threads wait for each other by. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#include "common/algo/grayscale.h"

static void rows(const struct image *in, struct image *out, int begin, int end)
{
    for (int y = begin; y < end; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
}

struct job {
    const struct image *in;
    struct image *out;
    int begin, ready;
    pthread_barrier_t barrier;
    pthread_rwlock_t shared_lock;
    pthread_spinlock_t spin;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_once_t once;
    sem_t go, done;
};

static struct job job;
static int table;

static void fill_table(void)
{
    table = 7;
}

static void count(void)
{
    pthread_once(&job.once, fill_table);
    pthread_rwlock_wrlock(&job.shared_lock);
    job.ready += table;
    pthread_rwlock_unlock(&job.shared_lock);
    pthread_barrier_wait(&job.barrier);
    pthread_spin_lock(&job.spin);
    job.ready++;
    pthread_spin_unlock(&job.spin);
    pthread_barrier_wait(&job.barrier);
    while (pthread_mutex_trylock(&job.lock) != 0)
        sched_yield();
    job.ready++;
    pthread_mutex_unlock(&job.lock);
    pthread_barrier_wait(&job.barrier);
}

static void *work(void *argument)
{
    struct timespec until;

    count();
    sem_wait(&job.go);
    const int begin = job.begin;
    pthread_mutex_lock(&job.lock);
    while (job.ready != 2 * (7 + 1 + 1) + 1) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&job.changed, &job.lock, &until);
    }
    pthread_mutex_unlock(&job.lock);
    rows(job.in, job.out, begin, job.out->height);
    job.begin = -1;
    sem_post(&job.done);
    return argument;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    pthread_t thread;

    job = (struct job){.in = in, .out = out, .once = PTHREAD_ONCE_INIT};
    pthread_barrier_init(&job.barrier, NULL, 2);
    pthread_rwlock_init(&job.shared_lock, NULL);
    pthread_spin_init(&job.spin, 0);
    pthread_mutex_init(&job.lock, NULL);
    pthread_cond_init(&job.changed, NULL);
    sem_init(&job.go, 0, 0);
    sem_init(&job.done, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    count();
    job.begin = out->height / 2;
    sem_post(&job.go);
    pthread_mutex_lock(&job.lock);
    job.ready++;
    pthread_cond_signal(&job.changed);
    pthread_mutex_unlock(&job.lock);
    rows(in, out, 0, out->height / 2);
    sem_wait(&job.done);
    const int begin = job.begin;
    pthread_join(thread, NULL);
    return begin == -1 ? STATUS_OK : STATUS_FAILED;
}

RUNGS_CPU_VERSION(grayscale)
