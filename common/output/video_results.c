#include <jansson.h>
#include <string.h>

#include "common/core/file.h"
#include "common/core/json_file.h"
#include "common/measure/bench.h"
#include "common/measure/params_json.h"
#include "common/output/results.h"
#include "common/output/video_table.h"

static const char *const outcomes[] = {"timed", "emulated", "skipped", "failed"};

static json_t *steps_json(const struct video_bench_row *row)
{
    json_t *steps = json_array();

    for (int i = 0; i < row->steps.count; i++)
        json_array_append_new(steps, json_pack("{s:s, s:f}", "name", row->steps.items[i].name, "seconds",
                                               row->steps.items[i].seconds / row->step_frames));
    return steps;
}

static json_t *traffic_json(const struct video_traffic *traffic)
{
    static const enum phase phases[] = {PHASE_ALLOCATE, PHASE_UPLOAD, PHASE_DOWNLOAD};
    json_t *object = json_object();

    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        json_object_set_new(object, phase_name(phases[i]),
                            json_pack("{s:I, s:i}", "bytes", (json_int_t)traffic->bytes[phases[i]], "calls",
                                      traffic->calls[phases[i]]));
    return object;
}

static json_t *ratio_json(const struct video_bench_row *base, const struct video_bench_row *row)
{
    struct bench_ratio ratio;

    if (!base || base == row || row->time.count == 0)
        return json_null();
    ratio = bench_ratio(&base->time, &row->time);
    return json_pack("{s:s, s:f, s:b}", "version", base->version->source->id, "times", ratio.times, "differs",
                     ratio.differs);
}

static json_t *row_json(const struct video_bench *bench, const struct video_bench_row *row)
{
    json_t *time = json_null(), *memory = json_null();

    if (row->time.count > 0)
        time = json_pack("{s:f, s:f, s:f, s:I}", "median", row->time.median, "q1", row->time.q1, "q3", row->time.q3,
                         "n", (json_int_t)row->time.count);
    if (row->has_traffic)
        memory = json_pack("{s:o, s:o}", "start", traffic_json(&row->launch), "frame", traffic_json(&row->frame));
    return json_pack("{s:s, s:s, s:s, s:b, s:i, s:s?, s:o, s:I, s:o, s:i, s:o, s:o, s:o}", "id",
                     row->version->source->id, "path", row->version->source->path, "outcome", outcomes[row->outcome],
                     "reference", row->reference, "frames_verified", row->verified, "why",
                     row->why[0] ? row->why : NULL, "end_to_end", time, "frames_timed", (json_int_t)row->timed_frames,
                     "steps", steps_json(row), "frames_in_steps", row->step_frames, "memory", memory, "over_serial",
                     ratio_json(video_bench_find(bench, "cpu/serial"), row), "over_below",
                     ratio_json(video_bench_below(bench, row), row));
}

enum status video_results_write_json(const struct video_bench *bench, struct output_file *file)
{
    const struct video_bench_request *request = bench->request;
    json_t *versions = json_array(), *document;

    for (size_t i = 0; i < bench->row_count; i++)
        json_array_append_new(versions, row_json(bench, &bench->rows[i]));
    document = json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:s, s:i, s:i, s:i, s:i, s:f, s:i, s:i, s:s?, s:o}", "schema",
        "rungs-video-results", "version", 1, "date", bench->date, "commit", bench->machine.commit, "command",
        request->command, "machine", results_machine_json(&bench->machine), "algorithm", request->algorithm->name,
        "settings", bench->settings, "params", params_json(request->algorithm, request->params), "input",
        request->input, "width", request->frames->width, "height", request->frames->height, "frames",
        request->frame_count, "threads", request->threads, "seconds", request->seconds, "rounds",
        video_bench_rounds(request), "frames_by_serial", bench->serial_frames, "other_frames_by",
        bench->expected_by ? bench->expected_by->source->id : NULL, "versions", versions);
    return json_file_write(document, 6, file);
}

/* One line per step of each version, and one with step "all" for the time end to end. */
enum status video_results_write_csv(const struct video_bench *bench, struct output_file *file)
{
    const struct video_bench_request *request = bench->request;
    char line[512];

    const char header[] =
        "date,commit,algorithm,width,height,threads,version,outcome,frames_verified,step,seconds,q1,q3,n\n";
    file_write(file, header, strlen(header));
    for (size_t i = 0; i < bench->row_count; i++) {
        const struct video_bench_row *row = &bench->rows[i];
        char start[300];

        snprintf(start, sizeof start, "%s,%s,%s,%d,%d,%d,%s,%s,%d", bench->date, bench->machine.commit,
                 request->algorithm->name, request->frames->width, request->frames->height, request->threads,
                 row->version->source->id, outcomes[row->outcome], row->verified);
        if (row->time.count > 0)
            snprintf(line, sizeof line, "%s,all,%.6g,%.6g,%.6g,%zu\n", start, row->time.median, row->time.q1,
                     row->time.q3, row->time.count);
        else
            snprintf(line, sizeof line, "%s,all,,,,\n", start);
        file_write(file, line, strlen(line));
        for (int step = 0; step < row->steps.count; step++) {
            snprintf(line, sizeof line, "%s,%s,%.6g,,,%d\n", start, row->steps.items[step].name,
                     row->steps.items[step].seconds / row->step_frames, row->step_frames);
            file_write(file, line, strlen(line));
        }
    }
    return file_commit(file);
}
