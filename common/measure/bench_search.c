#include "common/measure/bench_task.h"

#include "common/core/process.h"

/* The searched points: rows and tasks from 1 on. */
enum status bench_search(struct bench *bench, struct bench_task *tasks, double limit_seconds)
{
    enum status status = STATUS_OK;
    struct bench_batch *batch = process_shared_allocate(sizeof *batch);

    if (!batch)
        return status_set(STATUS_NO_MEMORY, "no memory for the search");
    batch->bench = bench;
    batch->rows = bench->rows + 1;
    batch->tasks = tasks + 1;
    batch->count = bench->row_count - 1;
    batch->limit_seconds = limit_seconds;
    for (size_t i = 1; i < bench->row_count; i++)
        tasks[i].wanted = true;
    TRY(bench_batch_run(batch));
    batch->timing = true;
    for (int round = 0; round < BENCH_ROUNDS && bench->request->seconds > 0; round++) {
        for (size_t i = 1; i < bench->row_count; i++) {
            tasks[i].wanted = bench->rows[i].outcome == BENCH_TIMED && bench_has_time_left(&tasks[i]);
            tasks[i].round = round;
        }
        TRY(bench_batch_run(batch));
    }
out:
    process_shared_free(batch, sizeof *batch);
    return status;
}
