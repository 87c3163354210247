/*
 * tune_svg.c: a search as a picture. Written as text by itself: a grid of labelled cells is 60 rectangles, and the
 * machine that has the GPU need not have a plotting program.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/core/file.h"
#include "common/output/table.h"
#include "common/output/tune_report.h"

enum {
    CELL_WIDTH = 92,
    CELL_HEIGHT = 46,
    BAR_HEIGHT = 26,
    BAR_WIDTH = 420,
    MARGIN = 24,
    TOP = 84,   /* of the first panel: two lines of title */
    LETTER = 8, /* width of one, at most, in the 13-pixel type */
    LEGEND_HEIGHT = 92,
    LEGEND_STEPS = 40,
    LEAST_WIDTH = 700
};

struct picture {
    const struct tune *tune;
    struct output_file *file;
    int shown[TUNE_MAX_AXES]; /* axes with more than one value; the first is x (or the bars), the second y */
    int shown_count;
    double best, slow; /* seconds at the two ends of the scale */
    bool beyond;       /* there are slower points than its slow end */
    double unit;       /* seconds */
    const char *unit_name;
};

/* ------------------------------------------------------------------------------------------------------ writing */

static void put(struct picture *picture, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct picture *picture, const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    file_write(picture->file, text, strlen(text));
}

/* Names of machines and settings as XML text: no markup, no control characters, ASCII alone. */
static const char *escaped(const char *text, char out[1024])
{
    size_t used = 0;

    for (; *text && used + 8 < 1024; text++) {
        const char *as = *text == '&'   ? "&amp;"
                         : *text == '<' ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '"' ? "&quot;"
                                        : NULL;

        if (as)
            used += (size_t)snprintf(out + used, 1024 - used, "%s", as);
        else
            out[used++] = *text >= ' ' && *text < 127 ? *text : '?';
    }
    out[used] = '\0';
    return out;
}

/* Eight of the colours of cividis (Nunez, Anderton and Renslow 2018), which people see alike whatever their colour
 * vision: its lightness grows evenly. place: 0 = slow and dark, 1 = fast and light. */
static void colour(double place, int rgb[3])
{
    static const double anchors[][3] = {{0, 34, 78},     {32, 56, 107},   {66, 78, 107},  {98, 101, 112},
                                        {129, 126, 119}, {165, 152, 115}, {206, 184, 95}, {254, 232, 56}};
    const int last = sizeof anchors / sizeof anchors[0] - 1;
    const double at = fmin(fmax(place, 0), 1) * last;
    const int below = at >= last ? last - 1 : (int)at;

    for (int i = 0; i < 3; i++)
        rgb[i] = (int)lround(anchors[below][i] + (at - below) * (anchors[below + 1][i] - anchors[below][i]));
}

/* 1 at the best time, 0 at the slow end and beyond. */
static double place_of(const struct picture *picture, double seconds)
{
    return 1 - log(seconds / picture->best) / log(picture->slow / picture->best);
}

static void number_of(const struct picture *picture, double seconds, char text[TABLE_CELL])
{
    table_number(seconds / picture->unit, text);
}

/* What a pointer resting on a cell shows. */
static void put_tooltip(struct picture *picture, const struct tune_point *point)
{
    char values[256], out[1024], number[TABLE_CELL];

    tune_describe(picture->tune, point, true, values, sizeof values);
    put(picture, "<title>%s: ", escaped(values, out));
    if (point->outcome != TUNE_TIMED) {
        put(picture, "%s</title>", escaped(point->why, out));
        return;
    }
    number_of(picture, point->time.median, number);
    put(picture, "%s %s &#177; %.1f %%, %zu samples</title>", number, picture->unit_name,
        100 * statistics_spread(&point->time), point->time.count);
}

/* Frames lie inside the cell, so that neighbours do not cover them. */
static void put_frames(struct picture *picture, const struct tune_point *point, double x, double y, double width,
                       double height)
{
    const double inset = point == picture->tune->best ? 7 : 4, inner = x + inset, down = y + inset;

    if (point == picture->tune->best)
        put(picture, "<rect x='%g' y='%g' width='%g' height='%g' fill='none' stroke='#000' stroke-width='4'/>\n", x + 3,
            y + 3, width - 6, height - 6);
    if (point->preset)
        put(picture,
            "<rect x='%g' y='%g' width='%g' height='%g' fill='none' stroke='#fff' stroke-width='3'/>\n"
            "<rect x='%g' y='%g' width='%g' height='%g' fill='none' stroke='#000' stroke-width='1.5' "
            "stroke-dasharray='5 4'/>\n",
            inner, down, width - 2 * inset, height - 2 * inset, inner, down, width - 2 * inset, height - 2 * inset);
}

