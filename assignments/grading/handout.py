"""labs.py handout: the tree that the students of a course get."""

import os
import pathlib
import re
import shutil
import subprocess

from grading.build import has_gpu, make, reference_file
from grading.lab import BUILD, ROOT, Lab, LabError, shown
from grading.similarity import giveaways

# Studies name rungs that a handout lacks, and their paragraphs say what a lab lets students find out; the tests left out
# are those of the labs and of the repository's own texts.
NOT_FOR_STUDENTS = (r"assignments/[^/]+/solution/|assignments/INSTRUCTORS.md|assignments/gradescope/|\.ci/|docs/(?!FILES|USING)|assignments/README.md|results/[^/]+/labs/|"
                    r"(cpu|cuda)/[^/]+/study(_[^/]*)?\.toml|studies/|results/[^/]+/[^/]+/study_|assignments/grading/skeleton/|"
                    r"tests/(grader|rungs|waits|newcomer)/|tests/(test_(grader|rungs|pages|report|study|newcomer|format)|labs|aarch64|study_short|openmp_races|test_deps|test_stages|stages|verify)\.sh|"
                    r"tests/check_(page|links)\.py")
CODE = re.compile(r"(cpu|cuda)/[^/]+/(?:[^/]+/)?[^/]+\.(c|cu)")  # rungs, what lies beside the climb, helpers
ARCH_FLAGS = {"x86-64-v3": "avx2 fma bmi2", "x86-64-v4": "avx512bw avx512vl"}  # as /proc/cpuinfo names them
ARCH_MACROS = {"x86-64-v3": "__AVX2__", "x86-64-v4": "__AVX512BW__"}


def tracked_files():
    result = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True)
    if result.returncode == 0 and result.stdout:
        return sorted(f for f in result.stdout.decode().split("\0") if f and (ROOT / f).is_file())
    skip = (f"{BUILD}", ".git", "images/fetched")
    return sorted(shown(p) for p in ROOT.rglob("*") if p.is_file() and not shown(p).startswith(skip))


def files_of(labs):
    """What this course may have at all: no other lab, no solution."""
    folders = tuple(shown(lab.folder) + "/" for lab in labs)
    return [f for f in tracked_files() if not re.match(NOT_FOR_STUDENTS, f)
            and (not re.match(r"assignments/[0-9]", f) or f.startswith(folders))]


def solution_files(labs, files):
    """Of these, what gives an answer away: the rungs that the labs ask for, what a lab names, whatever is too similar."""
    found = set()
    for lab in labs:
        for task in lab.tasks:
            found |= {reference_file(r, task["algorithm"], lab) for r in task.get("rung", []) if not r.startswith("solution/")}
        for pattern in lab.data.get("handout", {}).get("remove", []):
            found |= {shown(p) for p in ROOT.glob(pattern)}
    alike = giveaways(labs, [f for f in files if f not in found])
    for file, (task, share) in sorted(alike.items()):
        if not file.startswith(("cpu/", "cuda/", "tests/", "results/")):
            raise LabError(f"{file} holds {100 * share:.0f} % of what lab {task} asks for, and cannot be left out")
    return with_includers((found | set(alike)) & set(files), files)


def with_includers(hidden, files):
    """These, and whatever of the ladders and their mutants includes a header that is not there: a rung becomes ready-made like its neighbours."""
    included = {f: set(re.findall(r'^\s*#\s*include "([^"]+)"', (ROOT / f).read_text(encoding="utf-8"), re.M)) for f in files
                if f.startswith(("cpu/", "cuda/", "tests/mutants/")) and f.endswith((".c", ".cu", ".h", ".cuh"))}
    while True:
        gone = hidden - set(ready_made(hidden))
        more = {f for f, headers in included.items() if headers & gone} - hidden
        if not more:
            return hidden
        hidden = hidden | more


def missing_headers(hidden, files):
    """(file, header) of what a handout has and what it includes and lacks."""
    left = [f for f in files if f not in hidden and f.endswith((".c", ".cu", ".h", ".cuh", ".cpp"))]
    return [(f, header) for f in left for header in re.findall(r'^\s*#\s*include "((?:assignments|common|cpu|cuda|tests)/[^"]+)"',
                                                                (ROOT / f).read_text(encoding="utf-8", errors="replace"), re.M)
            if header not in files or header in hidden and header not in ready_made(hidden)]


def command_handout(arguments):
    labs = [Lab(number) for number in arguments.number.split(",")]
    out = pathlib.Path(arguments.out).resolve()
    if out.exists() and any(out.iterdir()):
        raise LabError(f"{out}: is not empty")
    if out.is_relative_to(ROOT):
        raise LabError(f"{out}: lies inside this tree; name a folder outside")
    files = files_of(labs)
    hidden = solution_files(labs, files)
    ready = ready_made(hidden) if arguments.arch in ARCH_MACROS else []
    for file in files:
        if file not in hidden:
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, out / file)
    make_ready(ready, out, arguments.arch)
    cut_mutants(out / "tests/mutants/mutants.toml", hidden)
    cut_readme(out / "README.md", labs, files)
    path = out / "CONTRIBUTING.md"
    path.write_text(re.sub(r"^## Add a (?:lab|study)\n.*?(?=^## )", "", path.read_text(encoding="utf-8"), flags=re.S | re.M), encoding="utf-8")
    copied = [name for lab in labs for name in add_references(lab, out, arguments.arch)]
    print(f"labs {', '.join(lab.number for lab in labs)} handed out in {out}\n"
          f"ready-made, as assembler for {arguments.arch}: {', '.join(ready) or 'none'}\n"
          f"left out: {', '.join(sorted(hidden - set(ready))) or 'none'}\n"
          f"references: {', '.join(copied) or 'none'}")
    return 0


