"""Rows of a study (a version at a point), and what its file computes from them: numbers, paragraphs, tables."""

import copy
import math
import re
import statistics

import results as rungs
from expressions import StudyError
from studyfile import TIMES, matches, placeholders

NONE = "–"


class Row:
    """A version at a point. get() gives a column; None where it was not measured."""

    def __init__(self, values, result, version, peers):
        self.values, self.result, self.version, self.peers = values, result, version, peers

    def get(self, name):
        for prefix, source in (("result.", self.result), ("row.", self.version)):
            if name.startswith(prefix):
                for part in name[len(prefix) :].split("."):
                    source = source.get(part) if isinstance(source, dict) else None
                return source if isinstance(source, (int, float)) and not isinstance(source, bool) else None
        if name.startswith("step."):
            return next((s["seconds"] for s in self.version.get("steps", []) if s["name"] == name[5:]), None)
        return self.values.get(name)

    def number(self, formula):
        def other(version):
            row = self.peers.get(version)
            return row.get if row and row.get("outcome") == "timed" else None

        return formula.evaluate(self.get, other)


def rows_of(point, document, judged):
    """The rows of the versions that the study asks for; others of the same bench can be asked for by ratio(). What did not run
    where a result was recorded says nothing about this machine."""
    raw = copy.deepcopy(document)
    result = rungs.checked("results", document)
    peers = {}
    for version, plain in zip(result["versions"], raw["versions"]):
        pixels = rungs.pixels(result)
        values = {name: value for name, value in result.get("params", {}).items() if not isinstance(value, dict)}
        values |= point.values | judged
        values |= {
            "size": point.size or f"{result['width']}x{result['height']}", "width": result["width"], "height": result["height"],
            "channels": result["channels"],
            "pixels": pixels, "threads": result["threads"], "version": version["id"], "side": rungs.side(version),
            "outcome": version["outcome"], "first_call": version.get("first_call"), "limit": version["limit"],
            "limit_fraction": version["limit_fraction"],
        }  # fmt: skip
        for phase in ("kernel", "end_to_end"):
            times = version[phase] or {}
            values |= {phase: times.get("median"), f"{phase}_q1": times.get("q1"), f"{phase}_q3": times.get("q3")}
        if version["outcome"] == "timed":
            values["rate"] = pixels / values["kernel"]
            values |= {"per_pixel" + end: values["kernel" + end] / pixels for end in ("", "_q1", "_q3")}
            if rungs.on_device(version):
                values["transfer"] = max(values["end_to_end"] - values["kernel"], 0)
            else:
                values["transfer"] = 0.0
        peers[version["id"]] = Row(values, raw, plain, peers)
    return [row for name, row in peers.items()
            if name in point.versions and not (point.recorded and row.get("outcome") == "skipped")]  # fmt: skip


def rows_of_table(point):
    """The rows of a recorded table, which count like timed ones."""
    version = point.versions[0]
    constant = point.values | {"version": version, "side": rungs.side({"id": version}), "outcome": "timed"}
    return [Row(constant | numbers, {}, {}, {}) for numbers in point.table]


def chosen(rows, where):
    """The timed rows that a condition takes."""
    def fits(row):
        return all(
            any(matches(row.get(name), wanted) for wanted in (values if isinstance(values, list) else [values]))
            for name, values in where.items()
        )

    return [row for row in rows if row.get("outcome") == "timed" and fits(row)]


# ---------------------------------------------------------------------------------------------------------- numbers


def text_of(value, unit):
    if value is None:
        return NONE
    if isinstance(value, str):
        return value
    if unit == "time":
        return rungs.time(value) if value > 0 else "0"
    if unit == "percent":
        return rungs.percent(100 * value)
    if unit == "text":
        return f"{value:.10g}"
    return str(value) if isinstance(value, int) else rungs.number(value)


def _crossover(rows, entry):
    """The smallest x from which on `to` is faster than `from` at every x measured: by more than the quartiles reach,
    where the column has quartiles. Of several versions on a side, the best at each x."""
    formula, column = entry["formula"], entry["formula"].text.strip()

    def best(pattern, x):
        side = [row for row in rows if matches(row.get("version"), pattern) and row.get(entry["x"]) == x]
        side = [(row.number(formula), row) for row in side if row.number(formula) is not None]
        return min(side, key=lambda pair: pair[0]) if side else None

    values = sorted({row.get(entry["x"]) for row in rows if row.get(entry["x"]) is not None}, key=sort_key)
    since, known = None, False
    for x in values:
        before, after = best(entry["from"], x), best(entry["to"], x)
        if before is None or after is None:
            continue
        known = True
        low = before[1].get(f"{column}_q1")
        high = after[1].get(f"{column}_q3")
        wins = after[0] < before[0] if low is None or high is None else high < low
        since = (since or after[1]) if wins else None
    return (since.get(entry.get("of", entry["x"])) if since else None), known


