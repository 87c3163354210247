"""What a study leaves: results.csv, results.json, *.svg and study.md in its folder. studies.py (common/report) reads it."""

import csv
import io
import json
import os
import statistics

import figures
import plots
import results as rungs
from measuring import note, quantile
from studies import SCHEMA, VERSION

UNIT_TEXT = {"time": plots.short_time, "number": plots.short, "percent": lambda value: plots.short(100 * value) + " %"}


# ------------------------------------------------------------------------------------------------------------ plots


def _label(plot):
    text = plot.get("y_label") or (" + ".join(formula.text for formula in plot["ys"]).replace("_", " "))
    return text + (" (logarithmic)" if "y" in plot.get("log", []) else "")


def _spread(row, formula, value):
    """The quartiles of a column that has them, else the value itself."""
    column = formula.text.strip()
    low, high = row.get(f"{column}_q1"), row.get(f"{column}_q3")
    return (value, low, high) if low is not None and high is not None else (value, value, value)


def _name(row, columns):
    return ", ".join(str(row.get(c)) if c in ("version", "size", "input") else f"{c} {row.get(c)}" for c in columns)


def _lines(study, plot, rows):
    formula = plot["ys"][0]
    values = figures.in_order([row.get(plot["x"]) for row in rows], plot["x"], study)
    numeric = all(isinstance(value, (int, float)) for value in values)
    log = "x" in plot.get("log", [])
    if numeric:
        position = {value: value for value in values}
        # Ticks where measured, when there is room for them.
        ticks = [(f"{value:g}", value) for value in values] if len(values) <= 8 and not log else None
    elif plot["x"] == "size":
        log = True
        position = {value: int(value.split("x")[0]) * int(value.split("x")[1]) / 1e6 for value in values}
        ticks = [(value.replace("x", "×"), position[value]) for value in values]
    else:
        position = {value: index for index, value in enumerate(values)}
        ticks = [(str(value), position[value]) for value in values]
    by_name = {}
    for row in rows:
        value = row.number(formula)
        if value is not None and row.get(plot["x"]) is not None:
            points = by_name.setdefault(_name(row, plot["series"]), {})
            points.setdefault(position[row.get(plot["x"])], []).append(_spread(row, formula, value))
    order = [_name(row, plot["series"]) for row in sorted(rows, key=lambda row: _ladder_place(study, row))]
    series = []
    for name in dict.fromkeys(order):
        points = [
            (x, *(statistics.median(part) for part in zip(*many)))
            for x, many in sorted(by_name.get(name, {}).items())
        ]
        if "y" in plot.get("log", []):
            points = [point for point in points if min(point[1:]) > 0]
        if log:
            points = [point for point in points if point[0] > 0]
        if points:
            series.append((name, points))
    if not series:
        return None
    x_label = (plot.get("x_label") or plot["x"]) + (" (logarithmic)" if log else "")
    return plots.lines_plot(
        series, ticks, log, x_label, "y" in plot.get("log", []), _label(plot), UNIT_TEXT[plot["unit"]]
    )


def _ladder_place(study, row):
    return list(study.catalogue[row.get("algorithm")][1]).index(row.get("version"))


def _bars(study, plot, rows):
    groups = {}
    for row in sorted(rows, key=lambda row: _ladder_place(study, row)):
        # A word that is the same in all bars says nothing.
        columns = [plot["x"]] + [
            name for name in plot["series"] if name != plot["x"] and len({other.get(name) for other in rows}) > 1
        ]
        values = [row.number(formula) for formula in plot["ys"]]
        if None not in values:
            groups.setdefault(_name(row, columns), []).append((row, values))
    log, bars = "y" in plot.get("log", []), []
    for name, many in groups.items():
        parts = []
        for index, formula in enumerate(plot["ys"]):
            spreads = [_spread(row, formula, values[index]) for row, values in many]
            if len(spreads) > 1:
                # Several measurements of one bar: pictures of a folder, say. The whisker is their quartiles.
                medians = [spread[0] for spread in spreads]
                parts.append(tuple(quantile(medians, share) for share in (0.5, 0.25, 0.75)))
            else:
                parts.append(spreads[0])
        if not log or sum(part[0] for part in parts) > 0:
            bars.append((name, rungs.side({"id": many[0][0].get("version")}), parts))
    if not bars:
        return None
    names = [formula.text.replace("_", " ") for formula in plot["ys"]]
    # A stack on a logarithmic axis would show its parts at wrong lengths.
    return plots.bars_plot(bars, names, log and len(names) == 1, _label(plot), UNIT_TEXT[plot["unit"]])


def draw(study, rows):
    """{name: SVG} of the plots that have something to show."""
    drawn = {}
    for plot in study.plots:
        taken = figures.chosen(rows, plot["where"])
        svg = (_lines if plot["kind"] == "lines" else _bars)(study, plot, taken) if taken else None
        if svg:
            drawn[plot["name"]] = svg
        elif taken:
            note(f"plot {plot['name']}: of {rungs.count(len(taken), 'row')} none has a value to draw")
    return drawn


# ------------------------------------------------------------------------------------------------------------ files


