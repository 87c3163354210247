"""The pages of the documents that Rungs is built from, docs/documents/<name>.md: `make readme`.

    documents.py [--check] [--root FOLDER]

docs/documents/<name>.toml has what a document prints, its claims, and which committed results file answers them; every number of
ours comes from such a file, and each paragraph with one ends with links to the files. What nobody measured says so. A claim
stands under "What held" or under "What turned round" by a formula of the numbers, so that a page changes with the data.

    title, authors, year, where, machine, ladders, question, unwanted
    awaited        names of files that nobody has measured yet; any other must be there
    [files]        name = ["results/...", ...]: the first that is there. A bench, a search, a profile, or a CSV of numbers
    [[table]]      title, label, unit, note, rows = [{ label, ... }], columns = [{ head, ... }]; a column is
                   theirs = "key"                              what the row has under that key, as printed there
                   file, y, where, statistic                   of ours; words of `where`, `file` and `y` in {} are keys of the row
                   number = "name"                             of [numbers]
                   ratio = ["head", "head"]                    of two columns before it
    [numbers]      name = { file, y, where, statistic, of }, { value = "formula" } or { theirs = number }, each with unit
    [[claim]]      says, holds = "formula", ours, why           of the document, and what we found; unless = "number" leaves it out
                                                                where that number is known, if = "number" where it is not
    [[open]]       left, became, otherwise                      what it left as future work
    [[answer]]     text, when, otherwise, unless, if
    [[picture]]    file, title                                  shown where it is there

Rows of a bench are its timed versions, with the columns of a study (kernel, end_to_end, transfer, step.NAME, row.X, result.X and
parameters); of a study the lines of its results.csv or, of its results.json, its numbers as one row; of a search its points; of a
profile what it says of each kernel, copy, call of the API and step.
Exit status: 0 done, 1 --check found an outdated page, 2 a bad file (nothing is written then).
"""

import argparse
import csv
import functools
import glob
import json
import os
import re
import sys
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(1, os.path.join(os.path.dirname(HERE), "report"))

# pylint: disable=wrong-import-position
import figures  # noqa: E402
import markdown  # noqa: E402
import renames  # noqa: E402
import results as rungs  # noqa: E402
import studies  # noqa: E402
from expressions import Formula, StudyError  # noqa: E402
from plots import write_whole  # noqa: E402
from studyfile import STATISTICS, UNITS, check_keys, matches, placeholders  # noqa: E402

FOLDER = os.path.join("docs", "documents")
TOP = {
    "title": str, "authors": str, "year": int, "where": str, "machine": str, "ladders": list, "question": str, "unwanted": str,
    "files": dict, "awaited": list, "table": list, "numbers": dict, "claim": list, "open": list, "answer": list, "picture": list,
}  # fmt: skip
QUERY = {"file": str, "y": str, "where": dict, "statistic": str, "unit": str}
TABLE = {"title": str, "label": str, "unit": str, "note": str, "rows": list, "columns": list}
COLUMN = QUERY | {"head": str, "theirs": str, "ratio": list, "number": str}
NUMBER = QUERY | {"of": str, "value": str, "theirs": (int, float)}
CLAIM = {"says": str, "holds": str, "ours": str, "why": str, "unless": str, "if": str}
OPEN = {"left": str, "became": str, "otherwise": str}
ANSWER = {"text": str, "when": str, "otherwise": str, "unless": str, "if": str}
PICTURE = {"file": str, "title": str}
# kind: (its keys, those that it must have)
KINDS = {
    "table": (TABLE, ("title", "rows", "columns")), "claim": (CLAIM, ("says", "holds", "ours")), "open": (OPEN, ("left", "became")),
    "answer": (ANSWER, ("text",)), "picture": (PICTURE, ("file", "title")),
}  # fmt: skip
NOT_MEASURED = "not measured"


# ---------------------------------------------------------------------------------------------------- results files


class Facts(figures.Row):
    """A row that is no version of a bench: of a table, a search or a profile."""

    def __init__(self, values):
        super().__init__(values, {}, {}, {})

    def get(self, name):
        return self.values.get(name)


