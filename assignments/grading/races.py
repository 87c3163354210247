"""Data races, found whether or not they did harm this time: of versions in C with threads (common/remote/races.c) and, where a
lab asks for it by `watch`, of kernels in the emulator (common/emulator/races.h)."""

import os
import re
import subprocess

from grading.build import build, compile_objects, make, race_worker_of, watches_kernels
from grading.lab import BUILD, ROOT
from grading.measure import judge, usable_cores
from grading.objects import starts_threads
from grading.unseen import unseen_structs

THREADS = 4    # even where there are fewer cores: what two threads touch without a wait is a race on any
MOST_THREADS = 64  # that it can watch (common/remote/races.c)
SECONDS = 2    # for each number of threads
AT_WORK = 1.5  # threads of these, at least: versions for two have 2, those for all 2.8 to 4, one thread 1
COUNT_SECONDS = 60
MOST_ON_HOST = 0.5  # bytes that code of the host may touch for each of inputs and outputs: a computation reads and writes them all
MOST_OF_ONE = 0.05  # of all accesses of kernels, by one thread: solutions have 0.006 at most
KERNEL_SECONDS, KERNEL_PIXELS = 2, 5000  # a race shows in the order of two accesses, not in the size
FEWEST = 8  # cases that must be tried, or a race may have been let through
NOT_BUILT = "does not build for the race detector, as it does otherwise"


def has_threads(lab, task):
    return task["file"].endswith(".c") and starts_threads(f"{BUILD}/{lab.file_of(task)}.o")


