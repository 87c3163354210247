#include "common/cli/video_run.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli/several.h"
#include "common/core/clock.h"
#include "common/core/progress.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };
static struct sigaction before[ENDING_SIGNALS];
/* For the signal handler, which any thread may run: the videos that are played. */
static struct video_reader *_Atomic playing[SEVERAL_MOST];
static atomic_int interrupted, handlers; /* the latter: that run now */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* With the lock held. */
static int count;
static long frames_of_all;
static double last_shown;

static void interrupt(int number)
{
    atomic_fetch_add(&handlers, 1);
    interrupted = number;
    for (int i = 0; i < SEVERAL_MOST; i++) {
        struct video_reader *const reader = playing[i];

        if (reader)
            video_stop(reader);
    }
    atomic_fetch_sub(&handlers, 1);
}

void video_run_catch(struct video_reader *reader)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART | SA_RESETHAND};
    int own = 0;

    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&lock);
    if (count == 0)
        progress_start();
    while (playing[own])
        own++;
    playing[own] = reader;
    if (interrupted) /* while another was played: before the handler could know of this one */
        video_stop(reader);
    for (int i = 0; i < ENDING_SIGNALS && count == 0; i++) {
        sigaction(ending_signals[i], &action, &before[i]);
        /* nohup: to go on without a terminal is what it is for. */
        if (ending_signals[i] == SIGHUP && before[i].sa_handler == SIG_IGN)
            sigaction(SIGHUP, &before[i], NULL);
    }
    count++;
    pthread_mutex_unlock(&lock);
}

void video_run_release(struct video_reader *reader)
{
    pthread_mutex_lock(&lock);
    count--;
    for (int i = 0; i < ENDING_SIGNALS && count == 0; i++)
        sigaction(ending_signals[i], &before[i], NULL);
    for (int i = 0; i < SEVERAL_MOST; i++)
        if (playing[i] == reader)
            playing[i] = NULL;
    while (handlers) /* one that runs may have read the name before */
        sched_yield();
    pthread_mutex_unlock(&lock);
}

bool video_run_interrupted(void)
{
    return interrupted != 0;
}

int video_run_playing(void)
{
    pthread_mutex_lock(&lock);
    const int playing_now = count;

    pthread_mutex_unlock(&lock);
    return playing_now;
}

enum status video_run_take_rate(struct video_info *info, const char *text)
{
    char *end;
    const double fps = strtod(text, &end);

    if (end == text || *end || !(fps >= 0.001 && fps <= 1000))
        return status_set(STATUS_BAD_INPUT, "--fps: '%s' is not a number from 0.001 to 1000", text);
    video_set_rate(info, (int64_t)(fps * 1000 + 0.5), 1000);
    return STATUS_OK;
}

void video_fault_note(struct video_fault *fault, enum status status)
{
    if (fault->status == STATUS_OK && status != STATUS_OK) {
        fault->status = status;
        snprintf(fault->message, sizeof fault->message, "%s", status_message());
    }
}

/* As a word, or as a folder: a video called `a` or - is in most messages. */
static bool names(const char *message, const char *video)
{
    const size_t length = strlen(video);

    for (const char *at = message; (at = strstr(at, video)); at++)
        if ((at == message || at[-1] == ' ') && strchr(" :,;/", at[length]))
            return true;
    return false;
}

const char *video_run_whose(const struct video_fault *fault, const char *video)
{
    static _Thread_local char whose[4200];

    snprintf(whose, sizeof whose, "%s: ", video);
    return names(fault->message, strcmp(video, "-") == 0 ? "standard input" : video) ? "" : whose;
}

void video_progress_show(struct video_progress *shown, long frames, const struct video_reader *reader)
{
    const double time = clock_seconds();
    const long all = video_get_info(reader)->frames;
    char of[32] = "";

    pthread_mutex_lock(&lock);
    frames_of_all += frames - shown->counted;
    shown->counted = frames;
    if (time - last_shown < 0.2) {
        pthread_mutex_unlock(&lock);
        return;
    }
    last_shown = time;
    if (all > 0)
        snprintf(of, sizeof of, " of %ld", all);
    if (count > 1)
        progress("%d videos, frame %ld", count, frames_of_all);
    else if (shown->timed)
        progress("frame %ld%s, %.1f frames per second", frames, of, (double)frames / (time - shown->start));
    else
        progress("frame %ld%s", frames, of);
    pthread_mutex_unlock(&lock);
}

void video_run_print_begin(void)
{
    pthread_mutex_lock(&lock);
    progress_clear();
}

void video_run_print_end(void)
{
    pthread_mutex_unlock(&lock);
}

long video_run_frames(void)
{
    pthread_mutex_lock(&lock);
    const long frames = frames_of_all;

    pthread_mutex_unlock(&lock);
    return frames;
}
