#include "common/output/table.h"

#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/measure/tuned.h"

enum { WIDTH = 100, LABEL = 10 };

static bool is_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

const char *table_times_sign(void)
{
    return is_utf8() ? "×" : "x";
}

const char *table_spread_sign(void)
{
    return is_utf8() ? "±" : "+-";
}

void table_number(double number, char text[TABLE_CELL])
{
    int decimals = 2;

    if (number > 0 && isfinite(number))
        decimals = 2 - (int)floor(log10(number));
    /* 9.996 has decimals for a number below ten but rounds to 10.00. */
    if (decimals > 0 && number > 0 && round(number * pow(10, decimals)) >= 1000)
        decimals--;
    /* No measurement has more than three digits that mean anything: 38514 is 38500. */
    if (decimals < 0 && isfinite(number))
        number = round(number * pow(10, decimals)) * pow(10, -decimals);
    snprintf(text, TABLE_CELL, "%.*f", decimals < 0 ? 0 : decimals > 9 ? 9 : decimals, number);
}

void table_bytes(double bytes, char text[TABLE_CELL])
{
    const bool mega = bytes >= 0.9995e5, kilo = bytes >= 999.5;
    char digits[TABLE_CELL];

    table_number(bytes / (mega ? 1e6 : kilo ? 1e3 : 1), digits);
    if (mega || kilo)
        snprintf(text, TABLE_CELL, "%.*s %s", TABLE_CELL - 4, digits, mega ? "MB" : "kB");
    else
        snprintf(text, TABLE_CELL, "%.0f B", bytes);
}

void table_time(double seconds, char text[TABLE_CELL])
{
    /* 999.6 microseconds round to 1.00 ms, not to 1000 µs. */
    const bool whole = seconds >= 0.9995, milli = seconds >= 0.9995e-3;
    char number[TABLE_CELL - 4];
    char digits[TABLE_CELL];

    table_number(whole ? seconds : seconds * (milli ? 1e3 : 1e6), digits);
    snprintf(number, sizeof number, "%.*s", (int)sizeof number - 1, digits);
    snprintf(text, TABLE_CELL, "%s %s", number, whole ? "s" : milli ? "ms" : is_utf8() ? "µs" : "us");
}

void table_verified(const struct bench_row *row, char text[TABLE_CELL])
{
    char agreement[20] = "exact";

    if (row->worst > 0)
        snprintf(agreement, sizeof agreement, "within %.3g", row->worst);
    if (row->outcome == BENCH_FAILED)
        snprintf(text, TABLE_CELL, "FAIL");
    else if (row->outcome == BENCH_SKIPPED)
        snprintf(text, TABLE_CELL, "skipped");
    else if (row->reference)
        snprintf(text, TABLE_CELL, "reference");
    else
        snprintf(text, TABLE_CELL, "%s%s", agreement,
                 row->outcome == BENCH_EMULATED ? ", emulated"
                 : row->interior                ? ", interior"
                                                : "");
}

/* ---------------------------------------------------------------------------------------------------- printing */

int table_columns(const char *text)
{
    int count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80; /* continues no character */
    return count;
}

/* width > 0: right-aligned, < 0: left-aligned. */
static void cell(FILE *stream, const char *text, int width)
{
    const int padding = abs(width) - table_columns(text);

    fprintf(stream, "%*s%s%*s", width > 0 && padding > 0 ? padding : 0, "", text,
            width < 0 && padding > 0 ? padding : 0, "");
}

void table_wrapped(FILE *stream, const char *label, const char *text)
{
    int column = LABEL;

    fprintf(stream, "%-*s ", LABEL - 1, label); /* a longer label still stands apart */
    while (*text) {
        const size_t length = strcspn(text, " ");
        char word[512];

        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
        if (column > LABEL && column + 1 + table_columns(word) > WIDTH) {
            fprintf(stream, "\n%*s", LABEL, "");
            column = LABEL;
        }
        fprintf(stream, "%s%s", column > LABEL ? " " : "", word);
        column += (column > LABEL) + table_columns(word);
        text += length;
        text += strspn(text, " ");
    }
    putc('\n', stream);
}

static void rule(FILE *stream, int width)
{
    for (int i = 0; i < width; i++)
        fputs(is_utf8() ? "─" : "-", stream);
    putc('\n', stream);
}