def find_race(lab, task):
    """What to say of a data race, or of a result that only more threads than this machine has cores make wrong, or "".
    AddressSanitizer and the race detector cannot be in one program."""
    if os.environ.get("SANITIZE"):
        return ""
    file = lab.file_of(task)
    worker = build_for_races(file, task.get("helpers", ()))
    if not worker:
        return NOT_BUILT
    unseen = unseen_in(file)
    if unseen:
        return unseen
    # As many threads as it has otherwise are among the numbers: for others it may have none.
    for threads in sorted({min(max(2, int(usable_cores())), MOST_THREADS), THREADS}):
        while True:
            check = watched_check(lab, worker, f"student/{task['id']}", task.get("without", []), SECONDS,
                                  ["--memory", 4096, "--threads", threads])
            # The stages of a pipeline have so many each.
            if "crowd" not in check.get("complained", []) or threads <= THREADS:
                break
            threads = max(threads // 2, THREADS)
        fault = race_said(file, worker, check, threads)
        if fault:
            return fault
    return ""


def shared_work(lab, task, size):
    """What is said of a race in calls of the size that a version is timed at, or "", and how many threads at most had work at the same
    time, as bytes tell that their accesses touched; None where nobody counts."""
    file, speed = lab.file_of(task), task["speed"]
    worker = "" if os.environ.get("SANITIZE") else build_for_races(file, task.get("helpers", ()))
    if not worker:
        return "", None
    check, _ = judge(lab, ["share", "--worker", worker, "--size", speed.get("watched_size", size), "--limit", COUNT_SECONDS, "--memory", 4096,
                             "--threads", THREADS, *(word for setting in speed.get("params", []) for word in ("-p", setting))], 4 * COUNT_SECONDS)
    if not check or "ran past its limit" in check["what"]:
        return "", None
    return race_said(file, worker, check, THREADS), check["work"] / check["longest"] if check["longest"] else None


def race_said(file, worker, check, threads):
    """What a check by so many threads that are watched says, or ""."""
    if "crowd" in check.get("complained", []):
        return (f"runs more than {MOST_THREADS} threads at once, which the race detector cannot watch: leave their number to OpenMP, or "
                "end each before the next begins")
    found = re.search(r"^race (\S+) (0x[0-9a-f]+) (0x[0-9a-f]+)$", "\n".join(check.get("complained", [])), re.M)
    if not found:
        wrong = check.get("outcome") == "fail" and re.search(r" samples .* wrong | values differ", check["what"])
        if not wrong:
            return fails(check)
        where, why = check.get("case", ""), check.get("diagnosis", "")
        return f"wrong with {threads} threads{where and f' ({where})'}: {check['what']}{why and f'; diagnosis: {why}'}"
    lines = [line_at(worker, int(address, 16)) for address in found.groups()[1:]]
    does, did = {"write-write": ("writes", "writes"), "read-write": ("reads", "writes"),
                 "write-read": ("writes", "reads")}[found.group(1)]
    name = next((m.group(1) for m in [re.search(rf"{file}:(\d+)", lines[0])] if m), None)
    text = ""
    if name:
        source = (ROOT / file).read_text(encoding="utf-8", errors="replace").splitlines()
        text = f" ({source[int(name) - 1].strip()[:60]})" if 0 < int(name) <= len(source) else ""
    return (f"data race: line {short(lines[0])}{text} {does} what another thread {did} at line {short(lines[1])}, and neither "
            "waits for the other: is a variable shared that each thread needs for itself?")


def watched_check(lab, worker, name, without, seconds, arguments):
    """What the judge says after so many seconds of cases, or more, where these are too few for some of them. One case may take longer: a
    counted call of lab 04's `local` takes 2.1 s, for which all was tried anew (13 of a lab's 75 processor seconds)."""
    without = [word for parameter in without for word in ("--without", parameter)]
    for limit in (seconds, 5 * seconds, 20 * seconds):
        check, why = judge(lab, ["check", "--worker", worker, "--id", name, "--limit", max(limit, 5 * seconds), "--total", limit, *arguments, *without],
                           10 * limit + 60)
        late = check is None or "ran past its limit" in check["what"] or "not_counted" in check
        if not late and (check["checked"] >= FEWEST or check["outcome"] != "pass" or check.get("complained")):
            break
    return check or {"outcome": "fail", "what": why, "case": "", "checked": 0}


def fails(check):
    """A version that is right may not be otherwise for being watched."""
    what = check["what"] if check["outcome"] == "fail" else check.get("not_counted", "")
    return f"right, but not while it is watched: {what}" if what else ""


def build_for_races(file, helpers=()):
    worker = race_worker_of(file)
    if (ROOT / worker).exists():  # build_version() made it
        return worker
    code, _ = compile_objects(ROOT / file, [f"{BUILD}/races/{file}.o"], helpers)
    if code == 0:
        code, _ = make([worker])
    return worker if code == 0 else None


def unseen_in(file):
    return unseen_structs(ROOT / file, ROOT / BUILD / "races" / f"{file}.tsan", f"{BUILD}/races/{file}.o")


def find_kernel_race(lab, file, name, task=None, counts=None):
    """What to say of a data race of a version's kernels, or "": of plain accesses to one place that nothing orders, of which
    one writes another value. Nothing is watched on a GPU or under the sanitizers. `task`: whose version it is, or a bug's; `counts`, a
    dictionary, gets what is counted in the second of its calls that are counted."""
    if not watches_kernels():
        return ""
    task = task or {}
    largest, counted = task.get("largest", KERNEL_PIXELS), task.get("counted_size")
    build(["watching-parts"])
    worker = build_for_races(file, task.get("helpers", ()))
    if not worker:
        return NOT_BUILT
    unseen = unseen_in(file)
    if unseen:
        return unseen
    check = watched_check(lab, worker, name, task.get("without", []), KERNEL_SECONDS,
                          ["--memory", 8192, "--largest", min(KERNEL_PIXELS, largest), "--threads", 1,
                           "--watched", *(["--size", counted] if counted else []), *(word for setting in task.get("counted", ()) for word in ("--tune", setting))])
    if counts is not None:
        counts.update(check.get("second_call", {}))
    what = check.get("what", "")
    if "race: " not in what:
        return fails(check) or fault_of_watched(check)

    def name_line(found):
        return f" at line {short(line_at(worker, int(found.group(1), 16) + 1))}"

    kernel = re.search(r"\bkernel \w+ .*", what)
    return "data race: " + re.sub(r" at 0x([0-9a-f]+)", name_line, kernel.group(0) if kernel else what).replace("race: ", "", 1)


def fault_of_watched(check):
    """Whether a version computes by threads of kernels, as far as their accesses tell, and those of the host: of calls in which all
    threads run, so that none of them can wait for signs of that."""
    counts = check.get("second_call", {})
    if counts.get("host_bytes", 0) > MOST_ON_HOST * check.get("bytes", 0) > 0:
        return (f"its code on the host reads and writes {counts['host_bytes']} bytes, where inputs and outputs have {check['bytes']}: the "
                "host computes it, not the kernels")
    if counts.get("lane_steps", 0) and counts["busiest_steps"] > MOST_OF_ONE * counts["lane_steps"]:
        return (f"one of its {counts['threads']} threads makes {100 * counts['busiest_steps'] / counts['lane_steps']:.0f} % of all "
                "accesses: few threads do all the work")
    return ""


def count_watched(lab, task):
    """What the emulator counts while it watches one call of a right version on the lab's picture, and ["moved"] what on that picture moved
    round by lot; None where nothing is watched."""
    if not watches_kernels():
        return None
    worker = race_worker_of(lab.file_of(task))
    if not task.get("watch"):  # else it was built for that
        build(["watching-parts"])
        if not build_for_races(lab.file_of(task), task.get("helpers", ())):
            return {}
    counts, _ = judge(lab, ["count", "--worker", worker, "--picture", lab.folder / task["picture"], "--moved", "--limit", COUNT_SECONDS,
                            "--memory", 8192, "--threads", 1, *(word for setting in task.get("picture_params", ()) for word in ("-p", setting))],
                      2 * COUNT_SECONDS)
    return counts if counts and counts["right"] and counts["moved"]["right"] else {}


def short(place):
    return place.rsplit(":", 1)[-1]


def line_at(worker, address):
    # The address is where the detector's function returns to: the access is before it.
    result = subprocess.run(["addr2line", "-e", worker, hex(address - 1)], cwd=ROOT, capture_output=True, text=True, check=False)
    return result.stdout.split(" ")[0].strip() or "?"
