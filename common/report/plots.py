"""Plots of results files, drawn by gnuplot as SVG.

    plots.py ALGORITHM FOLDER FILE...      what `make plot-<algo>` runs: writes FOLDER/ALGORITHM_*.svg

The same scripts draw the plots of the report (report.py), so that there is one picture of a measurement. gnuplot knows
nothing of dark mode: it draws with the light colours of PALETTE, which is what a file on disk keeps, and for a page
themed() turns each colour into the CSS variable of its name.

Exit status: 0 done, 1 gnuplot is missing or failed, 2 bad use or bad input.
"""

import math
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

import results as rungs
import schema
from gnuplot import (
    HEIGHT, INSTALL, LINES, PALETTE, PlotError, STEPS, available, axis, block, colour, draw, key_below, light,
    quoted, short, short_id, short_time, ticks, version_axis,
)


# ---------------------------------------------------------------------------------------------------------- plots


def by_device(rows):
    return [row for row in rows if rungs.on_device(row)]


def time_plot(results):
    """Time per version: a dot for the kernel, a circle for end to end, the quartiles as bars, the limit as a tick."""
    rows = rungs.timed(results)
    device = by_device(rows)
    values = [row[phase][field] for row in rows for phase in ("kernel", "end_to_end") for field in ("q1", "q3")]
    limits = [(row["limit"], index) for index, row in enumerate(rows) if row["limit"]]
    values += [limit for limit, _ in limits]
    kernel = [
        (i, *(row["kernel"][f] for f in ("median", "q1", "q3")), colour(rungs.side(row))) for i, row in enumerate(rows)
    ]
    whole = [
        (i, *(row["end_to_end"][f] for f in ("median", "q1", "q3")), colour(rungs.side(row)), row["kernel"]["median"])
        for i, row in enumerate(rows)
        if rungs.on_device(row)
    ]
    lines = block("kernel", kernel)
    lines += axis("x", min(values) / 1.7, max(values) * 1.7, "time (logarithmic)", 5, short_time) + version_axis(rows)
    lines += ["set key above left Left reverse maxrows 1 width -2 font ',11'"]
    # No plot without points: gnuplot 5.4 crashes on some that have none.
    plots, key = [], [
        f"keyentry with points pt 7 ps 0.7 lc rgb '{light('ink')}' title '{'kernel' if device else 'time'}'"
    ]
    if limits:
        lines += block("limit", limits)
        plots.append(f"$limit using 1:2 with points pt '|' lc rgb '{light('muted')}' notitle")
    if whole:
        lines += block("whole", whole)
        plots.append("$whole using 6:1:($2-$6):(0):5 with vectors nohead lw 1 lc rgb variable notitle")
        plots.append("$whole using 2:1:3:4:5 with xerrorbars pt 6 ps 0.8 lw 1.2 lc rgb variable notitle")
        key.append(f"keyentry with points pt 6 ps 0.8 lc rgb '{light('ink')}' title 'end to end'")
    if limits:
        key.append(f"keyentry with points pt '|' lc rgb '{light('muted')}' title 'limit'")
    plots += ["$kernel using 2:1:3:4:5 with xerrorbars pt 7 ps 0.7 lw 1.2 lc rgb variable notitle"] + key
    return draw(max(HEIGHT, 80 + 24 * len(rows)), lines + ["plot " + ", ".join(plots)])


