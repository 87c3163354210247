"""Studies: sweeps over inputs, sizes, parameters, threads and versions, measured, verified, drawn and put into words.

    study.py run NAME [--level full|short] [--rungs build/rungs] [--dir FOLDER] [--versions A,B]
                      [--sweeps A,B] [--measured] [--work FOLDER] [--out FOLDER]
    study.py list [RESULTS]        the studies that there are; with RESULTS, as JSON, those that are committed there

What is in this room: studyfile.py reads a study file, generators.py makes inputs, measuring.py runs `rungs bench` and
keeps its results, figures.py computes numbers, paragraphs and tables, publishing.py writes the outcome. It
uses common/report (results files, plots) and nothing else; studies.py there reads what publishing.py wrote.

Exit status: 0 done, 1 a version was wrong or a point could not be measured, 2 bad use or a bad study file, 130 stopped;
the same call then goes on where it was.
"""

import argparse
import glob
import json
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(1, os.path.join(os.path.dirname(HERE), "report"))

# pylint: disable=wrong-import-position
import figures  # noqa: E402
import measuring  # noqa: E402
import plots  # noqa: E402
import publishing  # noqa: E402
import results as rungs  # noqa: E402
import studies  # noqa: E402
from expressions import StudyError  # noqa: E402
from studyfile import LEVELS, Study  # noqa: E402


def files(folder):
    """{name: path}: studies/NAME.toml, and in a ladder's folder study.toml (its name is the ladder's) or
    study_NAME.toml (ladder-NAME)."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "studies", "*.toml"))) + sorted(
        path for side in ("cpu", "cuda") for path in glob.glob(os.path.join(folder, side, "*", "study*.toml"))
    ):
        stem, parent = os.path.splitext(os.path.basename(path))[0], os.path.basename(os.path.dirname(path))
        name = stem
        if parent != "studies":
            if stem != "study" and not stem.startswith("study_"):
                continue
            name = parent + stem.removeprefix("study").replace("_", "-", 1)
        if name in found:
            raise StudyError(f"two studies are called {name}: {found[name]} and {path}")
        found[name] = path
    return dict(sorted(found.items()))


def find(name):
    """A study by its name, or by the path of its file."""
    if name.endswith(".toml"):
        return os.path.splitext(os.path.basename(name))[0], os.path.abspath(name)
    known = files(ROOT)
    if name not in known:
        raise StudyError(f"there is no study '{name}'; there are {', '.join(known) or 'none'}")
    return name, known[name]


def run(options):
    name, path = find(options.name)
    program = os.path.abspath(options.rungs)
    study = Study(ROOT, path, measuring.catalogue(program), options.dir, options.versions.split(",") if options.versions else None)
    work = os.path.abspath(options.work or os.path.join(os.path.dirname(program), "studies", name))
    out = options.out or os.path.join(work, options.level)
    points = [point for point in study.points_of[options.level] if point.versions]
    if options.sweeps:
        wanted = options.sweeps.split(",")
        if unknown := [name for name in wanted if name not in {point.sweep for point in points}]:
            raise StudyError(f"{study.where}: no sweep '{unknown[0]}' with points to measure; there are "
                             f"{', '.join(dict.fromkeys(point.sweep for point in points))}")  # fmt: skip
        points = [point for point in points if point.sweep in wanted]
    if not points:
        raise StudyError(f"{study.where}: no version of it is one of {options.versions}")
    measurer = measuring.Measurer(study, program, work, ROOT)
    if options.timed_only:
        points = measurer.timed_only(points)
    for point in points:
        point.rounds = min(point.rounds, options.rounds or point.rounds)
    try:
        if not options.measured:
            measurer.measure(points)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        measuring.note("stopped; what is measured is kept, and the same command goes on from here")
        return 130
    if study.plots and not plots.available():
        measuring.note(f"measured, and kept in {work}; where gnuplot is, --measured --work with that folder publishes it")
        raise plots.PlotError(plots.INSTALL)
    measured, rows, left_out = [], [], []
    # What was measured here comes first: its machine is that of the words.
    for index, point in sorted(enumerate(points), key=lambda pair: bool(pair[1].recorded)):
        if point.table:
            rows += figures.rows_of_table(point)
            continue
        document = None if index in measurer.failed else measurer.results(point)
        if document is None:
            left_out.append(f"{point.title()}: {measurer.failed.get(index, 'not measured')}")
        else:
            measured.append((point, document))
            rows += figures.rows_of(point, json.loads(json.dumps(document)), measurer.judged(point))
    if not measured:
        raise StudyError(f"{study.where}: no point could be measured: {left_out[0]}")
    problems = publishing.write_all(out, study, name, options.level, measured, rows, left_out)
    for line in problems:
        measuring.note(line)
    print(f"{os.path.join(out, 'study.md')}: {rungs.count(len(measured), 'point')}, {rungs.count(len(rows), 'row')}")
    return 1 if problems else 0


def show(options):
    if options.results:
        keys = ("machine", "algorithm", "name", "title", "question", "level", "folder", "paragraphs", "plots", "tables")
        print(json.dumps([{key: one[key] for key in keys} for one in studies.committed(options.results)], indent=1))
        return 0
    for name, path in files(ROOT).items():
        print(f"study-{name}  {os.path.relpath(path, ROOT)}")
    return 0


def main():
    parser = argparse.ArgumentParser(prog="study.py", description="Studies of ladders.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", allow_abbrev=False)
    runs.add_argument("name")
    runs.add_argument("--level", choices=LEVELS, default="full")
    runs.add_argument("--rungs", default=os.path.join(ROOT, "build", "rungs"))
    runs.add_argument("--dir", help="the folder of pictures that the study calls DIR")
    runs.add_argument("--versions", help="measure these alone, of those that the study names: ids, or sides as in cpu,peer")
    runs.add_argument("--sweeps", help="these sweeps alone, by name")
    runs.add_argument("--measured", action="store_true", help="measure nothing: publish what there is, and name what is missing")
    runs.add_argument("--work", help="where measurements are kept (default: studies/NAME beside rungs)")
    runs.add_argument("--timed-only", action="store_true", help="leave out versions that are emulated here, which have no times")
    runs.add_argument("--rounds", type=int, help="at most so many, where the study asks for more")
    runs.add_argument("--out", help="where the outcome goes (default: WORK/LEVEL)")
    lists = commands.add_parser("list", allow_abbrev=False)
    lists.add_argument("results", nargs="?")
    options = parser.parse_args()
    try:
        return run(options) if options.command == "run" else show(options)
    except (StudyError, rungs.ResultsError, rungs.OtherKind) as error:
        measuring.note(error)
        return 2
    except OSError as error:
        measuring.note(f"{error.filename}: {error.strerror}")
        return 2
    except plots.PlotError as error:
        measuring.note(error)
        return 1


if __name__ == "__main__":
    sys.exit(main())
