"""Builds the judge and the workers, with limits for the compiler, and finds the reference rungs."""

import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from grading.allowed import fault_of_list
from grading.jail import COMPILE_SECONDS, adopt_orphans, children, empty, jailed, landlock_version, limit_compiler
from grading.lab import BUILD, ROOT, LabError, shown
from grading.limits import wait_within
from grading.objects import call_of_ladder, fault_of

MAKE = os.environ.get("LABS_MAKE", "make")


def run_limited(command, seconds, limits=None, environment=None):
    """Exit status (None: past its limit, see limits.py) and output; whatever it started ends with it."""
    adopt_orphans()
    before = children()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, env=environment,
                                   stderr=subprocess.STDOUT, preexec_fn=limits or os.setsid)
        try:
            code = wait_within(process, seconds)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            empty(before)
        output.seek(0)
        text = output.read(1 << 20).decode("utf-8", "replace")
        return code, "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


@functools.cache
def capability():
    """What the GPUs of this machine can do, as the Makefile has it ("90"): "" where there is none. Whoever may open no device, as a
    compiler in its jail, cannot ask."""
    try:
        answer = subprocess.run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"], stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return " ".join(sorted({line.replace(".", "") for line in answer.split() if re.fullmatch(r"\d+\.\d+", line)}))


def has_gpu():
    """Whether versions run on a GPU: as CUDA says, or where there are one and its compiler."""
    has_compiler = shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc")
    return os.environ.get("CUDA", "") == "native" or "CUDA" not in os.environ and bool(has_compiler and capability())