def speedup_plot(results):
    """How many times as fast as cpu/serial: bars from 1, with the version's own quartiles."""
    serial = rungs.find(results, "cpu/serial")
    rows = [row for row in rungs.timed(results) if row is not serial]
    if not serial or serial["outcome"] != "timed" or not rows:
        return None
    device = by_device(rows)

    def bars(phase, chosen, low, high, soft):
        base = serial[phase]["median"]
        for index, row in enumerate(rows):
            if row in chosen:
                times = [base / row[phase][field] for field in ("median", "q3", "q1")]
                tint = colour(rungs.side(row) + soft)
                # The number stands behind the whisker, or behind 1 where the bar goes left from there.
                yield (*times, index + low, index + high, tint, rungs.number(times[0]) + "×", max(times[2], 1))

    kernel = list(bars("kernel", rows, -0.36, 0.36, "")) if not device else None
    if device:
        cpu_rows = [row for row in rows if row not in device]
        kernel = list(bars("kernel", device, -0.36, 0.02, "")) + list(bars("kernel", cpu_rows, -0.36, 0.36, ""))
    whole = list(bars("end_to_end", device, 0.06, 0.4, "-soft"))
    values = [value for bar in kernel + whole for value in bar[:3]]
    low, high = min(values + [1]) / 1.5, max(values + [1])
    lines = block("bars", kernel + whole)
    # Room for the number behind the longest bar.
    lines += axis("x", low, high * (high / low) ** 0.3, "times as fast as cpu/serial (logarithmic)", 5, short)
    lines += version_axis(rows) + [
        "set style fill solid 1 noborder",
        "set key above left Left reverse maxrows 1 width 1",
    ]
    plots = [
        "$bars using (1):4:(1):1:4:5:6 with boxxyerror lc rgb variable notitle",
        f"$bars using 1:(($4+$5)/2):2:3 with xerrorbars pt 0 lw 1 lc rgb '{light('ink')}' notitle",
        f"$bars using 8:(($4+$5)/2):7 with labels left offset 0.6,0 font ',10' textcolor rgb '{light('ink')}' notitle",
        (
            f"1/0 with lines lw 6 lc rgb '{light('cuda')}' title 'kernel'"
            if device
            else f"1/0 with lines lw 6 lc rgb '{light('cpu')}' title 'speedup'"
        ),
    ]
    if device:
        plots.append(f"1/0 with lines lw 6 lc rgb '{light('cuda-soft')}' title 'end to end'")
    return draw(max(HEIGHT, 80 + (30 if device else 24) * len(rows)), lines + ["plot " + ", ".join(plots)])


def steps_plot(results):
    """Which part of a frame's time each step of a pipeline takes: a bar of 100 % per version."""
    rows = [row for row in rungs.timed(results) if sum(step["seconds"] for step in row["steps"]) > 0]
    names = rungs.step_names([step["name"] for step in row["steps"]] for row in rows)
    if not rows:
        return None
    bars = {name: [] for name in names}
    for index, row in enumerate(rows):
        total, left = sum(step["seconds"] for step in row["steps"]), 0.0
        for step in row["steps"]:
            right = left + 100 * step["seconds"] / total
            bars[step["name"]].append((left, index, left, right, index - 0.38, index + 0.38))
            left = right
    lines, plots = [], []
    for index, name in enumerate(names):
        tint = light(STEPS[index % len(STEPS)])
        lines += block(f"s{index}", bars[name])
        plots.append(f"$s{index} using 1:2:3:4:5:6 with boxxyerror lc rgb '{tint}' notitle")
        plots.append(f"1/0 with lines lw 6 lc rgb '{tint}' title {quoted(name)}")
    lines += version_axis(rows) + [
        "set xrange [0:100]",
        f"set xlabel 'share of a frame in percent' offset 0,0.4 textcolor rgb '{light('ink')}'",
        f"set style fill solid 1 border rgb '{light('paper')}'",
    ] + key_below(names)
    return draw(max(HEIGHT, 80 + 24 * len(rows)), lines + ["plot " + ", ".join(plots)])


SIDES = ["cpu", "cuda", "peer"]


def by_side(name):
    """Where a version's line stands in a key, by its side."""
    side = name.split("/")[0]
    return SIDES.index(side) if side in SIDES else len(SIDES)


