"""Measures all ladders on this machine, one results file after the other: results/MACHINE/LADDER/NAME.json (make measure).

measures.txt beside this file says what; a ladder that is not in it is measured as `rungs bench` does by itself, into
LADDER_default. A file whose commit is the one that is built is kept, so that a second call goes on after a
stop; another takes the old one's place once it is whole, and what became slower or wrong since is said. Benches of which the machine
has no file come first, then those that lack a version, for the time may be short.

With MISSING=1 only versions without a time are measured, beside those that their ratios need, into NAME_with_VERSION.json: a file
is one run (missing.py). There the benches that lack a top rung are the first."""

import argparse
import functools
import math
import os
import re
import signal
import subprocess
import sys
import time

import alone
import children
import missing
import results as rungs
import schema
import sources

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "measures.txt")


class MeasureError(Exception):
    """Bad use: exit status 2."""


def ladders_of(program):
    """The names of all ladders that the program has versions of."""
    try:
        process = subprocess.run([program, "list", "--all"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise MeasureError(f"{program}: {error.strerror}") from None
    return re.findall(r"^([a-z]+): .*\n(?:  -p .*\n)*  [a-z]+/", process.stdout, re.MULTILINE)


def wanted(path, ladders, others):
    """[(ladder, name, arguments)] of the file's lines, then of the ladders `others` that have none there."""
    found = []
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    except OSError as error:
        raise MeasureError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise MeasureError(f"{path}: no text in UTF-8") from None
    for name, *arguments in lines:
        if not re.fullmatch(r"[a-z]+(_[a-z0-9.]+)*", name):
            raise MeasureError(f"{path}: {name}: no name of a results file")
        found.append((name.split("_")[0], name, arguments))
    listed = {ladder for ladder, _, _ in found}
    found += [(ladder, ladder + "_default", []) for ladder in others if ladder not in listed]
    known = list(dict.fromkeys(ladder for ladder, _, _ in found))
    for ladder in ladders:
        if ladder not in known:
            raise MeasureError(f"{ladder}: no ladder of {os.path.basename(path)}: {' '.join(known)}")
    return [one for one in found if not ladders or one[0] in ladders]


def current_commit():
    """What results files are to call the commit: the results themselves do not count as changes of it."""
    told = os.environ.get("RUNGS_COMMIT")
    if told:
        return told
    process = subprocess.run(["git", "describe", "--always"], capture_output=True, text=True, check=False)
    if process.returncode != 0:
        return "unknown"
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", ".", ":!results"], capture_output=True, check=False)
    return process.stdout.strip() + ("-dirty" if changed.returncode else "")


def kept(path, commit):
    """Whether a file was measured at this very commit."""
    if commit == "unknown" or commit.endswith("-dirty") or not os.path.exists(path):
        return False
    try:
        return rungs.load(path).get("commit") == commit
    except (rungs.ResultsError, rungs.OtherKind):
        return False


def compared(program, old, new):
    """What became slower or wrong between two files, a line; "" when nothing did."""
    process = subprocess.run([program, "compare", old, new], capture_output=True, text=True, check=False)
    if process.returncode == 0:
        return ""
    said = [line for line in process.stdout.splitlines() if re.search(r"\b(slower|wrong|FAIL)", line)]
    return "; ".join(" ".join(line.split()) for line in said) or "cannot be compared with the file before"


@functools.lru_cache(maxsize=None)
def ids_of(program, ladder):
    """The ids of a ladder's versions that can run here."""
    process = subprocess.run([program, "list", ladder], capture_output=True, text=True, check=False)
    found = {}
    for line in process.stdout.splitlines():
        version = re.match(r"  ([a-z]+/[\w.]+)", line)
        if version:
            found[last := version[1]] = ""
        elif not found:
            continue
        found[last] += " " + " ".join(line.split())
    return [name for name, text in found.items() if "[cannot run here" not in text]


def present(program, ladder, versions):
    """Of a list as --versions takes it, what the ladder has: not every one has peers."""
    ids = ids_of(program, ladder)
    return ",".join(one for one in versions.split(",") if any(name.startswith(one + "/") for name in ids) or "/" in one)


def measure(program, part, command, limit):
    """Runs a bench, which writes `part`. What went wrong, a line, or ""."""
    ended = children.run([program, *command, "--json", part], limit)
    if ended.status is None:
        return f"stopped after {limit:.0f} s: the time is over; call again to go on"
    if ended.status == 0 and os.path.exists(part):
        return ""
    wrong = [" ".join(line.split()) for line in ended.printed.splitlines() if line.startswith("FAIL")]
    return "; ".join(wrong) or (ended.errors.strip().splitlines() or [f"exit status {ended.status}"])[-1]


class Task:
    """One file to be: where, by which versions, how soon."""

    def __init__(self, options, commit, ladder, name, arguments):
        folder = os.path.join(options.results, options.machine, ladder)
        self.path, self.name, self.why_not = os.path.join(folder, name + ".json"), name, None
        self.command = ["bench", ladder, *arguments, "--time", f"{options.seconds:g}"]
        versions = present(options.rungs, ladder, options.versions) if options.versions else ""
        files = missing.benches_of(options.results, options.machine, ladder, name, arguments)
        ids = ids_of(options.rungs, ladder)
        new = missing.without_time(files, ids, options.versions, commit)
        self.rank = 0 if not files else 1 if new else 2
        # A new top rung costs little beside old ones, and is what one asks for first.
        tops = {one.split("/")[0]: one for one in ids if not one.startswith("peer/")}.values()
        if options.missing and files and set(tops) & set(new):
            self.rank = -1
        if options.versions and not versions:
            self.why_not = f"has no version of {options.versions}"
        elif not options.missing:
            if kept(self.path, commit):
                self.why_not = "measured before, with this commit"
        elif files and new:
            below = {version.id: version.below and version.below.id for version in sources.versions(missing.ROOT, ladder)}
            versions = ",".join(missing.beside(files, new, ids, below))
            self.name = f"{name}_with_{new[-1].replace('/', '_')}"
            self.path = os.path.join(folder, self.name + ".json")
        elif not new:
            self.why_not = "every version has its time"
        elif versions and any(one.startswith("peer/") for one in ids) and "peer" not in versions.split(","):
            versions += ",peer"
        if versions:
            self.command += ["--versions", versions]


def run(options):
    started, failures, measured = time.monotonic(), 0, 0
    if math.isnan(options.minutes):
        raise MeasureError("MINUTES=nan: a number of minutes")
    if not re.fullmatch(r"[a-z0-9_]+", options.machine):
        raise MeasureError(f"MACHINE={options.machine}: lower-case letters, digits and _: it becomes a folder of {options.results}/")
    # The list is of the sources, and needs no program.
    others = [] if options.list else sources.algorithms(missing.ROOT) if options.tell else ladders_of(options.rungs)
    todo = wanted(options.list or LIST, options.ladders, others)
    if options.tell:
        try:
            missing.tell(todo, options.results, options.machine, options.versions or "cuda")
            sys.stdout.flush()
        except BrokenPipeError:  # `| head` has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if not alone.take(options.results):
        raise MeasureError(f"another command is measuring into {options.results}/: two would measure each other")
    commit = os.environ["RUNGS_COMMIT"] = current_commit()
    tasks = sorted((Task(options, commit, *one) for one in todo), key=lambda task: task.rank)
    for number, task in enumerate(tasks, 1):
        path = task.path
        where = f"{number:2d} of {len(todo)}  {task.name:<32}"
        left = options.minutes * 60 - (time.monotonic() - started)
        if task.why_not:
            print(f"{where} {task.why_not}", flush=True)
            continue
        if left <= 0:
            print(f"{where} not measured: the {options.minutes:g} minutes are over; call again to go on", flush=True)
            failures += 1
            continue
        begin = time.monotonic()
        part = path + ".part"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            said = measure(options.rungs, part, task.command, left)
            if said:
                failures += 1
            else:
                said = compared(options.rungs, path, part) if os.path.exists(path) else ""
                os.replace(part, path)
                measured += 1
        finally:
            if os.path.exists(part):
                os.remove(part)
        print(f"{where} {time.monotonic() - begin:4.0f} s{': ' if said else ''}{schema.plain(said)}", flush=True)
    print(f"{measured} measured, {failures} not; `make readme` puts them into the ladders' pages, `make report` into the report")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(
        prog="measure", description="Measures all ladders on this machine into results/MACHINE (make measure)."
    )
    parser.add_argument("machine", help="a name for this machine: the folder of its results")
    parser.add_argument("ladders", nargs="*", help="only these (default: all)")
    parser.add_argument("--rungs", required=True, help="the program")
    parser.add_argument("--results", default="results", help="folder of all results (default: results)")
    parser.add_argument("--list", help="what is measured, and nothing else (default: measures.txt, and ladders that it lacks)")
    parser.add_argument("--versions", default="", help="as of rungs bench (default: all)")
    parser.add_argument("--seconds", type=float, default=0.3, help="budget of a version and file (default: 0.3)")
    parser.add_argument("--minutes", type=float, default=10080, help="stop after so many (default: a week)")
    parser.add_argument("--missing", action="store_true", help="only versions that have no time on this machine (MISSING=1)")
    parser.add_argument("--tell", action="store_true", help="measure nothing: print what has no result on this machine (LIST=1)")
    # As an interruption is, so that no bench goes on alone.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run(parser.parse_args())
    except (MeasureError, rungs.ResultsError) as error:
        print(f"measure: {schema.plain(str(error))}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"measure: {schema.plain(f'{error.filename}: {error.strerror}')}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("measure: interrupted; call again to go on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