static void print_headline(const struct bench *bench, FILE *stream)
{
    const struct bench_request *request = bench->request;
    const struct machine *machine = &bench->machine;
    const struct image *in = &request->in[0];
    char text[2048];

    snprintf(text, sizeof text, "%s, %dx%d, %d channel%s, %d thread%s%s", bench->settings, in->width, in->height,
             in->channels, in->channels == 1 ? "" : "s", request->threads, request->threads == 1 ? "" : "s",
             request->pinned ? ", pictures in page-locked memory" : "");
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
    putc('\n', stream);
}

/* What a row's cells say. */
struct cells {
    char verified[TABLE_CELL], kernel[TABLE_CELL], kernel_spread[TABLE_CELL], whole[TABLE_CELL],
        whole_spread[TABLE_CELL], limit[TABLE_CELL], serial_kernel[TABLE_CELL], serial_whole[TABLE_CELL],
        below_kernel[TABLE_CELL], below_whole[TABLE_CELL], first[TABLE_CELL];
};

static void time_cells(const struct statistics *statistics, char median[TABLE_CELL], char spread[TABLE_CELL])
{
    const double percent = 100 * statistics_spread(statistics);

    snprintf(median, TABLE_CELL, "-");
    spread[0] = '\0';
    if (statistics->count == 0)
        return;
    table_time(statistics->median, median);
    if (statistics->count == 1) /* no spread is known, which is not a spread of 0 */
        snprintf(spread, TABLE_CELL, "once");
    else
        snprintf(spread, TABLE_CELL, percent < 9.95 ? "%s%.1f%%" : "%s%.0f%%", table_spread_sign(), percent);
}

static void ratio_cell(const struct statistics *base, const struct statistics *time, char text[TABLE_CELL])
{
    const struct bench_ratio ratio = bench_ratio(base, time);

    if (ratio.times <= 0)
        snprintf(text, TABLE_CELL, "-");
    else if (!ratio.differs)
        snprintf(text, TABLE_CELL, "=");
    else
        table_number(ratio.times, text);
}

static void fill_cells(const struct bench *bench, const struct bench_row *row, struct cells *cells)
{
    static const struct statistics none = {0};
    const struct bench_row *serial = bench_reference(bench), *below = bench_below(bench, row);
    const double fraction = bench_limit_fraction(row);

    table_verified(row, cells->verified);
    time_cells(&row->kernel, cells->kernel, cells->kernel_spread);
    time_cells(&row->end_to_end, cells->whole, cells->whole_spread);
    snprintf(cells->limit, sizeof cells->limit, "-");
    if (fraction > 0)
        snprintf(cells->limit, sizeof cells->limit, "%.*f%%",
                 fraction < 0.001 ? 2
                 : fraction < 0.1 ? 1
                                  : 0,
                 100 * fraction);
    if (row == serial) {
        snprintf(cells->serial_kernel, TABLE_CELL, row->kernel.count ? "1" : "-");
        snprintf(cells->serial_whole, TABLE_CELL, row->kernel.count ? "1" : "-");
    } else {
        ratio_cell(serial ? &serial->kernel : &none, &row->kernel, cells->serial_kernel);
        ratio_cell(serial ? &serial->end_to_end : &none, &row->end_to_end, cells->serial_whole);
    }
    ratio_cell(below ? &below->kernel : &none, &row->kernel, cells->below_kernel);
    ratio_cell(below ? &below->end_to_end : &none, &row->end_to_end, cells->below_whole);
    if (row->first_call > 0)
        table_time(row->first_call, cells->first);
    else
        snprintf(cells->first, sizeof cells->first, "-");
}

enum { TIME = 9, SPREAD = 6 };

/* The table with kernel and end-to-end columns has no row that is emulated, and 100 columns to share; the other one has
 * room for "within 0.000155, emulated". */
static int verified_width(const struct bench *bench, bool both)
{
    int width = both ? 15 : 18;

    for (size_t i = 0; i < bench->row_count && !both; i++) {
        char text[TABLE_CELL];

        table_verified(&bench->rows[i], text);
        if (bench->rows[i].outcome != BENCH_SKIPPED && (int)strlen(text) + 1 > width)
            width = (int)strlen(text) + 1;
    }
    return width;
}