def _cell(text):
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        return text


def _of_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return [Facts({name: _cell(cell) for name, cell in row.items() if name and cell}) for row in csv.DictReader(lines)]


def _of_study(path, document):
    """The rows of results.csv with the ids of today, or of results.json the study's own numbers, as one row."""
    if path.endswith(".json"):
        return [Facts(document["numbers"])]
    date, rows = document["points"][0]["date"], _of_csv(path)
    for row in rows:
        row.values["version"] = renames.now(row.get("algorithm"), row.get("version"), date)
    return [row for row in rows if row.get("version")]


def _of_profile(document):
    """A row for each name: a kernel has its sums, launch and metrics in one; and one for the version's own times."""
    profile, rows = document["profile"], {}
    for entry in profile["gpu_activities"] + profile["api_calls"] + profile["host_ranges"]:
        rows.setdefault(entry["name"], {}).update(entry)
    for entry in profile["launches"] + (profile.get("metrics") or []):
        rows.setdefault(entry["kernel"], {}).update({"name": entry["kernel"]} | entry)
    return [Facts(values) for values in rows.values()] + _of_bench(document)


def _of_bench(document):
    raw = json.loads(json.dumps(document))
    rows = []
    for version, plain in zip(document["versions"], raw["versions"]):
        if version["outcome"] != "timed":
            continue
        values = {name: value for name, value in document.get("params", {}).items() if not isinstance(value, dict)}
        values |= {name: document.get(name) for name in ("width", "height", "channels", "threads", "frames", "input")}
        values |= {"version": version["id"], "pixels": rungs.pixels(document), "first_call": version.get("first_call"),
                   "limit": version["limit"]}  # fmt: skip
        values |= {phase: version[phase]["median"] for phase in ("kernel", "end_to_end")}
        values["transfer"] = max(values["end_to_end"] - values["kernel"], 0)
        rows.append(figures.Row(values, raw, plain, {}))
    return rows


@functools.cache
def rows_of(path):
    """(rows, machine in words) of a results file."""
    if os.path.basename(os.path.dirname(path)).startswith("study_"):
        document = studies.load(os.path.dirname(path))
        return _of_study(path, document), rungs.machine(document)
    if path.endswith(".csv"):
        return _of_csv(path), None
    document = rungs.load(path)
    if rungs.is_tune(document):
        points = [point for point in document["points"] if point["time"]]
        rows = [Facts(document["params"] | point["values"] | {"kernel": point["time"]["median"], "best": int(point["best"])})
                for point in points]  # fmt: skip
    else:
        rows = _of_profile(document) if rungs.is_profile(document) else _of_bench(document)
    return rows, rungs.machine(document)


# ---------------------------------------------------------------------------------------------------------- a document


