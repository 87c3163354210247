"""labs.py handout: the tree that students get."""

import os
import pathlib
import re
import shutil
import subprocess

from grading.build import make, reference_file
from grading.lab import BUILD, ROOT, Lab, LabError, shown
from grading.measure import has_gpu


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
    build = f"{BUILD}-handout"
    for name, algorithm in wanted:
        file = reference_file(name, algorithm, lab)
        if file not in without and not name.startswith("solution/"):
            continue
        code, output = make([f"{build}/workers/{file}"], 600, BUILD=build, ARCH=arch)
        if code != 0:
            raise LabError(f"{file} does not build for {arch}:\n{output[-2000:]}")
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{algorithm}-{name.replace('/', '-')}"
        shutil.copy2(ROOT / build / "workers" / file, target)
        subprocess.run(["strip", str(target)], check=False)
        target.with_name(target.name + ".needs").write_text({"x86-64-v3": "avx2 fma bmi2", "x86-64-v4": "avx512bw avx512vl"}.get(arch, "") + "\n")
        copied.append(target.name)
    return copied
