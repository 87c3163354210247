"""One HTML page of all ladders: `make report`.

    report.py [--rungs build/rungs] [--results results] OUT.html

Made of the results files (results/<machine>/), the sources, and pictures that build/rungs computes now. Everything is
inside the page: style, plots, pictures; it loads nothing. Of results/<machine>/ it takes
    *.json   results of a bench, a search (tune) or a profile; other kinds are left out with a note on stderr; a bad
             file ends it
    *.svg    shown as they are; *.csv as a table; *.txt as text. One that is named as a results file is shown with it,
             and of the others one whose name begins with an algorithm's goes to that
    <algo>/study_<name>/    a study: its paragraphs, plots and tables (studies.py)
The page is well-formed XML as well as HTML, so that tests can parse it with the standard library.

Without gnuplot the page has no plots, without build/rungs no pictures; one line on stderr says so.
Exit status: 0 made, 2 bad use or bad input (no page is written then).
"""

import argparse
import base64
import csv
import datetime
import glob
import os
import subprocess
import sys
import tempfile

import heatmap
import pages
import pictures
import plots
import profiles
import results as rungs
import sources
import studies
from markup import code, esc, mark, markdown_html, prose, table

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MOST_TEXT = 100 * 1024
MOST_ROWS = 200


def note(text):
    print(f"report: {text}", file=sys.stderr)


# --------------------------------------------------------------------------------------------------------- material


class Ladder:
    """One algorithm: contract, versions, and by machine: results of benches (the main one first), searches, profiles,
    studies, other files."""

    def __init__(self, name):
        self.name = name
        self.contract = sources.Contract(ROOT, name)
        self.versions = sources.versions(ROOT, name)
        self.video = sources.takes_video(ROOT, name)
        self.machines, self.searches, self.profiles, self.studies, self.files = {}, {}, {}, {}, {}

    def add(self, results):
        where = self.machines
        if rungs.is_tune(results):
            where = self.searches
        elif rungs.is_profile(results):
            where = self.profiles
        where.setdefault(rungs.machine_of(results), []).append(results)

    def sort_results(self):
        """The main results of a machine first. Profiles in the order of the ladder."""
        for many in self.machines.values():
            many[:] = rungs.in_order(many)
        order = [version.id for version in self.versions]
        for many in self.profiles.values():
            many.sort(key=lambda r: order.index(r["bench"]["id"]) if r["bench"]["id"] in order else len(order))

    def places(self):
        everything = (self.machines, self.searches, self.profiles, self.studies, self.files)
        return sorted(set().union(*everything), key=lambda name: machine_order(name, self.machines.get(name)))

def machine_order(name, many):
    """Machines with a GPU first: they have the whole ladder."""
    return (0 if many and many[0]["machine"]["gpu"] else 1, name)


def gather(folder, names):
    """Ladders by name, and the files that belong to none of them, by machine."""
    ladders, others, shown = {name: Ladder(name) for name in names}, {}, {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "**", "*.json"), recursive=True)):
        if studies.is_study(path):
            continue
        try:
            results = rungs.load(path)
        except rungs.OtherKind as other:
            # What it says as text is shown.
            if not os.path.exists(os.path.splitext(path)[0] + ".txt"):
                note(f"{path}: left out: {other}")
            continue
        if results["algorithm"] not in ladders:
            note(f"{path}: left out: there is no algorithm {results['algorithm']} here")
            continue
        ladders[results["algorithm"]].add(results)
        results["beside"] = []
        shown[os.path.splitext(path)[0]] = results
    for kind in ("svg", "csv", "txt"):
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*", "**", "*." + kind), recursive=True)):
            if studies.is_study(path):
                continue
            stem = os.path.splitext(path)[0]
            if stem in shown:
                # The heat map of a search is drawn from its points.
                if kind != "svg" or not rungs.is_tune(shown[stem]):
                    shown[stem]["beside"].append(path)
                continue
            parent = os.path.basename(os.path.dirname(path))
            owners = [name for name in names if os.path.basename(path).startswith(name + "_")]
            owner = parent if parent in names else max(owners, key=len, default=None)
            files = ladders[owner].files if owner else others
            # Two levels below results/, or one: the folder right below it names the machine.
            machine = os.path.relpath(path, folder).split(os.sep)[0]
            files.setdefault(machine, []).append(path)
    for study in studies.committed(folder):
        if study["algorithm"] in ladders:
            ladders[study["algorithm"]].studies.setdefault(study["machine"], []).append(study)
        else:
            note(f"{study['folder']}: left out: there is no algorithm {study['algorithm']} here")
    for ladder in ladders.values():
        ladder.sort_results()
    return ladders, others