class Document:
    """A checked file and what its numbers are."""

    def __init__(self, root, path):
        self.root, self.path, self.where = root, path, os.path.relpath(path, root)
        try:
            with open(path, "rb") as file:
                self.text = tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise StudyError(f"{self.where}: not TOML: {' '.join(str(error).split())}") from None
        check_keys(self.where, self.text, TOP, ("title", "authors", "machine", "ladders", "question", "answer"))
        self.files, self.used = {}, {}
        for name, paths in self.text.get("files", {}).items():
            found = [one for one in (paths if isinstance(paths, list) else [paths]) if os.path.exists(os.path.join(root, one))]
            self.files[name] = found[0] if found else None
            if not found and name not in self.text.get("awaited", []):
                raise StudyError(f"{self.where}: files.{name}: no such file is here, and it is not among those that are awaited")
        for kind, (fields, needed) in KINDS.items():
            for index, entry in enumerate(self.text.get(kind, []), 1):
                check_keys(f"{self.where}: {kind} {index}", entry, fields, needed)
        self.numbers, self.sources = {}, {}
        self.texts = {}
        for name, entry in self.text.get("numbers", {}).items():
            self._number(name, entry)

    def rows(self, where, name, condition):
        """The rows of a file that a condition takes; None where there is no file."""
        if name not in self.files:
            raise StudyError(f"{where}: there is no file '{name}'; there are {', '.join(self.files) or 'none'}")
        path = self.files[name]
        if path is None:
            return None
        rows, machine = rows_of(os.path.join(self.root, path))
        self.used[path] = machine
        return [row for row in rows
                if row.get("outcome") in (None, "timed") and
                all(any(matches(row.get(key), one) for one in (values if isinstance(values, list) else [values]))
                    for key, values in condition.items())]  # fmt: skip

    def query(self, where, entry):
        """(value, path of its file) of a query; (None, None) where it was not measured."""
        for key in ("file", "y"):
            if key not in entry:
                raise StudyError(f"{where}: '{key}' is missing")
        rows = self.rows(where, entry["file"], entry.get("where", {}))
        kind = entry.get("statistic", "only")
        if kind not in STATISTICS:
            raise StudyError(f"{where}: statistic '{kind}': must be one of {', '.join(STATISTICS)}")
        formula = Formula(where, entry["y"])
        pairs = [(row.number(formula), row) for row in rows or []]
        pairs = [pair for pair in pairs if pair[0] is not None]
        if not pairs:
            return None, None
        if kind in ("argmin", "argmax"):
            value = (min if kind == "argmin" else max)(pairs, key=lambda pair: pair[0])[1].get(entry.get("of", "version"))
        else:
            value = figures.statistic(kind, [number for number, _ in pairs], where)
        return value, self.files[entry["file"]]

    def _number(self, name, entry):
        where = f"{self.where}: numbers.{name}"
        check_keys(where, entry, NUMBER)
        paths = []
        if "theirs" in entry:
            value = entry["theirs"]
        elif "value" in entry:
            formula = Formula(where, entry["value"])
            for other in formula.names:
                if other not in self.numbers:
                    raise StudyError(f"{where}: '{other}' is no number above it")
            value = formula.evaluate(self.numbers.get)
            paths = [path for other in formula.names for path in self.sources[other]]
        else:
            value, path = self.query(where, entry)
            paths = [path] if path else []
        self.numbers[name], self.sources[name] = value, list(dict.fromkeys(paths))
        self.texts[name] = figures.text_of(value, unit_of(where, entry, entry.get("y", "")))

    def fill(self, where, text):
        """A text with its numbers and links to their files; None where one of them is not known."""
        paths = []
        for name in placeholders(text):
            if name not in self.numbers:
                raise StudyError(f"{where}: there is no number '{name}'")
            if self.numbers[name] is None:
                return None
            paths += self.sources[name]
        words = re.sub(r"\{\{|\}\}|\{([A-Za-z0-9_]+)\}", lambda m: self.texts[m[1]] if m[1] else m[0][0], text)
        links = ", ".join(markdown.link(called(path), f"../../{path}") for path in dict.fromkeys(paths))
        words = " ".join(words.split())
        return f"{words} ({links})" if links else words

    def replaced(self, where, entry):
        """Whether another entry stands for this one: `unless` a number is known, or only `if` one is."""
        for key in ("unless", "if"):
            if entry.get(key) not in (None, *self.numbers):
                raise StudyError(f"{where}: there is no number '{entry[key]}'")
        known = {key: self.numbers[entry[key]] is not None for key in ("unless", "if") if key in entry}
        return known.get("unless", False) or not known.get("if", True)

    def holds(self, where, text):
        """Whether a formula of the numbers holds; None where one of them is not known."""
        formula = Formula(where, text)
        for name in formula.names:
            if name not in self.numbers:
                raise StudyError(f"{where}: there is no number '{name}'")
        return formula.evaluate(self.numbers.get)


def unit_of(where, entry, y):
    unit = entry.get("unit", "time" if y.strip() in ("kernel", "end_to_end", "transfer", "first_call") or
                     re.fullmatch(r"step\.\w+", y.strip()) else "number")  # fmt: skip
    if unit not in UNITS:
        raise StudyError(f"{where}: unit '{unit}': must be one of {', '.join(UNITS)}")
    return unit


def called(path):
    """results/h100/harris/study_harris/results.csv is "h100: study_harris"."""
    parts = path.split("/")
    name = parts[-2] if parts[-1] in ("results.csv", "results.json") else os.path.splitext(parts[-1])[0]
    return f"{parts[1]}: {name}" if len(parts) > 2 else name