static void fill_of(const struct picture *picture, const struct tune_point *point, char fill[24], const char **ink)
{
    int rgb[3];

    *ink = "#000";
    if (point->outcome != TUNE_TIMED) {
        snprintf(fill, 24, "url(#%s)", point->outcome == TUNE_ILLEGAL ? "illegal" : "failed");
        return;
    }
    colour(place_of(picture, point->time.median), rgb);
    snprintf(fill, 24, "#%02x%02x%02x", (unsigned)rgb[0] & 255, (unsigned)rgb[1] & 255, (unsigned)rgb[2] & 255);
    /* Relative luminance, roughly; black and white both reach a contrast of 4.5 on either side of it. */
    if (0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2] < 118)
        *ink = "#fff";
}

static const char *outcome_word(const struct tune_point *point)
{
    return point->outcome == TUNE_ILLEGAL ? "illegal" : point->outcome == TUNE_FAILED ? "wrong" : "skipped";
}

/* ------------------------------------------------------------------------------------------------------- panels */

static const struct tune_point *point_of(const struct tune *tune, const int at[])
{
    size_t n = 0;

    for (int i = 0; i < tune->axis_count; i++)
        n = n * (size_t)tune->axes[i].count + (size_t)at[i];
    return &tune->points[n];
}

static void put_cell(struct picture *picture, const struct tune_point *point, double x, double y)
{
    char fill[24], number[TABLE_CELL], times[TABLE_CELL];
    const char *ink;

    fill_of(picture, point, fill, &ink);
    put(picture, "<g><rect x='%g' y='%g' width='%d' height='%d' fill='%s' stroke='#fff'/>", x, y, CELL_WIDTH,
        CELL_HEIGHT, fill);
    put_tooltip(picture, point);
    if (point->outcome == TUNE_TIMED) {
        number_of(picture, point->time.median, number);
        table_number(point->time.median / picture->best, times);
        put(picture, "<text x='%g' y='%g' fill='%s' text-anchor='middle' font-weight='bold'>%s</text>",
            x + CELL_WIDTH / 2, y + 20, ink, number);
        put(picture, "<text x='%g' y='%g' fill='%s' text-anchor='middle' font-size='11'>%s%s</text></g>\n",
            x + CELL_WIDTH / 2, y + 34, ink,
            point == picture->tune->best ? "best"
            : point->like_best           ? "= best"
                                         : times,
            point->like_best ? "" : "&#215;");
    } else {
        put(picture, "<text x='%g' y='%g' fill='#444' text-anchor='middle' font-size='11'>%s</text></g>\n",
            x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 4, outcome_word(point));
    }
    put_frames(picture, point, x, y, CELL_WIDTH, CELL_HEIGHT);
}

static int label_width(const struct tune_axis *axis)
{
    size_t most = strlen(axis->name);

    for (int i = 0; i < axis->count; i++) {
        char text[32];

        tune_value_text(axis, i, text, sizeof text);
        if (strlen(text) > most)
            most = strlen(text);
    }
    return (int)most * LETTER + 12;
}

/* A grid over the first two shown axes, the others as in `at`; x of its first column is `left`. */
static void put_grid(struct picture *picture, int at[], double left, double top)
{
    const struct tune_axis *across = &picture->tune->axes[picture->shown[0]];
    const struct tune_axis *down = &picture->tune->axes[picture->shown[1]];
    char text[32], out[1024];

    put(picture, "<text x='%g' y='%g' text-anchor='middle'>%s</text>\n", left + across->count * CELL_WIDTH / 2.0,
        top + 12, escaped(across->name, out));
    put(picture, "<text x='%g' y='%g' text-anchor='end'>%s</text>\n", left - 8, top + 34, escaped(down->name, out));
    for (int i = 0; i < across->count; i++) {
        tune_value_text(across, i, text, sizeof text);
        put(picture, "<text x='%g' y='%g' text-anchor='middle' font-weight='bold'>%s</text>\n",
            left + (i + 0.5) * CELL_WIDTH, top + 34, escaped(text, out));
    }
    for (int j = 0; j < down->count; j++) {
        const double y = top + 44 + j * CELL_HEIGHT;

        tune_value_text(down, j, text, sizeof text);
        put(picture, "<text x='%g' y='%g' text-anchor='end' font-weight='bold'>%s</text>\n", left - 8,
            y + CELL_HEIGHT / 2 + 5, escaped(text, out));
        for (int i = 0; i < across->count; i++) {
            at[picture->shown[0]] = i;
            at[picture->shown[1]] = j;
            put_cell(picture, point_of(picture->tune, at), left + i * CELL_WIDTH, y);
        }
    }
}

