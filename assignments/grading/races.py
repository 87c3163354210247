"""Data races of versions in C with threads (common/remote/races.c): found whether or not they did harm this time."""

import os
import re
import subprocess

from grading.build import compile_object, make
from grading.lab import BUILD, ROOT
from grading.measure import judge

THREADS = 4    # even where there are fewer cores: what two threads touch without a wait is a race on any
SECONDS = 3


def has_threads(lab, task):
    text = (ROOT / lab.file_of(task)).read_text(encoding="utf-8", errors="replace")
    return task["file"].endswith(".c") and re.search(r"#\s*pragma\s+omp|_Pragma|pthread_|thrd_create", text) is not None


def find_race(lab, task):
    """What to say of a data race, or "". AddressSanitizer and the race detector cannot be in one program."""
    if os.environ.get("SANITIZE"):
        return ""
    file = lab.file_of(task)
    worker = f"{BUILD}/race-workers/{file}"
    code, _ = compile_object(ROOT / file, f"{BUILD}/races/{file}.o")
    if code == 0:
        code, _ = make([worker])
    if code != 0:
        return "does not build for the race detector, as it does otherwise"
    check, _ = judge(lab, ["check", "--worker", worker, "--id", f"student/{task['id']}", "--limit", SECONDS, "--total", SECONDS,
                           "--memory", 4096, "--threads", THREADS,
                           *(word for name in task.get("without", []) for word in ("--without", name))], 10 * SECONDS + 60)
    found = re.search(r"^race (\S+) (0x[0-9a-f]+) (0x[0-9a-f]+)$", "\n".join((check or {}).get("complained", [])), re.M)
    if not found:
        return ""
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


def short(place):
    return place.rsplit(":", 1)[-1]


def line_at(worker, address):
    # The address is where the detector's function returns to: the access is before it.
    result = subprocess.run(["addr2line", "-e", worker, hex(address - 1)], cwd=ROOT, capture_output=True, text=True, check=False)
    return result.stdout.split(" ")[0].strip() or "?"