def commit():
    try:
        process = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return process.stdout.strip() if process.returncode == 0 else ""


# ----------------------------------------------------------------------------------------------------------- tables


def versions_table(results):
    gpu = any(rungs.on_device(row) for row in rungs.timed(results))
    video = rungs.is_video(results)
    phases = (
        [("kernel", "kernel"), ("end_to_end", "end to end")] if gpu else [("kernel", "a frame" if video else "time")]
    )
    head = ["version", "boxes equal in" if video else "verified"] + [title for _, title in phases]
    head.append("frames/s" if video else "of limit")
    for over, title in (("over_serial", "× serial"), ("over_below", "× rung below")):
        head += [title + (f", {name}" if gpu else "") for _, name in phases]
    rows, remarks = [], {"skipped": [], "failed": []}
    for row in results["versions"]:
        if row["outcome"] in remarks:
            remarks[row["outcome"]].append(f"{code(row['id'])}: {prose(row['why'] or 'no reason given')}")
        if row["outcome"] == "skipped":
            continue
        wrong = row["outcome"] == "failed"
        cells = [mark(row), "<strong>wrong</strong>" if wrong else esc(rungs.verified(row).removeprefix("equal in "))]
        cells += [rungs.time_and_spread(row[phase]) if row[phase] else "–" for phase, _ in phases]
        if video:
            cells.append(rungs.number(1 / row["end_to_end"]["median"]) if row["end_to_end"] else "–")
        else:
            cells.append(rungs.fraction(row["limit_fraction"]))
        for over in ("over_serial", "over_below"):
            cells += [
                "1" if row["reference"] and over == "over_serial" else rungs.ratio(row[over], p) for p, _ in phases
            ]
        rows.append(cells)
    what = f"{results['algorithm']} on {rungs.machine_of(results)}, {rungs.size(results)}, {results['settings']}"
    text = table(f"Measurements of {what}", head, rows, 2)
    for row in results["versions"]:
        if "library" in row:
            text += (
                f'<p class="small">{code(row["id"])}: {esc(row["library"])}, timed right after the others in a process '
                f"of its own, by {code(row['path'])}.</p>"
            )
    for title, reasons in (("Wrong", remarks["failed"]), ("Not measured", remarks["skipped"])):
        if reasons:
            items = "".join(f"<li>{reason}</li>" for reason in reasons)
            text += f'<div class="small">{title}:<ul>{items}</ul></div>'
    if video:
        text += steps_tables(results)
    return text