# ---------------------------------------------------------------------------------------------------------- a page


def table(document, index, entry):
    """Theirs beside ours, and what is said underneath."""
    where = f"{document.where}: table {index}"
    lines, paths = [], []
    for row in entry["rows"]:
        values, cells = {}, [markdown.inline(row.get("label", ""))]

        def words(value, row=row):
            if isinstance(value, dict):
                return {key: words(one) for key, one in value.items()}
            if isinstance(value, list):
                return [words(one) for one in value]
            if not isinstance(value, str):
                return value
            names = re.findall(r"\{(\w+)\}", value)
            if any(name not in row for name in names):
                return None
            if re.fullmatch(r"\{\w+\}", value):
                return row[names[0]]
            return re.sub(r"\{(\w+)\}", lambda m: str(row[m[1]]), value)

        for column in entry["columns"]:
            check_keys(where, column, COLUMN, ("head",))
            head, unit = column["head"], column.get("unit", entry.get("unit", "number"))
            if unit not in UNITS:
                raise StudyError(f"{where}: unit '{unit}': must be one of {', '.join(UNITS)}")
            if "theirs" in column:
                values[head] = row.get(column["theirs"])
                cells.append(figures.text_of(values[head], unit))
            elif "ratio" in column:
                above, below = (values.get(name) for name in column["ratio"])
                known = all(isinstance(value, (int, float)) for value in (above, below)) and below
                values[head] = above / below if known else None
                cells.append(figures.text_of(values[head], "number"))
            elif "number" in column:
                name = words(column["number"])
                if name is not None and name not in document.numbers:
                    raise StudyError(f"{where}: there is no number '{name}'")
                values[head] = document.numbers.get(name)
                paths += document.sources.get(name, []) if values[head] is not None else []
                cells.append("–" if name is None else NOT_MEASURED if values[head] is None else document.texts[name])
            else:
                query = {key: words(value) for key, value in column.items()}
                asked = None not in [query["file"], query["y"], *query.get("where", {}).values()]
                values[head], path = document.query(where, query) if asked else (None, None)
                paths += [path] if path else []
                cells.append("–" if not asked else NOT_MEASURED if values[head] is None else figures.text_of(values[head], unit))
        lines.append(cells)
    if all(cell in ("–", NOT_MEASURED) for cells in lines for cell in cells[1:]):
        return f"**{entry['title']}**: {NOT_MEASURED}."
    head = [entry.get("label", "")] + [column["head"] for column in entry["columns"]]
    # A column in which nothing is known is a word underneath, and a row that is left with nothing is none.
    known = [any(cells[i] not in ("–", NOT_MEASURED) for cells in lines) or i == 0 for i in range(len(head))]
    missing = [name for i, name in enumerate(head) if not known[i] and any(cells[i] == NOT_MEASURED for cells in lines)]
    head, *lines = [[cell for cell, shown in zip(cells, known) if shown] for cells in [head, *lines]]
    lines = [cells for cells in lines if any(cell != "–" for cell in cells[1:])]
    notes = [entry["note"]] if "note" in entry else []
    notes += [f"Not measured yet: {'; '.join(missing)}."] if missing else []
    links = ", ".join(markdown.link(called(path), f"../../{path}") for path in dict.fromkeys(paths))
    notes += [f"Ours: {links}."] if links else []
    return f"**{entry['title']}**\n\n{markdown.table(head, lines, 1)}" + "".join(f"\n\n{' '.join(note.split())}" for note in notes)


def claims(document):
    """The sections of what held, what turned round and what is not measured."""
    held, turned, unknown = [], [], []
    for index, claim in enumerate(document.text.get("claim", []), 1):
        where = f"{document.where}: claim {index}"
        if document.replaced(where, claim):
            continue
        truth = document.holds(where, claim["holds"])
        says = " ".join(claim["says"].split())
        texts = [document.fill(where, " ".join(words)) for words in ([claim["ours"], claim.get("why", "")], [claim["ours"]])]
        ours = next(filter(None, texts), None)
        if truth is None or ours is None:
            unknown.append(f"- {says}")
        else:
            (held if truth else turned).append(f"- *{says}* {ours}")
    sections = [("What held", held), ("What turned round", turned), ("Not measured by us", unknown)]
    return [f"## {title}\n\n" + "\n".join(lines) for title, lines in sections if lines]


