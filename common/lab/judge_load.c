#include "common/lab/judge_load.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/core/clock.h"

enum { MOST_THREADS = 1024 };

static int threads_of(const struct remote *worker, const struct remote_thread **threads)
{
    static struct remote_thread found[MOST_THREADS];

    *threads = found;
    return worker ? remote_threads(worker, found, MOST_THREADS) : 0;
}

/* Seconds that the cores in `usable` were not idle, or -1; user, nice, system, idle, waiting for input, interrupts of
 * two kinds, taken by the host. */
static double busy_seconds(const cpu_set_t *usable)
{
    FILE *file = fopen("/proc/stat", "re");
    char line[512];
    const int priority = getpriority(PRIO_PROCESS, 0);
    double ticks = 0;
    bool known = false;

    while (file && fgets(line, sizeof line, file)) {
        double user, nice, system, idle, input, hard, soft, stolen;
        int core;

        if (sscanf(line, "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &core, &user, &nice, &system, &idle, &input, &hard,
                   &soft, &stolen) != 9 ||
            core < 0 || core >= CPU_SETSIZE || !CPU_ISSET(core, usable))
            continue;
        /* A program of low priority gives way to one of normal priority. */
        ticks += user + (priority > 0 ? nice : 0) + system + hard + soft + stolen;
        known = known || ticks + idle > 0;
    }
    if (file)
        fclose(file);
    return known ? ticks / (double)sysconf(_SC_CLK_TCK) : -1;
}

void load_read(const struct timing *timing, struct load *load)
{
    const struct remote_thread *threads;
    struct timespec own = {0};
    cpu_set_t usable;

    memset(load, 0, sizeof *load);
    CPU_ZERO(&usable);
    sched_getaffinity(0, sizeof usable, &usable);
    for (int which = 0; which < 2; which++) {
        const int count = threads_of(timing->runners[which].remote, &threads);

        for (int i = 0; i < count; i++) {
            load->own += threads[i].ran;
            load->ran += which == TIMED_REFERENCE ? threads[i].ran : 0;
            load->waited += which == TIMED_REFERENCE ? threads[i].waited : 0;
        }
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    load->own += (double)own.tv_sec + 1e-9 * (double)own.tv_nsec;
    load->busy = busy_seconds(&usable);
    load->capacity = clock_seconds() * CPU_COUNT(&usable);
}

double load_waited(const struct load *begin, const struct load *end)
{
    const double ran = end->ran - begin->ran, waited = end->waited - begin->waited;

    return ran + waited > 0 ? waited / (ran + waited) : 0;
}

double load_others(const struct load *begin, const struct load *end)
{
    const double capacity = end->capacity - begin->capacity;

    if (begin->busy < 0 || end->busy < 0 || capacity <= 0)
        return 1;
    return fmax(0, (end->busy - begin->busy - (end->own - begin->own)) / capacity);
}

int load_threads(const struct remote *worker)
{
    const struct remote_thread *threads;
    const int count = threads_of(worker, &threads);
    double most = 0, all = 0;
    int busy = 0;

    for (int i = 0; i < count; i++) {
        most = fmax(most, threads[i].ran);
        all += threads[i].ran;
    }
    for (int i = 0; i < count; i++)
        busy += threads[i].ran >= most / 10;
    /* What the process used beside its threads was used by threads that have ended. */
    return count > 0 && remote_processor_seconds(worker) - all >= most / 10 ? 0 : busy;
}