/* With a GPU kernel and end-to-end times differ; without one there is one time, and room for the first call's. */
static void print_row(const struct bench *bench, const struct bench_row *row, int name_width, int verified, bool both,
                      FILE *stream)
{
    struct cells cells;

    fill_cells(bench, row, &cells);
    cell(stream, row->version->source->id, -name_width);
    cell(stream, cells.verified, -(verified - 1));
    cell(stream, cells.kernel, TIME);
    cell(stream, cells.kernel_spread, SPREAD + 1);
    if (both) {
        cell(stream, cells.whole, TIME + 1);
        cell(stream, cells.whole_spread, SPREAD + 1);
    }
    cell(stream, cells.limit, both ? 6 : 10);
    cell(stream, cells.serial_kernel, both ? 8 : 10);
    if (both)
        cell(stream, cells.serial_whole, 7);
    cell(stream, cells.below_kernel, both ? 8 : 10);
    if (both)
        cell(stream, cells.below_whole, 7);
    else
        cell(stream, cells.first, 12);
    putc('\n', stream);
}

static int print_header(int name_width, int verified, bool both, FILE *stream)
{
    const char *times = table_times_sign();
    char over_serial[TABLE_CELL], over_below[TABLE_CELL];

    snprintf(over_serial, sizeof over_serial, "%s serial", times);
    snprintf(over_below, sizeof over_below, "%s rung below", times);
    if (both) {
        cell(stream, "", -name_width - verified + 1);
        cell(stream, "kernel", TIME + SPREAD + 1);
        cell(stream, "end to end", TIME + SPREAD + 2);
        cell(stream, "of", 6);
        cell(stream, over_serial, 15);
        cell(stream, over_below, 15);
        putc('\n', stream);
    }
    cell(stream, "version", -name_width);
    cell(stream, "verified", -(verified - 1));
    cell(stream, both ? "median" : "time", TIME);
    cell(stream, "spread", SPREAD + 1);
    if (both) {
        cell(stream, "median", TIME + 1);
        cell(stream, "spread", SPREAD + 1);
        cell(stream, "limit", 6);
        cell(stream, "kernel", 8);
        cell(stream, "e2e", 7);
        cell(stream, "kernel", 8);
        cell(stream, "e2e", 7);
    } else {
        cell(stream, "of limit", 10);
        cell(stream, over_serial, 10);
        snprintf(over_below, sizeof over_below, "%s below", times);
        cell(stream, over_below, 10);
        cell(stream, "first call", 12);
    }
    putc('\n', stream);
    return both ? name_width + 83 : name_width + verified - 1 + TIME + SPREAD + 1 + 10 + 10 + 10 + 12;
}

/* What the columns say, below the table. */
static void print_legend(bool both, bool equal, FILE *stream)
{
    const char *times = table_times_sign();

    if (both)
        fputs("kernel: on the GPU alone; end to end, e2e: with the transfers; of limit: limit / kernel\n", stream);
    fprintf(stream, "%s: of all calls; spread: half of the interquartile range%s\n", both ? "median" : "time: median",
            both ? "" : "; of limit: limit / time");
    fprintf(stream, "%s serial, %s %s: how many times as fast as cpu/serial, as the rung that it climbs from\n", times,
            times, both ? "rung below" : "below");
    if (equal)
        fputs("=  not different: the interquartile ranges overlap\n", stream);
}

/* Whether kernel and end-to-end times have columns of their own; *name_width is that of the first column. */
static bool choose_columns(const struct bench *bench, int *name_width)
{
    bool both = false;

    *name_width = 13;
    for (size_t i = 0; i < bench->row_count; i++) {
        const struct bench_row *row = &bench->rows[i];

        if ((int)strlen(row->version->source->id) + 1 > *name_width)
            *name_width = (int)strlen(row->version->source->id) + 1;
        both |= row->outcome == BENCH_TIMED && (row->device || version_is_cuda(row->version));
    }
    /* A long name (student/something) may take the room that 100 columns leave, not more. */
    if (both && *name_width > WIDTH - 83)
        *name_width = WIDTH - 83;
    return both;
}

void table_print_row(const struct bench *bench, const struct bench_row *row, bool first, FILE *stream)
{
    int name_width;
    const bool both = choose_columns(bench, &name_width);
    const int verified = both ? verified_width(bench, both) : 28; /* "within 0.000155, emulated" may come */

    if (first)
        print_header(name_width, verified, both, stream);
    print_row(bench, row, name_width, verified, both, stream);
}