def paragraphs(document, kind):
    for index, entry in enumerate(document.text.get(kind, []), 1):
        where = f"{document.where}: {kind} {index}"
        if document.replaced(where, entry):
            continue
        met = document.holds(where, entry["when"]) if "when" in entry else True
        text = document.fill(where, entry["text"]) if met else None
        if text is None and "otherwise" in entry:
            text = document.fill(where, entry["otherwise"])
        if text:
            yield text


def opened(document):
    rows = []
    for index, entry in enumerate(document.text.get("open", []), 1):
        where = f"{document.where}: open {index}"
        became = document.fill(where, entry["became"]) or document.fill(where, entry.get("otherwise", "")) or NOT_MEASURED
        rows.append([" ".join(entry["left"].split()), became])
    return "## What it left open, and what became of it\n\n" + markdown.table(["it left", "here"], rows, 2) if rows else None


def page(document):
    text, name = document.text, os.path.basename(document.path)
    ladders = ", ".join(markdown.link(ladder, f"../{ladder}.md") for ladder in text["ladders"])
    place = f", {text['where']}" if text.get("where") else ""
    year = f", {text['year']}" if "year" in text else ""
    parts = [
        f"<!-- Made by `make readme` of {name}, where it is edited. -->",
        f"# {text['title']}",
        f"{text['authors']}{place}{year}. Its ladders here: {ladders}. {markdown.link('All ladders', '../README.md')}.",
        "## What it asks",
        " ".join(text["question"].split()),
        "## The answer today",
        *(list(paragraphs(document, "answer")) or ["Not measured yet."]),
        "## Its figures, and ours beside them",
        f"Theirs: {text['machine']}. Ours: the machines that are named at the end; each table links to its files. –: not printed "
        "there, or there is no such thing here.",
    ]
    parts += [table(document, index, entry) for index, entry in enumerate(text.get("table", []), 1)]
    for picture in text.get("picture", []):
        if os.path.exists(os.path.join(document.root, picture["file"])):
            parts.append(f"![{picture['title']}](../../{picture['file']})\n\n**{picture['title']}.**")
    parts += claims(document)
    parts += [part for part in [opened(document)] if part]
    if "unwanted" in text:
        parts += ["## Not wanted", " ".join(text["unwanted"].split())]
    machines = {}
    for path, machine in document.used.items():
        machines.setdefault(path.split("/")[1], set()).add(machine)
    if machines:
        lines = [f"- {name}: {'; '.join(sorted(filter(None, words))) or 'as its files say'}" for name, words in sorted(machines.items())]
        parts += ["## Our machines", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def make(root):
    """(path, text) of each page as it must be."""
    return [(path[: -len(".toml")] + ".md", page(Document(root, path)))
            for path in sorted(glob.glob(os.path.join(glob.escape(root), FOLDER, "*.toml")))]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(prog="documents.py", description="Pages of the documents.", allow_abbrev=False)
    parser.add_argument("--check", action="store_true", help="change nothing, name what is outdated")
    parser.add_argument("--root", default=ROOT)
    options = parser.parse_args()
    try:
        files = make(options.root)
    except (StudyError, rungs.ResultsError, rungs.OtherKind) as error:
        print(f"documents: {error}", file=sys.stderr)
        return 2
    outdated = 0
    for path, text in files:
        try:
            with open(path, encoding="utf-8") as file:
                same = file.read() == text
        except FileNotFoundError:
            same = False
        if not same and options.check:
            print(f"{os.path.relpath(path, options.root)}: outdated; `make readme` makes it anew", file=sys.stderr)
            outdated = 1
        elif not same:
            write_whole(path, text)
            print(os.path.relpath(path, options.root))
    return outdated


if __name__ == "__main__":
    sys.exit(main())
