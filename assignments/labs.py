#!/usr/bin/env python3
"""The labs: builds, checks, times and grades a student's versions. `make lab-NN` and its relatives call it.

    labs.py lab NN [--task ID]                what the student wrote, beside the reference rungs, and what to do next
    labs.py grade NN [--out DIR]              points with reasons: report.txt, results.json (Gradescope's format)
    labs.py bug NN BUG                        what the checker says about one of the lab's broken versions
    labs.py handout NN DIR                    the student's tree: everything but the solutions
    labs.py solution NN                       tests the lab itself: starter, ladder and mutants get what they deserve
    labs.py mutants NN DIR                    the same for a folder of versions, <task>-<name>.c

Python's standard library is all it needs. A student's code is never run by this program, but by build/rungs-judge in a
process that can reach nothing (common/remote/remote.h); compilers run here, with limits.
"""

import argparse
import json
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = os.environ.get("BUILD", "build")
MAKE = os.environ.get("LABS_MAKE", "make")
COMPILE_SECONDS = 180
COMPILE_BYTES = 8 << 30
UNCONFINED = False  # --unconfined
ATTEMPTS = 4  # at a timing that does not earn all points
FULL, ZERO = 1.2, 3.0  # times the reference's time that earn all and none of the speed points


class LabError(Exception):
    """What stops the program: one line that names the file and the reason."""


# ------------------------------------------------------------------------------------------------ reading a lab