def csv_text(study, rows):
    """One line per version and point, empty where not measured."""
    extra = [name for name in study.columns if any(row.get(name) is not None for row in rows)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(extra + ["why"])
    for row in rows:
        cells = ["" if row.get(name) is None else row.get(name) for name in extra]
        writer.writerow(cells + [row.version.get("why") or ""])
    return stream.getvalue()


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def markdown_table(head, lines):
    text = ["| " + " | ".join(map(cell, head)) + " |", "|" + " --- |" + " ---: |" * (len(head) - 1)]
    return "\n".join(text + ["| " + " | ".join(map(cell, line)) + " |" for line in lines]) + "\n"


def markdown(document, drawn):
    """study.md, of the document that results.json holds."""
    parts = [f"# {document['title']}\n"]
    if document["question"]:
        parts.append(document["question"] + "\n")
    if document["source"]:
        source = document["source"]
        where = f", {source['where']}" if source.get("where") else ""
        parts.append(f"Source: {source['authors']}, *{source['title']}*{where}, {source['year']}.\n")
    parts += [paragraph + "\n" for paragraph in document["paragraphs"]]
    for plot in document["plots"]:
        if plot["name"] in drawn:
            caption = f" {plot['caption']}" if plot["caption"] else ""
            parts.append(f"![{plot['title']}]({plot['name']}.svg)\n\n**{plot['title']}.**{caption}\n")
    for table in document["tables"]:
        if table["rows"]:
            parts.append(f"**{table['title']}**\n\n{markdown_table(table['head'], table['rows'])}")
    for kind, title in (("wrong", "Wrong"), ("left_out", "Could not be measured"), ("skipped", "Did not run here"),
                        ("emulated", "Verified without times, on the emulator")):  # fmt: skip
        if document[kind]:
            parts.append(f"{title}:\n\n" + "\n".join(f"- {line}" for line in document[kind]) + "\n")
    first = document["points"][0]
    parts.append(
        f"{rungs.machine(document)}; commit {first['commit'] or 'unknown'}; {first['date'][:10]}; "
        f"{document['level']} form, {rungs.count(len(document['points']), 'point')}, all verified against cpu/serial "
        f"unless named above. Data: results.csv, results.json. Made by `make study-{document['name']}`.\n"
    )
    return "\n".join(parts)


def write_all(folder, study, name, level, measured, rows, left_out):
    """measured: [(point, document)]. Returns what makes the exit status 1, as lines."""
    wrong, emulated, skipped = {}, {}, {}
    for row in rows:
        place = {"failed": wrong, "emulated": emulated, "skipped": skipped}.get(row.get("outcome"))
        if place is not None:
            why = f": {row.version['why']}" if row.version.get("why") else ""
            place.setdefault(f"{row.get('algorithm')}:{row.get('version')}{why}", []).append(row)

    def lines(found):
        return [f"{what} ({rungs.count(len(many), 'point')})" for what, many in found.items()]

    first = measured[0][1]
    gpu = first["machine"]["gpu"]
    facts = {
        "cpu": first["machine"]["cpu"], "cores": first["machine"]["cores"], "gpu": gpu["name"] if gpu else None,
        "threads": first["threads"], "date": first["date"][:10], "points": len(measured), "wrong": len(wrong),
    }  # fmt: skip
    values, texts = figures.compute_all(study, rows)
    text = list(figures.paragraphs(study, values, texts, facts))
    tables = []
    for table in study.tables:
        head, body = figures.pivot(study, table, rows)
        tables.append({"title": table["title"], "head": head, "rows": body})
    for published in study.published:
        head, body = figures.beside(published, rows)
        title = f"{published['title']} (theirs: published figures of {published.get('source', 'the source')})"
        tables.append({"title": title, "head": head, "rows": body})
    drawn = draw(study, rows) if study.plots else {}
    document = {
        "schema": SCHEMA, "version": VERSION, "name": name, "algorithm": study.algorithm, "level": level,
        "study": study.where, "title": study.title, "question": " ".join(study.question.split()),
        "source": study.source, "numbers": values, "paragraphs": text, "tables": tables,
        "plots": [{"name": plot["name"], "title": plot["title"], "caption": plot.get("caption", "")}
                  for plot in study.plots if plot["name"] in drawn],
        "wrong": lines(wrong), "left_out": left_out, "skipped": lines(skipped), "emulated": lines(emulated),
        "machine": first["machine"],
        "points": [
            {"values": point.values, "timed": [row["id"] for row in rungs.timed(results)]}
            | {name: results[name] for name in ("date", "commit", "command")}
            for point, results in measured
        ],
    }  # fmt: skip
    os.makedirs(folder, exist_ok=True)
    plots.write_whole(os.path.join(folder, "results.json"), json.dumps(document, indent=1) + "\n")
    plots.write_whole(os.path.join(folder, "results.csv"), csv_text(study, rows))
    for plot in study.plots:
        path = os.path.join(folder, f"{plot['name']}.svg")
        if plot["name"] in drawn:
            plots.write_whole(path, drawn[plot["name"]])
        elif os.path.exists(path):
            # A plot of an earlier call would be taken for one of this.
            os.remove(path)
    plots.write_whole(os.path.join(folder, "study.md"), markdown(document, drawn))
    return [f"wrong: {line}" for line in document["wrong"]] + [f"left out: {line}" for line in left_out]
