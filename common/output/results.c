#include "common/output/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/file.h"
#include "common/core/json_file.h"
#include "common/measure/params_json.h"
#include "common/measure/tuned.h"
#include "common/output/tune_report.h"

const char *results_outcome_name(enum bench_outcome outcome)
{
    static const char *const names[] = {"timed", "emulated", "skipped", "failed"};

    return names[outcome];
}

static const char *method_name(const struct bench_row *row)
{
    if (!row->version->launch)
        return row->device ? "the library's device clock" : row->version->uncharged ? "the peer's clock" : "host clock";
    return row->graph ? "device events, graph" : "device events, stream";
}

/* ------------------------------------------------------------------------------------------------------- JSON */

/* 0 stands for "not measured", which in JSON is null. */
static json_t *number_or_null(double number)
{
    return number > 0 ? json_real(number) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text && text[0] ? json_string(text) : json_null();
}

static json_t *statistics_json(const struct statistics *statistics)
{
    if (statistics->count == 0)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:I}", "median", statistics->median, "q1", statistics->q1, "q3", statistics->q3,
                     "n", (json_int_t)statistics->count);
}

/* Seconds of one of many pictures, and how many were under way. */
static json_t *pictures_json(const struct bench_row *row)
{
    json_t *pictures = statistics_json(&row->pictures);

    if (json_is_object(pictures))
        json_object_set_new(pictures, "under_way", json_integer(row->under_way));
    return pictures;
}

static json_t *ratio_json(const struct statistics *a, const struct statistics *b)
{
    const struct bench_ratio ratio = bench_ratio(a, b);

    return ratio.times > 0 ? json_pack("{s:f, s:b}", "times", ratio.times, "differs", ratio.differs) : json_null();
}

static json_t *over_json(const struct bench_row *base, const struct bench_row *row)
{
    if (!base || row->outcome != BENCH_TIMED || base == row)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:o}", "version", base->version->source->id, "kernel",
                     ratio_json(&base->kernel, &row->kernel), "end_to_end",
                     ratio_json(&base->end_to_end, &row->end_to_end), "pictures",
                     ratio_json(&base->pictures, &row->pictures));
}

static json_t *tunable_json(const struct tunable *tunable, int value)
{
    for (int i = 0; tunable->words && tunable->legal[i]; i++)
        if (tunable->legal[i] == value)
            return json_string(tunable->words[i]);
    return json_integer(value);
}

static json_t *tunables_json(const struct version *version)
{
    json_t *object = json_object();

    for (const struct tunable *tunable = version->tunables; tunable && tunable->name; tunable++)
        json_object_set_new(object, tunable->name, tunable_json(tunable, *tunable->value));
    return object;
}

static json_t *start_json(const struct bench_row *row)
{
    return row->start.context > 0 ? json_pack("{s:f, s:f, s:f}", "context", row->start.context, "allocation",
                                              row->start.allocation, "launch", row->start.launch)
                                  : json_null();
}

json_t *results_row_json(const struct bench *bench, const struct bench_row *row)
{
    static const char *const bounds[] = {NULL, "bytes", "operations"};
    const struct side *side = side_of(row->version->source->id);
    const bool timed = row->outcome == BENCH_TIMED, compared = timed || row->outcome == BENCH_EMULATED;
    bool tuned;

    tuned_note(row->version, &tuned);
    return json_pack(
        "{s:s, s:s, s:s?, s:o, s:b, s:s, s:b, s:b, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:s, s:b, s:b, s:b, s:o, s:o, s:o}",
        "id", row->version->source->id, "path", row->version->source->path, "instruction_set",
        row->version->instruction_set, "tunables", tunables_json(row->version), "tuned", tuned, "outcome",
        results_outcome_name(row->outcome), "reference", row->reference, "verified", compared, "worst_difference",
        compared ? json_real(row->worst) : json_null(), "interior_only", row->interior, "why", text_or_null(row->why),
        "diagnosis", text_or_null(row->diagnosis), "first_call", number_or_null(row->first_call), "kernel",
        statistics_json(&row->kernel), "end_to_end", statistics_json(&row->end_to_end), "kernel_method",
        timed ? json_string(method_name(row)) : json_null(), "kernel_batch",
        timed ? json_integer(row->batch) : json_null(), "limit", number_or_null(row->limit), "limit_bound",
        text_or_null(bounds[row->bound]), "limit_fraction", number_or_null(bench_limit_fraction(row)), "over_serial",
        over_json(bench_reference(bench), row), "over_below", over_json(bench_below(bench, row), row), "side",
        side->name, "ladder", side->ladder, "yardstick", side->yardstick, "device", row->device, "limit_operation",
        row->bound == BENCH_BOUND_OPERATIONS ? json_string(operation_name(row->bound_operation)) : json_null(),
        "pictures", pictures_json(row), "start", start_json(row));
}