def load_toml(path):
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LabError(f"{shown(path)}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"{shown(path)}: {error}") from None


def shown(path):
    try:
        return str(pathlib.Path(path).resolve().relative_to(ROOT))
    except ValueError:
        return str(path)


TASK_KEYS = {"id", "title", "file", "algorithm", "right", "rung", "next", "speed", "need", "tunables"}
SPEED_KEYS = {"points", "reference", "sizes", "params", "kernel", "full", "zero", "seconds", "threads", "frames"}


class Lab:
    def __init__(self, number):
        folders = sorted((ROOT / "assignments").glob(f"{number}_*"))
        if len(folders) != 1:
            known = ", ".join(sorted(p.name[:2] for p in (ROOT / "assignments").glob("[0-9][0-9]_*")))
            raise LabError(f"no lab {number}; there is {known or 'none'}")
        self.folder = folders[0]
        self.number = number
        self.place = self.folder  # where the student's files lie
        path = self.folder / "lab.toml"
        self.data = load_toml(path)
        self.tasks = self.data.get("task", [])
        self.bugs = self.data.get("bug", [])
        self.predictions = self.data.get("prediction", [])
        self.limits = {"case_seconds": 20, "total_seconds": 120, "memory_mib": 1024} | self.data.get("limits", {})
        key = self.folder / "solution" / "key.toml"
        self.key = load_toml(key) if key.exists() else None
        for task in self.tasks:
            unknown = set(task) - TASK_KEYS | set(task.get("speed", {})) - SPEED_KEYS
            missing = {"id", "title", "file", "algorithm", "right"} - set(task)
            if unknown or missing:
                raise LabError(f"{shown(path)}: task {task.get('id', '?')}: " + (
                    f"unknown key {sorted(unknown)[0]}" if unknown else f"no {sorted(missing)[0]}"))
        self.maximum = sum(maximum_of(t) for t in self.tasks) + sum(b["points"] for b in self.bugs) + sum(
            p["points"] for p in self.predictions)

    def answers(self):
        """The student's answers, and what is wrong with the file, or None."""
        try:
            data = load_toml(self.place / "answers.toml")
        except LabError as error:
            return {}, str(error)
        return {k: v for k, v in data.items() if isinstance(v, dict)}, None

    def take_submission(self, folder):
        """Copies what the lab asks for, and nothing else, from a student's tree or its lab folder; grades that."""
        source = pathlib.Path(folder)
        if (source / shown(self.folder)).is_dir():
            source = source / shown(self.folder)
        self.place = ROOT / BUILD / f"lab-{self.number}" / "submission"
        shutil.rmtree(self.place, ignore_errors=True)
        for name in [t["file"] for t in self.tasks] + ["answers.toml"]:
            target = self.place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (source / name).is_file() and not (source / name).is_symlink():
                shutil.copyfile(source / name, target)

    def file_of(self, task):
        return f"{shown(self.place)}/{task['file']}"

    def task(self, name):
        for task in self.tasks:
            if task["id"] == name:
                return task
        raise LabError(f"lab {self.number} has no task '{name}'; it has {', '.join(t['id'] for t in self.tasks)}")


def maximum_of(task):
    return task["right"] + task.get("speed", {}).get("points", 0) + sum(n["points"] for n in task.get("need", []))


# ------------------------------------------------------------------------------------------------------ building


def limit_compiler():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (COMPILE_SECONDS, COMPILE_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (COMPILE_BYTES, COMPILE_BYTES))


def run_limited(command, seconds, limits=None):
    """Exit status (None: too late) and output; the whole session ends with it."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, preexec_fn=limits or os.setsid)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        output.seek(0)
        return code, output.read(1 << 20).decode("utf-8", "replace")


def make(targets, seconds=COMPILE_SECONDS, limits=None):
    arguments = [f"{n}={os.environ[n]}" for n in ("CUDA", "ARCH", "SANITIZE", "OPENCV", "CC", "CXX", "NVCC") if n in os.environ]
    return run_limited([*MAKE.split(), "--no-print-directory", "-s", f"BUILD={BUILD}", *arguments, *targets], seconds, limits)


def build_tools(references):
    targets = [f"{BUILD}/rungs-judge", f"{BUILD}/common/remote/worker.c.o", f"{BUILD}/lab/worker.a", *references]
    code, output = make(targets, 1800)
    if code != 0:
        raise LabError("the grader itself does not build:\n" + output[-3000:])


def depends_on(path):
    """The files that a dependency list of gcc or as names."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    except FileNotFoundError:
        return []
    files = []
    for line in text.splitlines():
        if ":" in line:
            files += re.split(r"(?<!\\)\s+", line.split(":", 1)[1].strip())
    return [f.replace("\\ ", " ").replace("$$", "$") for f in files if f]


def may_include(source, path):
    """Headers of common/ and the system, and what lies beside the version: nothing with another version's code in it."""
    real = pathlib.Path(ROOT, path).resolve()
    if real == source.resolve() or real.is_relative_to((ROOT / BUILD).resolve()) and real.name == source.name + ".cpp":
        return True
    if real.is_relative_to(source.parent.resolve()):
        return True
    if real.is_relative_to((ROOT / "common").resolve()):
        return real.suffix in (".h", ".cuh") and not real.is_relative_to((ROOT / "common/remote").resolve())
    if real.is_relative_to(ROOT):
        return False
    return str(real).startswith(("/usr/", "/opt/", "/lib")) and real.suffix not in (".o", ".so", ".a")


def build_version(file):
    """Builds the worker around one version: its path, or None and what is wrong, in one line, with the compiler's words."""
    source = ROOT / file
    if not source.is_file() or source.is_symlink():
        return None, f"{file}: no such file", ""
    stem = pathlib.Path(ROOT, BUILD, file)
    worker = pathlib.Path(ROOT, BUILD, "workers", file)
    for stale in (stem.with_name(stem.name + ".d"), stem.with_name(stem.name + ".assembler")):
        if not stem.with_name(stem.name + ".o").exists():
            stale.unlink(missing_ok=True)
    code, output = make([f"{BUILD}/workers/{file}"], COMPILE_SECONDS, limit_compiler)
    if code != 0:
        worker.unlink(missing_ok=True)
        if code is None:
            return None, f"the compiler was not done after {COMPILE_SECONDS} s", output
        missing = re.search(r"undefined reference to `([^']+)'", output)
        if missing:
            return None, (f"uses {missing.group(1)}(), which versions do not get: they may call the C library, OpenMP, "
                          "the CUDA runtime and the helpers of common/"), output
        error = re.search(r"^(\S+?:\d+(?::\d+)?: (?:fatal )?error: .*)$", output, re.M)
        return None, "does not compile: " + (error.group(1) if error else ([w for w in output.strip().splitlines() if not w.startswith("make")] or ["no message"])[-1]), output
    # as lists what .incbin and .include bring in, its input (a temporary file), and the source by its bare name.
    assembled = [f for f in depends_on(stem.with_name(stem.name + ".assembler"))
                 if f not in (source.name, source.name + ".cpp") and not re.fullmatch(r".*/cc\w+\.s", f)]
    for name in depends_on(stem.with_name(stem.name + ".d")) + assembled:
        if not may_include(source, name):
            return None, f"includes {shown(pathlib.Path(ROOT, name))}: a version stands on the headers of common/ alone", ""
    symbols = subprocess.run(["nm", "-P", stem.with_name(stem.name + ".o")], capture_output=True, text=True, cwd=ROOT).stdout
    if any(line.split()[1:2] == ["i"] for line in symbols.splitlines()):
        return None, "has an ifunc, whose code would run before the version is confined", ""
    return worker, "", output


def reference_worker(name, algorithm, lab):
    """The worker of a reference rung: from its source, or, in a handout, as it was built for this processor. May be None."""
    file = reference_file(name, algorithm, lab)
    if file:
        return pathlib.Path(ROOT, BUILD, "workers", file)
    ready = lab.folder / "reference" / os.uname().machine / f"{algorithm}-{name.replace('/', '-')}"
    return ready if ready.exists() and usable(ready) else None


def reference_file(name, algorithm, lab):
    side, _, rest = name.partition("/")
    if side == "solution":
        found = [lab.folder / "solution" / algorithm / f"{rest}{e}" for e in (".c", ".cu")]
    elif side == "cuda":
        found = [p for p in (ROOT / "cuda" / algorithm).glob("*.cu") if p.stem.split("_")[0] == rest]
    else:
        found = [ROOT / side / algorithm / f"{rest}.c"]
    return next((shown(p) for p in found if p.is_file()), None)


def usable(program):
    """Whether this processor has the instructions that a ready-made worker needs (the file beside it lists them)."""
    try:
        needs = set(program.with_name(program.name + ".needs").read_text().split())
        flags = re.search(r"^(?:flags|Features)\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
        return needs <= set(flags.group(1).split() if flags else ())
    except OSError:
        return False


# ----------------------------------------------------------------------------------------------------- measuring


def judge(arguments, seconds):
    with tempfile.TemporaryDirectory(prefix="rungs-lab-") as folder:
        result = pathlib.Path(folder, "result.json")
        arguments = [*map(str, arguments), "--json", str(result), *(["--unconfined"] if UNCONFINED else [])]
        code, output = run_limited([f"{BUILD}/rungs-judge", *arguments], seconds)
        if code == 0:
            return json.loads(result.read_text(encoding="utf-8", errors="replace")), ""
        return None, "took too long" if code is None else (output.strip().splitlines() or ["the judge said nothing"])[-1]


def check_version(lab, worker, name, pictures, tune=(), total=None):
    limits = lab.limits
    total = total or limits["total_seconds"]
    arguments = ["check", "--worker", worker, "--id", name, "--limit", limits["case_seconds"], "--total", total,
                 "--memory", limits["memory_mib"], "--pictures", pictures]
    for setting in tune:
        arguments += ["--tune", setting]
    result, why = judge(arguments, total + 3 * limits["case_seconds"] + 90)
    if result is None:
        result = {"outcome": "fail", "cases": 0, "checked": 0, "failed": 1, "failures": [], "case": "", "what": why,
                  "diagnosis": "", "picture": "", "emulated": False, "cuda": False, "reason": "", "tunables": {}}
    return result


def time_version(lab, worker, reference, speed, size):
    seconds = speed.get("seconds", 2)
    arguments = ["time", "--worker", worker, "--reference", reference, "--size", size, "--seconds", seconds, "--memory",
                 lab.limits["memory_mib"], "--limit", 60, "--zero", speed.get("zero", ZERO),
                 "--enough", 0.95 * speed.get("full", FULL)]
    for setting in speed.get("params", []):
        arguments += ["-p", setting]
    if "frames" in speed:
        arguments += ["--frames", speed["frames"]]
    if "threads" in speed:
        arguments += ["--threads", speed["threads"]]
    if speed.get("kernel"):
        arguments.append("--kernel")
    result, why = judge(arguments, 300 + 10 * seconds)
    return result if result else {"wrong": f"could not be timed: {why}", "failed": True}


def has_gpu():
    return os.environ.get("CUDA", "native" if shutil.which("nvidia-smi") and (
        shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc")) else "emulated") == "native"


def share_of(ratio, speed):
    full, zero = speed.get("full", FULL), speed.get("zero", ZERO)
    return min(1.0, max(0.0, (zero - ratio) / (zero - full)))


class Part:
    """One thing that earns points."""

    def __init__(self, name, points, maximum, reason):
        self.name, self.points, self.maximum, self.reason = name, round(points, 1), maximum, reason


class Outcome:
    """What became of one task."""

    def __init__(self, task):
        self.task, self.parts, self.check, self.timings, self.compiler = task, [], None, [], ""

    points = property(lambda self: round(sum(p.points for p in self.parts), 1))
    maximum = property(lambda self: maximum_of(self.task))


def grade_task(lab, task, pictures, say):
    outcome = Outcome(task)
    speed = task.get("speed", {})

    def give_up(reason):
        outcome.parts.append(Part("right", 0, task["right"], reason))
        for need in task.get("need", []):
            outcome.parts.append(Part(need["title"], 0, need["points"], "needs a version that is right"))
        if speed:
            outcome.parts.append(Part("speed", 0, speed["points"], "needs a version that is right"))
        return outcome

    say(f"{task['id']}: building {task['file']}")
    worker, why, outcome.compiler = build_version(lab.file_of(task))
    if not worker:
        return give_up(why)
    say(f"{task['id']}: checking" + (" in the emulator" if task["file"].endswith(".cu") and not has_gpu() else ""))
    name = f"student/{task['id']}"
    check = outcome.check = check_version(lab, worker, name, pictures)
    if check["outcome"] == "skip":
        return give_up(f"cannot run here: {check['reason']}")
    if check["outcome"] == "pass" and check["checked"] < check["cases"]:
        return give_up(f"too slow: after {lab.limits['total_seconds']} s only {check['checked']} of {check['cases']} cases were done")
    if check["outcome"] != "pass":
        return give_up(f"{check['failed']} of {check['cases'] or '?'} cases wrong" if not check.get("ended_early") else check["what"])
    for variant in task.get("tunables", []):
        fault = check_tunables(lab, task, worker, check, variant, pictures, say)
        if fault:
            return give_up(fault)
    outcome.parts.append(Part("right", task["right"], task["right"], f"all {check['cases']} cases agree with cpu/serial"
                              + (", in the emulator" if check["emulated"] else "")))
    good = grade_needs(outcome, task, check)
    if speed:
        grade_speed(lab, outcome, task, worker, good, say)
    return outcome


def pooled(earlier, timing):
    """Two timings as one. The best calls count: other programs take time from a call, and never give any."""
    if earlier and not timing["wrong"]:
        for key in ("best_seconds", "best_reference_seconds"):
            timing[key] = min(timing[key], earlier[key])
        timing["pairs"] += earlier["pairs"]
    if not timing["wrong"]:
        timing["ratio"] = timing["best_seconds"] / timing["best_reference_seconds"]
    return timing


def check_tunables(lab, task, worker, check, variant, pictures, say):
    """None, or why a value of a tunable that must work does not."""
    name, values = variant["name"], variant["values"]
    known = check["tunables"].get(name)
    if not known:
        return f"has no tunable '{name}' (RUNGS_CUDA_VERSION({task['algorithm']}, .tunables = tunables))"
    for value in values:
        if value not in known["legal"]:
            return f"the tunable {name} has no value {value}; it has {known['legal']}"
        say(f"{task['id']}: checking {name}={value}")
        settings = [f"{name}={value}", *variant.get("with", [])]
        result = check_version(lab, worker, f"student/{task['id']}", pictures, settings, 1.5)
        if result["outcome"] != "pass":
            check.update(result)
            return f"with {' '.join(settings)}: {result['what']}"
    return None


def grade_needs(outcome, task, check):
    good = True
    for need in task.get("need", []):
        call, what = need["count"].split(".")
        if call not in check:
            outcome.parts.append(Part(need["title"], need["points"], need["points"],
                                      "not counted on a GPU, where the speed shows it"))
            continue
        count = check[call][what]
        ok = count <= need.get("most", math.inf) and count >= need.get("least", 0)
        wanted = f"at most {need['most']}" if "most" in need else f"at least {need['least']}"
        words = f"{what.replace('_', ' ')} of the {call.replace('_', ' ')}: {count}"
        outcome.parts.append(Part(need["title"], need["points"] if ok else 0, need["points"],
                                  words if ok else f"{words}, must be {wanted}"))
        good &= ok
    return good


def grade_speed(lab, outcome, task, worker, good, say):
    speed = task["speed"]
    points = speed["points"]

    def give(share, reason):
        outcome.parts.append(Part("speed", points * share, points, reason))

    if task["file"].endswith(".cu") and not has_gpu():
        give(1 if good else 0, "no GPU here: what is right" + (" earns it" if good else ", but not what was asked for, earns none"))
        return
    reference = reference_worker(speed["reference"], task["algorithm"], lab)
    if not reference:
        give(0, f"not measured: {speed['reference']} is not in this tree for this processor")
        return
    worst = 0
    for size in speed["sizes"]:
        for attempt in range(ATTEMPTS):  # what else the machine does may only cost time, never points
            say(f"{task['id']}: timing {size} beside {speed['reference']}" + (", again" if attempt else ""))
            timing = pooled(timing if attempt else None, time_version(lab, worker, reference, speed, size))
            if timing["wrong"] or timing["ratio"] <= speed.get("full", FULL) or timing["ratio"] > 3 * speed.get("zero", ZERO):
                break
        timing["size"] = size
        outcome.timings.append(timing)
        if timing["wrong"]:
            give(0, timing["wrong"])
            return
        worst = max(worst, timing["ratio"])
    give(share_of(worst, speed), f"{worst:.2f} times the time of {speed['reference']} ("
         f"all from {speed.get('full', FULL)} down, none from {speed.get('zero', ZERO)} up)")


def grade_answers(lab):
    """Parts for the bugs and the predictions, and what is wrong with the file."""
    answers, fault = lab.answers()
    bugs, predictions = [], []
    for bug in lab.bugs:
        said = answers.get("bugs", {}).get(bug["id"], "")
        said = said.strip().lower() if isinstance(said, str) else ""
        if not said:
            part = Part(f"bug {bug['id']}", 0, bug["points"], "no answer in answers.toml")
        elif said not in lab.data["bug_names"]:
            part = Part(f"bug {bug['id']}", 0, bug["points"], f"'{said[:40]}' is none of the names in the README")
        elif lab.key is None:
            part = Part(f"bug {bug['id']}", 0, bug["points"], "answered; the key is with your instructor")
        else:
            ok = said == lab.key["bugs"][bug["id"]]
            part = Part(f"bug {bug['id']}", bug["points"] if ok else 0, bug["points"], f"{said}: " + ("yes" if ok else "no"))
        bugs.append(part)
    for prediction in lab.predictions:
        value = answers.get("predictions", {}).get(prediction["id"], "")
        given = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0
        predictions.append(Part(f"prediction {prediction['id']}", prediction["points"] if given else 0,
                                prediction["points"], f"you said {value:g}" if given else "no number in answers.toml"))
    return bugs, predictions, fault


# ------------------------------------------------------------------------------------------------------- showing


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text[:99])
        if not text:
            sys.stderr.write("\r")
        sys.stderr.flush()


def duration(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.3g} {unit}"


def sizes_of(check):
    """"4 of 109 cases" is no help; which sizes are."""
    if check["failed"] == check["cases"]:
        return "all"
    failures = check["failures"]
    sizes = []
    for line in failures:
        size = line.split(",")[0]
        if size not in sizes:
            sizes.append(size)
    text = ", ".join(sizes[:12])
    return text + (f" and {len(sizes) - 12} more" if len(sizes) > 12 else "")


def wrapped(label, text, indent=6, width=100):
    words, lines, line = text.split(), [], " " * indent + label
    for word in words:
        if len(line) + 1 + len(word) > width and line.strip():
            lines.append(line)
            line = " " * (indent + len(label))
        line += " " + word
    return "\n".join([*lines, line])


def show_task(outcome, detail=True):
    task, check = outcome.task, outcome.check
    lines = [f"{task['id']:<12} {outcome.points:g} of {outcome.maximum} points   {task['title']}"]
    for part in outcome.parts:
        lines.append(wrapped(f"{part.name}: {part.points:g}/{part.maximum} ", part.reason, 4))
    if not detail:
        return "\n".join(lines)
    if not check and outcome.compiler:
        words = [w for w in outcome.compiler.strip().splitlines() if "error" in w or "warning" in w or "|" in w][:12]
        lines += ["      | " + w for w in words]
    if check and check["outcome"] == "fail" and check["cases"]:
        if check["failures"] and not check.get("ended_early"):
            lines.append(wrapped("sizes:    ", sizes_of(check)))
        lines.append(wrapped("case:     ", check["case"]))
        lines.append(wrapped("wrong:    ", check["what"]))
        lines.append(wrapped("diagnosis:", check["diagnosis"]))
        if check["picture"]:
            lines.append(wrapped("picture:  ", check["picture"] + "  (red: too large, blue: too small, yellow: never written)"))
    elif check and check["outcome"] == "fail":
        lines.append(wrapped("wrong:    ", check["what"]))
    for timing in outcome.timings:
        if not timing["wrong"]:
            lines.append(f"      {timing['size']}: yours {duration(timing['best_seconds'])}, {task['speed']['reference']} "
                         f"{duration(timing['best_reference_seconds'])} (the best of {timing['pairs']} calls of each, "
                         f"{timing['threads']} threads; median of the last {duration(timing['seconds'])} and "
                         f"{duration(timing['reference_seconds'])})")
    return "\n".join(lines)


def next_step(outcomes):
    for outcome in outcomes:
        for part in outcome.parts:
            if part.points < part.maximum - 0.05:
                text = f"next: {outcome.task['id']}, {part.name}: up to {part.maximum - part.points:g} more points."
                hint = outcome.task.get("next", "") if part.name == "right" else ""
                return text + ("\n" + wrapped("", hint, 5) if hint else "")
    return ""


def needed_references(lab, tasks, also_serial):
    names = set()
    for task in tasks:
        gpu_only = task["file"].endswith(".cu") and not has_gpu()
        if "speed" in task and not gpu_only:
            names.add((task["speed"]["reference"], task["algorithm"]))
        if also_serial and not gpu_only:
            names.add(("cpu/serial", task["algorithm"]))
    files = [reference_file(name, algorithm, lab) for name, algorithm in sorted(names)]
    return [f"{BUILD}/workers/{f}" for f in files if f]


def pictures_folder(lab):
    folder = ROOT / BUILD / f"lab-{lab.number}"
    folder.mkdir(parents=True, exist_ok=True)
    return f"{BUILD}/lab-{lab.number}"


def show_predictions(lab, outcomes, answers):
    rows = []
    by_task = {o.task["id"]: o for o in outcomes}
    for prediction in lab.predictions:
        said = answers.get("predictions", {}).get(prediction["id"], "")
        said = f"{said:g}" if isinstance(said, (int, float)) else "-"
        outcome = by_task.get(prediction["task"])
        measured = "-"
        if outcome and outcome.check and outcome.check["outcome"] == "pass":
            if prediction["measure"].startswith("speedup "):
                measured = measure_speedup(lab, outcome.task, prediction)
            else:
                call, what = prediction["measure"].split(".")
                measured = str(outcome.check.get(call, {}).get(what, "-"))
        rows.append(f"  {prediction['text']:<66} {said:>10} {measured:>10}")
    if rows:
        print(f"\n  {'':<66} {'predicted':>10} {'measured':>10}")
        print("\n".join(rows))


def measure_speedup(lab, task, prediction):
    rung = prediction["measure"].split()[1]
    if task["file"].endswith(".cu") and not has_gpu():
        return "no GPU"
    progress(f"{task['id']}: timing beside {rung}")
    worker = pathlib.Path(ROOT, BUILD, "workers", lab.file_of(task))
    other = reference_worker(rung, task["algorithm"], lab)
    if rung.startswith("student/"):
        other, _, _ = build_version(lab.file_of(lab.task(rung.split("/")[1])))
    if not other:
        return "-"
    speed = {"seconds": 1, "zero": 1e6, "params": prediction.get("params", []), "frames": prediction.get("frames", 8)}
    result = time_version(lab, worker, other, speed, prediction["size"])
    progress("")
    return "-" if result.get("wrong") else f"{result['best_reference_seconds'] / result['best_seconds']:.3g}"


def command_lab(arguments):
    lab = Lab(arguments.number)
    tasks = [lab.task(arguments.task)] if arguments.task else lab.tasks
    progress("building the judge and the references")
    build_tools(needed_references(lab, tasks, True))
    outcomes = []
    print(f"lab {lab.number}: {lab.data['title']}\n")
    for task in tasks:
        outcome = grade_task(lab, task, pictures_folder(lab), progress)
        outcomes.append(outcome)
        progress("")
        print(show_task(outcome) + "\n", flush=True)
    bugs, predictions, fault = grade_answers(lab)
    if fault:
        print(f"answers: {fault}")
    if not arguments.task:
        for part in bugs:
            print(f"{part.name:<12} {part.points:g} of {part.maximum} points   {part.reason}")
        answers, _ = lab.answers()
        show_predictions(lab, outcomes, answers)
        total = sum(o.points for o in outcomes) + sum(p.points for p in bugs + predictions)
        print(f"\n{total:g} of {lab.maximum} points" + ("" if lab.key else ", the bugs not counted"))
    print(next_step(outcomes) or "all tasks have their full points")
    return 0


def command_grade(arguments):
    lab = Lab(arguments.number)
    if arguments.submission:
        lab.take_submission(arguments.submission)
    tasks = [lab.task(arguments.task)] if arguments.task else lab.tasks
    out = pathlib.Path(arguments.out or ROOT / BUILD / f"grade-{lab.number}")
    out.mkdir(parents=True, exist_ok=True)
    started = time.time()
    build_tools(needed_references(lab, tasks, False))
    outcomes = [grade_task(lab, task, pictures_folder(lab), progress) for task in tasks]
    progress("")
    bugs, predictions, fault = ([], [], None) if arguments.task else grade_answers(lab)
    total, maximum = write_results(lab, outcomes, bugs + predictions, fault, out, time.time() - started)
    passing = arguments.passing if arguments.passing is not None else maximum
    print((out / "report.txt").read_text(encoding="utf-8"), end="")
    print(f"written: {shown(out / 'report.txt')}, {shown(out / 'results.json')}")
    return 0 if total >= passing - 0.05 else 1


def write_results(lab, outcomes, answers, fault, out, seconds):
    """report.txt, and results.json as gradescope-autograders.readthedocs.io/en/latest/specs describes it."""
    total = round(sum(o.points for o in outcomes) + sum(p.points for p in answers), 1)
    maximum = sum(o.maximum for o in outcomes) + sum(p.maximum for p in answers)
    lines = [f"lab {lab.number}: {lab.data['title']}: {total:g} of {maximum} points", ""]
    tests = []
    for outcome in outcomes:
        lines += [show_task(outcome), ""]
        tests.append(test_of(f"{outcome.task['id']}: {outcome.task['title']}", outcome.points, outcome.maximum,
                             show_task(outcome)))
    for part in answers:
        lines.append(f"{part.name:<28} {part.points:g} of {part.maximum} points   {part.reason}")
        tests.append(test_of(part.name, part.points, part.maximum, part.reason))
    if fault:
        lines.append(f"answers: {fault}")
    (out / "report.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    results = {"score": total, "execution_time": round(seconds), "output": fault or "", "output_format": "text",
               "visibility": "visible", "stdout_visibility": "hidden", "tests": tests}
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return total, maximum


def test_of(name, points, maximum, output):
    return {"name": name, "score": points, "max_score": maximum, "status": "passed" if points >= maximum - 0.05 else "failed",
            "output": output, "output_format": "text", "visibility": "visible"}


def command_bug(arguments):
    lab = Lab(arguments.number)
    bug = next((b for b in lab.bugs if b["id"] == arguments.bug), None)
    if not bug:
        raise LabError(f"lab {lab.number} has no bug '{arguments.bug}'; it has {', '.join(b['id'] for b in lab.bugs)}")
    file = f"{shown(lab.folder)}/{bug['file']}"
    print(f"bug {bug['id']}: {file}: {bug['title']}\n")
    if bug.get("program"):
        code, output = make([f"{BUILD}/bugs/{file}"])
        if code != 0:
            raise LabError(output.strip())
        code, output = run_limited([f"{BUILD}/bugs/{file}"], 60)
        print(output, end="")
    else:
        build_tools([])
        worker, why, output = build_version(file)
        if not worker:
            raise LabError(why)
        check = check_version(lab, worker, f"bug/{bug['id']}", pictures_folder(lab))
        print(f"{check['failed']} of {check['cases']} cases wrong" + (", in the emulator" if check["emulated"] else ""))
        if check["failures"]:
            print(wrapped("sizes:    ", sizes_of(check)))
        for key, label in (("case", "case:     "), ("what", "wrong:    "), ("diagnosis", "diagnosis:"), ("picture", "picture:  ")):
            if check.get(key):
                print(wrapped(label, check[key]))
        if "second_call" in check:
            print(wrapped("counted:  ", ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in check["second_call"].items())
                          + " in a second call on 130x70"))
    print("\nname it under [bugs] in answers.toml: " + ", ".join(lab.data["bug_names"]))
    return 0


# ------------------------------------------------------------------------------------------------------- handing out


# Studies name rungs that a handout lacks, and their paragraphs say what a lab lets students find out.
NOT_FOR_STUDENTS = (r"assignments/[^/]+/solution/|assignments/INSTRUCTORS.md|assignments/gradescope/|\.ci/|docs/|results/[^/]+/labs/|"
                    r"(cpu|cuda)/[^/]+/study(_[^/]*)?\.toml|studies/|results/[^/]+/[^/]+/study_")


def solution_files(lab):
    """What a handout of this lab must not have: the rungs that it asks for, and whatever was made from them."""
    files = set()
    for task in lab.tasks:
        for rung in task.get("rung", []):
            file = reference_file(rung, task["algorithm"], lab)
            if file and not rung.startswith("solution/"):
                files.add(file)
    for pattern in lab.data.get("handout", {}).get("remove", []):
        files |= {shown(p) for p in ROOT.glob(pattern)}
    return files


def tracked_files():
    result = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True)
    if result.returncode == 0 and result.stdout:
        return sorted(f for f in result.stdout.decode().split("\0") if f and (ROOT / f).is_file())
    skip = (f"{BUILD}", ".git", "images/fetched")
    return sorted(shown(p) for p in ROOT.rglob("*") if p.is_file() and not shown(p).startswith(skip))


def command_handout(arguments):
    lab = Lab(arguments.number)
    out = pathlib.Path(arguments.out).resolve()
    if out.exists() and any(out.iterdir()):
        raise LabError(f"{out}: is not empty")
    if out.is_relative_to(ROOT):
        raise LabError(f"{out}: lies inside this tree; name a folder outside")
    without = solution_files(lab)
    for file in tracked_files():
        if file in without or re.match(NOT_FOR_STUDENTS, file):
            continue
        if re.match(r"assignments/[0-9]", file) and not file.startswith(shown(lab.folder) + "/"):
            continue
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, out / file)
    cut_readme(out / "README.md", lab)
    path = out / "CONTRIBUTING.md"
    path.write_text(re.sub(r"^## Add a (?:lab|study)\n.*?(?=^## )", "", path.read_text(encoding="utf-8"), flags=re.S | re.M), encoding="utf-8")
    copied = add_references(lab, out, without, arguments.arch)
    print(f"lab {lab.number} handed out in {out}: without {', '.join(sorted(without))}; "
          f"{len(copied)} references ready-made for {os.uname().machine} ({arguments.arch})")
    return 0


