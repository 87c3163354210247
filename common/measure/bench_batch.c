#include "common/measure/bench_task.h"

#include <stdio.h>

#include "common/core/process.h"
#include "common/core/progress.h"

/* ------------------------------------------------------------------------------------------------- in a child */

/* Does the wanted tasks from batch->next on; the first that fails ends it, for it may have spoilt the process for
 * others. */
static int batch_in_child(void *argument)
{
    struct bench_batch *batch = argument;
    struct bench_sets sets = {0};
    struct bench_piece piece = {0};
    enum status status = STATUS_OK;

    for (; batch->next < batch->count; batch->next++) {
        struct bench_task *task = &batch->tasks[batch->next];

        if (!task->wanted)
            continue;
        task->finished = false;
        status = batch->timing ? bench_time(task, &sets) : bench_verify(task, &piece);
        if (bench_keep(task, status) != 0)
            break;
    }
    bench_sets_free(&sets);
    bench_piece_free(batch->tasks[0].request->algorithm, &piece);
    return batch->next < batch->count ? 1 : 0;
}

/* ------------------------------------------------------------------------------------------------ in the parent */

/* Puts the verdicts of what the child has behind it into their rows. */
static void judge_done(struct bench_batch *batch)
{
    const size_t done = batch->next;

    for (; batch->judged < done && !batch->timing; batch->judged++)
        if (batch->tasks[batch->judged].wanted) {
            bench_row_verdict(&batch->rows[batch->judged], &batch->tasks[batch->judged], STATUS_OK);
            if (batch->tasks[batch->judged].emulated)
                bench_show(batch->bench, &batch->rows[batch->judged]);
        }
}

static void show_batch(void *argument)
{
    static size_t shown_next, shown_round;
    struct bench_batch *batch = argument;

    judge_done(batch);
    const struct bench_task *task = &batch->tasks[batch->next < batch->count ? batch->next : batch->count - 1];
    const char *const name = task->request->algorithm->name, *const id = task->version->source->id;
    const size_t round = batch->timing ? (size_t)task->round + !task->request->warm : 0; /* a warm one is one ahead */
    char what[64] = "verifying";

    if (!task->wanted || (shown_next == batch->next + 1 && shown_round == round))
        return;
    shown_next = batch->next + 1;
    shown_round = round;
    if (batch->timing)
        snprintf(what, sizeof what, "round %zu of %d:", round, bench_rounds(task->request));
    if (task->point)
        progress("%s: %s point %zu of %zu of %s", name, what, batch->next + 1, batch->count, id);
    else
        progress("%s: %s %s%s", name, what, id, task->emulated ? " in the emulator" : "");
}

enum status bench_batch_run(struct bench_batch *batch)
{
    enum status status = STATUS_OK;

    for (batch->next = 0; batch->next < batch->count; batch->next++) {
        struct process_result result;

        batch->judged = batch->next;
        TRY(process_run_watched(batch_in_child, show_batch, batch,
                                (struct process_limits){.seconds = batch->limit_seconds, .turn = &batch->next},
                                &result));
        judge_done(batch);
        if (batch->next == batch->count)
            break;
        const enum status left = bench_left_by(&result, &batch->tasks[batch->next]);
        struct bench_row *failed = &batch->rows[batch->next];
        if (batch->timing)
            bench_row_failed(failed, "");
        else
            bench_row_verdict(failed, &batch->tasks[batch->next], left);
        bench_show(batch->bench, failed);
    }
out:
    return status;
}
