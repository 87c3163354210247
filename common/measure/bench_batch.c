#include "common/measure/bench_task.h"

#include <stdio.h>

#include "common/core/process.h"
#include "common/core/progress.h"

/* ------------------------------------------------------------------------------------------------- in a child */

/* Does the wanted tasks from batch->next on; the first that fails ends it, for it may have spoilt the process for others. */
static int batch_in_child(void *argument)
{
    struct bench_batch *batch = argument;
    struct bench_sets sets = {0};
    enum status status = STATUS_OK;

    for (; batch->next < batch->count; batch->next++) {
        struct bench_task *task = &batch->tasks[batch->next];

        if (!task->wanted)
            continue;
        task->finished = false;
        status = batch->timing ? bench_time(task, &sets) : bench_verify(task);
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
    const struct bench_batch *batch = argument;
    const struct bench_task *task = &batch->tasks[batch->next < batch->count ? batch->next : batch->count - 1];
    const char *const name = task->request->algorithm->name, *const id = task->version->source->id;
    const size_t round = batch->timing ? (size_t)task->round + 1 : 0;
    char what[64] = "verifying";

    if (!task->wanted || (shown_next == batch->next + 1 && shown_round == round))
        return;
    shown_next = batch->next + 1;
    shown_round = round;
    if (batch->timing)
        snprintf(what, sizeof what, "round %zu of %d:", round, BENCH_ROUNDS);
    if (task->point)
        progress("%s: %s point %zu of %zu of %s", name, what, batch->next + 1, batch->count, id);
    else
        progress("%s: %s %s%s", name, what, id, task->emulated ? " in the emulator" : "");
}

enum status bench_batch_run(struct bench_batch *batch, struct bench_row *rows)
{
    enum status status = STATUS_OK;

    for (batch->next = 0; batch->next < batch->count; batch->next++) {
        struct process_result result;
        size_t at = batch->next;

        TRY(process_run_watched(batch_in_child, show_batch, batch,
                                (struct process_limits){.seconds = batch->limit_seconds, .turn = &batch->next}, &result));
        for (; at < batch->next && !batch->timing; at++)
            if (batch->tasks[at].wanted)
                bench_row_verdict(&rows[at], &batch->tasks[at], STATUS_OK);
        if (batch->next == batch->count)
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