def cut_readme(path, lab):
    """The table of ladders, and the links to their pages and to the other labs, give away what the lab lets the student
    find out. The lab comes first."""
    text = path.read_text(encoding="utf-8")
    for title in ("The ladders", "Climb one"):
        text, found = re.subn(rf"^## {title}\n.*?(?=^## )", "", text, flags=re.S | re.M)
        if found != 1:
            raise LabError(f"{path}: no section '{title}' to leave out")
    text = re.sub(r"^    docs/.*\n", "", text, flags=re.M)
    begin = f"**Begin here: [lab {lab.number}]({shown(lab.folder)}/README.md), *{lab.data['title']}*; `make lab-{lab.number}`.**\n"
    text = text.replace("\n", "\n\n" + begin, 1)
    path.write_text(text, encoding="utf-8")


def add_references(lab, out, without, arch):
    """The reference rungs that the handout lacks, as programs: something to measure against, nothing to read."""
    wanted = sorted({(t["speed"]["reference"], t["algorithm"]) for t in lab.tasks
                     if "speed" in t and (not t["file"].endswith(".cu") or has_gpu())})
    folder = out / shown(lab.folder) / "reference" / os.uname().machine
    copied = []
    global BUILD
    kept, BUILD = BUILD, f"{BUILD}-handout"
    os.environ["ARCH"] = arch
    for name, algorithm in wanted:
        file = reference_file(name, algorithm, lab)
        if file not in without and not name.startswith("solution/"):
            continue
        code, output = make([f"{BUILD}/workers/{file}"], 600)
        if code != 0:
            raise LabError(f"{file} does not build for {arch}:\n{output[-2000:]}")
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{algorithm}-{name.replace('/', '-')}"
        shutil.copy2(ROOT / BUILD / "workers" / file, target)
        subprocess.run(["strip", str(target)], check=False)
        target.with_name(target.name + ".needs").write_text({"x86-64-v3": "avx2 fma bmi2", "x86-64-v4": "avx512bw avx512vl"}.get(arch, "") + "\n")
        copied.append(target.name)
    BUILD = kept
    del os.environ["ARCH"]
    return copied