static void put_bars(struct picture *picture, int at[], double left, double top)
{
    const int axis_index = picture->shown_count ? picture->shown[0] : 0;
    const struct tune_axis *axis = &picture->tune->axes[axis_index];
    double longest = 0;
    char out[1024];

    for (size_t n = 0; n < picture->tune->point_count; n++)
        longest = fmax(longest, picture->tune->points[n].time.q3);
    put(picture, "<text x='%g' y='%g' text-anchor='end'>%s</text>\n", left - 8, top + 12, escaped(axis->name, out));
    for (int i = 0; i < axis->count; i++) {
        const double y = top + 22 + i * BAR_HEIGHT;
        char text[32], fill[24], number[TABLE_CELL], times[TABLE_CELL];
        const char *ink;

        at[axis_index] = i;
        const struct tune_point *point = point_of(picture->tune, at);
        const double length = point->outcome == TUNE_TIMED ? BAR_WIDTH * point->time.median / longest : BAR_WIDTH / 4.0;
        fill_of(picture, point, fill, &ink);
        tune_value_text(axis, i, text, sizeof text);
        put(picture, "<text x='%g' y='%g' text-anchor='end' font-weight='bold'>%s</text>\n", left - 8, y + 17,
            escaped(text, out));
        put(picture, "<g><rect x='%g' y='%g' width='%g' height='%d' fill='%s' stroke='#444'/>", left, y + 2, length,
            BAR_HEIGHT - 4, fill);
        put_tooltip(picture, point);
        put(picture, "</g>\n");
        if (point->outcome != TUNE_TIMED) {
            put(picture, "<text x='%g' y='%g'>%s</text>\n", left + length + 12, y + 17, outcome_word(point));
            continue;
        }
        const double low = left + BAR_WIDTH * point->time.q1 / longest,
                     high = left + BAR_WIDTH * point->time.q3 / longest;
        number_of(picture, point->time.median, number);
        table_number(point->time.median / picture->best, times);
        put(picture,
            "<path d='M%g %gH%gM%g %gv8M%g %gv8' stroke='#000' stroke-width='1.5' fill='none'/>\n"
            "<text x='%g' y='%g'><tspan font-weight='bold'>%s %s</tspan> %s%s%s</text>\n",
            low, y + BAR_HEIGHT / 2.0, high, low, y + BAR_HEIGHT / 2.0 - 4, high, y + BAR_HEIGHT / 2.0 - 4, high + 10,
            y + 17, number, picture->unit_name,
            point == picture->tune->best ? "best"
            : point->like_best           ? "= best"
                                         : times,
            point->like_best ? "" : "&#215;", point->preset ? ", default" : "");
    }
}

/* ------------------------------------------------------------------------------------------------------- the whole */

static void put_legend(struct picture *picture, double left, double top, bool grid)
{
    const double step = 7, width = LEGEND_STEPS * step;
    char number[TABLE_CELL], times[TABLE_CELL];

    for (int i = 0; i < LEGEND_STEPS; i++) {
        int rgb[3];

        colour(1 - (i + 0.5) / LEGEND_STEPS, rgb);
        put(picture, "<rect x='%g' y='%g' width='%g' height='14' fill='#%02x%02x%02x'/>\n", left + i * step, top,
            step + 0.5, (unsigned)rgb[0] & 255, (unsigned)rgb[1] & 255, (unsigned)rgb[2] & 255);
    }
    number_of(picture, picture->best, number);
    put(picture, "<text x='%g' y='%g' font-size='12'>%s %s, best</text>\n", left, top + 30, number, picture->unit_name);
    number_of(picture, picture->slow, number);
    table_number(picture->slow / picture->best, times);
    put(picture, "<text x='%g' y='%g' font-size='12' text-anchor='end'>%s %s, %s&#215; and slower</text>\n",
        left + width, top + 30, number, picture->unit_name, times);
    put(picture, "<text x='%g' y='%g' font-size='12'>%s%s</text>\n", left, top + 52,
        grid ? "Thick frame: best. Dashed frame: default. " : "Whiskers: quartiles. ",
        "= best: not different, the interquartile ranges overlap.");
}

static void set_scale(struct picture *picture)
{
    double slowest = 0;

    picture->best = picture->tune->best ? picture->tune->best->time.median : 1;
    for (size_t n = 0; n < picture->tune->point_count; n++)
        slowest = fmax(slowest, picture->tune->points[n].time.median);
    /* A point ten times slower must not take all shades for itself, nor may noise have the full contrast. */
    picture->slow = fmin(fmax(slowest, 1.05 * picture->best), 2 * picture->best);
    picture->beyond = slowest > picture->slow;
    picture->unit = picture->best >= 1 ? 1 : picture->best >= 1e-3 ? 1e-3 : 1e-6;
    picture->unit_name = picture->best >= 1 ? "s" : picture->best >= 1e-3 ? "ms" : "&#181;s";
}