json_t *results_machine_json(const struct machine *machine)
{
    json_t *gpu = json_null();

    if (machine->gpu[0])
        gpu = json_pack("{s:s, s:f, s:i, s:I, s:I, s:o, s:s}", "name", machine->gpu, "capability",
                        machine->gpu_capability / 10.0, "multiprocessors", machine->gpu_multiprocessors, "l2_bytes",
                        (json_int_t)machine->gpu_l2, "memory_bytes", (json_int_t)machine->gpu_memory, "driver",
                        text_or_null(machine->driver), "cuda", machine->cuda);
    return json_pack("{s:s, s:i, s:i, s:I, s:s, s:s, s:b, s:o, s:o}", "cpu", machine->cpu, "cores", machine->cores,
                     "numa_nodes", machine->numa_nodes, "last_level_cache_bytes", (json_int_t)machine->last_level_cache,
                     "compiler", machine->compiler, "flags", machine->flags, "cuda_emulated", machine->emulated, "gpu",
                     gpu, "no_gpu", text_or_null(machine->no_gpu));
}

static json_t *ceilings_of(const struct ceilings *ceilings)
{
    json_t *operations = json_object();

    for (int i = 0; i < OPERATION_COUNT; i++)
        if (ceilings->operations_per_second[i] > 0)
            json_object_set_new(operations, operation_name((enum operation)i),
                                json_pack("{s:f, s:s}", "per_second", ceilings->operations_per_second[i], "by",
                                          ceilings->measured_by[i]));
    return json_pack("{s:f, s:o, s:o, s:o}", "copy_bytes_per_second", ceilings->copy_bytes_per_second,
                     "multiply_accumulates_per_second",
                     number_or_null(ceilings->operations_per_second[OPERATION_MULTIPLY_ADD_8]),
                     "multiply_accumulate_by", text_or_null(ceilings->measured_by[OPERATION_MULTIPLY_ADD_8]),
                     "operations", operations);
}

static json_t *cost_json(const struct cost *cost)
{
    const enum operation most = cost_main_operation(cost);
    json_t *kinds = json_object();

    for (int i = 0; i < OPERATION_COUNT; i++)
        if (cost->operations[i] > 0)
            json_object_set_new(kinds, operation_name((enum operation)i), json_real(cost->operations[i]));
    return json_pack("{s:f, s:f, s:s?, s:o}", "bytes", cost->bytes, "operations",
                     most == OPERATION_COUNT ? 0.0 : cost->operations[most], "operation",
                     most == OPERATION_COUNT ? NULL : operation_name(most), "kinds", kinds);
}

static json_t *slots_json(const struct named_slot slots[], const struct image images[], int count)
{
    json_t *array = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(array, json_pack("{s:s, s:s, s:i, s:i, s:i, s:s}", "name", slots[i].name, "kind",
                                               slot_kind_name(slots[i].kind), "width", images[i].width, "height",
                                               images[i].height, "channels", images[i].channels, "type",
                                               pixel_name(images[i].type)));
    return array;
}