# --------------------------------------------------------------------------------------------- testing the lab itself


def command_solution(arguments):
    """The starter fails, the ladder's rungs get full points, every shipped mutant gets what its first line says."""
    lab = Lab(arguments.number)
    if lab.key is None:
        raise LabError(f"{shown(lab.folder)}/solution is not here: a handout cannot test itself")
    lab.take_submission(lab.folder)
    build_tools(needed_references(lab, lab.tasks, False))
    failed = 0
    pictures = pictures_folder(lab)

    def expect(title, good, text):
        nonlocal failed
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {title}: {text}", flush=True)

    if not arguments.task:
        bugs, predictions, _ = grade_answers(lab)
        starter = sum(grade_task(lab, t, pictures, progress).points for t in lab.tasks) + sum(
            p.points for p in bugs + predictions)
        progress("")
        expect("starter", starter <= 0.1 * lab.maximum, f"{starter:g} of {lab.maximum} points")
    total = 0
    for task in lab.tasks:
        if arguments.task and task["id"] != arguments.task:
            continue
        place = ROOT / lab.file_of(task)
        for number, rung in enumerate(task["rung"]):
            shutil.copy(ROOT / reference_file(rung, task["algorithm"], lab), place)
            outcome = grade_task(lab, task, pictures, progress)
            progress("")
            expect(f"{task['id']} by {rung}", outcome.points >= outcome.maximum - 0.05,
                   f"{outcome.points:g} of {outcome.maximum} points"
                   + "".join("; " + p.reason for p in outcome.parts if p.points < p.maximum - 0.05))
            total += outcome.points if number == 0 else 0
        for mutant in sorted((lab.folder / "solution" / "mutants").glob(f"{task['id']}-*")):
            expect_mutant(lab, task, mutant, pictures, expect)
    if not arguments.task:
        shutil.copy(lab.folder / "solution" / "answers.toml", lab.place / "answers.toml")
        bugs, predictions, fault = grade_answers(lab)
        total += sum(p.points for p in bugs + predictions)
        expect("answers", not fault and all(p.points == p.maximum for p in bugs + predictions),
               "; ".join(p.reason for p in bugs + predictions if p.points < p.maximum) or "all points")
        expect("everything", total >= lab.maximum - 0.05 * (1 + len(lab.tasks)), f"{total:g} of {lab.maximum} points")
    return 1 if failed else 0


