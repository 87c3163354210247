#include "common/measure/bench_task.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/core/process.h"
#include "common/core/progress.h"

/* ------------------------------------------------------------------------------------------------- in a child */

/* The tasks of a search, for one child after the other; in memory that they share with the parent. */
struct batch {
    struct bench_task *tasks;
    size_t count;
    bool timing;          /* else verifying */
    double limit_seconds; /* of one task */
    size_t next;          /* the one that the child is at */
};

/* Does all tasks from batch->next on; the first that fails ends it, for it may have spoilt the process for others. */
static int batch_in_child(void *argument)
{
    struct batch *batch = argument;
    struct bench_sets sets = {0};
    enum status status = STATUS_OK;

    for (; batch->next < batch->count; batch->next++) {
        struct bench_task *task = &batch->tasks[batch->next];

        if (batch->timing && !task->timed)
            continue;
        task->finished = false;
        alarm((unsigned)ceil(batch->limit_seconds));
        status = batch->timing ? bench_time(task, &sets) : bench_verify(task);
        alarm(0);
        if (bench_keep(task, status) != 0)
            break;
    }
    bench_sets_free(&sets);
    return batch->next < batch->count ? 1 : 0;
}

/* ------------------------------------------------------------------------------------------------ in the parent */

static void show_batch(void *argument)
{
    static size_t shown_next, shown_round;
    const struct batch *batch = argument;
    const struct bench_task *task = &batch->tasks[batch->next < batch->count ? batch->next : batch->count - 1];
    const size_t round = batch->timing ? (size_t)task->round + 1 : 0;

    if (shown_next == batch->next + 1 && shown_round == round)
        return;
    shown_next = batch->next + 1;
    shown_round = round;
    if (batch->timing)
        progress("%s: round %zu of %d: point %zu of %zu of %s", task->request->algorithm->name, round, BENCH_ROUNDS,
                 batch->next + 1, batch->count, task->version->source->id);
    else
        progress("%s: verifying point %zu of %zu of %s", task->request->algorithm->name, batch->next + 1, batch->count,
                 task->version->source->id);
}

/* Verifies all tasks, or times once those that are still to be timed. rows[i] is of tasks[i]. */
static enum status run_batch(struct batch *batch, struct bench_row *rows)
{
    enum status status = STATUS_OK;

    for (batch->next = 0; batch->next < batch->count; batch->next++) {
        struct process_result result;
        size_t at = batch->next;

        TRY(process_run_watched(batch_in_child, show_batch, batch, 0, &result));
        for (; at < batch->next && !batch->timing; at++)
            bench_row_verdict(&rows[at], &batch->tasks[at], STATUS_OK);
        if (at == batch->count || batch->next == batch->count)
            break;
        const enum status left = bench_left_by(&result, &batch->tasks[batch->next]);
        if (batch->timing)
            bench_row_failed(&rows[batch->next], "");
        else
            bench_row_verdict(&rows[batch->next], &batch->tasks[batch->next], left);
    }
out:
    return status;
}

/* The searched points: rows and tasks from 1 on. */
enum status bench_search(struct bench *bench, struct bench_task *tasks, double limit_seconds)
{
    enum status status = STATUS_OK;
    struct batch *batch = process_shared_allocate(sizeof *batch);

    if (!batch)
        return status_set(STATUS_NO_MEMORY, "no memory for the search");
    batch->tasks = tasks + 1;
    batch->count = bench->row_count - 1;
    batch->limit_seconds = limit_seconds;
    TRY(run_batch(batch, bench->rows + 1));
    batch->timing = true;
    for (int round = 0; round < BENCH_ROUNDS && bench->request->seconds > 0; round++) {
        for (size_t i = 1; i < bench->row_count; i++) {
            tasks[i].timed = bench->rows[i].outcome == BENCH_TIMED && bench_has_time_left(&tasks[i]);
            tasks[i].round = round;
        }
        TRY(run_batch(batch, bench->rows + 1));
    }
out:
    process_shared_free(batch, sizeof *batch);
    return status;
}
