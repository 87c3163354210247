"""Runs the CUDA versions under NVIDIA's compute-sanitizer, several at once, and keeps what it found:
results/MACHINE/LADDER/sanitizer.json (make sanitize).

A run is one tool over `rungs check` of one version, with small pictures and one call a case, for a tool makes a kernel up to a
thousand times as slow. check leaves out the cases that have not begun after two thirds of the run's limit and says so; a run that
has not ended at the limit is ended. What has a result of the same code (sanitizer.fingerprint()) is kept, but for a run that ran
past a shorter limit. Runs without any result come first, the top rungs before those below; then those of older code, then those
that came to nothing. Each result is in the file as soon as it is there."""

import argparse
import concurrent.futures
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import alone
import children
import results as rungs
import sanitizer
import schema
import sources
from material import ROOT
from measure import MeasureError, current_commit
from plots import write_whole

ERRORS = 9  # compute-sanitizer's exit status where it found something, and the program nothing
# Both accesses of a race: racecheck's analysis has their places, its hazards their threads as well.
OPTIONS = {"racecheck": ["--racecheck-report", "all"]}


def first_line(command):
    """The first line that a program prints, None where it is not here or fails."""
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = process.stdout.strip().splitlines()
    return lines[0].strip() if process.returncode == 0 and lines else None


def find_sanitizer(nvcc):
    """compute-sanitizer: on PATH, beside nvcc, or where the toolkit has it."""
    homes = [os.path.dirname(os.path.realpath(shutil.which(nvcc) or nvcc))] if nvcc else []
    places = [os.path.join(home, *where) for home in homes + ["/usr/local/cuda/bin"] for where in
              (("compute-sanitizer",), ("..", "compute-sanitizer", "compute-sanitizer"))]  # fmt: skip
    found = shutil.which("compute-sanitizer") or next((path for path in places if os.access(path, os.X_OK)), None)
    if not found:
        raise MeasureError("compute-sanitizer is not on PATH and not beside nvcc; it comes with the CUDA Toolkit")
    return os.path.normpath(found)


def machine(options):
    """What is recorded of the machine: the GPU, its driver, the toolkit's versions."""
    if options.emulated:
        raise MeasureError(f"CUDA is emulated in this build ({options.emulated}): compute-sanitizer needs nvcc and an NVIDIA GPU")
    gpu = first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    if not gpu:
        raise MeasureError("nvidia-smi finds no NVIDIA GPU here")
    if not os.path.isfile(options.rungs):
        raise MeasureError(f"{options.rungs}: is not built")
    program = find_sanitizer(options.nvcc)
    version = re.search(r"Version (\S+)", subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout)
    cuda = subprocess.run([options.nvcc, "--version"], capture_output=True, text=True, check=False) if options.nvcc else None
    release = re.search(r"release ([\d.]+)", cuda.stdout) if cuda else None
    name, driver = gpu.rsplit(",", 1)
    return program, {
        "gpu": {"name": name.strip(), "driver": driver.strip(), "cuda": release[1] if release else "unknown"},
        "sanitizer": version[1] if version else "unknown",
    }


def wanted(options):
    """{ladder: [its CUDA versions]} and the tools that are asked for."""
    known = sources.algorithms(options.root)
    for ladder in options.ladders:
        if ladder not in known:
            raise MeasureError(f"{ladder}: no ladder; there are {' '.join(known)}")
    tools = [tool for tool in options.tools.split(",") if tool]
    for tool in tools:
        if tool not in sanitizer.TOOLS:
            raise MeasureError(f"TOOLS={tool}: no tool; there are {', '.join(sanitizer.TOOLS)}")
    found = {}
    for ladder in options.ladders or known:
        versions = [v for v in sources.versions(options.root, ladder) if v.side == "cuda"]
        if versions:
            found[ladder] = versions
    named = [name for name in options.versions.split(",") if name not in ("", "cuda")]
    for name in named:
        if not any(version.id == name for versions in found.values() for version in versions):
            raise MeasureError(f"VERSIONS={name}: none of the CUDA versions of {' '.join(found) or 'these ladders'}")
    chosen = {ladder: [v for v in many if not named or v.id in named] for ladder, many in found.items()}
    return found, chosen, tools or list(sanitizer.TOOLS)