static void put_picture(struct picture *picture)
{
    const struct tune *tune = picture->tune;
    const struct tune_request *request = tune->request;
    const bool grid = picture->shown_count >= 2;
    const struct tune_axis *first = &tune->axes[picture->shown_count ? picture->shown[0] : 0];
    const double left = MARGIN + label_width(grid ? &tune->axes[picture->shown[1]] : first);
    const int rows = grid ? tune->axes[picture->shown[1]].count : first->count;
    const double panel_height = grid ? 44 + rows * CELL_HEIGHT + 16 : 22 + rows * BAR_HEIGHT + 16;
    double width = left + (grid ? first->count * CELL_WIDTH : BAR_WIDTH + 230) + MARGIN;
    int panels = 1, at[TUNE_MAX_AXES] = {0};
    char out[1024], more[1024];

    for (int i = 2; i < picture->shown_count; i++)
        panels *= tune->axes[picture->shown[i]].count;
    const double title_height = panels > 1 ? 22 : 0;
    const double height = TOP + panels * (panel_height + title_height) + LEGEND_HEIGHT;
    if (width < LEAST_WIDTH)
        width = LEAST_WIDTH;
    put(picture,
        "<?xml version='1.0' encoding='UTF-8'?>\n"
        "<svg xmlns='http://www.w3.org/2000/svg' width='%g' height='%g' viewBox='0 0 %g %g' "
        "font-family='Helvetica, Arial, sans-serif' font-size='13'>\n",
        width, height, width, height);
    put(picture,
        "<defs><pattern id='illegal' width='8' height='8' patternUnits='userSpaceOnUse' patternTransform='rotate(45)'>"
        "<rect width='8' height='8' fill='#eee'/><rect width='2' height='8' fill='#ccc'/></pattern>\n"
        "<pattern id='failed' width='8' height='8' patternUnits='userSpaceOnUse'><rect width='8' height='8' "
        "fill='#fff'/><path d='M0 0l8 8M8 0l-8 8' stroke='#b33'/></pattern></defs>\n"
        "<rect width='100%%' height='100%%' fill='#fff'/>\n");
    put(picture, "<text x='%d' y='32' font-size='18' font-weight='bold'>%s %s: %s in %s</text>\n", MARGIN,
        escaped(request->algorithm->name, out), request->version->source->id,
        version_is_cuda(request->version) ? "kernel time" : "time of a call", picture->unit_name);
    put(picture, "<text x='%d' y='52' fill='#444'>%s, %d&#215;%d, %d channel%s. %s.</text>\n", MARGIN,
        escaped(tune->settings[0] ? tune->settings : "no parameters", out), request->in[0].width, request->in[0].height,
        request->in[0].channels, request->in[0].channels == 1 ? "" : "s",
        escaped(version_is_cuda(request->version) ? tune->machine.gpu : tune->machine.cpu, more));
    put(picture, "<text x='%d' y='70' fill='#444'>%s, commit %s</text>\n", MARGIN, escaped(tune->date, out),
        escaped(tune->machine.commit, more));
    for (int panel = 0; panel < panels; panel++) {
        double top = TOP + panel * (panel_height + title_height) + 4;
        size_t used = 0;

        for (int i = picture->shown_count - 1, rest = panel; i >= 2; i--) {
            at[picture->shown[i]] = rest % tune->axes[picture->shown[i]].count;
            rest /= tune->axes[picture->shown[i]].count;
        }
        for (int i = 2; i < picture->shown_count && used < sizeof more; i++) {
            char value[32];

            tune_value_text(&tune->axes[picture->shown[i]], at[picture->shown[i]], value, sizeof value);
            used += (size_t)snprintf(more + used, sizeof more - used, "%s%s = %s", i > 2 ? ", " : "",
                                     tune->axes[picture->shown[i]].name, value);
        }
        if (panels > 1)
            put(picture, "<text x='%d' y='%g' font-size='15' font-weight='bold'>%s</text>\n", MARGIN, top + 14,
                escaped(more, out));
        top += title_height;
        if (grid)
            put_grid(picture, at, left, top);
        else
            put_bars(picture, at, left, top);
    }
    put_legend(picture, MARGIN, height - LEGEND_HEIGHT + 8, grid);
    put(picture, "</svg>\n");
}

enum status tune_write_svg(const struct tune *tune, struct output_file *file)
{
    struct picture picture = {.tune = tune, .file = file};

    for (int i = 0; i < tune->axis_count; i++)
        if (tune->axes[i].count > 1)
            picture.shown[picture.shown_count++] = i;
    set_scale(&picture);
    put_picture(&picture);
    return file_commit(file);
}