def steps_tables(results):
    """Of a pipeline: the time of each step in each version, its share and its gain over the version below, and the
    memory that a version takes and moves."""
    rows = [row for row in rungs.timed(results) if row["steps"]]
    seconds = {row["id"]: {step["name"]: step["seconds"] for step in row["steps"]} for row in rows}
    columns = [(row["id"], seconds[row["id"]], rungs.below(results, row)) for row in rows]
    names = rungs.step_names(steps for _, steps, _ in columns)

    def cell(steps, below, name):
        total = sum(steps.values())
        if total <= 0 or name not in steps:
            return "–"
        part = 100 * steps[name] / total
        remarks = [f"{part:.0f} %" if part >= 0.5 else "&lt; 1 %"]
        before = seconds.get(below["id"], {}).get(name) if below else None
        if before and steps[name] > 0:
            remarks.append(f"{rungs.number(before / steps[name])}×")
        return f'{rungs.time(steps[name])}<br /><span class="under">{" · ".join(remarks)}</span>'

    text = ""
    if columns:
        text += (
            '<p class="small">Each step by itself, a frame on average; below it its share of the frame, and how many '
            "times as fast it is as in the version below:</p>"
        )
        cells = [[esc(name)] + [cell(steps, below, name) for _, steps, below in columns] for name in names]
        sums = ["<strong>all steps</strong>"]
        sums += [f"<strong>{rungs.time(sum(steps.values()))}</strong>" for _, steps, _ in columns]
        heads = ["step"] + [title for title, _, _ in columns]
        text += table(f"Steps of {results['algorithm']}", heads, cells + [sums], 1, "scroll narrow")
    moved = [row for row in results["versions"] if row["memory"]]
    if moved:
        kinds = [(when, kind) for when in ("start", "frame") for kind in ("allocate", "upload", "download")]

        def memory(row, when, kind):
            entry = (row["memory"].get(when) or {}).get(kind) or {}
            calls = entry.get("calls", 0)
            return f"{rungs.amount(entry.get('bytes', 0))} in {rungs.count(calls, 'call')}" if calls else "–"

        head = ["version"] + [f"{'at the start' if when == 'start' else 'a frame'}, {kind}" for when, kind in kinds]
        text += '<p class="small">Device memory, counted from the real allocations and copies:</p>'
        text += table("Memory", head, [[mark(row)] + [memory(row, *where) for where in kinds] for row in moved], 1)
    return text


def about(results):
    """What was measured, where, when, by which command."""
    each = (
        rungs.count(results["frames"], "frame")
        if rungs.is_video(results)
        else rungs.count(results["channels"], "channel")
    )
    facts = [
        ("Input", f"{results['input']}; {rungs.size(results)}, {each}; {results['settings'] or 'no parameters'}"),
        ("Machine", rungs.machine(results)),
        ("Date, commit", f"{results['date'].replace('T', ' ').replace('Z', ' UTC')}, {results['commit']}"),
    ]
    if not rungs.is_tune(results):
        facts.insert(2, ("Threads", f"{results['threads']} for CPU versions"))
    lines = "".join(f"<div><dt>{name}</dt><dd>{esc(text)}</dd></div>" for name, text in facts)
    return f'<dl class="facts">{lines}<div><dt>Command</dt><dd>{code(results["command"])}</dd></div></dl>'


def over_serial(row, phase):
    """ "× 8.08" of a version over serial, with its name."""
    if row is None or row["over_serial"] is None:
        return "–"
    times = rungs.ratio(row["over_serial"], phase)
    return f"<strong>{times}</strong> {mark(row)}"


def over_peer(results, row):
    """Times as fast as the fastest peer of its side."""
    peer = row and rungs.best_peer(results, rungs.on_device(row))
    if not peer:
        return "–"
    if not rungs.differ(row["kernel"], peer["kernel"]):
        return f"= {mark(peer)}"
    return f"<strong>{rungs.number(peer['kernel']['median'] / row['kernel']['median'])}</strong> {mark(peer)}"


def start_table(ladders):
    rows = []
    for ladder in ladders.values():
        for machine in ladder.places():
            if machine not in ladder.machines:
                continue
            results = ladder.machines[machine][0]
            cpu = rungs.best_of(results, "cpu", "kernel")
            cuda = rungs.best_of(results, "cuda", "kernel")
            whole = rungs.best_of(results, "cuda", "end_to_end")
            top = cuda or cpu
            rows.append(
                [
                    f'<a href="#{esc(ladder.name)}">{esc(ladder.name)}</a>',
                    f'<a href="#machine-{esc(machine)}">{esc(machine)}</a>',
                    over_serial(cpu, "kernel"),
                    "–" if rungs.is_video(results) else over_serial(cuda, "kernel"),
                    over_serial(whole, "end_to_end"),
                    rungs.fraction(top["limit_fraction"]) if top else "–",
                    over_peer(results, top),
                    esc(rungs.size(results)),
                ]
            )
    head = ["ladder", "machine", "best CPU, × serial", "best GPU kernel, × serial"]
    head += ["best GPU end to end, × serial", "of limit", "× best peer", "image"]
    return table("Best speedups of each ladder on each machine", head, rows, 2)


