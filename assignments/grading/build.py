"""Builds the judge and the workers, with limits for the compiler, and finds the reference rungs."""

import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile

from grading.lab import BUILD, ROOT, LabError, shown

MAKE = os.environ.get("LABS_MAKE", "make")
COMPILE_SECONDS = 180
COMPILE_BYTES = 8 << 30


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


def make(targets, seconds=COMPILE_SECONDS, limits=None, **settings):
    variables = {n: os.environ[n] for n in ("CUDA", "ARCH", "SANITIZE", "OPENCV", "CC", "CXX", "NVCC") if n in os.environ}
    arguments = [f"{name}={value}" for name, value in (variables | {"BUILD": BUILD} | settings).items()]
    return run_limited([*MAKE.split(), "--no-print-directory", "-s", *arguments, *targets], seconds, limits)


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
    if real.parent.parent.parent.parent == ROOT and real.suffix in (".h", ".cuh"):
        # What rungs of a ladder share lies in a folder beside them, and is for them and for copies of them.
        return any(rung.is_file() and rung.read_bytes() == source.read_bytes() for rung in real.parent.parent.glob("*.c*"))
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
        build_tools([f"{BUILD}/workers/{file}"])
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
