/*
 * profile_json.c: a profile report as JSON.
 */
#include <math.h>

#include "common/core/json_file.h"
#include "common/output/profile_report.h"
#include "common/output/results.h"

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *sums_json(const struct profile_report *report, const struct profile_sum *sums, size_t count)
{
    static const char *const kinds[TRACE_KINDS] = {"call", "step",   "phase", "region", "wait",
                                                   "api",  "kernel", "copy",  "memset"};
    const double all = profile_report_total(sums, count, 0, TRACE_KINDS);
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *sum = json_pack("{s:s, s:s, s:I, s:I}", "kind", kinds[sums[i].kind], "name", sums[i].name, "calls",
                                (json_int_t)sums[i].count, "bytes", (json_int_t)sums[i].bytes);

        if (!profile_report_is_emulated(report))
            json_object_update_new(sum,
                                   json_pack("{s:f, s:f, s:f, s:f, s:f}", "share", all > 0 ? sums[i].total / all : 0,
                                             "total", sums[i].total, "average", sums[i].total / (double)sums[i].count,
                                             "least", sums[i].least, "most", sums[i].most));
        json_array_append_new(array, sum);
    }
    return array;
}

static json_t *launches_json(const struct profile_report *report)
{
    const bool known = !profile_report_is_emulated(report);
    json_t *array = json_array();

    for (size_t i = 0; i < report->launch_count; i++) {
        const struct trace_launch *launch = &report->launches[i].launch;

        json_array_append_new(
            array,
            json_pack("{s:s, s:I, s:[i, i, i], s:[i, i, i], s:o, s:o, s:i, s:o, s:o, s:o}", "kernel",
                      report->launches[i].name, "times", (json_int_t)report->launches[i].count, "grid",
                      (int)launch->grid[0], (int)launch->grid[1], (int)launch->grid[2], "block", (int)launch->block[0],
                      (int)launch->block[1], (int)launch->block[2], "registers",
                      known ? json_integer(launch->registers) : json_null(), "static_shared_bytes",
                      known ? json_integer(launch->static_shared) : json_null(), "dynamic_shared_bytes",
                      launch->dynamic_shared, "local_bytes", known ? json_integer(launch->local) : json_null(),
                      "theoretical_occupancy", launch->occupancy > 0 ? json_real(launch->occupancy) : json_null(),
                      "occupancy_bound_by", launch->limit[0] ? json_string(launch->limit) : json_null()));
    }
    return array;
}

static json_t *metrics_json(const struct profile_report *report)
{
    json_t *array = json_array();

    if (report->metric_count == 0) {
        json_decref(array);
        return json_null();
    }
    for (size_t k = 0; k < report->metric_count; k++) {
        json_t *kernel = json_pack("{s:s, s:I}", "kernel", report->metrics[k].name, "launches",
                                   (json_int_t)report->metrics[k].launches);

        for (int i = 0; i < NCU_METRICS; i++)
            json_object_set_new(kernel, ncu_metrics[i].key, number(report->metrics[k].values[i]));
        json_array_append_new(array, kernel);
    }
    return array;
}

static json_t *team_json(const struct profile_report *report)
{
    const struct profile_team *team = &report->team;
    json_t *threads = json_array(), *regions = json_array();

    for (int i = 0; i < team->thread_count; i++)
        json_array_append_new(threads,
                              json_pack("{s:I, s:f, s:f, s:f}", "regions", (json_int_t)team->threads[i].regions, "busy",
                                        team->threads[i].busy, "waiting", team->threads[i].waiting, "on_core",
                                        team->threads[i].on_core));
    for (size_t i = 0; i < team->region_count; i++)
        json_array_append_new(
            regions, json_pack("{s:s, s:I, s:i, s:f, s:f, s:f, s:f}", "place", team->regions[i].place, "times",
                               (json_int_t)team->regions[i].count, "threads", team->regions[i].threads, "total",
                               team->regions[i].seconds, "busy_mean", team->regions[i].mean, "busy_slowest",
                               team->regions[i].most, "imbalance", profile_imbalance(&team->regions[i])));
    return json_pack("{s:o, s:o, s:f}", "threads", threads, "regions", regions, "parallel_seconds", team->seconds);
}

static json_t *counters_json(const struct profile_report *report)
{
    static const char *const keys[COUNTER_KINDS] = {"cycles",       "instructions", "cache_references",
                                                    "cache_misses", "branches",     "branch_misses"};
    const struct counters *counters = &report->profile->counters;
    json_t *object;

    if (report->profile->device)
        return json_null();
    object = json_pack("{s:f, s:f, s:I, s:I, s:I}", "user_seconds", counters->user_seconds, "system_seconds",
                       counters->system_seconds, "page_faults", (json_int_t)counters->page_faults, "voluntary_switches",
                       (json_int_t)counters->voluntary_switches, "involuntary_switches",
                       (json_int_t)counters->involuntary_switches);
    for (int i = 0; i < COUNTER_KINDS; i++)
        json_object_set_new(object, keys[i], counters->values[i] >= 0 ? json_real(counters->values[i]) : json_null());
    return object;
}

enum status profile_report_write(const struct profile_report *report, struct output_file *file)
{
    const struct profile *profile = report->profile;
    const struct statistics calls = profile_report_call_statistics(report);
    const double kernels = profile_report_kernel_seconds(report);
    const double copy = report->bench->device_ceilings.copy_bytes_per_second;
    json_t *document = results_head_json(report->bench, "profile"), *missing = json_array(), *body;

    for (int i = 0; i < report->missing_count; i++)
        json_array_append_new(missing, json_string(report->missing[i]));
    body = json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "calls", profile->calls, "call",
        profile_report_is_emulated(report) ? json_null()
                                           : json_pack("{s:f, s:f, s:f, s:I}", "median", calls.median, "q1", calls.q1,
                                                       "q3", calls.q3, "n", (json_int_t)calls.count),
        "first_call",
        profile_report_is_emulated(report)
            ? json_null()
            : json_real(profile->first_call > 0 ? profile->first_call : profile->call_seconds[0]),
        "gpu_activities", sums_json(report, report->activities, report->activity_count), "api_calls",
        sums_json(report, report->calls, report->call_count), "host_ranges",
        sums_json(report, report->ranges, report->range_count), "launches", launches_json(report), "gpu_busy",
        profile_gpu_busy(profile->trace) > 0 ? json_real(profile_gpu_busy(profile->trace)) : json_null(),
        "kernels_per_call", kernels > 0 ? json_real(kernels) : json_null(), "bytes_per_second",
        kernels > 0 ? json_real(report->bench->cost.bytes / kernels) : json_null(), "copy_fraction",
        kernels > 0 && copy > 0 ? json_real(report->bench->cost.bytes / kernels / copy) : json_null(), "metrics",
        metrics_json(report), "openmp", team_json(report), "counters", counters_json(report), "missing", missing);
    if (!document || !body ||
        json_object_set_new(body, "metrics_size",
                            report->metrics_size ? json_string(report->metrics_size) : json_null()) != 0 ||
        json_object_set_new(document, "bench", results_row_json(report->bench, report->row)) != 0 ||
        json_object_set_new(document, "profile", body) != 0) {
        json_decref(document);
        document = NULL;
    }
    return json_file_write(document, 6, file);
}
