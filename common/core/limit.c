#include "common/core/limit.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/core/clock.h"

static const double look_seconds = 0.25;
/* Less than this in all of the idle seconds is none: a process that polls 50 times a second uses as much. */
static const double idle_used = 0.1;

struct account {
    double total;   /* processor seconds of all that the processes and those that they waited for have used */
    double busiest; /* of the thread that has used most since the begin */
    bool wanting;   /* a thread runs, or waits for a processor or a disk */
};

/* What /proc/.../stat says of a process or thread; false when it has ended. */
struct stat_line {
    char state;
    pid_t parent;
    double own, children; /* processor seconds; of the children that it has waited for */
};

static bool read_stat(const char *name, struct stat_line *stat)
{
    char line[512] = "";
    FILE *file = fopen(name, "re");
    /* The program's name may hold blanks. */
    const char *behind = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    unsigned long user, system;
    long children_user, children_system;

    if (file)
        fclose(file);
    if (!behind || sscanf(behind + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &stat->state,
                          &stat->parent, &user, &system, &children_user, &children_system) != 6)
        return false;
    const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);

    stat->own = tick * (double)(user + system);
    stat->children = tick * (double)(children_user + children_system);
    return true;
}

static double used_before(const struct limit *limit, pid_t thread)
{
    for (size_t i = 0; i < limit->count; i++)
        if (limit->threads[i].id == thread)
            return limit->threads[i].used;
    return 0;
}

/* `begin` keeps what the threads of a process have used. */
static void count_threads(struct limit *limit, pid_t process, struct account *account, bool begin)
{
    char name[300];
    struct dirent *entry;
    DIR *folder;

    snprintf(name, sizeof name, "/proc/%d/task", (int)process);
    folder = opendir(name);
    while (folder && (entry = readdir(folder))) {
        const pid_t thread = atoi(entry->d_name);
        struct stat_line stat;

        snprintf(name, sizeof name, "/proc/%d/task/%.16s/stat", (int)process, entry->d_name);
        if (thread <= 0 || !read_stat(name, &stat))
            continue;
        account->wanting |= stat.state == 'R' || stat.state == 'D';
        account->busiest = fmax(account->busiest, stat.own - used_before(limit, thread));
        if (begin && limit->count < LIMIT_THREADS)
            limit->threads[limit->count++] = (struct limit_thread){thread, stat.own};
    }
    if (folder)
        closedir(folder);
}

struct process {
    pid_t id, parent;
    double used;
    bool counted;
};

/* All processes of the machine in memory that the caller frees; NULL when there is none. */
static struct process *list_processes(size_t *count)
{
    struct process *processes = NULL;
    size_t room = 0;
    struct dirent *entry;
    DIR *folder = opendir("/proc");

    *count = 0;
    while (folder && (entry = readdir(folder))) {
        struct process process = {.id = atoi(entry->d_name)};
        struct stat_line stat;
        char name[300];

        snprintf(name, sizeof name, "/proc/%.16s/stat", entry->d_name);
        if (process.id <= 0 || !read_stat(name, &stat))
            continue;
        if (*count == room) {
            struct process *const more = realloc(processes, (room = 2 * room + 256) * sizeof *more);

            if (!more)
                break;
            processes = more;
        }
        process.parent = stat.parent;
        process.used = stat.own + stat.children;
        processes[(*count)++] = process;
    }
    if (folder)
        closedir(folder);
    return processes;
}

/* Of the root and its descendants: those whose parent has been counted, until none is added. */
static struct account count_all(struct limit *limit, bool begin)
{
    struct account account = {0};
    size_t count;
    struct process *const processes = list_processes(&count);
    bool added = true;

    while (added) {
        added = false;
        for (size_t i = 0; i < count; i++) {
            bool ours = processes[i].id == limit->root;

            for (size_t j = 0; j < count && !ours; j++)
                ours = processes[j].counted && processes[j].id == processes[i].parent;
            if (!ours || processes[i].counted)
                continue;
            processes[i].counted = added = true;
            account.total += processes[i].used;
            count_threads(limit, processes[i].id, &account, begin);
        }
    }
    free(processes);
    return account;
}

void limit_begin(struct limit *limit, pid_t root, double seconds)
{
    const char *const idle = getenv("RUNGS_IDLE_SECONDS");

    *limit = (struct limit){.root = root,
                            .seconds = seconds,
                            .idle_seconds = idle && atof(idle) > 0 ? atof(idle) : LIMIT_IDLE_SECONDS,
                            .looked_at = clock_seconds(),
                            .moved_at = clock_seconds()};
    limit->begin = limit->total = limit->moved = count_all(limit, true).total;
}

enum limit_state limit_look(struct limit *limit, size_t turn)
{
    const double now = clock_seconds(), since = now - limit->looked_at;
    const bool begin = turn != limit->turn;

    if (since < look_seconds)
        return LIMIT_KEPT;
    if (begin)
        limit->count = 0;
    const struct account account = count_all(limit, begin);
    const double grown = account.total - limit->total;

    limit->used += grown > 0 || account.wanting ? fmin(since, fmax(0, grown)) : since;
    limit->looked_at = now;
    limit->total = account.total;
    if (begin || fabs(account.total - limit->moved) > idle_used) {
        limit->moved = account.total;
        limit->moved_at = now;
    }
    if (begin) {
        limit->turn = turn;
        limit->begin = account.total;
        return LIMIT_KEPT;
    }
    if (fmax(account.busiest, (account.total - limit->begin) / (double)sysconf(_SC_NPROCESSORS_ONLN)) > limit->seconds)
        return LIMIT_SPENT;
    return now - limit->moved_at > limit->idle_seconds ? LIMIT_IDLE : LIMIT_KEPT;
}

void limit_describe(const struct limit *limit, enum limit_state state, char *text, size_t size)
{
    if (state == LIMIT_SPENT)
        snprintf(text, size, "ran past its limit of %g s", limit->seconds);
    else
        snprintf(text, size, "used no processor time for %g s", limit->idle_seconds);
}