def linear_ticks(low, high, most, text):
    """At most `most` ticks of a linear axis, at multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [place * step for place in range(first, last + 1)]
    return "(" + ", ".join(f"{quoted(text(value) if value else '0')} {value:g}" for value in values) + ")"


def plain_axis(name, low, high, label, most, text):
    return [
        f"set {name}range [{low:g}:{high:g}]",
        f"set {name}tics {linear_ticks(low, high, most, text)}",
        f"set {name}label {quoted(label)} textcolor rgb '{light('ink')}'",
    ]


def lines_plot(series, places, x_log, x_label, y_log, y_label, text):
    """One line per series (name, [(x, y, low, high)]), in that order. places: (text, x) of the ticks, or None for ticks
    at round numbers."""
    lines, plots, names = [], [], []
    numbers = [number for _, points in series for point in points for number in point[1:]]
    xs = [x for _, points in series for x, *_ in points] + [x for _, x in places or []]
    for index, (name, points) in enumerate(series):
        if not points:
            continue
        names.append(name)
        lines += block(f"v{index}", points)
        shape = {"cpu": 7, "cuda": 5}.get(name.split("/")[0], 9)
        style = f"lc rgb '{light(LINES[index % len(LINES)])}' dt {1 + index // len(LINES)}"
        plots.append(f"$v{index} using 1:2 with lines lw 1.3 {style} notitle")
        plots.append(f"$v{index} using 1:2:3:4 with yerrorbars pt {shape} ps 0.6 lw 1 {style} notitle")
        plots.append(f"keyentry with linespoints pt {shape} ps 0.6 lw 1.3 {style} title {quoted(short_id(name))}")
    if y_log:
        lines += axis("y", min(numbers) / 1.6, max(numbers) * 1.6, y_label, 8, text)
    else:
        low, high = min(numbers + [0]), max(numbers + [0])
        lines += plain_axis("y", low, high + 0.08 * ((high - low) or 1), y_label, 8, text)
    if x_log:
        lines += ["set logscale x", f"set xrange [{min(xs) / 1.5:g}:{max(xs) * 1.5:g}]"]
        at = ticks(min(xs) / 1.5, max(xs) * 1.5, 8, short)
    else:
        room = 0.06 * ((max(xs) - min(xs)) or 1)
        lines += [f"set xrange [{min(xs) - room:g}:{max(xs) + room:g}]"]
        at = linear_ticks(min(xs) - room, max(xs) + room, 8, short)
    if places is not None:
        at = "(" + ", ".join(f"{quoted(label)} {x:g}" for label, x in places) + ")"
    lines += [
        f"set xtics {at}",
        f"set xlabel {quoted(x_label)} offset 0,0.4 textcolor rgb '{light('ink')}'",
    ] + key_below(names)
    return draw(HEIGHT - 60 + 17 * math.ceil(len(names) / 3), lines + ["plot " + ", ".join(plots)])


def bars_plot(bars, names, x_log, x_label, text):
    """Horizontal bars (label, side, [(length, low, high)]): one part with its quartiles as whiskers, or several, stacked
    and without. names: of the parts, where there are several."""
    totals = [sum(part[0] for part in parts) for _, _, parts in bars]
    ends = [end for _, _, parts in bars if len(parts) == 1 for end in parts[0][1:]]
    boxes, whiskers, numbers = [], [], []
    low = min(totals + ends) / 3 if x_log else 0
    high = max(totals + ends)
    for row, (_, side, parts) in enumerate(bars):
        left = low
        for index, (length, q1, q3) in enumerate(parts):
            right = left + length if index else max(length, left)
            tint = colour(LINES[index % len(LINES)] if len(names) > 1 else side)
            boxes.append((left, row, left, right, row - 0.36, row + 0.36, tint))
            left = right
        if len(parts) == 1:
            whiskers.append((parts[0][0], row, parts[0][1], parts[0][2]))
        numbers.append((max(totals[row], parts[0][2] if len(parts) == 1 else 0), row, text(totals[row]).replace(" ", "\u00a0")))
    lines = block("boxes", boxes) + block("numbers", numbers)
    if x_log:
        lines += axis("x", low, high * (high / low) ** 0.4, x_label, 5, text)
    else:
        lines += plain_axis("x", 0, high * 1.45, x_label, 5, text)
    labels = ", ".join(f"{quoted(short_id(label))} {index}" for index, (label, _, _) in enumerate(bars))
    lines += [f"set yrange [{len(bars) - 0.4:g}:-0.6]", f"set ytics ({labels}) scale 0", "set grid noytics"]
    lines += ["set style fill solid 1 noborder"]
    plots = ["$boxes using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable notitle"]
    if whiskers:
        lines += block("whiskers", whiskers)
        plots.append(f"$whiskers using 1:2:3:4 with xerrorbars pt 0 lw 1 lc rgb '{light('ink')}' notitle")
    plots.append(
        f"$numbers using 1:2:3 with labels left offset 0.6,0 font ',10' textcolor rgb '{light('ink')}' notitle"
    )
    if len(names) > 1:
        lines += key_below(names)
        for index, name in enumerate(names):
            plots.append(f"1/0 with lines lw 6 lc rgb '{light(LINES[index % len(LINES)])}' title {quoted(name)}")
    else:
        lines += ["unset key"]
    return draw(max(HEIGHT - 140, 90 + 24 * len(bars) + 17 * (len(names) > 1)), lines + ["plot " + ", ".join(plots)])


def _over_sizes(many, value, label, text):
    """One line per version against the number of pixels. value(results, row) gives median, low, high, or None."""
    many = sorted(many, key=rungs.pixels)
    names = []
    for results in many:
        names += [row["id"] for row in rungs.timed(results) if row["id"] not in names]
    series = []
    for name in sorted(names, key=by_side):
        rows = [(results, rungs.find(results, name)) for results in many]
        rows = [(results, row) for results, row in rows if row and row["outcome"] == "timed" and value(results, row)]
        series.append((name, [(rungs.pixels(results) / 1e6, *value(results, row)) for results, row in rows]))
    places = [(rungs.size(results), rungs.pixels(results) / 1e6) for results in many]
    return lines_plot(series, places, True, "image size in pixels (logarithmic)", True, label, text)


def time_size_plot(many):
    def kernel(_, row):
        return tuple(row["kernel"][field] for field in ("median", "q1", "q3"))

    title = "time a frame" if rungs.is_video(many[0]) else "kernel time"
    return _over_sizes(many, kernel, title + " (logarithmic)", short_time)


def speedup_size_plot(many):
    def speedup(results, row):
        serial = rungs.find(results, "cpu/serial")
        if not serial or serial["outcome"] != "timed" or row is serial:
            return None
        return tuple(serial["kernel"]["median"] / row["kernel"][field] for field in ("median", "q3", "q1"))

    if not any(speedup(results, row) for results in many for row in rungs.timed(results)):
        return None
    return _over_sizes(many, speedup, "times as fast as serial", short)


def _dodged(values, gap):
    """Where to put labels that want to be at `values`: in their order, at least `gap` apart."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    places = [0.0] * len(values)
    for rank, i in enumerate(order):
        places[i] = values[i] if rank == 0 else max(values[i], places[order[rank - 1]] + gap)
    # Spread the shift over the whole column, not upwards alone.
    shift = sum(places[i] - values[i] for i in order) / len(values) if values else 0
    return [place - shift for place in places]