static void print_rows(const struct bench *bench, FILE *stream)
{
    int name_width, width, verified;
    bool any_peer = false, equal = false;
    const bool both = choose_columns(bench, &name_width);

    verified = verified_width(bench, both);
    width = print_header(name_width, verified, both, stream);
    if (width > WIDTH)
        width = WIDTH;
    rule(stream, width);
    for (int peers = 0; peers < 2; peers++)
        for (size_t i = 0; i < bench->row_count; i++) {
            const struct bench_row *row = &bench->rows[i];
            struct cells cells;

            if (version_is_peer(row->version) != (peers == 1) || row->outcome == BENCH_SKIPPED)
                continue;
            if (peers && !any_peer)
                rule(stream, width);
            any_peer |= peers;
            print_row(bench, row, name_width, verified, both, stream);
            fill_cells(bench, row, &cells);
            equal |= strcmp(cells.below_kernel, "=") == 0 || strcmp(cells.below_whole, "=") == 0 ||
                     strcmp(cells.serial_kernel, "=") == 0 || strcmp(cells.serial_whole, "=") == 0;
        }
    putc('\n', stream);
    print_legend(both, equal, stream);
}

/* The fastest rung that the CPU's or the GPU's ceilings limit: peers are not rungs, and an emulated one has no time. */
static const struct bench_row *best_rung(const struct bench *bench, bool device)
{
    const enum side_limit limits = device ? SIDE_LIMIT_GPU : SIDE_LIMIT_CPU;
    const struct bench_row *best = NULL;

    for (size_t i = 0; i < bench->row_count; i++) {
        const struct bench_row *row = &bench->rows[i];
        const struct side *side = side_of(row->version->source->id);

        if (row->kernel.count > 0 && side->ladder && side->limits == limits &&
            (!best || row->kernel.median < best->kernel.median))
            best = row;
    }
    return best;
}

static void print_peers(const struct bench *bench, FILE *stream)
{
    for (size_t i = 0; i < bench->row_count; i++) {
        const struct bench_row *peer = &bench->rows[i];
        const bool device = peer->device;
        const struct bench_row *best = best_rung(bench, device);
        const char *const unit = device ? " (kernel time)" : "";
        struct bench_ratio ratio;
        char number[TABLE_CELL];

        if (!version_is_peer(peer->version) || peer->kernel.count == 0 || !best)
            continue;
        ratio = bench_ratio(&peer->kernel, &best->kernel);
        const char *const first = best->version->source->id, *const second = peer->version->source->id;
        if (!ratio.differs) {
            fprintf(stream, "%s and %s are not different%s\n", first, second, unit);
            continue;
        }
        table_number(ratio.times > 1 ? ratio.times : 1 / ratio.times, number);
        fprintf(stream, "%s is %s %s as fast as %s%s\n", ratio.times > 1 ? first : second, number, table_times_sign(),
                ratio.times > 1 ? second : first, unit);
    }
}

/* Where some version has a queue: how many pictures a second there are from page-locked memory. */
static void print_pictures(const struct bench *bench, FILE *stream)
{
    bool first = true;

    for (size_t i = 0; i < bench->row_count; i++) {
        const struct bench_row *row = &bench->rows[i], *below = bench_below(bench, row);
        const struct bench_ratio ratio =
            below ? bench_ratio(&below->pictures, &row->pictures) : (struct bench_ratio){0};
        char rate[TABLE_CELL], number[TABLE_CELL], text[256];

        if (row->pictures.count == 0)
            continue;
        table_number(1 / row->pictures.median, rate);
        snprintf(text, sizeof text, "%s: %s a second from page-locked memory (%s%.1f%%), %d under way",
                 row->version->source->id, rate, table_spread_sign(), 100 * statistics_spread(&row->pictures),
                 row->under_way);
        table_number(ratio.times, number);
        if (ratio.times > 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), "; %s %s those of %s",
                     ratio.differs ? number : "=", ratio.differs ? table_times_sign() : "", below->version->source->id);
        table_wrapped(stream, first ? "pictures" : "", text);
        first = false;
    }
}

static void print_reasons(const struct bench *bench, FILE *stream)
{
    for (size_t i = 0; i < bench->row_count; i++) {
        const struct bench_row *row = &bench->rows[i];

        if (row->outcome == BENCH_FAILED)
            fprintf(stream, "FAIL %s: %s%s%s\n", row->version->source->id, row->why,
                    row->diagnosis[0] ? "; likely " : "", row->diagnosis);
        else if (row->outcome == BENCH_SKIPPED)
            fprintf(stream, "SKIP %s: %s\n", row->version->source->id, row->why);
    }
}