class Book:
    """The results of one ladder: the file as it is, and as it becomes."""

    def __init__(self, options, facts, ladder, versions):
        self.path = sanitizer.path_of(options.results, options.machine, ladder)
        self.ladder, self.versions, self.facts, self.root = ladder, versions, facts, options.root
        self.runs = sanitizer.runs(sanitizer.load(self.path))

    def rank(self, version, tool, limit):
        """When a run's turn is: 0 first; None: its result is kept."""
        run = self.runs.get((version.id, tool))
        if run is None:
            return 0
        if run["source"] != sanitizer.fingerprint(self.root, version.path):
            return 1
        if run["outcome"] == "failed" or (run["outcome"] == "ran past its limit" and run["limit"] < limit):
            return 2
        return None

    def add(self, version, tool, run, command):
        self.runs[version.id, tool] = run
        rows = []
        for one in self.versions:
            row = {"id": one.id, "path": one.path}
            rows.append(row | {name: self.runs.get((one.id, name), {"outcome": "not run"}) for name in sanitizer.TOOLS})
        document = {"schema": sanitizer.SCHEMA, "version": sanitizer.VERSION, "date": run["date"], "commit": run["commit"]}
        document |= {"command": command, "machine": self.facts, "algorithm": self.ladder, "versions": rows}
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        write_whole(self.path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def command_of(options, program, ladder, version, tool):
    return [
        program, "--tool", tool, *OPTIONS.get(tool, []), "--target-processes", "all", "--strip-paths", "no",
        "--error-exitcode", str(ERRORS), options.rungs, "check", f"{ladder}:{version}", "--largest", str(options.largest),
        "--brief", "--seed", "1", "--limit", f"{options.limit:g}", "--total", f"{options.limit * 2 / 3:.3g}",
    ]  # fmt: skip


def sanitize(options, program, facts, commit, book, job, deadline, stop):
    """One run. The result, or None where the time was over before it came to one."""
    _, version, tool = job
    command = command_of(options, program, book.ladder, version.id, tool)
    left = deadline - time.monotonic()
    if stop.is_set() or left <= 0:
        return None
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    ended = children.run(command, min(options.limit, left), stop)
    found = {"source": sanitizer.fingerprint(options.root, version.path), "date": date, "commit": commit}
    found |= {"driver": facts["gpu"]["driver"], "sanitizer": facts["sanitizer"], "command": " ".join(command)}
    found |= {"seconds": round(ended.seconds, 1), "limit": options.limit}
    judged = sanitizer.judge(ended.status, ended.printed, ended.errors)
    if ended.status is not None or judged["messages"]:
        # What it had found when it was ended, it had found.
        return found | judged
    if ended.seconds < options.limit:
        return None
    return found | judged | {"outcome": "ran past its limit", "why": f"{options.limit:g} s, beside {options.jobs - 1} others"}


def run(options):
    deadline = time.monotonic() + options.minutes * 60
    if not re.fullmatch(r"[a-z0-9_]+", options.machine):
        raise MeasureError(f"MACHINE={options.machine}: lower-case letters, digits and _: it becomes a folder of {options.results}/")
    for name in ("limit", "largest", "jobs"):
        if not getattr(options, name) >= 1:
            raise MeasureError(f"{name.upper()}={getattr(options, name):g}: at least 1")
    found, chosen, tools = wanted(options)
    program, facts = machine(options)
    if not alone.take(options.results):
        raise MeasureError(f"another command is measuring into {options.results}/: call again when it has ended")
    commit = current_commit()
    books = {ladder: Book(options, facts, ladder, versions) for ladder, versions in found.items()}
    jobs, kept = [], []
    for ladder, versions in chosen.items():
        for above, version in enumerate(reversed(versions)):
            for number, tool in enumerate(tools):
                rank = books[ladder].rank(version, tool, options.limit)
                where = kept if rank is None else jobs
                where.append(((rank, above, number, ladder), version, tool))
    jobs.sort(key=lambda job: job[0])
    tally = {"clean": 0, "errors": 0, "ran past its limit": 0, "failed": 0, "not run": 0}
    for (_, _, _, ladder), version, tool in kept:
        one = books[ladder].runs[version.id, tool]
        tally[one["outcome"]] += 1
        if one["outcome"] != "clean":
            print(f"kept  {tool} {ladder}:{version.id}: {schema.plain(sanitizer.in_words(one))}", flush=True)
    stop, number = threading.Event(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # In the order of the list: the pool begins them so.
        waiting = {pool.submit(sanitize, options, program, facts, commit, books[job[0][3]], job, deadline, stop): job for job in jobs}
        try:
            for future in concurrent.futures.as_completed(waiting):
                (_, _, _, ladder), version, tool = waiting[future]
                one = future.result()
                if one is None:
                    tally["not run"] += 1
                    continue
                number += 1
                tally[one["outcome"]] += 1
                books[ladder].add(version, tool, one, " ".join(command_of(options, program, ladder, "VERSION", "TOOL")))
                said = schema.plain(sanitizer.in_words(one))
                print(f"{number:3d} of {len(jobs)}  {tool:<9} {ladder}:{version.id:<12} {one['seconds']:4.0f} s: {said}", flush=True)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    words = ", ".join(f"{count} {outcome.replace('errors', 'with errors')}" for outcome, count in tally.items() if count)
    again = "; call again to go on" if tally["not run"] else ""
    print(f"{words or 'nothing to do'} ({len(kept)} of them kept){again}. Lists made by hand, *sanitizer*.txt, are not counted.")
    return 0 if set(name for name, count in tally.items() if count) <= {"clean"} else 1


def main():
    parser = argparse.ArgumentParser(
        prog="sanitize",
        description="Runs the CUDA versions under compute-sanitizer into results/MACHINE (make sanitize).",
        allow_abbrev=False,
    )
    parser.add_argument("machine", help="a name for this machine: the folder of its results")
    parser.add_argument("ladders", nargs="*", help="only these (default: all)")
    parser.add_argument("--rungs", required=True, help="the program")
    parser.add_argument("--emulated", default="", help="why its CUDA versions are emulated, where they are")
    parser.add_argument("--nvcc", default="", help="the compiler, beside which compute-sanitizer may be")
    parser.add_argument("--root", default=ROOT, help="the source tree")
    parser.add_argument("--results", default="results", help="folder of all results (default: results)")
    parser.add_argument("--versions", default="", help="only these, a,b (default: all of cuda)")
    parser.add_argument("--tools", default="", help=f"only these (default: {','.join(sanitizer.TOOLS)})")
    parser.add_argument("--minutes", type=float, default=10080, help="stop after so many (default: a week)")
    parser.add_argument("--limit", type=float, default=90, help="seconds of a run (default: 90)")
    parser.add_argument("--largest", type=int, default=300, help="pixels of the largest picture (default: 300)")
    parser.add_argument(
        "--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) - 2), help="runs at once (default: all cores but two)"
    )
    # As an interruption is, so that no run goes on alone.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run(parser.parse_args())
    except (MeasureError, rungs.ResultsError) as error:
        print(f"sanitize: {schema.plain(str(error))}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"sanitize: {schema.plain(f'{error.filename}: {error.strerror}')}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("sanitize: interrupted; call again to go on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
