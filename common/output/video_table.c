#include "common/output/video_table.h"

#include <string.h>

#include "common/measure/bench.h"
#include "common/output/table.h"

static double frame_seconds(const struct video_bench_row *row, int item)
{
    return row->steps.items[item].seconds / row->step_frames;
}

/* The same step of another version, seconds per frame; 0 if it has none. */
static double step_of(const struct video_bench_row *row, const char *name)
{
    for (int i = 0; row && i < row->steps.count; i++)
        if (strcmp(row->steps.items[i].name, name) == 0)
            return frame_seconds(row, i);
    return 0;
}

static void print_headline(const struct video_bench *bench, FILE *stream)
{
    const struct video_bench_request *request = bench->request;
    const struct machine *machine = &bench->machine;
    char text[1024];

    snprintf(text, sizeof text, "%s, %dx%d, %d frames, %d thread%s", bench->settings, request->frames->width,
             request->frames->height, request->frame_count, request->threads, request->threads == 1 ? "" : "s");
    table_wrapped(stream, request->algorithm->name, text);
    table_wrapped(stream, "input", request->input);
    snprintf(text, sizeof text, "%s, %d core%s; %s %s", machine->cpu, machine->cores, machine->cores == 1 ? "" : "s",
             machine->compiler, machine->flags);
    table_wrapped(stream, "CPU", text);
    if (machine->gpu[0])
        snprintf(text, sizeof text, "%s, %d multiprocessors; driver %s, CUDA %s", machine->gpu,
                 machine->gpu_multiprocessors, machine->driver[0] ? machine->driver : "unknown", machine->cuda);
    else if (machine->emulated)
        snprintf(text, sizeof text, "none: cuda/* are emulated and have no times");
    else
        snprintf(text, sizeof text, "none: %s", machine->no_gpu);
    table_wrapped(stream, "GPU", text);
}

static void print_steps(const struct video_bench *bench, const struct video_bench_row *row, FILE *stream)
{
    const struct video_bench_row *below = video_bench_below(bench, row);
    double sum = 0;

    for (int i = 0; i < row->steps.count; i++)
        sum += frame_seconds(row, i);
    if (row->steps.count == 0) /* a peer in another process */
        return;
    fprintf(stream, "  %-12s %11s %11s %7s %14s\n", "step", "frame avg.", "total", "load", below ? "over below" : "");
    for (int i = 0; i < row->steps.count; i++) {
        const double seconds = frame_seconds(row, i), other = step_of(below, row->steps.items[i].name);
        char average[TABLE_CELL], total[TABLE_CELL], ratio[TABLE_CELL] = "";

        table_time(seconds, average);
        table_time(seconds * bench->request->frame_count, total);
        if (other > 0 && seconds > 0) {
            table_number(other / seconds, ratio);
            strncat(ratio, table_times_sign(), sizeof ratio - strlen(ratio) - 1);
        }
        /* The micro sign has two bytes and one column. */
        fprintf(stream, "  %-12s %*s%s %*s%s %6.1f%% %*s%s\n", row->steps.items[i].name, 11 - table_columns(average),
                "", average, 11 - table_columns(total), "", total, sum > 0 ? 100 * seconds / sum : 0,
                14 - table_columns(ratio), "", ratio);
    }
}

static void traffic_cell(size_t bytes, int calls, double pixels, char text[3 * TABLE_CELL])
{
    char amount[TABLE_CELL], per_pixel[TABLE_CELL];

    if (calls == 0) {
        snprintf(text, 3 * TABLE_CELL, "none");
        return;
    }
    table_bytes((double)bytes, amount);
    table_number((double)bytes / pixels, per_pixel);
    snprintf(text, 3 * TABLE_CELL, "%s in %d (%s B/pixel)", amount, calls, per_pixel);
}

static void print_traffic(const struct video_bench *bench, const struct video_bench_row *row, FILE *stream)
{
    static const enum phase phases[] = {PHASE_ALLOCATE, PHASE_UPLOAD, PHASE_DOWNLOAD};
    static const char *const names[] = {"allocated", "uploaded", "downloaded"};
    const double pixels = (double)bench->request->frames->width * bench->request->frames->height;

    fprintf(stream, "  %-12s %-36s %s\n", "memory", "at the start", "each frame");
    for (int i = 0; i < 3; i++) {
        char start[3 * TABLE_CELL], frame[3 * TABLE_CELL];

        traffic_cell(row->launch.bytes[phases[i]], row->launch.calls[phases[i]], pixels, start);
        traffic_cell(row->frame.bytes[phases[i]], row->frame.calls[phases[i]], pixels, frame);
        fprintf(stream, "  %-12s %-36s %s\n", names[i], start, frame);
    }
}

static void print_version(const struct video_bench *bench, const struct video_bench_row *row, FILE *stream)
{
    char time[TABLE_CELL], fps[TABLE_CELL];

    table_time(row->time.median, time);
    table_number(1 / row->time.median, fps);
    fprintf(stream, "\n%s  (%s)\n", row->version->source->id, row->version->source->path);
    print_steps(bench, row, stream);
    if (row->has_traffic)
        print_traffic(bench, row, stream);
    fprintf(stream, "  FPS: %s   %s a frame, end to end\n", fps, time);
}

