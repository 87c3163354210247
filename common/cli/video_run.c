#include "common/cli/video_run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/core/clock.h"
#include "common/core/progress.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };
static struct sigaction before[ENDING_SIGNALS];
/* For the signal handler. */
static struct video_reader *volatile stoppable;
static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = number;
    if (stoppable)
        video_stop(stoppable);
}

void video_run_catch(struct video_reader *reader)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART | SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    stoppable = reader;
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        sigaction(ending_signals[i], &action, &before[i]);
        /* nohup: to go on without a terminal is what it is for. */
        if (ending_signals[i] == SIGHUP && before[i].sa_handler == SIG_IGN)
            sigaction(SIGHUP, &before[i], NULL);
    }
}

void video_run_release(void)
{
    for (int i = 0; i < ENDING_SIGNALS; i++)
        sigaction(ending_signals[i], &before[i], NULL);
    stoppable = NULL;
}

bool video_run_interrupted(void)
{
    return interrupted != 0;
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

void video_progress_show(struct video_progress *shown, long frames, const struct video_reader *reader)
{
    const double time = clock_seconds();
    const long all = video_get_info(reader)->frames;
    char of[32] = "";

    if (time - shown->last_shown < 0.2)
        return;
    shown->last_shown = time;
    if (all > 0)
        snprintf(of, sizeof of, " of %ld", all);
    if (shown->timed)
        progress("frame %ld%s, %.1f frames per second", frames, of, (double)frames / (time - shown->start));
    else
        progress("frame %ld%s", frames, of);
}