json_t *results_head_json(const struct bench *bench, const char *kind)
{
    const struct bench_request *request = bench->request;
    const struct image *in = &request->in[0];
    return json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:s, s:i, s:i, s:i, s:s, s:i, s:i, s:f, s:i,"
        " s:o, s:{s:o, s:o}, s:o}",
        "schema", "rungs-results", "version", 1, "kind", kind, "date", bench->date, "commit", bench->machine.commit,
        "command", request->command, "machine", results_machine_json(&bench->machine), "algorithm",
        request->algorithm->name, "settings", bench->settings, "params",
        params_json(request->algorithm, request->params), "input", request->input, "width", in->width, "height",
        in->height, "channels", in->channels, "type", pixel_name(in->type), "threads", request->threads, "sets",
        bench->sets, "seconds", request->seconds, "rounds", bench_rounds(request), "cost", cost_json(&bench->cost),
        "ceilings", "cpu", ceilings_of(&bench->ceilings), "gpu",
        bench->device_ceilings.copy_bytes_per_second > 0 ? ceilings_of(&bench->device_ceilings) : json_null(), "inputs",
        slots_json(request->algorithm->inputs, request->in, request->algorithm->input_count));
}

static json_t *counts_json(const struct bench *bench)
{
    json_t *counts = json_object();

    for (int i = 0; bench->request->algorithm->count_names[i]; i++)
        json_object_set_new(counts, bench->request->algorithm->count_names[i], json_real(bench->counts[i]));
    return counts;
}

enum status results_write_json(const struct bench *bench, struct output_file *file)
{
    json_t *versions = json_array(), *document = results_head_json(bench, "bench");

    if (bench->request->pinned)
        json_object_set_new(document, "pinned", json_true());
    if (bench->request->algorithm->count)
        json_object_set_new(document, "counts", counts_json(bench));
    for (size_t i = 0; i < bench->row_count; i++)
        json_array_append_new(versions, results_row_json(bench, &bench->rows[i]));
    if (json_object_set_new(document, "versions", versions) != 0) { /* NULL */
        json_decref(document);
        document = NULL;
    }
    return json_file_write(document, 6, file);
}

/* ------------------------------------------------------------------------------------------------------- tune */

static json_t *axis_value_json(const struct tune_axis *axis, int value)
{
    return axis->tunable ? tunable_json(axis->tunable, value) : json_integer(value);
}

static json_t *axis_json(const struct tune_axis *axis)
{
    json_t *values = json_array();

    for (int i = 0; i < axis->count; i++)
        json_array_append_new(values, axis_value_json(axis, axis->values[i]));
    return json_pack("{s:s, s:s, s:o, s:o}", "name", axis->name, "help", axis->help, "values", values, "default",
                     axis_value_json(axis, axis->preset));
}

static json_t *point_json(const struct tune *tune, const struct tune_point *point)
{
    static const char *const outcomes[] = {"timed", "illegal", "failed", "skipped"};
    const bool timed = point->outcome == TUNE_TIMED;
    json_t *values = json_object();

    for (int i = 0; i < tune->axis_count; i++)
        json_object_set_new(values, tune->axes[i].name,
                            axis_value_json(&tune->axes[i], tune->axes[i].values[point->at[i]]));
    return json_pack("{s:o, s:s, s:b, s:o, s:o, s:o, s:b, s:b, s:b, s:o}", "values", values, "outcome",
                     outcomes[point->outcome], "verified", timed, "worst_difference",
                     timed ? json_real(point->worst) : json_null(), "why", text_or_null(point->why), "time",
                     statistics_json(&point->time), "default", point->preset, "best", point == tune->best, "like_best",
                     point->like_best, "over_default",
                     timed && tune->preset ? ratio_json(&tune->preset->time, &point->time) : json_null());
}

enum status results_write_tune_json(const struct tune *tune, struct output_file *file)
{
    const struct tune_request *request = tune->request;
    const struct image *in = &request->in[0];
    json_t *axes = json_array(), *points = json_array();

