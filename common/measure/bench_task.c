#include "common/measure/bench_task.h"

#include <stdio.h>
#include <string.h>

#include "common/core/process.h"
#include "common/core/progress.h"

enum status bench_left_by(const struct process_result *result, const struct bench_task *task)
{
    char text[512];

    if (result->limit != LIMIT_KEPT || result->signal || (result->exit_code && task->status == STATUS_OK)) {
        process_describe(result, text, sizeof text);
        return status_set(STATUS_FAILED, "%s", text);
    }
    if (!task->finished)
        return status_set(STATUS_FAILED, "ended the process with exit code 0 before its work was done");
    return task->status == STATUS_OK ? STATUS_OK : status_set(task->status, "%s", task->message);
}

void bench_show(struct bench *bench, const struct bench_row *row)
{
    if (!bench->request->show)
        return;
    progress_clear();
    bench->request->show(bench, row);
}

void bench_row_failed(struct bench_row *row, const char *diagnosis)
{
    row->outcome = BENCH_FAILED;
    snprintf(row->why, sizeof row->why, "%s", status_message());
    snprintf(row->diagnosis, sizeof row->diagnosis, "%s", diagnosis);
    row->kernel = row->end_to_end = (struct statistics){0};
    row->first_call = 0;
    row->start = (struct device_start){0};
}

void bench_row_verdict(struct bench_row *row, const struct bench_task *task, enum status status)
{
    const struct verdict *verdict = &task->verdict;

    if (status == STATUS_UNSUPPORTED) {
        row->outcome = BENCH_SKIPPED;
        snprintf(row->why, sizeof row->why, "%s", status_message());
        return;
    }
    if (status != STATUS_OK) {
        bench_row_failed(row, "");
        return;
    }
    row->worst = verdict->worst;
    row->interior = row->version->compare_interior;
    if (verdict->outcome == OUTCOME_SKIP) {
        row->outcome = BENCH_SKIPPED;
        snprintf(row->why, sizeof row->why, "%s", verdict->what);
    } else if (verdict->outcome == OUTCOME_FAIL) {
        status_set(STATUS_FAILED, "%s", verdict->what);
        bench_row_failed(row, verdict->diagnosis);
    } else {
        row->outcome = task->emulated ? BENCH_EMULATED : BENCH_TIMED;
    }
}