def ready_made(hidden):
    return sorted(f for f in hidden if CODE.fullmatch(f))


def for_inclusion(assembler):
    """What a compiler wrote, to stand within what it makes of another file: a sanitizer's constructor there, say, has local labels
    of the same numbers."""
    assembler = re.sub(r"^\s*\.(?:file|ident)\b.*\n", "", assembler, flags=re.M)
    return re.sub(r"\.L(?=[A-Z]*\d)", ".Lready", assembler)


def make_ready(files, out, arch):
    """Rungs that labs ask for stay in the ladder, to run, to measure and to be a pipeline's steps, with their code as the
    compiler's assembler: nothing to read. So does what several of them are linked with."""
    if not files:
        return
    build = f"{BUILD}-handout"
    code, output = make([f"{build}/ready/{f}.s" for f in files], 1800, BUILD=build, ARCH=arch, CUDA="emulated", SANITIZE="")
    if code != 0:
        raise LabError(f"rungs do not build for {arch}:\n{output[-2000:]}")
    for file in files:
        text = (ROOT / file).read_text(encoding="utf-8")
        header = re.match(r"(?:/\*.*?\*/\n)?", text, re.S).group(0)
        registers = re.search(r"^RUNGS_\w+_VERSION(?:_WITH_\w+)?\(.*?\)$", text, re.M | re.S)
        contracts = "".join(re.findall(r'^#include "common/algo/.*\n', text, re.M))
        named = f" *\n{registers.group(0)}\n" if registers else ""  # versions.sh looks for this line
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"""{header}/*
 * Ready-made: a lab asks for this code. {file}.s is what a compiler made of it for {arch}.
{named} */
{contracts}#if !defined({ARCH_MACROS[arch]}) || defined(__CUDACC__)
#error "{file} is ready-made for {arch} and the emulator: build with CUDA=emulated on such a processor"
#endif
__asm__(".include \\"{file}.s\\"");
""", encoding="utf-8")
        assembler = (ROOT / build / "ready" / f"{file}.s").read_text(encoding="utf-8")
        assembler = for_inclusion(assembler)
        (out / f"{file}.s").write_text(assembler + "\t.text\n", encoding="utf-8")


def cut_mutants(path, hidden):
    """Mutants that are a few changed words of a file need its code."""
    first, *mutants = re.split(r"^(?=\[\[mutant\]\])", path.read_text(encoding="utf-8"), flags=re.M)
    path.write_text(first + "".join(m for m in mutants if not any(f'"{file}"' in m for file in hidden)), encoding="utf-8")


def cut_readme(path, labs, files):
    """The table of a ladder, and the links to pages and to the other labs, give away what the labs let the student find out;
    what is not here is not named. The labs come first."""
    text, found = re.subn(r"^## One ladder\n.*?(?=^## )", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    if found != 1:
        raise LabError(f"{path}: no section 'One ladder' to leave out")
    begin = "".join(f"**[Lab {lab.number}]({shown(lab.folder)}/README.md), *{lab.data['title']}*: `make lab-{lab.number}`.**\n\n"
                    for lab in labs)
    text = text.replace("\n", "\n\n" + begin.rstrip() + "\n", 1)
    here = set(files) | {str(p) for f in files for p in pathlib.PurePosixPath(f).parents}
    gone = [target for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text)
            if "://" not in target and target.rstrip("/") not in here]
    for target in sorted(set(gone)):  # a paragraph, an item of a list or a row of a table that has nothing else to say
        text = re.sub(rf"^(?:(?![\n#]).+\n)*?.*\]\({re.escape(target)}[^)]*\).*\n(?:(?![\n#|*-]).+\n)*", "", text, count=0, flags=re.M)
    path.write_text(text, encoding="utf-8")


def add_references(lab, out, arch):
    """The solutions that a lab's speed is compared with, as programs: something to measure against, nothing to read."""
    wanted = sorted({(t["speed"]["reference"], t["algorithm"]) for t in lab.tasks
                     if "speed" in t and t["speed"]["reference"].startswith("solution/")
                     and (not t["file"].endswith(".cu") or has_gpu())})
    folder = out / shown(lab.folder) / "reference" / os.uname().machine
    copied = []
    build = f"{BUILD}-handout"
    for name, algorithm in wanted:
        file = reference_file(name, algorithm, lab)
        code, output = make([f"{build}/workers/{file}"], 600, BUILD=build, ARCH=arch)
        if code != 0:
            raise LabError(f"{file} does not build for {arch}:\n{output[-2000:]}")
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{algorithm}-{name.replace('/', '-')}"
        shutil.copy2(ROOT / build / "workers" / file, target)
        subprocess.run(["strip", str(target)], check=False)
        target.with_name(target.name + ".needs").write_text(ARCH_FLAGS.get(arch, "") + "\n")
        copied.append(target.name)
    return copied
