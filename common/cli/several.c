#include "common/cli/several.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/cli/video_run.h"
#include "common/core/clock.h"
#include "common/video/video.h"

static const char place[] = "{}";

bool several_has_place(const char *text)
{
    return text && strstr(text, place);
}

enum status several_fill(char **filled, const char *text, const char *video)
{
    size_t length = strlen(video), size = 0;
    const char *name = video, *dot;
    FILE *file;

    *filled = NULL;
    if (!*video)
        return status_set(STATUS_BAD_INPUT, "the name of a video is empty");
    if (strcmp(video, "-") == 0) {
        name = "stdin";
        length = strlen(name);
    } else if (video_is_pattern(video) && access(video, F_OK) != 0) {
        return status_set(STATUS_BAD_INPUT, "%s: a pattern has no name that could stand for {}; name its folder",
                          video);
    } else {
        while (length > 1 && video[length - 1] == '/')
            length--;
        for (size_t i = 0; i < length - 1; i++)
            name = video[i] == '/' ? video + i + 1 : name;
        length -= (size_t)(name - video);
        dot = memrchr(name, '.', length);
        if (dot && dot != name)
            length = (size_t)(dot - name);
    }
    file = open_memstream(filled, &size);
    if (!file)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", video);
    for (const char *next; (next = strstr(text, place)); text = next + strlen(place))
        fprintf(file, "%.*s%.*s", (int)(next - text), text, (int)length, name);
    fputs(text, file);
    return fclose(file) == 0 ? STATUS_OK : status_set(STATUS_NO_MEMORY, "%s: no memory", video);
}

/* One video. */
struct player {
    int (*play)(void *argument);
    void *argument;
    int threads, exit_status;
    pthread_t thread;
    bool started;
};

static void *run_player(void *player_erased)
{
    struct player *player = player_erased;

    omp_set_num_threads(player->threads); /* of this thread's regions alone */
    player->exit_status = player->play(player->argument);
    return NULL;
}

/* False when Ctrl-C has ended all videos that had begun, and this one has not: a camera that sends nothing sends no
 * end. */
static bool join(const struct player *player)
{
    enum { TURN_NS = 100000000, SECOND_NS = 1000000000 };

    for (bool idle = false;;) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TURN_NS;
        until.tv_sec += until.tv_nsec / SECOND_NS;
        until.tv_nsec %= SECOND_NS;
        if (pthread_timedjoin_np(player->thread, NULL, &until) == 0)
            return true;
        /* Twice: one that has just begun is stopped, too. */
        if (idle && video_run_interrupted() && video_run_playing() == 0)
            return false;
        idle = video_run_interrupted() && video_run_playing() == 0;
    }
}

int several_play(int count, int (*play)(void *argument), void *const arguments[], bool timed)
{
    struct player players[SEVERAL_MOST] = {{0}};
    const int share = omp_get_max_threads() / count;
    const double start = clock_seconds();
    int done = 0, interrupted = 0, not_begun = 0;

    for (int i = 0; i < count; i++) {
        players[i] = (struct player){
            .play = play, .argument = arguments[i], .threads = share > 1 ? share : 1, .exit_status = CLI_BAD_USE};
        players[i].started = pthread_create(&players[i].thread, NULL, run_player, &players[i]) == 0;
        if (!players[i].started)
            cli_fail("no thread could be started for video %d of %d", i + 1, count);
    }
    for (int i = 0; i < count; i++) {
        if (players[i].started && !join(&players[i])) {
            not_begun++;
            continue;
        }
        done += players[i].exit_status == CLI_DONE;
        interrupted += players[i].exit_status == CLI_INTERRUPTED;
    }
    if (count > 1 && done + interrupted > 0) {
        const double seconds = clock_seconds() - start;
        const long frames = video_run_frames();

        printf("%d of %d videos at once, %ld frames", done + interrupted, count, frames);
        if (timed)
            printf(" in %.2f s, %.1f frames per second", seconds, (double)frames / seconds);
        putchar('\n');
    }
    if (not_begun > 0) {
        cli_fail("interrupted: %d video%s had not begun", not_begun, not_begun == 1 ? "" : "s");
        exit(CLI_INTERRUPTED); /* their threads use what the caller would free */
    }
    return interrupted ? CLI_INTERRUPTED : done == count ? CLI_DONE : done ? CLI_CHECK_FAILED : CLI_BAD_USE;
}