# ----------------------------------------------------------------------------------------------------------- pieces


class Drawer:
    """Plots for the page, numbered so that their ids differ. Says once when gnuplot is missing."""

    def __init__(self):
        self.number = 0
        self.works = plots.available()
        if not self.works:
            note(f"no plots: {plots.INSTALL}")

    def next(self):
        self.number += 1
        return self.number

    def figures(self, many):
        if not self.works:
            return ""
        figures = []
        try:
            for name, title, svg in plots.plots_of(many):
                if svg:
                    picture = plots.themed(svg, f"p{self.next()}-", title)
                    figures.append(f"<figure>{picture}<figcaption>{caption(name, title, many)}</figcaption></figure>")
        except plots.PlotError as error:
            self.works = False
            note(f"no more plots: {error}")
        return f'<div class="plots">{"".join(figures)}</div>' if figures else ""


def caption(name, title, many):
    largest = max(many, key=rungs.pixels)
    texts = {
        "time": "Median; bars from the lower to the upper quartile.",
        "speedup": "Serial's median over the version's; whiskers at the version's quartiles.",
        "steps": "Measured apart, frame by frame and without overlap.",
        "time_by_size": "Medians and quartiles; of GPU versions the kernel alone.",
        "speedup_by_size": "Serial's median over the version's, at each size; of GPU versions the kernel alone.",
        "roofline": "The contract's least bytes and operations over the kernel's time, below the copy and arithmetic "
        "rates of that run.",
    }
    text = texts[name]
    if name == "time" and any(row["limit"] for row in largest["versions"]):
        text += " A tick: the least that the ceilings of that run allow."
    if rungs.is_video(largest) and name.endswith("_by_size"):
        text = text.replace("; of GPU versions the kernel alone", "")
    if name == "roofline" and largest["cost"]["operation"] != "8-bit multiply-accumulate":
        text += " The flat roof is that of 8-bit multiply-accumulates, so it is dotted."
    return f"<strong>{esc(title)}.</strong> {esc(text)}"


def picture_html(picture):
    label = esc(picture.title)
    if picture.uri is None:
        return f'<figure class="value"><p>{esc(picture.text)}</p><figcaption>{label}</figcaption></figure>'
    image = f'<img src="{picture.uri}" alt="{label}" width="{picture.width}" height="{picture.height}" />'
    if picture.boxes:
        rectangles = "".join(
            f'<rect x="{x - 0.5}" y="{y - 0.5}" width="{width + 1}" height="{height + 1}" />'
            for x, y, width, height in picture.boxes
        )
        image = (
            f'<svg class="boxed" viewBox="0 0 {picture.width} {picture.height}" role="img" aria-label="{label}">'
            f'<image href="{picture.uri}" width="{picture.width}" height="{picture.height}" />{rectangles}</svg>'
        )
    text = f"; {esc(picture.text)}" if picture.text else ""
    return f"<figure>{image}<figcaption>{label}{text}</figcaption></figure>"


def pictures_html(maker, ladder):
    """Input and output, computed now; below them the committed picture of a pipeline's steps, where there is one."""
    text = ""
    try:
        if maker:
            shown, output = maker.make_video(ladder.name) if ladder.video else maker.make(ladder.name)
            arrow = '<span class="arrow" aria-hidden="true">→</span>'
            text = f'<div class="pictures">{"".join(map(picture_html, shown))}{arrow}{picture_html(output)}</div>'
    except (ValueError, OSError) as error:
        note(f"no picture of {ladder.name}: {error}")
    sheet = pictures.steps(ROOT, ladder.name)
    return text + (f'<div class="sheet steps">{picture_html(sheet)}</div>' if sheet else "")