/* "4.5x", "=" when not different, "" when one was not measured. */
static void ratio_text(const struct video_bench_row *base, const struct video_bench_row *row, char text[TABLE_CELL])
{
    struct bench_ratio ratio = {0, false};

    snprintf(text, TABLE_CELL, "-");
    if (base && base != row)
        ratio = bench_ratio(&base->time, &row->time);
    if (ratio.times <= 0)
        return;
    if (!ratio.differs) {
        snprintf(text, TABLE_CELL, "=");
        return;
    }
    table_number(ratio.times, text);
    strncat(text, table_times_sign(), TABLE_CELL - strlen(text) - 1);
}

static const struct video_bench_row *first_peer(const struct video_bench *bench)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (version_is_peer(bench->rows[i].version) && bench->rows[i].time.count > 0)
            return &bench->rows[i];
    return NULL;
}

static void right(FILE *stream, const char *text, int width)
{
    fprintf(stream, " %*s%s", width - table_columns(text) > 0 ? width - table_columns(text) : 0, "", text);
}

static int name_width(const struct video_bench *bench)
{
    int width = 14;

    for (size_t i = 0; i < bench->row_count; i++)
        if ((int)strlen(bench->rows[i].version->source->id) > width)
            width = (int)strlen(bench->rows[i].version->source->id);
    return width;
}

static void print_names(const struct video_bench *bench, FILE *stream)
{
    const struct video_bench_row *peer = first_peer(bench);
    char header[TABLE_CELL] = "";

    if (peer)
        snprintf(header, sizeof header, "over %.20s", strchr(peer->version->source->id, '/') + 1);
    fprintf(stream, "%-*s %-20s", name_width(bench), "version", "boxes equal in");
    right(stream, "time a frame", 12);
    right(stream, "", 7);
    right(stream, "FPS", 8);
    right(stream, "over serial", 11);
    right(stream, "over below", 10);
    right(stream, header, 11);
    putc('\n', stream);
}

static void print_row(const struct video_bench *bench, const struct video_bench_row *row, FILE *stream)
{
    const struct video_bench_row *peer = first_peer(bench);
    char verified[40], text[TABLE_CELL];

    snprintf(verified, sizeof verified, "%d frame%s%s", row->verified, row->verified == 1 ? "" : "s",
             row->outcome == VIDEO_EMULATED ? ", emulated" : "");
    if (row->reference)
        snprintf(verified, sizeof verified, "reference for %d", row->verified);
    fprintf(stream, "%-*s %-20s", name_width(bench), row->version->source->id,
            row->outcome == VIDEO_FAILED    ? "FAIL"
            : row->outcome == VIDEO_SKIPPED ? "skipped"
                                            : verified);
    if (row->time.count > 0) {
        table_time(row->time.median, text);
        right(stream, text, 12);
        if (row->time.count > 1)
            snprintf(text, sizeof text, "%s%.1f%%", table_spread_sign(), 100 * statistics_spread(&row->time));
        else
            snprintf(text, sizeof text, "once"); /* no spread is known, which is not a spread of 0 */
        right(stream, text, 7);
        table_number(1 / row->time.median, text);
        right(stream, text, 8);
        ratio_text(video_bench_find(bench, "cpu/serial"), row, text);
        right(stream, text, 11);
        ratio_text(video_bench_below(bench, row), row, text);
        right(stream, text, 10);
        ratio_text(peer, row, text);
        right(stream, peer ? text : "", 11);
    }
    putc('\n', stream);
}

void video_table_print_row(const struct video_bench *bench, const struct video_bench_row *row, bool first, FILE *stream)
{
    if (first)
        print_names(bench, stream);
    print_row(bench, row, stream);
}

static void print_summary(const struct video_bench *bench, FILE *stream)
{
    putc('\n', stream);
    print_names(bench, stream);
    for (size_t i = 0; i < bench->row_count; i++)
        print_row(bench, &bench->rows[i], stream);
    for (size_t i = 0; i < bench->row_count; i++) {
        const struct video_bench_row *row = &bench->rows[i];

        if (row->outcome == VIDEO_FAILED || row->outcome == VIDEO_SKIPPED)
            fprintf(stream, "%s: %s\n", row->version->source->id, row->why);
    }
    putc('\n', stream);
}

void video_table_print(const struct video_bench *bench, FILE *stream)
{
    char text[512];

    print_headline(bench, stream);
    for (size_t i = 0; i < bench->row_count; i++)
        if (bench->rows[i].time.count > 0)
            print_version(bench, &bench->rows[i], stream);
    print_summary(bench, stream);
    table_wrapped(
        stream, "times",
        "end to end, from the frame in host memory to its boxes there: decoding excluded, transfers included. "
        "Median; +- half of the interquartile range; once: one sample, so no spread; =: not different.");
    table_wrapped(stream, "steps",
                  "measured apart, frame by frame and without overlap; CUDA steps by device events, launch gaps "
                  "included. total: the average times all frames, of which slow versions ran only some. over below: "
                  "against the same step one rung down.");
    if (bench->expected_by)
        snprintf(text, sizeof text,
                 "%d of %d frames by cpu/serial itself, the others by %s, which agrees with it in those.",
                 bench->serial_frames, bench->request->frame_count, bench->expected_by->source->id);
    else
        snprintf(text, sizeof text, "%d of %d frames, by cpu/serial.", bench->serial_frames,
                 bench->request->frame_count);
    table_wrapped(stream, "expected", text);
}
