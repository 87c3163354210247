/*
 * counters_table.cpp: what counters.cpp has counted, as tables for people and as CSV for programs.
 */
#include "common/emulator/counters.h"

#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/emulator/races.h"

namespace emulated
{

static const char *const cost_names[COSTS] = {"global load",  "global store",  "global atomic", "shared load",
                                              "shared store", "shared atomic", "constant load"};

static bool is_of_shared(int cost)
{
    return cost == SHARED_LOAD || cost == SHARED_STORE || cost == SHARED_ATOMIC;
}

static bool is_of_atomic(int cost)
{
    return cost == GLOBAL_ATOMIC || cost == SHARED_ATOMIC;
}

struct source_line {
    std::string file;
    int line;
    tally costs[COSTS];
};

struct cost_report {
    tally costs[COSTS];
    uint64_t branches, parted;
    std::vector<source_line> lines; /* by file and line */
};

static void add_line(cost_report &r, const std::string &name, int cost, const tally &t)
{
    const size_t colon = name.rfind(':');
    const std::string file = colon == std::string::npos ? "" : name.substr(0, colon);
    const int line = colon == std::string::npos ? 0 : atoi(name.c_str() + colon + 1);

    r.costs[cost] += t;
    for (source_line &l : r.lines)
        if (l.line == line && l.file == file) {
            l.costs[cost] += t;
            return;
        }
    r.lines.push_back({file, line, {}});
    r.lines.back().costs[cost] += t;
}

static cost_report report_of(const kernel_costs &k)
{
    cost_report r = {};
    std::vector<uint32_t> places;
    std::vector<bool> own;
    size_t next = 0;

    for (const auto &of_cost : k.places)
        for (const auto &[place, t] : of_cost)
            places.push_back(place);
    /* What a block ends with stands before the call with which the next one begins, of five bytes or four. */
    for (auto b = k.branches.begin(); b != k.branches.end(); ++b)
        places.push_back(std::next(b) == k.branches.end() ? b->first : std::next(b)->first - 5);

    const std::vector<std::string> names = lines_of(places, &own);

    for (int cost = 0; cost < COSTS; cost++)
        for (const auto &[place, t] : k.places[cost])
            add_line(r, names[next++], cost, t);
    for (const auto &[place, b] : k.branches) {
        if (b.both && !own[next]) {
            r.branches += b.taken;
            r.parted += b.parted;
        }
        next++;
    }
    std::sort(r.lines.begin(), r.lines.end(), [](const source_line &a, const source_line &b) {
        return a.file != b.file ? a.file < b.file : a.line < b.line;
    });
    return r;
}

static double ratio(uint64_t a, uint64_t b)
{
    return b == 0 ? 0 : (double)a / (double)b;
}

/* ------------------------------------------------------------------------------------------------------------ text */

static void print_heading(FILE *out)
{
    fprintf(out, "  %-13s %10s %8s  %-17s %12s %12s %10s\n", "", "requests", "threads", "per request", "bytes asked",
            "bytes moved", "efficiency");
}

/* Threads are those that take part in a request. */
static void print_total(FILE *out, int cost, const tally &t)
{
    const char *const unit = is_of_shared(cost) ? "wavefronts" : cost == CONSTANT_LOAD ? "words" : "sectors";

    fprintf(out, "  %-13s %10llu %8.1f  %6.1f %-10s", cost_names[cost], (unsigned long long)t.requests,
            ratio(t.lanes, t.requests), ratio(t.units, t.requests), unit);
    if (is_of_shared(cost))
        fprintf(out, " %12llu bank conflicts", (unsigned long long)(t.units - t.least));
    else if (cost != CONSTANT_LOAD)
        fprintf(out, " %12llu %12llu %8.0f %%", (unsigned long long)t.bytes, (unsigned long long)(32 * t.units),
                100 * ratio(t.bytes, 32 * t.units));
    if (is_of_atomic(cost))
        fprintf(out, "; %.1f threads meet at an address", ratio(t.meet, t.requests));
    fputc('\n', out);
}

static void print_margin(FILE *out, int cost, const tally &t)
{
    char note[32] = "";

    if (is_of_shared(cost) && t.units > t.least)
        snprintf(note, sizeof(note), "%llu conflicts", (unsigned long long)(t.units - t.least));
    else if (is_of_atomic(cost))
        snprintf(note, sizeof(note), "%.1f meet", ratio(t.meet, t.requests));
    else if (cost == GLOBAL_LOAD || cost == GLOBAL_STORE)
        snprintf(note, sizeof(note), "%.0f %%", 100 * ratio(t.bytes, 32 * t.units));
    fprintf(out, "  %-13s %10llu x %4.1f  %-18s |", cost_names[cost], (unsigned long long)t.requests,
            ratio(t.units, t.requests), note);
}

/* The text of a line of a file that was named as the compiler saw it; "" where it is not there any more. */
static std::string text_of(const std::string &file, int line)
{
    FILE *const source = fopen(file.c_str(), "r");
    char text[256];
    std::string found;

    for (int i = 1; source != nullptr && i <= line && fgets(text, sizeof(text), source) != nullptr; i++) {
        if (i == line)
            found = text;
        while (strchr(text, '\n') == nullptr && fgets(text, sizeof(text), source) != nullptr)
            continue; /* the rest of a long line */
    }
    if (source != nullptr)
        fclose(source);
    return found.substr(0, found.find_last_not_of(" \t\r\n") + 1);
}

static void print_lines(FILE *out, const cost_report &r)
{
    const std::string *file = nullptr;

    for (const source_line &l : r.lines) {
        bool is_first = true;

        if (file == nullptr || *file != l.file)
            fprintf(out, "\n  lines of %s: requests x sectors, wavefronts or words of one\n",
                    l.file.empty() ? "what is not known" : l.file.c_str());
        file = &l.file;
        for (int cost = 0; cost < COSTS; cost++) {
            if (l.costs[cost].requests == 0)
                continue;
            print_margin(out, cost, l.costs[cost]);
            if (is_first && l.line > 0)
                fprintf(out, "%5d %s", l.line, text_of(l.file, l.line).c_str());
            fputc('\n', out);
            is_first = false;
        }
    }
}

static void print_table(FILE *out, const std::vector<kernel_costs> &kernels)
{
    fprintf(out, "\nCounted, not timed: what the lanes of a warp ask for together is one request.\n");
    for (const kernel_costs &k : kernels) {
        const cost_report r = report_of(k);

        fprintf(out, "\nkernel %s (%s:%d): %llu launch%s, %llu blocks, %llu warps; barriers of a warp: %.3g\n",
                k.name.c_str(), k.file.c_str(), k.line, (unsigned long long)k.launches, k.launches == 1 ? "" : "es",
                (unsigned long long)k.blocks, (unsigned long long)k.warps, ratio(k.barriers, k.warps));
        print_heading(out);
        for (int cost = 0; cost < COSTS; cost++)
            if (r.costs[cost].requests > 0)
                print_total(out, cost, r.costs[cost]);
        if (r.branches > 0)
            fprintf(out, "  branches: %llu, of which %llu part a warp: branch efficiency %.1f %%\n",
                    (unsigned long long)r.branches, (unsigned long long)r.parted,
                    100 - 100 * ratio(r.parted, r.branches));
        print_lines(out, r);
    }
    if (kernels.empty())
        fprintf(out, "no kernel was launched\n");
}

/* ------------------------------------------------------------------------------------------------------------- CSV */

static void write_rows(FILE *out, const kernel_costs &k, const cost_report &r, const std::string &file, int line,
                       const tally (&costs)[COSTS])
{
    for (int cost = 0; cost < COSTS; cost++) {
        const tally &t = costs[cost];

        if (t.requests > 0 || line == 0)
            fprintf(out, "\"%s\",%llu,%llu,%llu,%llu,%llu,\"%s\",%d,%s,%llu,%llu,%llu,%llu,%llu,%llu\n", k.name.c_str(),
                    (unsigned long long)k.launches, (unsigned long long)k.warps, (unsigned long long)k.barriers,
                    (unsigned long long)r.branches, (unsigned long long)r.parted, file.c_str(), line, cost_names[cost],
                    (unsigned long long)t.requests, (unsigned long long)t.lanes, (unsigned long long)t.bytes,
                    (unsigned long long)t.units, (unsigned long long)t.least, (unsigned long long)t.meet);
    }
}

/* Of each kernel first all costs together, as line 0, then its lines. */
static void write_csv(FILE *out, const std::vector<kernel_costs> &kernels)
{
    fprintf(out,
            "kernel,launches,warps,barriers,branches,parted,file,line,what,requests,threads,bytes,units,least,meet\n");
    for (const kernel_costs &k : kernels) {
        const cost_report r = report_of(k);

        write_rows(out, k, r, "", 0, r.costs);
        for (const source_line &l : r.lines)
            if (l.line > 0)
                write_rows(out, k, r, l.file, l.line, l.costs);
    }
}

void print_counters(const std::vector<kernel_costs> &kernels, const char *where)
{
    if (strchr(where, '/') == nullptr) {
        print_table(stdout, kernels);
        fflush(stdout);
        return;
    }

    FILE *const out = fopen(where, "w");

    if (out == nullptr)
        fprintf(stderr, "emulator: %s: cannot be written\n", where);
    if (out == nullptr)
        return;
    write_csv(out, kernels);
    fclose(out);
}

} /* namespace emulated */