def contract_html(contract):
    if not contract.sections:
        return ""
    lines = []
    for label, paragraphs in contract.sections:
        body = "".join(
            f'<pre class="scroll" tabindex="0">{esc(text)}</pre>' if kind == "pre" else f"<p>{prose(text)}</p>"
            for kind, text in paragraphs
        )
        lines.append(f"<dt>{esc(label)}</dt><dd>{body}</dd>")
    return (
        f"<details><summary>The contract: what every version must compute ({code(contract.path)})</summary>"
        f'<dl class="contract">{"".join(lines)}</dl></details>'
    )


def file_html(path):
    """A file of results/<machine>/ that is no bench: picture, table or text. "" with a note when it cannot be shown."""
    name = os.path.relpath(path, ROOT) if path.startswith(ROOT + os.sep) else path
    try:
        if os.path.getsize(path) > (pictures.MOST_BYTES if path.endswith(".svg") else MOST_TEXT):
            raise ValueError("too large for the page")
        with open(path, "rb") as file:
            data = file.read()
        text = data.decode("utf-8")
        if path.endswith(".svg"):
            # As an image it can neither run scripts nor load anything.
            plots.ElementTree.fromstring(data)
            uri = "data:image/svg+xml;base64," + base64.b64encode(data).decode()
            title = esc(name)
            return (
                f'<figure class="sheet"><img src="{uri}" alt="{title}" /><figcaption>{code(name)}</figcaption></figure>'
            )
    except (OSError, ValueError, plots.ElementTree.ParseError) as error:
        note(f"{path}: left out: {error}")
        return ""
    if path.endswith(".csv"):
        remarks = [line.lstrip("# ") for line in text.splitlines() if line.startswith("#")]
        rows = list(csv.reader(line for line in text.splitlines() if line and not line.startswith("#")))
        body = f'<p class="small">{"<br />".join(map(esc, remarks))}</p>' if remarks else ""
        if len(rows) > 1:
            more = (
                f'<p class="small">{len(rows) - 1 - MOST_ROWS} more rows in the file.</p>'
                if len(rows) - 1 > MOST_ROWS
                else ""
            )
            cells = [list(map(esc, row)) for row in rows[1 : 1 + MOST_ROWS]]
            body += table(name, rows[0], cells, 1, "scroll sheet-table") + more
    else:
        body = f'<pre class="scroll" tabindex="0">{esc(text)}</pre>'
    return f"<details><summary>{code(name)}</summary>{body}</details>"


def search_html(results):
    """A search over launch parameters: its best point, heat maps, and all combinations that were timed."""
    names = [axis["name"] for axis in results["axes"]] or sorted({n for p in results["points"] for n in p["values"]})
    timed = sorted(
        (point for point in results["points"] if point["time"] is not None), key=lambda point: point["time"]["median"]
    )
    rows = []
    for point in timed[:MOST_ROWS]:
        words = [word for word in ("best", "default") if point[word]]
        words += ["not different from the best"] if point["like_best"] and not point["best"] else []
        over = "=" if point["over_default"] is None or not point["over_default"]["differs"] else ""
        rows.append(
            [rungs.time_and_spread(point["time"])]
            + [esc(point["values"].get(name, "–")) for name in names]
            + ["–" if point["default"] else over or rungs.number(point["over_default"]["times"]), ", ".join(words)]
        )
    version = results["tuned_version"]
    title = f"Search: {version}, {rungs.size(results)}, {rungs.count(len(timed), 'combination')} timed"
    body = table(title, ["time"] + names + ["× default", "remark"], rows, 1, "scroll sheet-table")
    return (
        f"<h4>{esc(title)}</h4>{best_point(results)}{heat_html(results)}"
        f"<details><summary>All of them, the machine and the command</summary>{about(results)}{body}</details>"
        + beside_html(results)
    )