static void print_limit(const struct bench *bench, const struct bench_row *row, const char *where,
                        const struct ceilings *ceilings, FILE *stream)
{
    char bytes[TABLE_CELL], number[TABLE_CELL], limit[TABLE_CELL];
    char text[1024];

    if (row && row->limit > 0) {
        table_time(row->limit, limit);
        table_bytes(bench->cost.bytes, bytes);
        table_number(bench->cost.operations[row->bound_operation] / 1e6, number);
        if (row->bound == BENCH_BOUND_BYTES)
            snprintf(text, sizeof text, "%s: %s, to move %s at the copy rate", where, limit, bytes);
        else
            snprintf(text, sizeof text, "%s: %s, for %s M %ss at their rate", where, limit, number,
                     operation_name(row->bound_operation));
        table_wrapped(stream, "limit", text);
    }
    table_number(ceilings->copy_bytes_per_second / 1e9, number);
    snprintf(text, sizeof text, "%s: copy %s GB/s (read + write)", where, number);
    for (int i = 0; i < OPERATION_COUNT; i++)
        if (ceilings->operations_per_second[i] > 0) {
            table_number(ceilings->operations_per_second[i] / 1e9, number);
            snprintf(text + strlen(text), sizeof text - strlen(text), ", %s %s G/s by %s",
                     operation_name((enum operation)i), number, ceilings->measured_by[i]);
        }
    table_wrapped(stream, "ceilings", text);
}

static void print_ceilings(const struct bench *bench, FILE *stream)
{
    char where[TABLE_CELL];

    snprintf(where, sizeof where, "CPU, %d thread%s", bench->request->threads, bench->request->threads == 1 ? "" : "s");
    print_limit(bench, best_rung(bench, false), where, &bench->ceilings, stream);
    if (bench->device_ceilings.copy_bytes_per_second > 0)
        print_limit(bench, best_rung(bench, true), "GPU", &bench->device_ceilings, stream);
}

static void print_notes(const struct bench *bench, FILE *stream)
{
    const struct image *in = &bench->request->in[0];
    const int threads = bench->request->threads;
    bool emulated = false;

    for (size_t i = 0; i < bench->row_count; i++)
        emulated |= bench->rows[i].outcome == BENCH_EMULATED;
    if (emulated && (in->width > BENCH_EMULATED_WIDTH || in->height > BENCH_EMULATED_HEIGHT))
        fprintf(stream, "%-*semulated versions were verified on the middle %dx%d pixels\n", LABEL, "note",
                in->width < BENCH_EMULATED_WIDTH ? in->width : BENCH_EMULATED_WIDTH,
                in->height < BENCH_EMULATED_HEIGHT ? in->height : BENCH_EMULATED_HEIGHT);

    if (threads > 1 && bench->machine.numa_nodes > 1 && !getenv("OMP_PROC_BIND")) {
        char text[256];

        snprintf(text, sizeof text,
                 "OMP_PROC_BIND is unset and this machine has %d NUMA nodes: threads may move away from their memory; "
                 "OMP_PROC_BIND=spread gives steadier times",
                 bench->machine.numa_nodes);
        table_wrapped(stream, "note", text);
    }
    if (threads > bench->machine.cores) {
        char text[128];

        snprintf(text, sizeof text, "%d threads share %d core%s", threads, bench->machine.cores,
                 bench->machine.cores == 1 ? "" : "s");
        table_wrapped(stream, "note", text);
    }
}

void table_tuned(FILE *stream, const struct version *version)
{
    const char *note = tuned_note(version, NULL);
    char text[768];

    if (!note)
        return;
    snprintf(text, sizeof text, "%s: %s", version->source->id, note);
    table_wrapped(stream, "tuned", text);
}

void table_print(const struct bench *bench, FILE *stream)
{
    print_headline(bench, stream);
    print_rows(bench, stream);
    print_peers(bench, stream);
    print_pictures(bench, stream);
    print_reasons(bench, stream);
    for (size_t i = 0; i < bench->row_count; i++)
        table_tuned(stream, bench->rows[i].version);
    print_ceilings(bench, stream);
    print_notes(bench, stream);
}
