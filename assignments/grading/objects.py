"""What a version's object file may bring: code that is called, one registration, and no name of the program around it."""

import functools
import re
import subprocess

from grading.lab import ROOT


def symbols(*files):
    """(name, type) of all symbols that other files see, or need."""
    output = subprocess.run(["nm", "-P", "-g", *files], capture_output=True, text=True, errors="replace", cwd=ROOT).stdout
    return [tuple(line.split()[:2]) for line in output.splitlines() if len(line.split()) >= 2]


@functools.cache
def names_of(*files):
    """Names that the worker's own files define, and all that they use besides, of the C library for example."""
    found = symbols(*files)
    return ({name for name, kind in found if kind in "TDBR"},
            {name for name, kind in found if kind in "Uw" and not name.startswith("_Z")})


# Bytes of a file's variables: as many as __constant__ memory has, or a table of 65536 words and some.
MOST_VARIABLES = {".cu.o": 65536, ".c.o": 327680}

THREADS = re.compile(r"(?:GOMP_|GOACC_|omp_|pthread_|thrd_)")


def starts_threads(file):
    """Whether an object file needs what threads are made by, whatever its source calls that."""
    return any(kind == "U" and THREADS.match(name) for name, kind in symbols(file))


@functools.cache
def words_of_the_emulator():
    folder = ROOT / "common" / "emulator" / "include"
    return set(re.findall(r"\w+", " ".join(p.read_text(encoding="utf-8") for p in folder.glob("*.h"))))


def is_ours(name):
    """Names of the worker and the emulator that no header for versions mentions."""
    inner = re.match(r"_ZNK?8emulated(\d+)", name)
    if inner:
        begin = inner.end()
        return name[begin:begin + int(inner.group(1))] not in words_of_the_emulator()
    return name.startswith(("emulator_", "worker_", "__wrap_", "__seen_", "seen_copy_", "__tsan_"))


def bare(name):
    """A function's name without what C++ adds to it."""
    inner = re.match(r"_Z(\d+)", name)
    return name[inner.end():inner.end() + int(inner.group(1))] if inner else name


def call_of_ladder(file, objects, headers):
    """What is wrong with an object file that calls what rungs of a ladder share (`objects`), in words; "" when nothing is.
    Functions that one of the headers names may be called. A header that nobody includes keeps no one from declaring them."""
    needed = {name for name, kind in symbols(file) if kind == "U"}
    shared = {name for name, kind in symbols(*objects) if kind in "TDBR"} if needed and objects else set()
    allowed = set(re.findall(r"\w+", " ".join((ROOT / header).read_text(encoding="utf-8") for header in headers)))
    for name in sorted(needed & shared):
        if bare(name) not in allowed:
            return f"calls {bare(name)}(), which the rungs of a ladder share: a version stands on the headers of common/ alone"
    return ""


def fault_of(file, program, counts_starts):
    """What is wrong with an object file, in words; "" when nothing is. `program`: the files around it; `counts_starts`: it is
    gcc's, of C or the emulator's C++; nvcc and sanitizers register more than the version."""
    own, used = names_of(*program)
    found = symbols(file)
    for name, kind in found:
        if kind == "i":
            return "has an ifunc, which is code that runs before it is called"
        if kind in "TDBRVW" and name in (own | used) and not (kind in "VW" and name.startswith("_Z")):
            return f"defines {name}, a name that the program around it uses: make it static, or call it something else"
        if kind in "Uw" and is_ours(name):
            return f"uses {name}, which versions do not get: it is the grader's own"
        if kind == "U" and file.endswith(".c.o") and name.startswith("cuda"):
            return f"uses {name}: a file in C is for the CPU"
    sections = subprocess.run(["readelf", "-SW", file], capture_output=True, text=True, errors="replace", cwd=ROOT).stdout
    starts = variables = 0
    for name, size in re.findall(r"^\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)", sections, re.M):
        if name.startswith((".preinit_array", ".ctors", ".init")) and not name.startswith(".init_array"):
            return f"has a section {name}, which is code that runs before it is called"
        if name.startswith(".init_array"):
            starts += int(size, 16) // 8
        if name.startswith((".bss", ".data", ".tbss", ".tdata")):
            variables += int(size, 16)
    most = next((n for suffix, n in MOST_VARIABLES.items() if file.endswith(suffix)), variables)
    if counts_starts and variables > most:
        return f"has {variables} bytes of variables that last, and {most} may be: memory for pictures of any size is allocated"
    if counts_starts and starts > 1:
        return "has a constructor besides the line that registers it, which is code that runs before it is called"
    return ""
