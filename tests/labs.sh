#!/bin/sh
# What the labs promise to students and instructors: a course's handout holds no answer and names only what is there; a busy
# machine is not judged; answers are read leniently; bug hunts want a fix; points sum to 100; new-lab writes a lab that passes;
# the upload for Gradescope holds one lab's keys. What the grader says of faults is in the labs' own mutants (make solution).
# Run by .ci/run, since it builds and grades for minutes, in the folders that test_grader.sh uses.
# usage: sh tests/labs.sh BUILD-FOLDER
set -u
build=$1
folder=$(mktemp -d) || exit 1
export BUILD="$build" CUDA="${CUDA:-emulated}" PYTHONDONTWRITEBYTECODE=1
labs="python3 assignments/labs.py"
new=assignments/98_selftest
trap 'rm -rf "$folder" "$new" "$build/lab-98"' EXIT
passed=0 failed=0

check() { # TITLE COMMAND...: the command must succeed
    title=$1
    shift
    if "$@" >"$folder/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok   $title"
    else
        failed=$((failed + 1))
        echo "FAIL $title: $*"
        sed 's/^/     /' "$folder/log"
    fi
}
python() { PYTHONPATH=assignments python3 -c "$1"; }

# --- answers, points, bugs: no version is run
check "46*46, 2x, 3,5 and 1/2 are numbers, and a slip costs one answer" python '
import pathlib, tempfile
from grading.answers import number, read_answers
assert [number(t) for t in ("46*46", "2x", "3,5", "\"1/2\"", "about 7", "[[[", "9**9**9", "__import__(1)")] == [2116, 2, 3.5, 0.5, 7, None, None, None]
path = pathlib.Path(tempfile.mkstemp()[1])
path.write_text("[predictions]\na = 46*46\nb = \"\"\nc = " + "[" * 20000 + "\n[bugs]\n1 = 18 # a line\n")
answers, fault = read_answers(path, "answers.toml")
assert answers == {"predictions": {"a": 2116}, "bugs": {"1": 18}, "reasons": {}} and "line 4" in fault, (answers, fault)'
check "a fix is a change of few lines, and says which" python '
from grading.bugs import changed_lines
broken = [f"line {i}" for i in range(40)]
fixed = broken[:10] + ["mended"] + broken[11:]
assert changed_lines(broken, fixed) == ({11}, 1)
assert changed_lines(broken, broken[:10] + ["new"] + broken[10:])[0] >= {10, 11}
assert changed_lines(broken, ["other"] * 40)[1] == 40
import pathlib, tempfile
from grading.bugs import directives, lines_of
path = pathlib.Path(tempfile.mkstemp()[1])
def lines(text):
    path.write_text(text)
    return lines_of(path)
broken = lines("int a;\n" * 20)
assert changed_lines(broken, lines("/* a fault, says\nwho? */\n" + "int a; // b\n" * 20))[1] == 0
assert changed_lines(broken, lines("int a;\n/*\n" + "int a;\n" * 18 + "*/ int b;\n"))[1] >= 18, "cut out by a comment"
assert lines("char *a = \"/*\"; char b = 0; // c\n") == ["char *a = \"/*\"; char b = 0;"]
for line in ("#if 0", "%:if 0", "#include \"rows.c\"", "/**/ # define x y", "#\\\nif 0", "??=undef x"):
    assert directives(lines("int a;\n" + line + "\n")), line
assert not directives(lines("int a; // #if\n#pragma omp parallel for\n"))'
check "a picture is PBM, text or bits, of the size that is asked for, and nothing else is read" python '
from grading.worst import read_pbm
assert read_pbm(b"P1 # a corner\n3 2\n101\n0 1 0\n", 64) == ((3, 2, bytes([255, 0, 255, 0, 255, 0])), "")
assert read_pbm(b"P4\n9 2\n\x80\x80\x01\x00", 64) == ((9, 2, bytes([255, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 255, 0])), "")
for bad in (b"", b"P5 1 1 255\n0", b"P1 65 1\n" + b"1" * 65, b"P1 0 4\n", b"P1 2 2\n101", b"P4 9 2\n\x80", b"P1 99999999 1\n1"):
    assert read_pbm(bad, 64)[0] is None, bad'
check "who has all of a task, or all tasks, is told what is left: pictures, then bugs" python '
from types import SimpleNamespace as S
from grading.commands import words_behind, words_of_all
lab = S(number="04", tasks=[{"id": "a"}, {"id": "b"}], bugs=[{"id": "1"}, {"id": "2"}], worst=[{"id": "steps"}],
        answers=lambda: ({"bugs": {"1": 7}}, None))
