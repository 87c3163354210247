/*
 * bench_task.h: what the bench has done in child processes, one task for each version; inside of the bench only. The
 * files: bench.c the rounds and the rows, in the parent; bench_child.c what children do; bench_batch.c many tasks in
 * one child after the other; bench_search.c those of a search; bench_pictures.c many pictures; bench_sets.c inputs and
 * outputs; bench_rows.c what rows say.
 */
#ifndef RUNGS_BENCH_TASK_H
#define RUNGS_BENCH_TASK_H

#include "common/contract/queue.h"
#include "common/measure/bench.h"
#include "common/measure/bench_sets.h"
#include "common/verify/verify.h"

enum {
    BENCH_MAX_SAMPLES = 1000, /* per version, round and kind of time */
    BENCH_LARGE_BYTES =
        128 << 20 /* of inputs and outputs, which versions are verified on before their timing, and on no others */
};

/* What a child gets and gives; lives in memory that it shares with the parent. */
struct bench_task {
    const struct bench_request *request;
    const struct version *version;
    const struct bench_point *point; /* of a search, else NULL */
    const struct bench_source *source;
    struct image (*expected)[ALGORITHM_MAX_OUTPUTS]; /* reference results for sets 0 and 1; shared */
    const struct cost *cost;                         /* says which ceilings are wanted */
    bool emulated;
    int sets, round;
    const struct version_queue *queue; /* of some version, which has page-locked memory; NULL: none has one */
    bool wanted;                       /* by the batch that runs next */

    bool finished; /* the child came to its own end; a version can call exit(0) too */
    enum status status;
    char message[512];
    struct verdict verdict;
    double reference_seconds[2]; /* of its two calls */
    double counts[ALGORITHM_MAX_COUNTS];
    double first_call, first_run; /* with the start of the device, and without */
    struct device_start start;
    bool graph;
    int batch;
    size_t end_to_end_count, kernel_count, pictures_count;
    double end_to_end[BENCH_ROUNDS * BENCH_MAX_SAMPLES], kernel[BENCH_ROUNDS * BENCH_MAX_SAMPLES];
    double pictures[BENCH_ROUNDS * BENCH_MAX_SAMPLES];
    int under_way;
    struct ceilings ceilings;
};

/* Bodies of children (process.h); `argument` is a struct bench_task. */
int bench_reference_in_child(void *argument);
int bench_verify_in_child(void *argument);
int bench_time_in_child(void *argument);
int bench_ceilings_in_child(void *argument);
/* bench_pictures.c: the samples of one round, of this task's version from page-locked memory. */
enum status bench_time_pictures(struct bench_task *task, const struct bench_sets *sets, double seconds);
int bench_device_ceilings_in_child(void *argument);

/* What emulated versions are verified on: a part of the bench's input, and its reference. All zero before the first
 * use. */
struct bench_piece {
    bool made;
    struct image in[ALGORITHM_MAX_INPUTS], own[ALGORITHM_MAX_INPUTS], expected[ALGORITHM_MAX_OUTPUTS];
};
void bench_piece_free(const struct algorithm *algorithm, struct bench_piece *piece);

/* What those of one version are made of, for a child that does many. *sets are made by the first bench_time(), *piece
 * by the first bench_verify() of an emulated version. */
enum status bench_verify(struct bench_task *task, struct bench_piece *piece);
enum status bench_time(struct bench_task *task, struct bench_sets *sets);
/* Keeps how a task ended; returns the exit code. */
int bench_keep(struct bench_task *task, enum status status);

/* A slow version has had its budget after a round or two; the others go on. */
bool bench_has_time_left(const struct bench_task *task);

/* How a child left its task: the failure of either becomes this call's. */
struct process_result;
enum status bench_left_by(const struct process_result *result, const struct bench_task *task);
/* Puts a failure (status_message()), or a verification that the child left with `status`, into the row. */
void bench_row_failed(struct bench_row *row, const char *diagnosis);
void bench_row_verdict(struct bench_row *row, const struct bench_task *task, enum status status);
/* Says what is known of a row, where the request asks for that. */
void bench_show(struct bench *bench, const struct bench_row *row);

/* Tasks for one child after the other, which starts the CUDA runtime once for all; in memory that parent and child
 * share. */
struct bench_batch {
    struct bench *bench;
    struct bench_row *rows; /* rows[i] of tasks[i] */
    struct bench_task *tasks;
    size_t count;
    bool timing;          /* else verifying */
    double limit_seconds; /* of one task */
    size_t next;          /* the one that the child is at */
    size_t judged;        /* those before it have had their verdicts put into their rows */
};

/* Verifies all wanted tasks, or times them for one round, and puts verdicts and failures into their rows. After a task
 * that fails the next begins in a child of its own. */
enum status bench_batch_run(struct bench_batch *batch);

/* Verifies and times the points of a search: rows and tasks from 1 on. */
enum status bench_search(struct bench *bench, struct bench_task *tasks, double limit_seconds);

#endif
