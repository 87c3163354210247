"""Results files with one thing spoilt: every field of a bench, a video, a search, a profile, a study and of what compute-sanitizer
found takes numbers that are negative, zero, tiny, huge or none, texts with control characters, and every other type, or is left
out. Each such file is either refused in one printable line that names the file and the field, or the report's page and the plots
are made of it; nothing else may happen. usage: spoil_results.py VIDEO TUNE, results files of those kinds that the caller has; the
others are committed."""

import copy
import json
import os
import pickle
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "common", "report"))
import gnuplot  # noqa: E402
import ladder as ladder_module  # noqa: E402
import material  # noqa: E402
import pieces  # noqa: E402
import plots  # noqa: E402
import report_tables  # noqa: E402
import results as rungs  # noqa: E402
import sanitizer  # noqa: E402
import schema  # noqa: E402
import studies  # noqa: E402

HUGE = 10**400
BAD = [-1, 0, HUGE, 1e300, 5e-324, float("inf"), True, None, "\x1b]0;title\x07\x9b31m", [], {"a": [1]}]
ABSENT = object()
POINT = {"values": {"sigma": 1.5, "input": "noise"}, "date": "2026-01-31T12:00:00Z", "commit": "abc", "command": "rungs bench", "timed": ["cpu/omp"]}
STUDY = {
    "schema": "rungs-study", "version": 2, "name": "noise", "algorithm": "blur", "level": "full", "title": "Noise",
    "question": "How much?", "paragraphs": ["Much."], "wrong": ["a"], "left_out": ["b"], "skipped": ["c"], "emulated": ["d"],
    "tables": [{"title": "Times", "head": ["a", "b"], "rows": [["1", "2"]]}], "points": [POINT],
    "machine": None,  # of a bench
    "plots": [{"name": "time", "title": "Time", "caption": "By size"}],
    "source": {"authors": "Nobody", "title": "Nothing", "year": 2026},
}  # fmt: skip
ACCESSES = [{"what": what, "thread": "(1,0,0)", "kernel": "k(int *)", "place": "a.cu:1"} for what in ("Read", "Write")]
RUN = {
    "outcome": "clean", "source": "abc", "date": "2026-01-31T12:00:00Z", "commit": "abc", "driver": "1", "sanitizer": "2025.3",
    "command": "compute-sanitizer", "seconds": 1.5, "limit": 90, "cases": 22, "left_out": 3, "errors": 1, "warnings": 1,
    "messages": [{"text": "Race reported", "accesses": ACCESSES}], "why": "because",
}  # fmt: skip
SANITIZER = {
    "schema": "rungs-sanitizer", "version": 1, "date": "2026-01-31T12:00:00Z", "commit": "abc", "command": "compute-sanitizer",
    "machine": {"gpu": {"name": "G", "driver": "1", "cuda": "13.0"}, "sanitizer": "2025.3"}, "algorithm": "blur",
    "versions": [{"id": "cuda/v1.0", "path": "cuda/blur/v1.0_naive.cu", "memcheck": RUN, "racecheck": RUN | {"outcome": "errors"},
                  "initcheck": RUN | {"outcome": "failed"}, "synccheck": {"outcome": "not run"}}],
}  # fmt: skip


def leaves(value, path=()):
    """Paths of all fields, one of each name and type."""
    seen = set()

    def walk(value, path):
        kind = (*(step for step in path if not isinstance(step, int)), type(value).__name__)
        if path and kind not in seen:
            seen.add(kind)
            yield path
        for step, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
            yield from walk(item, path + (step,))

    return list(walk(value, path))


def spoilt(document, path, value):
    """`document`, pickled, with another value at the path."""
    result = pickle.loads(document)
    place = result
    for step in path[:-1]:
        place = place[step]
    if value is ABSENT:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return result


def check_plot(height, lines):
    """In place of gnuplot: what it would be told holds numbers that it can draw."""
    text = "\n".join(lines)
    for word in ("nan", "inf", "None"):
        if any(part == word for part in text.replace(",", " ").split()):
            raise ValueError(f"a plot of {word}")
    return '<svg xmlns="http://www.w3.org/2000/svg"/>'


def show(results, ladders):
    """Page and plots of results that were taken."""
    if results["algorithm"] not in ladders:  # gather() leaves it out with a note
        return ""
    ladder = copy.copy(ladders[results["algorithm"]])
    for name in ("machines", "searches", "profiles", "studies", "files"):
        setattr(ladder, name, {})
    ladder.versions = []  # sources, of which no results file decides anything
    results["beside"] = []
    ladder.add(results)
    ladder.sort_results()
    text = ladder_module.ladder_html(ladder, [ladder.name], pieces.Drawer(), None)
    text += report_tables.start_table({ladder.name: ladder}) + rungs.machine(results)
    if rungs.kind(results) == rungs.KINDS["bench"] and rungs.timed(results):
        for _, title, _ in plots.plots_of([results]):
            text += title
    return text


def named(message, path):
    """Whether the message says where: one of the names on the way to the field."""
    return any(str(step) in message for step in path)


def trial(name, document, path, value, ladders):
    """What is wrong with what happens, or None."""
    file = f"{name}.json"
    try:
        if name == "study":
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "results.json"), "w", encoding="utf-8") as out:
                    json.dump(document, out)
                open(os.path.join(folder, "time.svg"), "w", encoding="utf-8").write(check_plot(0, []))
                file = os.path.join(folder, "results.json")
                text = studies.html(studies.load(folder), lambda: 1)
        elif name == "sanitizer":
            text = pieces.sanitizer_html(sanitizer.checked(file, document))
        else:
            text = show(rungs.checked(file, document), ladders)
    except rungs.ResultsError as error:
        message = str(error)
        if not message.startswith(file) or not (named(message[len(file):], path) or "not JSON" in message or path == ("kind",)):
            return f"names neither file nor field: {message!r}"
        return None if message.isprintable() else f"not one printable line: {message!r}"
    except rungs.OtherKind as other:
        return None if str(other).isprintable() else f"not one printable line: {str(other)!r}"
    except Exception as error:  # whatever else there is
        return f"{type(error).__name__}: {error}"
    if re.search("[\\0-\\x09\\x0b-\\x1f\\x7f-\\x9f]", text):
        return "control characters in the page"
    return None


def main(video, tune):
    gnuplot.draw = plots.draw = check_plot
    with open(os.path.join(ROOT, "results/h200/blur/blur_3840x2160.json"), encoding="utf-8") as file:
        bench = json.load(file)
    bench["versions"] = bench["versions"][:2] + bench["versions"][-1:]
    documents = {"bench": bench, "video": rungs.read(video), "tune": rungs.read(tune)}
    documents["profile"] = rungs.read(os.path.join(ROOT, "results/h200/blur/profile_blur_v1.0.json"))
    STUDY["machine"] = bench["machine"]
    documents["study"] = STUDY
    documents["sanitizer"] = SANITIZER
    ladders = {name: material.Ladder(name) for name in {d["algorithm"] for d in documents.values()}}
    tried = 0
    wrong = []
    for name, document in documents.items():
        pickled = pickle.dumps(document)
        for path in leaves(document):
            for value in [ABSENT, *BAD]:
                if value is ABSENT and isinstance(path[-1], int):
                    continue
                tried += 1
                what = trial(name, spoilt(pickled, path, value), path, value, ladders)
                if what:
                    wrong.append(f"{name}: {'.'.join(map(str, path))} = {'absent' if value is ABSENT else schema.shown(value)}: {what}")
    for line in wrong[:200]:
        print(line)
    print(f"{tried} files tried, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