part = lambda name, points, secret=False: S(name=name, points=points, maximum=4, secret=secret)
assert words_behind(lab, "a").endswith("next: make lab-04 TASK=b") and words_behind(lab, "b").endswith("next: make worst-04")
lab.worst = []
assert words_behind(lab, "b").endswith("next: make bug-04 BUG=2")
full = "all tasks have their full points"
assert words_of_all(lab, [part("bug 1", 4), part("bug 2", 2), part("worst steps", 4)]) == full + "; next: make bug-04 BUG=2"
assert words_of_all(lab, [part("bug 1", 0), part("worst steps", 3.9)]) == full + "; next: make worst-04"
assert words_of_all(lab, [part("bug 1", 0, True), part("worst steps", 4)]) == full, "a figure is not judged here"
assert words_of_all(lab, [part("bug 2", 0, True)]) == full + "; next: make bug-04 BUG=2"'
mkdir "$folder/points" && cp -r assignments "$folder/points/"
check "points that do not sum to 100 are refused" sh -c "cd '$folder/points' && sed -i '0,/points = 15/s//points = 14/' assignments/01_*/lab.toml &&
    ! $labs lab 01 2>'$folder/e' && grep -q 'sum to 99' '$folder/e'"

# --- the handout of a course
if [ -d assignments/01_measuring/solution ]; then
    check "no answer stands in what a course gets" python '
from grading.handout import files_of, solution_files
from grading.lab import ROOT, Lab
from grading.similarity import RUN, answers_of, own_runs, runs
labs = [Lab(p.parent.name[:2]) for p in sorted((ROOT / "assignments").glob("[0-9]*/lab.toml"))]
files = files_of(labs)
hidden = solution_files(labs, files)
left = [f for f in files if f not in hidden and f.endswith((".c", ".cu", ".cuh", ".h", ".md"))]
known = {f: runs(ROOT / f) for f in left}
for lab in labs:
    for task, answer in answers_of(lab):
        own = own_runs(lab, task, answer)
        for file, there in known.items():
            assert len(own) < 24 or len(own & there) < 0.4 * len(own), (lab.number, task["id"], file)
text = {f: (ROOT / f).read_text() for f in left}
assert not [f for f, t in text.items() if "tile_width * tile_height" in t], "loads a tile"
assert not [f for f in left if f.startswith(("cuda/", "tests/mutants/labelling")) and "merge_kernel" in text[f] and "atomicMin" in text[f]]
assert not [f for f in left if "/solution/" in f or "key.toml" in f or f.startswith("tests/grader")]
assert {"cuda/blur/v1.2_tiled.cu", "cuda/morphology/v1.2_tiled.cu", "cpu/grayscale/1_omp.c"} <= hidden
assert [f for f in left if f.startswith("cpu/blur/") and f.endswith(".c")] == ["cpu/blur/0_serial.c", "cpu/blur/1_omp.c"], "sums along rows first"'
    check "what is compiled in a ladder and not to be read is ready-made, and fits into another file" python '
from grading.handout import files_of, for_inclusion, ready_made, solution_files
from grading.lab import ROOT, Lab
labs = [Lab(p.parent.name[:2]) for p in sorted((ROOT / "assignments").glob("[0-9]*/lab.toml"))]
hidden = solution_files(labs, files_of(labs))
compiled = {f for f in hidden if f.startswith(("cpu/", "cuda/")) and f.endswith((".c", ".cu"))}
assert "cuda/harris/shared/strongest.cu" in compiled and compiled == set(ready_made(hidden)), compiled ^ set(ready_made(hidden))
text = for_inclusion("\t.file \"a.c\"\n.LFB23:\n\tjmp\t.L4\n\t.long\t.LC0-.L2\n\tcall\tmain@PLT\n")
assert text == ".LreadyFB23:\n\tjmp\t.Lready4\n\t.long\t.LreadyC0-.Lready2\n\tcall\tmain@PLT\n", text'
    check "what a handout has includes what it has: of each lab, and of all" python '
from grading.handout import files_of, missing_headers, solution_files
from grading.lab import ROOT, Lab
labs = [Lab(p.parent.name[:2]) for p in sorted((ROOT / "assignments").glob("[0-9]*/lab.toml"))]
for course in [[lab] for lab in labs] + [labs]:
    files = files_of(course)
    missing = missing_headers(solution_files(course, files), files)
    assert not missing, ([lab.number for lab in course], missing[:4])'
    check "a whole answer in a bug is found" python '