def best_point(results):
    """What the search found, in a sentence."""
    point = next((point for point in results["points"] if point["best"] and point["time"]), None)
    if point is None:
        return "<p>No combination was timed.</p>"
    text = f"Best: {code(heatmap.values_text(point))}, {rungs.time_and_spread(point['time'])}"
    over = point["over_default"]
    if point["default"]:
        text += ", which is the default"
    elif over and over["differs"]:
        text += f", {rungs.number(over['times'])} times as fast as the default"
    elif over:
        text += ", not different from the default"
    gpu = results["machine"]["gpu"] if results["tuned_version"].startswith("cuda/") else None
    return f"<p>{text}. {esc(gpu['name'] if gpu else results['machine']['cpu'])}.</p>"


def heat_html(results):
    figures = [
        f'<figure>{f"<h5>{esc(title)}</h5>" if title else ""}<div class="heat-box" tabindex="0">{svg}</div></figure>'
        for title, svg in heatmap.panels(results)
    ]
    if not figures:
        return ""
    unit = heatmap.Scale(results["points"]).name
    return (
        f'<div class="heats">{"".join(figures)}</div><p class="small">Time of a {esc(results["time"])} in {unit}, '
        "below it over the best. Bright: fast; thick frame: best; dashed: default; = best: not different, the "
        "interquartile ranges overlap.</p>"
    )


def beside_html(results):
    """Files of the same name: mostly what the command printed."""
    return "\n".join(file_html(path) for path in results["beside"])


def profiles_html(many):
    if not many:
        return ""
    details = "\n".join(
        f"<details><summary>{profiles.title(results)}</summary>{about(results)}{profiles.tables(results)}"
        f"{beside_html(results)}</details>"
        for results in many
    )
    return f"<h4>Under the profiler</h4>{profiles.summary(many)}{details}"


def machine_html(ladder, machine, drawer):
    many = ladder.machines.get(machine, [])
    lines = [f'<h3><a href="#machine-{esc(machine)}">On {esc(machine)}</a></h3>']
    if many:
        main = many[0]
        lines += [
            about(main),
            drawer.figures([r for r in many if r["settings"] == main["settings"]]),
            versions_table(main),
            beside_html(main),
        ]
    for results in many[1:]:
        title = f"{rungs.size(results)}, {results['settings'] or 'no parameters'}"
        lines.append(
            f"<details><summary>Also measured: {esc(title)}</summary>"
            f"{about(results)}{versions_table(results)}{beside_html(results)}</details>"
        )
    lines += [studies.html(study, drawer.next) for study in ladder.studies.get(machine, [])]
    lines += [profiles_html(ladder.profiles.get(machine, []))]
    lines += [search_html(results) for results in ladder.searches.get(machine, [])]
    lines += [file_html(path) for path in ladder.files.get(machine, [])]
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------------ rungs


def change(before, after, ratio):
    """One phase of two rungs: what became of it."""
    # Breaks before the arrow only.
    medians = " → ".join(rungs.time_and_spread(phase).replace(" ", "\u00a0") for phase in (before, after))
    if not ratio["differs"]:
        verdict = "not different"
    elif ratio["times"] >= 1:
        verdict = f"{rungs.number(ratio['times'])}\u00a0× as fast"
    else:
        verdict = f"{rungs.number(1 / ratio['times'])}\u00a0× as slow"
    return f"<strong>{verdict}</strong> <span>({medians})</span>"


def measured(results, version):
    """What one results file says of a version: its change from the rung below, or else from serial."""
    row = rungs.find(results, version.id)
    if row is None:
        return ""
    if row["outcome"] != "timed":
        why = f": {row['why']}" if row["why"] else ""
        return f"<li>{esc(rungs.verified(row) + why)}</li>"
    if row["reference"]:
        return f"<li>the reference: {rungs.time_and_spread(row['kernel'])}</li>"
    over = row["over_below"] or row["over_serial"]
    base = over and rungs.find(results, over["version"])
    if not base or base["outcome"] != "timed" or over["kernel"] is None or over["end_to_end"] is None:
        return f"<li>{rungs.time_and_spread(row['kernel'])}</li>"
    from_base = "" if version.below and over["version"] == version.below.id else f", from {code(over['version'])}"
    if not rungs.on_device(row):
        return f"<li>{change(base['kernel'], row['kernel'], over['kernel'])}{from_base}</li>"
    return (
        f"<li>kernel{from_base}: {change(base['kernel'], row['kernel'], over['kernel'])}</li>"
        f"<li>end to end{from_base}: {change(base['end_to_end'], row['end_to_end'], over['end_to_end'])}</li>"
    )


