"""The report's pieces: plots, pictures, contracts, files, searches, profiles, and all that one machine measured."""

import base64
import csv
import os

import heatmap
import pictures
import plots
import profiles
import results as rungs
import sanitizer
import studies
from markup import code, esc, prose, table
from material import ROOT, note
from report_tables import about, versions_table

MOST_TEXT = 100 * 1024
MOST_ROWS = 100  # of a table in the page; the file has them all


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
        made = maker and (maker.make_video(ladder.name) if ladder.video else maker.make(ladder.name))
        if made:
            shown, output = made
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


def sanitizer_html(document):
    gpu = document["machine"]["gpu"]
    items = "".join(f"<li>{prose(line)}</li>" for line in sanitizer.summary(document))
    return (
        f"<h4>Under compute-sanitizer {esc(document['machine']['sanitizer'])}</h4>\n"
        f'<p class="small">{esc(gpu["name"])}, driver {esc(gpu["driver"])}; last at commit {code(document["commit"])}:'
        f" {code(document['command'])}</p>\n<ul>{items}</ul>"
    )


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
    lines += [sanitizer_html(ladder.sanitizers[machine])] if machine in ladder.sanitizers else []
    lines += [file_html(path) for path in ladder.files.get(machine, [])]
    return "\n".join(lines)