def _arithmetic(results, roof):
    """The ceiling of the kind that the cost counts most of; in older files, and for other kinds, of 8-bit products."""
    kind = (roof.get("operations") or {}).get(results["cost"]["operation"])
    return kind["per_second"] if kind else roof["multiply_accumulates_per_second"]


def _roof(lines, plots, results, name, text, low, high):
    ceilings = results["ceilings"].get(name) or {}
    copy = ceilings.get("copy_bytes_per_second")
    tint = light("cuda" if name == "gpu" else "cpu")
    if not copy:
        return
    arithmetic = _arithmetic(results, ceilings)
    edge = min(arithmetic / copy if arithmetic else high, high)
    lines += block(f"slope_{name}", [(low, low * copy / 1e9), (edge, edge * copy / 1e9)])
    plots.append(f"$slope_{name} using 1:2 with lines lw 2 lc rgb '{tint}' title {quoted(text)}")
    if arithmetic and edge < high:
        lines += block(f"flat_{name}", [(edge, arithmetic / 1e9), (high, arithmetic / 1e9)])
        operation = results["cost"]["operation"]
        counted = operation == "8-bit multiply-accumulate" or operation in (ceilings.get("operations") or {})
        dash = "" if counted else " dt 3"
        plots.append(f"$flat_{name} using 1:2 with lines lw 2{dash} lc rgb '{tint}' notitle")