def compute(entry, rows, numbers):
    """The value of one number of the study file, or None when nothing was measured for it."""
    formula, kind = entry["formula"], entry["kind"]
    if kind == "value":
        return formula.evaluate(lambda name: numbers.get(name))
    rows = chosen(rows, entry["where"])
    if kind == "crossover":
        return _crossover(rows, entry)[0]
    pairs = [(row.number(formula), row) for row in rows]
    pairs = [(value, row) for value, row in pairs if value is not None]
    if pairs and kind in ("argmin", "argmax"):
        return (min if kind == "argmin" else max)(pairs, key=lambda pair: pair[0])[1].get(entry.get("of", "version"))
    return statistic(kind, [value for value, _ in pairs], formula.where)


def statistic(kind, values, where):
    """One number for several, or None for none."""
    if kind == "count":
        return len(values)
    if not values:
        return None
    if kind == "geomean":
        if min(values) <= 0:
            raise StudyError(f"{where}: a geometric mean of {min(values):g}")
        return math.exp(statistics.fmean(map(math.log, values)))
    if kind == "only":
        if len(values) > 1:
            raise StudyError(f"{where}: 'only' fits {len(values)} measurements; narrow its 'where'")
        return values[0]
    if kind == "deviation":
        return statistics.stdev(values) if len(values) > 1 else None
    return {"min": min, "max": max, "median": statistics.median, "mean": statistics.fmean, "sum": sum}[kind](values)


def compute_all(study, rows):
    """{name: value}, and {name: text}."""
    values = {}
    for entry in study.numbers:
        values[entry["name"]] = compute(entry, rows, values)
    return values, {entry["name"]: text_of(values[entry["name"]], entry["unit"]) for entry in study.numbers}


def paragraphs(study, values, texts, facts):
    """A paragraph is left out, or its `otherwise` taken, when its condition fails or a number of it is not known."""
    known = {**values, **facts}
    words = {**{name: str(value) for name, value in facts.items()}, **texts}

    def fill(text):
        if any(known.get(name) is None for name in placeholders(text)):
            return None
        filled = re.sub(r"\{\{|\}\}|\{([A-Za-z0-9_]+)\}", lambda m: words[m[1]] if m[1] else m[0][0], text)
        return " ".join(filled.split())

    for paragraph in study.paragraphs:
        holds = paragraph["formula"] is None or paragraph["formula"].evaluate(known.get)
        text = fill(paragraph["text"]) if holds else None
        if text is None and "otherwise" in paragraph:
            text = fill(paragraph["otherwise"])
        if text:
            yield text


# ----------------------------------------------------------------------------------------------------------- tables


def sort_key(value):
    """Numbers by size, sizes by pixels, texts in their order."""
    if isinstance(value, (int, float)):
        return (0, value, "")
    match = re.fullmatch(r"(\d+)x(\d+)(?:x(\d+))?", str(value))
    return (1, int(match[1]) * int(match[2]) * int(match[3] or 1), str(value)) if match else (2, 0, str(value))


def in_order(values, name, study):
    """Of versions the order of the ladder, else by size."""
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    if name == "version":
        ladder = [version for _, versions in study.catalogue.values() for version in versions]
        return sorted(distinct, key=ladder.index)
    return sorted(distinct, key=sort_key)


def pivot(study, table, rows):
    """(head, rows of text) of a [[table]]: its statistic where several measurements share a cell."""
    rows = chosen(rows, table["where"])
    across = in_order([row.get(table["columns"]) for row in rows], table["columns"], study)
    lines = []
    for value in in_order([row.get(table["rows"]) for row in rows], table["rows"], study):
        cells = [text_of(value, "time" if table["rows"] in TIMES else "text")]
        for other in across:
            found = [
                row.number(table["formula"])
                for row in rows
                if row.get(table["rows"]) == value and row.get(table["columns"]) == other
            ]
            found = [number for number in found if number is not None]
            cells.append(text_of(statistic(table["statistic"], found, table["formula"].where), table["unit"]))
        lines.append(cells)
    return [table["rows"]] + [str(value) for value in across], lines


def beside(published, rows):
    """(head, rows of text): their figures and ours for the same words."""
    names = list(dict.fromkeys(name for row in published["rows"] for name in row if name not in ("value", "label")))
    lines = []
    for row in published["rows"]:
        where = {name: row[name] for name in names if name in row}
        found = [one.number(published["formula"]) for one in chosen(rows, where)]
        found = [number for number in found if number is not None]
        ours = statistics.median(found) if found else None
        label = row.get("label") or ", ".join(str(row.get(name, NONE)) for name in names)
        lines.append([label, text_of(row["value"], published["unit"]), text_of(ours, published["unit"])])
    theirs = ", ".join(str(published[name]) for name in ("machine", "year") if name in published)
    head = [", ".join(names) or "what", f"theirs: {theirs}", "ours"]
    return head, lines