    for (int i = 0; i < tune->axis_count; i++)
        json_array_append_new(axes, axis_json(&tune->axes[i]));
    for (size_t n = 0; n < tune->point_count; n++)
        json_array_append_new(points, point_json(tune, &tune->points[n]));
    return json_file_write(
        json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:s, s:i, s:i, s:i, s:s, s:f, s:i,"
                  " s:s, s:s, s:o, s:o}",
                  "schema", "rungs-results", "version", 1, "kind", "tune", "date", tune->date, "commit",
                  tune->machine.commit, "command", request->command, "machine", results_machine_json(&tune->machine),
                  "algorithm", request->algorithm->name, "settings", tune->settings, "params",
                  params_json(request->algorithm, request->params), "input", request->input, "width", in->width,
                  "height", in->height, "channels", in->channels, "type", pixel_name(in->type), "seconds",
                  request->seconds, "rounds", BENCH_ROUNDS, "tuned_version", request->version->source->id, "time",
                  version_is_cuda(request->version) ? "kernel" : "call", "axes", axes, "points", points),
        6, file);
}

/* -------------------------------------------------------------------------------------------------------- CSV */

static const char csv_header[] =
    "date,commit,cpu,gpu,algorithm,settings,input,width,height,channels,threads,version,outcome,worst_difference,why,"
    "first_call,kernel_median,kernel_q1,kernel_q3,kernel_n,end_to_end_median,end_to_end_q1,end_to_end_q3,end_to_end_n,"
    "limit,limit_fraction,over_serial_kernel,over_serial_end_to_end,over_below_kernel,over_below_end_to_end\n";

static void csv_text(struct output_file *file, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\n\r") != NULL;

    if (quoted)
        file_write(file, "\"", 1);
    for (; *text; text++)
        file_write(file, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    if (quoted)
        file_write(file, "\"", 1);
    file_write(file, ",", 1);
}

static void csv_number(struct output_file *file, double number, bool known, char after)
{
    char text[40] = "";
    int length = 0;

    if (known)
        length = snprintf(text, sizeof text, "%.6g", number);
    text[length] = after;
    file_write(file, text, (size_t)length + 1);
}

static void csv_statistics(struct output_file *file, const struct statistics *statistics)
{
    const bool known = statistics->count > 0;

    csv_number(file, statistics->median, known, ',');
    csv_number(file, statistics->q1, known, ',');
    csv_number(file, statistics->q3, known, ',');
    csv_number(file, (double)statistics->count, known, ',');
}

static void csv_over(struct output_file *file, const struct bench_row *base, const struct bench_row *row, char after)
{
    const bool known = base && base != row && row->outcome == BENCH_TIMED;
    const double kernel = known ? bench_ratio(&base->kernel, &row->kernel).times : 0;
    const double end_to_end = known ? bench_ratio(&base->end_to_end, &row->end_to_end).times : 0;

    csv_number(file, kernel, kernel > 0, ',');
    csv_number(file, end_to_end, end_to_end > 0, after);
}

static void csv_row(struct output_file *file, const struct bench *bench, const struct bench_row *row)
{
    const struct bench_request *request = bench->request;
    const bool compared = row->outcome == BENCH_TIMED || row->outcome == BENCH_EMULATED;

    csv_text(file, bench->date);
    csv_text(file, bench->machine.commit);
    csv_text(file, bench->machine.cpu);
    csv_text(file, bench->machine.gpu);
    csv_text(file, request->algorithm->name);
    csv_text(file, bench->settings);
    csv_text(file, request->input);
    csv_number(file, request->in[0].width, true, ',');
    csv_number(file, request->in[0].height, true, ',');
    csv_number(file, request->in[0].channels, true, ',');
    csv_number(file, request->threads, true, ',');
    csv_text(file, row->version->source->id);
    csv_text(file, results_outcome_name(row->outcome));
    csv_number(file, row->worst, compared, ',');
    csv_text(file, row->why);
    csv_number(file, row->first_call, row->first_call > 0, ',');
    csv_statistics(file, &row->kernel);
    csv_statistics(file, &row->end_to_end);
    csv_number(file, row->limit, row->limit > 0, ',');
    csv_number(file, bench_limit_fraction(row), bench_limit_fraction(row) > 0, ',');
    csv_over(file, bench_reference(bench), row, ',');
    csv_over(file, bench_below(bench, row), row, '\n');
}

enum status results_write_csv(const struct bench *bench, struct output_file *file)
{
    file_write(file, csv_header, strlen(csv_header));
    for (size_t i = 0; i < bench->row_count; i++)
        csv_row(file, bench, &bench->rows[i]);
    return file_commit(file);
}