def command_mutants(arguments):
    """Each file of a folder, <task>-<name>.c, gets what its first line says."""
    lab = Lab(arguments.number)
    lab.take_submission(lab.folder)
    for limit in ("case_seconds", "total_seconds", "memory_mib"):
        lab.limits[limit] = getattr(arguments, limit) or lab.limits[limit]
    build_tools(needed_references(lab, lab.tasks, False))
    failed = 0

    def expect(title, good, text):
        nonlocal failed
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {title}: {text}", flush=True)

    for mutant in sorted(p for p in pathlib.Path(arguments.mutants).iterdir() if p.suffix in (".c", ".cu")):
        expect_mutant(lab, lab.task(mutant.name.split("-")[0]), mutant, pictures_folder(lab), expect)
    return 1 if failed else 0


def expect_mutant(lab, task, mutant, pictures, expect):
    """The mutant's first line: // expect: right 0..0 | speed 0..3 | says halo"""
    first = mutant.read_text(encoding="utf-8").splitlines()[0]
    shutil.copy(mutant, ROOT / lab.file_of(task))
    outcome = grade_task(lab, task, pictures, progress)
    progress("")
    text = show_task(outcome)
    good = True
    for clause in re.sub(r"^\W*expect:|\*/$", "", first).split("|"):
        words = clause.split(None, 1)
        if words[0] == "says":
            good &= words[1].strip() in re.sub(r"\s+", " ", text)
        else:
            name, bounds = clause.strip().rsplit(None, 1)
            low, high = map(float, bounds.split(".."))
            points = sum(p.points for p in outcome.parts if p.name == name)
            good &= low <= points <= high
    expect(f"mutant {mutant.name}", good, re.sub(r"\s+", " ", text) if not good else first.strip("/* "))