def diff_html(version):
    if version.below is None:
        lines = [("same", line) for line in version.lines]
        title = f"The code ({rungs.count(len(lines), 'line')})"
    else:
        lines = sources.diff(version.below, version)
        added, removed = (sum(kind == wanted for kind, _ in lines) for wanted in ("add", "remove"))
        title = f"What changed from {version.below.id}: {rungs.count(added, 'line')} added, {removed} removed"
    spans = "".join(
        f'<span class="{kind}">{esc(text) or " "}</span>' if kind != "skip" else '<span class="skip">⋯</span>'
        for kind, text in lines
    )
    return f'<details><summary>{esc(title)}</summary><pre class="scroll diff" tabindex="0">{spans}</pre></details>'


def rung_html(ladder, version):
    found = []
    for machine in ladder.places():
        for results in ladder.machines.get(machine, [])[:1]:
            text = measured(results, version)
            if text:
                found.append(f"<h5>Measured on {esc(machine)}, {esc(rungs.size(results))}</h5><ul>{text}</ul>")
    result = "".join(found) or "<h5>Measured</h5><p>Not yet.</p>"
    said = f"<h5>Result</h5><p>{prose(version.result)}</p>" if version.result else ""
    return f"""<article class="rung {version.side}" id="{esc(ladder.name)}-{esc(version.id.replace('/', '-'))}">
<h4><code class="{version.side}">{esc(version.id)}</code> <span class="path">{esc(version.path)}</span></h4>
<p><strong>Idea:</strong> {prose(version.idea)}</p>
<p><strong>Changed:</strong> {prose(version.changed)}</p>
<div class="two"><div><h5>Expected</h5><p>{prose(version.expect)}</p></div><div>{said}{result}</div></div>
{diff_html(version)}
</article>"""


def story_html(name, names):
    """What people wrote about the ladder, from its page in docs/."""
    text = markdown_html(pages.story(ROOT, name), names)
    return f"<h3>What the rungs teach</h3>\n{text}" if text else ""


def ladder_html(ladder, names, drawer, maker):
    name = esc(ladder.name)
    machines = "\n".join(machine_html(ladder, machine, drawer) for machine in ladder.places())
    cards = "\n".join(rung_html(ladder, version) for version in ladder.versions)
    summary = ladder.contract.summary[:1].upper() + ladder.contract.summary[1:]
    return f"""<section id="{name}">
<h2>{name}</h2>
<p class="lead">{prose(summary)}. <code>make bench-{name}</code> measures it; its page is {code(f"docs/{ladder.name}.md")}.</p>
{pictures_html(maker, ladder)}
{contract_html(ladder.contract)}
{machines or '<p>Not measured yet.</p>'}
{story_html(ladder.name, names)}
<h3>Rung by rung</h3>
{cards}
</section>"""


# ------------------------------------------------------------------------------------------------------------- page


def machines_html(ladders, others):
    """Each machine once: what it is, when and from which commits it was measured, and files of no single ladder."""
    everything = {}
    for ladder in ladders.values():
        for kind in (ladder.machines, ladder.searches, ladder.profiles):
            for machine, many in kind.items():
                everything.setdefault(machine, []).extend(many)
        # Places of files alone have a heading to link to as well.
        for machine in ladder.places():
            everything.setdefault(machine, [])
    lines = []
    for machine in sorted(set(everything) | set(others), key=lambda name: machine_order(name, everything.get(name))):
        many = everything.get(machine, [])
        lines.append(f'<h3 id="machine-{esc(machine)}">{esc(machine)}</h3>')
        for text in sorted({rungs.machine(results) for results in many}):
            lines.append(f"<p>{esc(text)}</p>")
        if many:
            days = sorted({results["date"][:10] for results in many})
            commits = sorted({results["commit"] for results in many})
            lines.append(
                f'<p class="small">Measured {esc(", ".join(days))}; commits {", ".join(map(code, commits))}.</p>'
            )
        lines += [file_html(path) for path in others.get(machine, [])]
    return "\n".join(lines)