def make(targets, seconds=COMPILE_SECONDS, limits=None, environment=None, **settings):
    variables = {n: os.environ[n] for n in ("ARCH", "SANITIZE", "OPENCV", "CC", "CXX", "NVCC") if n in os.environ}
    variables["CUDA"] = "native" if has_gpu() else "emulated"
    variables["DEPS"] = "needed"
    if has_gpu() and capability():
        variables["capability"] = capability()
    arguments = [f"{name}={value}" for name, value in (variables | {"BUILD": BUILD} | settings).items()]
    # Jobs of a make that called this program are out of its children's reach: theirs is an outermost one.
    environment = {n: v for n, v in (environment or os.environ).items() if n not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return run_limited([*MAKE.split(), "--no-print-directory", "-s", *arguments, *targets], seconds, limits, environment)


def worker_files(file):
    """What the worker of a version is linked from besides the version and its contract, by the version's extension."""
    common = [f"{BUILD}/common/remote/{name}.c.o" for name in ("worker", "worker_alone")] + [f"{BUILD}/lab/worker.a"]
    return common + [f"{BUILD}/lab/device.a" if file.endswith(".cu") else f"{BUILD}/common/remote/no_device.c.o"]


def watches_kernels():
    """Nothing is watched on a GPU or under the sanitizers."""
    return "SANITIZE" not in os.environ and not has_gpu()


def build_tools(lab, files, watched=False):
    """The lab's judge, and what workers of these files need: the emulator takes most of the time, and C none of it. `watched`: some of
    them are watched for races of kernels, whose watching parts take a second, beside the rest on another core."""
    build([judge_of(lab), *sorted({part for file in files for part in worker_files(file)}),
           *(["watching-parts"] if watched and watches_kernels() else [])])


def judge_of(lab):
    return f"{BUILD}/lab-{lab.number}/judge"


built = set()  # by this process: make takes a tenth of a second to see that there is nothing to do


def build(targets):
    missing = [target for target in targets if target not in built]
    code, output = make(missing, 1800) if missing else (0, "")
    if code != 0:
        raise LabError("the grader itself does not build:\n" + output[-3000:])
    built.update(missing)


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


def may_include(source, path, helpers=()):
    """Headers of common/ and the system, and what lies beside the version: nothing with another version's code in it."""
    real = pathlib.Path(ROOT, path).resolve()
    if real == source.resolve() or real.is_relative_to((ROOT / BUILD).resolve()) and real.name == source.name + ".cpp":
        return True
    if real.is_relative_to(source.parent.resolve()):
        return True
    if real.is_relative_to((ROOT / "common").resolve()):
        return real.suffix in (".h", ".cuh") and not real.is_relative_to((ROOT / "common/remote").resolve())
    if shown(real) in helpers:
        return True
    if real.parent.parent.parent.parent == ROOT and real.suffix in (".h", ".cuh"):
        # What rungs of a ladder share lies in a folder beside them, and is for them and for copies of them.
        return is_rung(source, real.parent.parent)
    if real.is_relative_to(ROOT):
        return False
    return str(real).startswith(("/usr/", "/opt/", "/lib")) and real.suffix not in (".o", ".so", ".a")


def is_rung(source, ladder):
    """Whether a version is one of the ladder's, or a copy of it."""
    rungs = [*ladder.glob("*.c*"), *ladder.glob("*/*.c*")]
    return any(rung.is_file() and rung.read_bytes() == source.read_bytes() for rung in rungs)


def compile_objects(source, targets, helpers=()):
    """Compiles a version where nothing can be read but the system, the headers of common/, what lies beside the version
    and what it is built from."""
    made = [pathlib.Path(ROOT, target).parent for target in targets]
    for folder in made:
        folder.mkdir(parents=True, exist_ok=True)
    build = ROOT / BUILD
    readable = [ROOT / "Makefile", ROOT / "assignments" / "labs.mk", ROOT / "common", source.parent, build / "common",
                build / "generated", build / shown(source.parent), *(p for p in build.iterdir() if p.is_file())]
    for folder in ("cpu", "cuda"):
        readable += [p for pattern in ("*/*/*.h", "*/*/*.cuh") for p in (ROOT / folder).glob(pattern)
                     if may_include(source, p, helpers)]
    with tempfile.TemporaryDirectory(prefix="rungs-compile-") as temporary:
        enter = jailed(readable, [*made, temporary])
        try:
            code, output = make(targets, COMPILE_SECONDS, enter,
                                os.environ | {"TMPDIR": temporary, "CCACHE_DISABLE": "1"})
        finally:
            if enter.ruleset is not None:
                os.close(enter.ruleset)
    if not landlock_version():  # a line of any file can be shown beside an error: #line names it
        output = "".join(line + "\n" for line in output.splitlines() if not re.match(r" *\d* *\|", line))
    return code, output


def ladder_objects():
    """What rungs of a ladder share, as far as it has been built: it is linked with every version of that ladder."""
    return [shown(path) for side in ("cpu", "cuda") for path in sorted((ROOT / BUILD / side).glob("*/*/*.o"))]


def race_worker_of(file):
    return f"{BUILD}/race-workers/{file}"


def keeps_calls():
    """Whether versions are compiled a second time, as gcc's instrumentation and the race detector's links want them."""
    return watches_kernels() and "clang" not in os.environ.get("CC", "") + os.environ.get("CXX", "")


def fault_of_version(file, helpers, calls, added, compiled):
    """What a version uses that is on no list, or ""; where it was `compiled` to be watched, of its symbols and calls as well."""
    source, stem = ROOT / file, pathlib.Path(ROOT, BUILD, "races", file)
    known = compiled and stem.with_name(stem.name + ".o").is_file()
    included = [shown(path) for path in map(pathlib.Path, depends_on(stem.with_name(stem.name + ".d"))) if path.suffix in (".h", ".cuh")]
    headers = [path for path in included if re.match(r"common/algo/|cpu/|cuda/", path)]
    return fault_of_list(source, f"{BUILD}/races/{file}.o" if known else "", stem.with_name(stem.name + ".tsan"), added, {*headers, *helpers, *calls},
                         lambda name: name.startswith(("cpu/", "cuda/")) and may_include(source, name, helpers))


def error_in(output):
    """A compiler's first error, or its last words."""
    error = re.search(r"^(\S+?:\d+(?::\d+)?: (?:fatal )?error: .*)$", output, re.M)
    return error.group(1) if error else ([w for w in output.strip().splitlines() if not w.startswith("make")] or ["no message"])[-1]


def build_version(file, helpers=(), watched=False, calls=(), added=None, listed=True):
    """Builds the worker around one version: its path, or None and what is wrong, in one line, with the compiler's words. `helpers`:
    headers of rungs that it may include, and whose functions it may call; `calls`: headers whose functions it may call; `added`:
    what its lab lets it use besides (allowed.py). `watched`: beside it, on another core, the one that finds its kernels' races; a race
    worker that is there afterwards is this version's. `listed`: False tries what is behind the list (tests/grader)."""
    source = ROOT / file
    if not source.is_file() or source.is_symlink():
        return None, f"{file}: no such file", ""
    stem = pathlib.Path(ROOT, BUILD, file)
    worker = pathlib.Path(ROOT, BUILD, "workers", file)
    worker.unlink(missing_ok=True)
    pathlib.Path(ROOT, race_worker_of(file)).unlink(missing_ok=True)
    watched, twice = watched and watches_kernels(), keeps_calls() and (watched or str(file).endswith(".c"))
    fault = fault_of_version(file, helpers, calls, added or {}, False) if listed else ""  # before a compiler spends its time on it
    if fault:
        return None, fault, ""
    code, output = compile_objects(source, [f"{BUILD}/{file}.o", *([f"{BUILD}/races/{file}.o"] if twice else [])], helpers)
    if code != 0 or not twice:
        pathlib.Path(ROOT, f"{BUILD}/races/{file}.o").unlink(missing_ok=True)
    if code is None:
        return None, f"the compiler was not done after {COMPILE_SECONDS} s", output
    if code != 0 and twice:  # what is wrong is said once
        said = output
        code, output = compile_objects(source, [f"{BUILD}/{file}.o"], helpers)
        if code == 0:
            changes = re.search(r"^(\S+?):(\d+):\d+: note: in expansion of macro .((?:thread|block|grid)(?:Idx|Dim))\b", said, re.M)
            return None, (f"line {changes.group(2)} takes the address of {changes.group(3)} or changes it: it is a value" if changes else
                          f"does not compile where it is watched, as it does otherwise: {error_in(said)}"), ""
    fault = fault_of_version(file, helpers, calls, added or {}, True) if listed else ""
    if fault:
        return None, fault, ""
    if code == 0:
        fault = fault_of(f"{BUILD}/{file}.o", worker_files(file), "SANITIZE" not in os.environ and not has_gpu())
        if fault:
            return None, fault, ""
        code, output = make([f"{BUILD}/workers/{file}", *([race_worker_of(file)] if watched else [])], COMPILE_SECONDS, limit_compiler)
        if code != 0 and watched:
            code, output = make([f"{BUILD}/workers/{file}"], COMPILE_SECONDS, limit_compiler)
        fault = call_of_ladder(f"{BUILD}/{file}.o", ladder_objects(), [*helpers, *calls]) if code == 0 else ""
        if fault and not any(is_rung(source, ROOT / side / source.parent.name) for side in ("cpu", "cuda")):
            worker.unlink(missing_ok=True)
            return None, fault, ""
    if code != 0:
        worker.unlink(missing_ok=True)
        if code is None:
            return None, f"the compiler was not done after {COMPILE_SECONDS} s", output
        missing = re.search(r"undefined reference to `([^']+)'", output)
        if missing:
            return None, (f"uses {missing.group(1)}(), which versions do not get: they may call the C library, OpenMP, "
                          "the CUDA runtime and the helpers of common/"), output
        hidden = re.search(r"error: (\S+): Permission denied|Error: file not found: (\S+)", output)
        if hidden and (ROOT / (hidden.group(1) or hidden.group(2))).exists():
            return None, (f"includes {shown(ROOT / (hidden.group(1) or hidden.group(2)))}: a version stands on the headers "
                          "of common/ alone"), ""
        crossed = re.search(r"^(\S+?:\d+)(?::\d+)?: note: +crosses initialization of ['‘](.*?)['’]$", output, re.M)
        if crossed:
            return None, (f"does not compile: {crossed.group(1)}: C++ lets no goto, such as that in TRY(), jump over the initialization of "
                          f"'{crossed.group(2)}': declare it above the first one, and set it here"), output
        return None, f"does not compile: {error_in(output)}", output
    for name in depends_on(stem.with_name(stem.name + ".d")):
        if not may_include(source, name, helpers):
            return None, f"includes {shown(pathlib.Path(ROOT, name))}: a version stands on the headers of common/ alone", ""
    return worker, "", output


def reference_worker(name, algorithm, lab):
    """The worker of a reference rung: from its source, or, in a handout, as it was built for this processor. May be None."""
    file = reference_file(name, algorithm, lab)
    if file:
        build([f"{BUILD}/workers/{file}"])
        return pathlib.Path(ROOT, BUILD, "workers", file)
    ready = lab.folder / "reference" / os.uname().machine / f"{algorithm}-{name.replace('/', '-')}"
    return ready if ready.exists() and usable(ready) else None


def reference_file(name, algorithm, lab):
    side, _, rest = name.partition("/")
    if side == "solution":
        found = [lab.folder / "solution" / algorithm / f"{rest}{e}" for e in (".c", ".cu")]
    else:  # a step of the climb, or what lies beside it in a folder (common/build/versions.sh)
        ladder = ROOT / side / algorithm
        found = [p for p in ladder.glob("*.c*") if re.sub(r"^(v[\d.]+)_.*|^\d+_", r"\1", p.stem) == rest]
        found += [p for p in ladder.glob(f"*/{rest}.c*") if p.parent.name != "shared"]
    return next((shown(p) for p in found if p.is_file()), None)


def usable(program):
    """Whether this processor has the instructions that a ready-made worker needs (the file beside it lists them)."""
    try:
        needs = set(program.with_name(program.name + ".needs").read_text().split())
        flags = re.search(r"^(?:flags|Features)\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
        return needs <= set(flags.group(1).split() if flags else ())
    except OSError:
        return False