def roofline_plot(results):
    """Operations per second against operations per byte, both by the contract's least cost, under the roofs measured in
    the same run. The least cost is the same for all versions, so they stand above each other. None when the contract
    counts no operations or nothing was measured."""
    cost, rows = results["cost"], rungs.timed(results)
    roofs = [(side, results["ceilings"].get(side)) for side in ("cpu", "gpu")]
    roofs = [(side, roof) for side, roof in roofs if roof and roof["copy_bytes_per_second"]]
    if cost["operations"] <= 0 or cost["bytes"] <= 0 or not rows or not roofs:
        return None
    x = cost["operations"] / cost["bytes"]
    edges = [
        _arithmetic(results, roof) / roof["copy_bytes_per_second"]
        for _, roof in roofs
        if _arithmetic(results, roof)
    ]
    low, high = min([x] + edges) / 20, max([x] + edges) * 6
    speeds = [cost["operations"] / row["kernel"]["median"] / 1e9 for row in rows]
    top = max(
        min(roof["copy_bytes_per_second"] * high, _arithmetic(results, roof) or math.inf) / 1e9
        for _, roof in roofs
    )
    bottom, top = min(speeds) / 4, max([top] + speeds) * 4
    lines, plots = [], []
    names = {"cpu": f"CPU, {rungs.count(results['threads'], 'thread')}", "gpu": "GPU"}
    for name, _ in roofs:
        _roof(lines, plots, results, name, names[name] + ": measured roof", low, high)
    gap = math.log10(top / bottom) * 15 / (HEIGHT - 110)
    for device in (False, True):
        chosen = [(row, speed) for row, speed in zip(rows, speeds) if rungs.on_device(row) is device]
        if not chosen:
            continue
        places = _dodged([math.log10(speed) for _, speed in chosen], gap)
        # Labels of the CPU stand left of the points, those of the GPU right of them.
        reach = 1.9 if device else 1 / 1.9
        name = "right" if device else "left"
        lines += block(
            name,
            [
                (x, speed, x * reach, 10**place, row["id"], colour(rungs.side(row)))
                for (row, speed), place in zip(chosen, places)
            ],
        )
        side = "left offset 0.4,0" if device else "right offset -0.4,0"
        plots += [
            f"${name} using 1:2:($3-$1):($4-$2) with vectors nohead lw 0.7 lc rgb '{light('muted')}' notitle",
            f"${name} using 1:2:6 with points pt 7 ps 0.7 lc rgb variable notitle",
            f"${name} using 3:4:5 with labels {side} font ',11' textcolor rgb '{light('ink')}' notitle",
        ]
    lines += axis("x", low, high, "operations per byte, at least (logarithmic)", 7, short)
    operation = cost["operation"] or "operation"
    lines += axis("y", bottom, top, f"10⁹ operations/s ({operation})", 8, short)
    lines += ["set key above left Left reverse maxrows 1 width 1"]
    return draw(HEIGHT, lines + ["plot " + ", ".join(plots)])


# --------------------------------------------------------------------------------------------------- for the page

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
VARIABLES = {light.lower(): f"var(--{name})" for name, (light, _) in reversed(PALETTE.items())}
VARIABLES.update({"black": "var(--ink)", "#000000": "var(--ink)", "#ffffff": "var(--paper)"})


def _variable(match):
    value = "#" + "".join(f"{int(part):02x}" for part in match.groups())
    return VARIABLES.get(value, value)


def _themed_value(value):
    value = re.sub(r"rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)", _variable, value)
    return VARIABLES.get(value.lower(), value)


INITIAL = {"stroke-linecap": "butt", "stroke-linejoin": "miter", "stroke-width": "1.00"}


def _without_initial(element, inherited):
    """Removes attributes that say what holds without them: a fifth of gnuplot's text."""
    for name, value in INITIAL.items():
        if element.get(name) == value and inherited.get(name, value) == value:
            del element.attrib[name]
    inherited = {**inherited, **{name: element.get(name) for name in INITIAL if element.get(name)}}
    for child in element:
        _without_initial(child, inherited)


def _without_unused(root):
    """Removes ids that nothing refers to, what is defined under them, and the titles of gnuplot's own ("gnuplot_plot_7"), which
    a browser would show beside the pointer."""
    for parent in list(root.iter("g")):
        for child in list(parent):
            if child.tag == "title" and (child.text or "").startswith("gnuplot_"):
                parent.remove(child)
    while True:
        text = ElementTree.tostring(root, encoding="unicode")
        used = set(re.findall(r'(?:href="|url\()#([\w-]+)', text))
        unused = [(defs, child) for defs in root.iter("defs") for child in defs if child.get("id") not in used]
        for defs, child in unused:
            defs.remove(child)
        if not unused:
            break
    for element in root.iter():
        if element.get("id") and element.get("id") not in used:
            del element.attrib["id"]