def style():
    def colours(index):
        return "".join(f"--{name}:{shades[index]};" for name, shades in plots.PALETTE.items())

    with open(os.path.join(HERE, "style.css"), encoding="utf-8") as file:
        rest = file.read()
    return f":root{{{colours(0)}}}\n@media (prefers-color-scheme: dark){{:root{{{colours(1)}}}}}\n{rest}"


def page(ladders, others, drawer, maker):
    links = "".join(f'<a href="#{esc(name)}">{esc(name)}</a>' for name in ladders)
    sections = "\n".join(ladder_html(ladder, list(ladders), drawer, maker) for ladder in ladders.values())
    made = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    version = commit()
    sheet = style()
    if "<" in sheet or "&" in sheet:
        raise ValueError("style.css: '<' and '&' would end the style element in XML")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>Rungs: all ladders</title>
<style>
{sheet}</style>
</head>
<body>
<nav aria-label="Ladders"><a href="#start">Rungs</a>{links}</nav>
<main>
<header id="start">
<h1>Rungs, rung by rung</h1>
<p class="lead">Image processing in parallel: each algorithm is a ladder of versions behind one contract, from a serial
C loop over OpenMP and SIMD to CUDA kernels. Each rung adds one idea and says, before it is measured, what it expects.
Here are all of them, with what came of it.</p>
</header>
<section id="best">
<h2>Best speedups</h2>
{start_table(ladders)}
<p class="small">× serial: how many times as fast as <code>cpu/serial</code> in the same run, by medians. =: not
different, the interquartile ranges overlap. –: not measured. Kernel: without the transfers between host and GPU; end to
end: with them. Of limit: the least time that the copy and arithmetic rates of the same run allow, over the kernel's
(of the best GPU version, or of the best CPU version where there is no GPU). Times are median ± half of the
interquartile range. A shared machine may be slower or faster as a whole from one run to the next: compare within a
table, not between tables.</p>
</section>
{sections}
<section id="machines">
<h2>Machines</h2>
{machines_html(ladders, others)}
</section>
</main>
<footer><p>Made {made}{f" from commit {code(version)}" if version else ""} by <code>make report</code>. This page is
one file and loads nothing.</p></footer>
</body>
</html>
"""


def main():
    parser = argparse.ArgumentParser(prog="report.py", description="One HTML page of all ladders.", allow_abbrev=False)
    parser.add_argument(
        "--rungs", default=os.path.join(ROOT, "build", "rungs"), help="the program that makes the pictures"
    )
    parser.add_argument("--results", default=os.path.join(ROOT, "results"), help="folder of results/<machine>/ files")
    parser.add_argument("out", metavar="OUT.html")
    options = parser.parse_args()
    try:
        if not os.path.isdir(options.results):
            raise rungs.ResultsError(f"{options.results}: no such folder")
        if not os.path.isdir(os.path.dirname(os.path.abspath(options.out))):
            raise rungs.ResultsError(f"{options.out}: there is no such folder to write to")
        if os.path.isdir(options.out):
            raise rungs.ResultsError(f"{options.out}: is a folder")
        ladders, others = gather(options.results, sources.algorithms(ROOT))
        with tempfile.TemporaryDirectory() as folder:
            maker = pictures.Maker(ROOT, options.rungs, folder) if os.access(options.rungs, os.X_OK) else None
            if maker is None:
                note(f"no pictures: {options.rungs} is not built")
            text = page(ladders, others, Drawer(), maker)
        plots.write_whole(options.out, text)
    except rungs.ResultsError as error:
        note(error)
        return 2
    print(f"{options.out}: {len(ladders)} ladders, {len(text.encode()) / 1e6:.1f} MB; open it in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(main())