from grading.lab import ROOT, Lab
from grading.similarity import giveaways
assert "cuda/morphology/v1.1_buffers.cu" in giveaways([Lab("02")], ["cuda/morphology/v1.1_buffers.cu", "cpu/otsu/0_serial.c"])'
    check "its pages name only what is there" python '
import os, pathlib, re, shutil, tempfile
from grading.handout import cut_readme, files_of
from grading.lab import ROOT, Lab
labs = [Lab(p.parent.name[:2]) for p in sorted((ROOT / "assignments").glob("[0-9]*/lab.toml"))]
files = files_of(labs)
folder = pathlib.Path(tempfile.mkdtemp())
shutil.copy(ROOT / "README.md", folder)
cut_readme(folder / "README.md", labs, files)
text = (folder / "README.md").read_text()
here = set(files) | {str(p) for f in files for p in pathlib.PurePosixPath(f).parents}
gone = [t for t in re.findall(r"\]\(([^)#]+)", text) if "://" not in t and t.rstrip("/") not in here]
assert not gone and "Lab 02" in text, gone
for page in (f for f in files if f.startswith("docs/")):
    gone = [t for t in re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text()) if "://" not in t and os.path.normpath("docs/" + t) not in here]
    assert not gone, (page, gone)'
    # So whatever they write, it passes or fails as it did before.
    check "make test of a handout neither builds nor reads what students write" sh -c "make -nB CUDA=emulated test-programs >'$folder/commands' 2>&1 &&
        grep -q 'cpu/blur/0_serial.c' '$folder/commands' && ! grep 'assignments/[0-9]' '$folder/commands'"
    check "nor does a script of it" python '
import re
from grading.handout import files_of
from grading.lab import ROOT, Lab
labs = [Lab(p.parent.name[:2]) for p in sorted((ROOT / "assignments").glob("[0-9]*/lab.toml"))]
reads = [f for f in files_of(labs) if f.startswith("tests/") and f.endswith((".sh", ".py", ".awk"))
         and re.search(r"assignments|starter|lab-", (ROOT / f).read_text())]
assert not reads, reads'
    check "the upload for Gradescope holds one lab's keys" sh -c "sh assignments/gradescope/make_zip.sh 02 '$folder/02.zip' &&
        python3 -m zipfile -l '$folder/02.zip' | grep key.toml >'$folder/keys' && grep -q 02_blur '$folder/keys' && ! grep -v 02_blur '$folder/keys'"
fi

# --- a machine that others use: the judge measures how long the reference waited for a core and what others had of the cores, and the grader heeds it
submission=$folder/submission
mkdir -p "$submission/starter/grayscale"
sed 's/^    for (int y/#pragma omp parallel for\n&/' cpu/grayscale/0_serial.c >"$submission/starter/grayscale/omp.c"
check "a busy machine is not judged, and says so: exit status 2" sh -c "PYTHONPATH=assignments python3 -c '
import sys
import grading.grade
import labs
grading.grade.time_version = lambda *given: {\"wrong\": \"\", \"waited\": 0.5, \"others\": 0.5, \"threads_ran\": 2, \"reference_threads_ran\": 2, \"ratio_median\": 1}
sys.exit(labs.main())' grade 01 --task omp --submission '$submission' \
    --out '$folder/out' --patience 0 >'$folder/o' 2>'$folder/e'; test \$? = 2 && grep -q 'not judged' '$folder/o' && grep -q 'right: 10/10' '$folder/o'"
worker=$build/workers/$build/lab-01/submission/starter/grayscale/omp.c
loops=
for i in $(seq $((2 * $(nproc)))); do
    timeout 900 sh -c 'while :; do :; done' 2>/dev/null &
    loops="$loops $!"
done
check "the judge sees that others take the cores" sh -c "'$build/lab-01/judge' time --worker '$worker' --reference '$worker' --size 1920x1080 \
    --seconds 1 --json '$folder/timed' && PYTHONPATH=assignments python3 -c '
import json, sys
from grading.grade import is_disturbed
sys.exit(not is_disturbed(json.load(open(\"$folder/timed\"))))'"
kill $loops
wait 2>/dev/null
check "the starter shows no answer before the guess" sh -c "$labs lab 01 --patience 0 >'$folder/o' && grep -c 'guess first' '$folder/o' | grep -qx 3"

# --- a lab's skeleton
check "new-lab writes a lab" $labs new 98_selftest --algorithm absdiff
check "which passes" $labs solution 98 --patience 0

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
