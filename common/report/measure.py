"""Measures all ladders on this machine, one results file after the other: results/MACHINE/LADDER/NAME.json (make measure).

measures.txt beside this file says what. A file whose commit is the one that is built is kept, so that a second call goes on after a
stop; another takes the old one's place once it is whole, and what became slower or wrong since is said."""

import argparse
import os
import re
import subprocess
import sys
import time

import results as rungs
import schema

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "measures.txt")


class MeasureError(Exception):
    """Bad use: exit status 2."""


def wanted(path, ladders):
    """[(ladder, name, arguments)] of the file's lines."""
    found = []
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    except OSError as error:
        raise MeasureError(f"{path}: {error.strerror}") from None
    for name, *arguments in lines:
        if not re.fullmatch(r"[a-z]+(_[a-z0-9.]+)*", name):
            raise MeasureError(f"{path}: {name}: no name of a results file")
        found.append((name.split("_")[0], name, arguments))
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


def present(program, ladder, versions):
    """Of a list as --versions takes it, what the ladder has: not every one has peers."""
    process = subprocess.run([program, "list", ladder], capture_output=True, text=True, check=False)
    ids = re.findall(r"^  ([a-z]+/[\w.]+)", process.stdout, re.MULTILINE)
    return ",".join(one for one in versions.split(",") if any(name.startswith(one + "/") for name in ids) or "/" in one)


def measure(program, part, command, limit):
    """Runs a bench, which writes `part`. What went wrong, a line, or ""."""
    process = subprocess.Popen(
        [program, *command, "--json", part], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        printed, errors = process.communicate(timeout=limit)
    except BaseException as error:
        process.terminate()
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            return f"stopped after {limit:.0f} s: the time is over; call again to go on"
        raise
    if process.returncode == 0 and os.path.exists(part):
        return ""
    wrong = [" ".join(line.split()) for line in printed.splitlines() if line.startswith("FAIL")]
    return "; ".join(wrong) or (errors.strip().splitlines() or [f"exit status {process.returncode}"])[-1]


def run(options):
    started, failures, measured = time.monotonic(), 0, 0
    if not re.fullmatch(r"[a-z0-9_]+", options.machine):
        raise MeasureError(f"MACHINE={options.machine}: lower-case letters, digits and _: it becomes a folder of {options.results}/")
    todo = wanted(options.list, options.ladders)
    commit = os.environ["RUNGS_COMMIT"] = current_commit()
    for number, (ladder, name, arguments) in enumerate(todo, 1):
        path = os.path.join(options.results, options.machine, ladder, name + ".json")
        where = f"{number:2d} of {len(todo)}  {name:<32}"
        left = options.minutes * 60 - (time.monotonic() - started)
        if kept(path, commit):
            print(f"{where} measured before, with this commit", flush=True)
            continue
        if left <= 0:
            print(f"{where} not measured: the {options.minutes:g} minutes are over; call again to go on", flush=True)
            failures += 1
            continue
        begin = time.monotonic()
        command = ["bench", ladder, *arguments, "--time", f"{options.seconds:g}"]
        if options.versions:
            command += ["--versions", present(options.rungs, ladder, options.versions)]
        part = path + ".part"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            said = measure(options.rungs, part, command, left)
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
    parser.add_argument("--list", default=LIST, help="what is measured (default: measures.txt)")
    parser.add_argument("--versions", default="", help="as of rungs bench (default: all)")
    parser.add_argument("--seconds", type=float, default=0.3, help="budget of a version and file (default: 0.3)")
    parser.add_argument("--minutes", type=float, default=10080, help="stop after so many (default: a week)")
    try:
        return run(parser.parse_args())
    except MeasureError as error:
        print(f"measure: {schema.plain(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("measure: interrupted; call again to go on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