def themed(svg, prefix, title):
    """gnuplot's SVG as an element of a page: colours as CSS variables, ids that no other plot has, a title for those
    who cannot see it; no XML declaration, no fixed size."""
    root = ElementTree.fromstring(svg)
    for child in list(root):
        if child.tag in (f"{{{SVG}}}title", f"{{{SVG}}}desc"):
            root.remove(child)
    for element in root.iter():
        element.tag = element.tag.replace(f"{{{SVG}}}", "")
        for name, value in list(element.attrib.items()):
            del element.attrib[name]
            name = name.replace(f"{{{XLINK}}}", "")
            if name == "id":
                value = prefix + value
            elif value.startswith("#") and name == "href":
                value = "#" + prefix + value[1:]
            elif "url(#" in value:
                value = value.replace("url(#", "url(#" + prefix)
            elif name in ("fill", "stroke", "color"):
                value = _themed_value(value)
            elif name == "font-family":
                continue
            element.attrib[name] = value
        element.tail = (element.tail or "").strip() or None
        if element.tag not in ("text", "tspan"):
            element.text = (element.text or "").strip() or None
    for parent in list(root.iter("g")):
        for child in list(parent):
            if child.tag == "g" and len(child) == 0:
                parent.remove(child)
    _without_initial(root, {})
    _without_unused(root)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib.update({"role": "img", "aria-label": title, "class": "plot"})
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


# --------------------------------------------------------------------------------------------------- command line


def same_settings(many):
    """The files of `many` that differ from the largest in size alone, one per size."""
    largest = max(many, key=rungs.pixels)
    by_size = {}
    for results in many:
        if all(results[field] == largest[field] for field in ("settings", "channels", "threads")):
            by_size.setdefault((results["width"], results["height"]), results)
    return list(by_size.values())


NAMES = ("time", "steps", "speedup", "time_by_size", "speedup_by_size", "roofline")


def plots_of(many):
    """(name, title, SVG) of every plot that the files of one algorithm and one machine give."""
    largest = max(many, key=rungs.pixels)
    where = f"{largest['algorithm']}, {rungs.size(largest)}"
    sizes = same_settings(many)
    if rungs.timed(largest):
        yield "time", f"Time per version, {where}", time_plot(largest)
        if rungs.is_video(largest):
            yield "steps", f"Share of each step, {where}", steps_plot(largest)
        yield "speedup", f"Speedup over serial, {where}", speedup_plot(largest)
        if len(sizes) > 1:
            yield "time_by_size", f"Time against image size, {largest['algorithm']}", time_size_plot(sizes)
            yield "speedup_by_size", f"Speedup against image size, {largest['algorithm']}", speedup_size_plot(sizes)
        yield "roofline", f"Roofline, {where}", roofline_plot(largest)


def write_whole(path, text):
    """Under a temporary name first, so that no half-written file is left behind."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise rungs.ResultsError(f"{path}: {error.strerror}") from None


def main(arguments):
    if len(arguments) < 3:
        print("usage: plots.py ALGORITHM FOLDER FILE...", file=sys.stderr)
        return 2
    algorithm, folder, *paths = arguments
    try:
        many = []
        for path in paths:
            try:
                many.append(rungs.load(path))
            except rungs.OtherKind as other:
                raise rungs.ResultsError(f"{path}: {other}") from None
            if rungs.kind(many[-1]) != rungs.KINDS["bench"]:
                made = "; its plot is made by rungs tune --svg" if rungs.is_tune(many[-1]) else ""
                raise rungs.ResultsError(f"{path}: {rungs.kind(many[-1])}, not a bench{made}")
            if many[-1]["algorithm"] != algorithm:
                raise rungs.ResultsError(f"{path}: results of {many[-1]['algorithm']}, not of {algorithm}")
            if many[-1]["machine"] != many[0]["machine"]:
                raise rungs.ResultsError(f"{path}: another machine than {paths[0]}")
        if not any(rungs.timed(results) for results in many):
            raise rungs.ResultsError(f"{paths[0]}: no version was timed, so there is nothing to plot")
        if not available():
            raise PlotError(INSTALL)
        os.makedirs(folder, exist_ok=True)
        drawn = set()
        for name, title, svg in plots_of([results for results in many if rungs.timed(results)]):
            path = os.path.join(folder, f"{algorithm}_{name}.svg")
            if svg:
                write_whole(path, svg)
                print(f"{path}  {title}")
                drawn.add(path)
        # A plot of an earlier call would be taken for one of this.
        for name in NAMES:
            path = os.path.join(folder, f"{algorithm}_{name}.svg")
            if path not in drawn and os.path.exists(path):
                os.remove(path)
    except rungs.ResultsError as error:
        print(f"plots: {schema.plain(error)}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"plots: {folder}: {error.strerror}", file=sys.stderr)
        return 2
    except PlotError as error:
        print(f"plots: {schema.plain(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