def main():
    parser = argparse.ArgumentParser(prog="labs.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function, needs in (("lab", command_lab, ()), ("grade", command_grade, ()), ("bug", command_bug, ("bug",)),
                                  ("handout", command_handout, ("out",)), ("solution", command_solution, ()),
                                  ("mutants", command_mutants, ("mutants",))):
        sub = commands.add_parser(name)
        sub.set_defaults(function=function)
        sub.add_argument("number", help="of the lab, 01 say")
        for need in needs:
            sub.add_argument(need)
        if name in ("lab", "grade", "solution"):
            sub.add_argument("--task", help="this one only")
        if name == "mutants":
            for limit in ("case-seconds", "total-seconds", "memory-mib"):
                sub.add_argument(f"--{limit}", type=float, help="in place of the lab's own")
        if name == "grade":
            sub.add_argument("--out", help="folder for report.txt and results.json (default: BUILD/grade-NN)")
            sub.add_argument("--submission", help="a student's tree, of which only the lab's files are taken")
            sub.add_argument("--unconfined", action="store_true",
                             help="no system call filter: for code that you trust, where the kernel or a GPU's driver wants none")
            sub.add_argument("--passing", type=float, help="points for exit status 0 (default: all)")
        if name == "handout":
            sub.add_argument("--arch", default="x86-64-v3" if os.uname().machine == "x86_64" else "",
                             help="processor that ready-made references need (gcc's -march)")
    arguments = parser.parse_args()
    global UNCONFINED
    UNCONFINED = getattr(arguments, "unconfined", False)
    try:
        return arguments.function(arguments)
    except LabError as error:
        progress("")
        print(f"labs: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
