#!/bin/sh
# The grader of the labs: versions that do harm or cheat (tests/grader: the first line of each is the verdict that it must
# get, and all end within their limits), what it makes of unfinished and broken submissions, and its files.
# Under the sanitizers in a release only: what it runs most is Python and compilers.
# Waits: for the time limits of versions that hang.
# usage: sh tests/test_grader.sh BUILD-FOLDER
set -u
build=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
export BUILD="$build" CUDA="${CUDA:-emulated}"
export RUNGS_IDLE_SECONDS=30
labs="python3 assignments/labs.py"
canary=/tmp/rungs-grader-was-here
rm -f "$canary"
# A build with AddressSanitizer has no memory limits, because the sanitizer reserves terabytes of address space. Versions
# that take all memory are left out there.
case $build in
*-asan)
    export SANITIZE=1
    harm=$folder/harm
    mkdir "$harm"
    cp tests/grader/omp-asks_registry.c tests/grader/omp-crash.c tests/grader/omp-writes_outside.c "$harm"
    sed -i 's/says SIGSEGV/says runtime error/' "$harm/omp-crash.c"
    ;;
*) harm=tests/grader ;;
esac

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

# One in $share of a folder's versions, by the commit's lot, gets what its first line says.
share=${GRADER_SHARE:-8}
by_lot() { # LAB FOLDER OPTION...
    $labs mutants "$@" --share "$share" >"$folder/mutants" 2>&1
    cat "$folder/mutants"
    passed=$((passed + $(grep -c '^ok ' "$folder/mutants")))
    failed=$((failed + $(grep -c '^FAIL ' "$folder/mutants")))
    skipped=$((skipped + $(grep -c '^SKIP ' "$folder/mutants")))
    tried=$(grep -c '^ok \|^FAIL \|^SKIP ' "$folder/mutants")
    all=$(ls "$2" | grep -c '\.cu*$')
    check "of $all versions in $2 $tried were tried" test "$all" -gt 0 -a "$tried" -ge $((all / share)) -a "$tried" -le $(((all + share - 1) / share))
}

# What was tried (tests/grader/README.md) has a file, or a mutant of a lab, for each row's name, and a row for each file.
grep -o '`[a-z]*/*[a-z]*-[a-z_]*`' tests/grader/README.md | tr -d '`' | sort -u >"$folder/rows"
(cd tests/grader && ls *-*.c* */*-*.c*) | sed 's/\.cu*$//' | sort -u >"$folder/files"
cat assignments/[0-9]*/solution/mutants.toml | sed -n 's/^name = "\(.*\)"$/\1/p' | sort -u >"$folder/changes"
comm -12 "$folder/rows" "$folder/changes" | sort -u - "$folder/files" >"$folder/tried"
check "what was tried has its files, and its rows" sh -c "test -s '$folder/rows' && diff '$folder/rows' '$folder/tried'"

number=$(ls -d assignments/[0-9]*_* | sed -n 's,assignments/\([0-9]*\)_.*,\1,p' | head -n 1)
check "no lab 77: exit 2, one line" sh -c "$labs grade 77 >'$folder/o' 2>'$folder/e'; test \$? = 2 && test \$(wc -l <'$folder/e') = 1"
check "no such task: exit 2, one line" sh -c "$labs lab $number --task nonsense >'$folder/o' 2>'$folder/e'; test \$? = 2 && test \$(wc -l <'$folder/e') = 1"
check "a handout does not overwrite" sh -c "$labs handout $number '$folder' >'$folder/o' 2>'$folder/e'; test \$? = 2 && test \$(wc -l <'$folder/e') = 1"
check "bad use of the judge" sh -c "'$build/rungs-judge' time --size 3 2>'$folder/e'; test \$? = 2 && test \$(wc -l <'$folder/e') = 1"

# Every output counts. The labels of spots-labels.c, its last output, are wrong; its table is right.
right=$build/workers/tests/small/spots/serial.c wrong=$build/workers/tests/grader/outputs/spots-labels.c
judged() { # PATTERN COMMAND WORKER OPTION...: what it finds
    pattern=$1 command=$2 worker=$3
    shift 3
    "$build/rungs-judge-small" "$command" --worker "$worker" --json "$folder/judged" "$@" && cat "$folder/judged" &&
        grep -q "$pattern" "$folder/judged"
}
check "three outputs, all right" judged '"outcome": "pass"' check "$right" --id student/spots
check "the last output is wrong" judged '"what": ".*labels' check "$wrong" --id student/spots
check "timed, all outputs right" judged '"wrong": ""' time "$right" --reference "$right" --size 90x70 --seconds 0.2
check "timed, the last output is wrong" judged '"wrong": "right when checked, but wrong in a timed call' time "$wrong" \
    --reference "$right" --size 90x70 --seconds 0.2

# On a machine with a GPU the compiler in its jail may not ask which one that is, and must not take it for another: it would
# build everything anew, where it may write nothing. The stand-in for nvidia-smi can be read outside of the jail only.
mkdir "$folder/bin"
printf '#!/bin/sh\necho 9.0\n' >"$folder/bin/nvidia-smi"
cp "$folder/bin/nvidia-smi" "$folder/bin/nvcc"
chmod +x "$folder/bin"/*
cat >"$folder/native.py" <<'E1'
import pathlib, sys
sys.path.insert(0, "assignments")
from grading.build import BUILD, compile_objects, has_gpu, make
source = sys.argv[1]
assert has_gpu()
code, output = make([f"{BUILD}/settings"])
assert code == 0 and "compute_90" in pathlib.Path(BUILD, "settings").read_text(), output
code, output = compile_objects(pathlib.Path(source).resolve(), [f"{BUILD}/{source}.o"])
assert code == 0, output
E1
starter=$(ls assignments/[0-9]*/starter/*/*.c | head -n 1)
check "compiled in the jail as outside of it, where there is a GPU" env -u CUDA PATH="$folder/bin:$PATH" NVCC=/bin/true \
    BUILD="$build/as-native" python3 -B "$folder/native.py" "$starter"

judged_worker() { # WORKER OPTION...: is right on small pictures
    worker=$1
    shift
    "$build/rungs-judge" check --worker "$worker" --id student/omp --largest 300 --json "$folder/judged" "$@" &&
        grep -q '"outcome": "pass"' "$folder/judged"
}
# A rung that leaves two parameters to others is right without them, and wrong where it is asked for them.
labels=$build/workers/cpu/labelling/1_omp.c
if [ -f "$labels" ]; then
    judged_labels() { # PATTERN OPTION...
        pattern=$1
        shift
        "$build/rungs-judge" check --worker "$labels" --id student/omp --largest 600 --json "$folder/judged" "$@" &&
            cat "$folder/judged" && grep -q "$pattern" "$folder/judged"
    }
    check "cases beyond what a task asks for are left out" judged_labels '"outcome": "pass"' --without consecutive --without statistics
    check "a version itself cannot decline" judged_labels '"outcome": "fail"' --without statistics
fi
# Rungs that stand on their ladder's helper files, on another's, on what kernels share, and on steps and their registry.
for version in harris/1_omp threshold/1_omp pclines/1_omp texture/2_simd; do
    [ ! -f "$build/workers/cpu/$version.c" ] || check "a worker of cpu/$version" judged_worker "$build/workers/cpu/$version.c"
done
for ladder in kmeans texture; do
    without=
    [ $ladder != kmeans ] || without='--without batch'
    for worker in "$build/workers/cuda/$ladder"/v1.1_*.cu; do
        # shellcheck disable=SC2086 # no option, or one and its value
        [ ! -f "$worker" ] || check "a worker of cuda/$ladder" judged_worker "$worker" $without
    done
done

if [ ! -d assignments/01_measuring ]; then # a handout of another lab
    echo "$passed passed, $failed failed, 1 skipped"
    [ $failed = 0 ]
    exit
fi

by_lot 01 "$harm" --case-seconds 3 --total-seconds 6 --memory-mib 256 --patience 0
[ "$harm" != tests/grader ] || by_lot 01 tests/grader/honest --patience 0
check "nothing was written outside" test ! -e "$canary"
workers_left() { cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -o "$PWD/$build/workers/[^ ]*[s]ubmission[^ ]*"; }
no_worker_is_left() { # a killed one may need its turn on a busy machine to go
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        workers_left >"$folder/left" || return 0
        sleep 1
    done
    cat "$folder/left"
    return 1
}
check "no worker is left" no_worker_is_left

# Whatever threads wait for each other by is known to the race detector, and what does not wait is found (tests/waits: the first
# word of each says which).
cat >"$folder/waits.py" <<'E5'
import pathlib, shutil, sys
sys.path.insert(0, "assignments")
from grading.build import build_tools, build_version
from grading.lab import Lab, ROOT
from grading import races
from grading.races import find_race
races.SECONDS = 0.5  # eight cases are tried in any case
lab = Lab("01")
lab.take_submission(sys.argv[1])
task = lab.task("omp")
build_tools(lab, [task["file"]])
files = sorted(pathlib.Path("tests/waits").glob("*.c"))
assert len(files) > 8
for file in files:
    shutil.copy(file, ROOT / lab.file_of(task))
    worker, why, _ = build_version(lab.file_of(task))
    assert worker, (file, why)
    found, right = find_race(lab, task), file.read_text().startswith("/* Right:")
    assert not found if right else found.startswith("data race"), (file, found)
E5
[ "$harm" != tests/grader ] || check "waits of all kinds are known, and races found" python3 -B "$folder/waits.py" "$folder"

# A submission: the starter with a compiler error, a file that is not there, a version that is right, bad answers.
submission=$folder/submission
mkdir -p "$submission/starter/grayscale"
cp assignments/01_measuring/starter/grayscale/* "$submission/starter/grayscale/"
sed -i 's/(void)in,/(void)inn,/' "$submission/starter/grayscale/simd.c"
rm "$submission/starter/grayscale/buffers.cu"
sed 's/^    for (int y/#pragma omp parallel for\n&/' cpu/grayscale/0_serial.c >"$submission/starter/grayscale/omp.c"
printf '[bugs]\n1 = "forgotten-remainder\n' >"$submission/answers.toml"
ln -s /etc/passwd "$submission/starter/secret"
# A fix of six lines that leaves the kernel as broken as it was.
mkdir "$submission/starter/absdiff"
awk '{print} /CUDA_TRY\(cudaGetLastError/ {
    print "    CUDA_TRY(cudaStreamSynchronize(stream));"
    print "    for (int y = 0; y < out->height; y++)"
    print "        for (int i = 0; i < out->width * out->channels; i++)"
    print "            ((uint8_t *)image_row(out, y))[i] ="
    print "                (uint8_t)abs(((const uint8_t *)image_row(in, y))[i] - ((const uint8_t *)image_row(in + 1, y))[i]);"
}' assignments/01_measuring/bugs/absdiff/bug2.cu >"$submission/starter/absdiff/bug2.cu"

$labs grade 01 --submission "$submission" --out "$folder/out" >"$folder/graded" 2>"$folder/errors"
code=$?
cp "$folder/graded" "$folder/first"
check "exit status 1: points are missing" test $code = 1
check "a compiler error names the line" grep -q 'simd.c:[0-9]*:[0-9]*:' "$folder/first"
check "a missing file is named" grep -q 'buffers.cu: no such file' "$folder/first"
check "answers that are no TOML are named" grep -q 'answers.toml: .*line 2' "$folder/first"
check "a version with threads is right" grep -q 'right: 10/10' "$folder/first"
check "an unfinished kernel says so" grep -q 'naive.cu is not written yet' "$folder/first"
check "nothing on stderr" test ! -s "$folder/errors"
cat >"$folder/valid.py" <<'E2'
import json, sys
results = json.load(open(sys.argv[1]))
top = {"score": (int, float), "execution_time": int, "output": str, "output_format": str, "visibility": str,
       "stdout_visibility": str, "tests": list}
test = {"name": str, "score": (int, float), "max_score": (int, float), "status": str, "output": str,
        "output_format": str, "visibility": str}
visible = {"hidden", "after_due_date", "after_published", "visible"}
assert set(results) == set(top) and all(isinstance(results[k], t) for k, t in top.items()), results.keys()
assert results["visibility"] in visible and results["stdout_visibility"] in visible
for one in results["tests"]:
    assert set(one) == set(test) and all(isinstance(one[k], t) for k, t in test.items()), one
    assert one["status"] in ("passed", "failed") and 0 <= one["score"] <= one["max_score"]
assert abs(sum(t["score"] for t in results["tests"]) - results["score"]) < 0.1
assert sum(t["max_score"] for t in results["tests"]) == 100
E2
check "results.json is as Gradescope wants it" python3 "$folder/valid.py" "$folder/out/results.json"
check "report.txt is what was printed" grep -q "of 100 points" "$folder/out/report.txt"
check "exit status 0 when enough is asked" $labs grade 01 --task omp --submission "$submission" --out "$folder/out" --passing 10

if [ "$harm" != tests/grader ]; then # what follows is Python, or the same with other files
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ]
    exit
fi

# Only a build without the sanitizer counts what the host touches.
check "a bug is not mended on the host" grep -q 'bug2.cu: .*the host computes it' "$folder/first"

# Links in place of folders and files, what is no regular file, and a line of another file beside an error.
key=assignments/01_measuring/solution/key.toml
secret=$(sed -n 3p $key)
rm -rf "$submission"
mkdir -p "$submission/starter"
ln -s "$PWD/cpu/grayscale" "$submission/starter/grayscale"
ln -s "$PWD/$key" "$submission/answers.toml"
$labs grade 01 --submission "$submission" --out "$folder/out" >"$folder/links" 2>"$folder/errors"
check "a folder that is a link is not followed" test "$(grep -c 'no such file' "$folder/links")" = 5
check "links: results.json is as Gradescope wants it" python3 "$folder/valid.py" "$folder/out/results.json"
rm "$submission/starter/grayscale" "$submission/answers.toml"
mkdir -p "$submission/starter/grayscale/simd.c"
mkfifo "$submission/starter/grayscale/omp.c"
truncate -s 5G "$submission/starter/grayscale/naive.cu"
cp tests/grader/omp-line_of_key.c "$submission/starter/grayscale/buffers.cu"
$labs grade 01 --submission "$submission" --out "$folder/out" >"$folder/shapes" 2>"$folder/errors"
check "pipes, folders and 5 GB are no versions" test "$(grep -c ' no such file' "$folder/shapes")" = 4
check "no line of another file beside an error" sh -c "grep -q 'line 9 has #3,' '$folder/shapes' && ! grep -qF '$secret' '$folder/shapes'"
check "nothing on stderr there" test ! -s "$folder/errors"

# Whatever the answers are, there is a report.
cat >"$folder/answers.py" <<'E3'
import pathlib, sys
sys.path.insert(0, "assignments")
from grading.grade import grade_answers
from grading.lab import Lab
lab = Lab("01")
lab.place = pathlib.Path(sys.argv[1])
for bad in (b"[predictions]\nomp = " + b"9" * 5000, b"a = " + b"[" * 20000, b"\x00\xff\xfe", b"[predictions]\nomp = " + b"9" * 400,
            b"[predictions]\nomp = nan\nsimd = inf", b"[bugs]\n1 = [[1]]\n2 = 1979-05-27", b"predictions = 3", b"[bugs.1]\na = 1",
            b"[bugs]\n1 = \"\\u001b[2J\"", b"#" * 100000, b"", b"a." * 3000 + b"b = 1", b"[predictions]\nomp = -1e308"):
    (lab.place / "answers.toml").write_bytes(bad)
    bugs, predictions, fault = grade_answers(lab, lab.place)
    assert sum(p.points for p in bugs + predictions) == 0, bad[:40]
    assert all(p.reason.isprintable() for p in bugs + predictions), bad[:40]
    assert fault is None or len(fault) < 400, bad[:40]
E3
check "answers of any kind are graded" python3 -B "$folder/answers.py" "$folder"

# All of another program in one line of a mended copy is many lines.
cat >"$folder/weight.py" <<'E4'
import sys
sys.path.insert(0, "assignments")
from grading.bugs import changed_lines
broken = ["a", "b", "c"]
assert changed_lines(broken, ["a", "x" * 120, "c"]) == ({2}, 1)
assert changed_lines(broken, ["a", "x" * 700, "c"]) == ({2}, 6)
assert changed_lines(broken, ["a", "x" * 800, "c"])[1] == 7
E4
check "a long line of a fix is many" python3 -B "$folder/weight.py"

# A megabyte that has no end, or no words, is looked at once: comments, texts, empty lines. Each took hours, before any limit.
cat >"$folder/endless.py" <<'E8'
import pathlib, resource, sys
sys.path.insert(0, "assignments")
from grading.allowed import fault_of_list
from grading.bugs import grade_fix
from grading.lab import Lab
from grading.similarity import runs_of
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
lab = Lab("01")
lab.place = pathlib.Path(sys.argv[1])
copy = lab.place / "starter/absdiff/bug1.c"
copy.parent.mkdir(parents=True, exist_ok=True)
for text, says in (("/* " * 340000, "no end"), ('"\\' * 500000, '"'), ("x\n" + "'\\" * 500000, "'"), ("\n" * 1000000 + "$", ""), ("#\n" * 500000, "")):
    for suffix in (".c", ".cu"):
        source = lab.place / f"version{suffix}"
        source.write_text(text)
        fault = fault_of_list(source, "", None, {}, (), lambda name: False)
        assert says in fault and (fault or not says), (text[:9], fault)
    runs_of(text)
    copy.write_text(text)
    points, why = grade_fix(lab, lab.bugs[0], 1, "")
    assert points == 0 and ("mend" in why or "has a " in why), why
E8
check "files without an end are looked at once" python3 -B "$folder/endless.py" "$folder/endless"

# A mended copy is a mend: nothing of it is left out or brought in by the preprocessor or a comment.
cp assignments/01_measuring/bugs/absdiff/bug1.c "$folder/bug1.c"
mkdir -p "$submission/starter/absdiff"
for way in '1s/^/#include "bug9.c"\n/' '20s,^,#if 0\n#endif\n,' '15s,^,%:define x y\n,'; do
    rm -rf "$submission/starter/absdiff/bug1.c"
    sed "$way" "$folder/bug1.c" >"$submission/starter/absdiff/bug1.c"
    check "no lines for the preprocessor in a mended copy: $way" sh -c "PYTHONPATH=assignments python3 -B -c '
import pathlib, sys
from grading.bugs import grade_fix
from grading.lab import Lab
lab = Lab(\"01\")
lab.place = pathlib.Path(sys.argv[1])
assert \"preprocessor\" in grade_fix(lab, lab.bugs[0], 20, \"\")[1]' '$submission'"
done

# A mend is near what is wrong, and right in cases that nobody has seen; a number alone is no prediction.
cat >"$folder/honesty.py" <<'E6'
import pathlib, sys
sys.path.insert(0, "assignments")
from types import SimpleNamespace as S
import grading.bugs as bugs
from grading.answers import is_reason, read_answers
from grading.grade import grade_prediction
from grading.lab import Lab
lab = Lab("01")
lab.place = pathlib.Path(sys.argv[1])
bug, fix = lab.bugs[0], lab.key["fix"][0]
broken = (lab.folder / bug["file"]).read_text()
copy = lab.place / "starter/absdiff/bug1.c"
mended = broken
for old, new in fix["change"]:
    mended = mended.replace(old, new)
seeds = []
def find_fault(lab, bug, file, pictures, seed):
    seeds.append(seed)
    return "", 9
bugs.find_fault = find_fault
copy.write_text(mended)
assert bugs.grade_fix(lab, bug, 18, "")[0] == bug["points"] and seeds[0] == 1 and seeds[1] > 1, seeds
copy.write_text("static int more;\n" + mended)
far = bugs.grade_fix(lab, bug, 18, "")
assert far[0] == 0 and "where nothing is wrong" in far[1], far
loops = """for (int y = 0; y < out->height; y++) for (int i = 0; i < out->width * out->channels; i++)
((uint8_t *)image_row(out, y))[i] = (uint8_t)abs(((uint8_t *)image_row(in, y))[i] - ((uint8_t *)image_row(in + 1, y))[i]);
return STATUS_OK;"""
second = lab.bugs[1]
text = (lab.folder / second["file"]).read_text().splitlines()
text[18] = loops
(lab.place / "starter/absdiff/bug2.cu").write_text("\n".join(text))
other = bugs.grade_fix(lab, second, 19, "")
assert other[0] == 0 and "keep the algorithm" in other[1], other
answers = lab.place / "answers.toml"
answers.write_text("[predictions]\na = 2 because two cores share the rows\nb = 2\nc = 900\nd = 900 because I say so\ne = 900, because each core has a cache\n")
said, fault = read_answers(answers, "answers.toml")
assert fault is None and set(said["reasons"]) == {"a", "e"}, (said, fault)
right, wrong = (S(task={"id": "omp"}, parts=[S(points=points)]) for points in (10, 0))
page = (lab.folder / "README.md").read_text()
assert is_reason("because two cores share the rows", page, []) and not is_reason("two cores share the rows", page, ["the rows two cores share"])
assert not is_reason("counts how often the second call allocates device memory", page, []) and is_reason("buffers last, as nobody calls free", page, [])
assert not is_reason("aa bb cc dd ee", page, []) and not is_reason("the the the cores cores", page, [])
points = lambda name, outcome: grade_prediction({"id": name, "points": 2}, said, outcome, lambda: 2.1)[0]
assert [points(name, right) for name in "abce"] == [2, 1, 0, 2] and points("missing", right) == 0
assert [points(name, wrong) for name in "abc"] == [0, 0, 0]
E6
check "a mend is near the fault, and a prediction has a reason" python3 -B "$folder/honesty.py" "$submission"

# One program handed in for two tasks, its names changed, is one answer; a lab's own answers are different programs.
cat >"$folder/twins.py" <<'E9'
import pathlib, re, sys
sys.path.insert(0, "assignments")
from grading.grade import is_twin
from grading.lab import Lab
lab = Lab("01")
lab.place = pathlib.Path(sys.argv[1])
omp, simd = lab.task("omp"), lab.task("simd")
text = (lab.folder / "solution/grayscale/simd.c").read_text()
for task in (omp, simd):
    (lab.place / task["file"]).parent.mkdir(parents=True, exist_ok=True)
(lab.place / simd["file"]).write_text(text)
assert omp["unlike"] == ["simd"] and not is_twin(lab, omp, simd)
(lab.place / omp["file"]).write_text("/* mine */ static int unused;\n" + re.sub(r"\b(in|out|[xy])\b", r"\1_", text))
assert is_twin(lab, omp, simd)
ballast = re.sub(r"\brun\b", "ballast", pathlib.Path("cpu/grayscale/0_serial.c").read_text().split("RUNGS_")[0].split("*/", 1)[1])
(lab.place / omp["file"]).write_text(text + ballast.replace("static", "static __attribute__((unused))") + "int more[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};")
assert is_twin(lab, omp, simd)
(lab.place / omp["file"]).write_text(pathlib.Path("cpu/grayscale/1_omp.c").read_text())
assert not is_twin(lab, omp, simd)
E9
check "one program for two tasks is one answer" python3 -B "$folder/twins.py" "$folder/twins"

# The page for the instructor: what stands elsewhere, and what nobody else uses.
mkdir -p "$folder/class/one/starter/grayscale" "$folder/class/two/starter/grayscale"
cp cuda/grayscale/v1.1_buffers.cu "$folder/class/one/starter/grayscale/buffers.cu"
cp tests/grader/honest/omp-by_semaphores.c "$folder/class/two/starter/grayscale/omp.c"
cp assignments/01_measuring/starter/grayscale/buffers.cu "$folder/class/two/starter/grayscale/naive.cu"
cat >"$folder/page.py" <<'E7'
import pathlib, sys
sys.path.insert(0, "assignments")
from grading.lab import Lab
from grading.unusual import page
lab = Lab("01")
lab.take_submission(sys.argv[1] + "/one")
text = page(lab, lab.tasks, sys.argv[1])
assert "100 % of its own code stands in the solution cuda/grayscale/v1.1_buffers.cu" in text and "nobody else uses" not in text, text
assert "simd: no file" in text, text
lab.take_submission(sys.argv[1] + "/two")
text = page(lab, lab.tasks, sys.argv[1])
assert "nobody else uses" in text and "sem_wait" in text and "#include<semaphore.h>" in text and "stands in" not in text, text
E7
check "the instructor's page says what is unusual" python3 -B "$folder/page.py" "$folder/class"

# Kernels that do for show what is asked for, lab by lab: shared memory and barriers, streams, atomic operations that nobody
# counts, what their ladder has ready, results that are kept, copies that are no accesses.
for_show() { # LAB FOLDER
    [ -n "$(ls -d assignments/"$1"_* 2>/dev/null)" ] || return
    by_lot "$1" "tests/grader/$2" --largest-pixels 600
}
for_show 02 shared
for_show 04 passes
for_show 05 corners
for_show 06 lists
for_show 07 windows
for_show 08 sums
for_show 09 patches

# Of a result of one number, which is right by chance at times, the judge sees as well that the host computes it.
cat >"$folder/number.py" <<'E10'
import pathlib, sys
sys.path.insert(0, "assignments")
from grading.bugs import find_fault, key_of
from grading.build import build_tools
from grading.commands import pictures_folder
from grading.lab import Lab, shown
lab = Lab("02")
lab.take_submission(lab.folder)
lab.limits["largest_pixels"] = 600
bug = next(b for b in lab.bugs if b["file"] == "bugs/otsu/bug1.cu")
build_tools(lab, [bug["file"]])
copy = lab.place / "starter/otsu/bug1.cu"
copy.parent.mkdir(parents=True, exist_ok=True)
mended = "\n".join(key_of(lab, bug)) + "\n"
hosts = """    CUDA_TRY(cudaStreamSynchronize(stream));
    {
        uint32_t histogram[OTSU_BINS] = {0};
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++)
                histogram[((const uint8_t *)image_row(in, y))[x]]++;
        *(int *)out->data = otsu_threshold(histogram);
    }
out:"""
for text, says in ((mended, ""), (mended.replace("out:", hosts), "its kernels do nothing")):
    copy.write_text(text)
    fault, cases = find_fault(lab, bug, shown(copy), pictures_folder(lab))
    assert fault == "" if says == "" else says in fault, (fault, cases)
E10
[ ! -d assignments/02_blur ] || check "a threshold that the host computes is no mend" python3 -B "$folder/number.py"

# Mended copies of bugs that go round the broken lines.
if [ -d assignments/09_barcodes ]; then
    python3 -B tests/grader/mends.py "$share" >"$folder/mends" 2>&1 </dev/null
    grep '^ok \|^FAIL ' "$folder/mends"
    passed=$((passed + $(grep -c '^ok ' "$folder/mends")))
    failed=$((failed + $(grep -c '^FAIL ' "$folder/mends")))
    check "mends that go round the broken lines are tried" grep -q '^ok ' "$folder/mends"
fi

# Pipelines: the same with videos.
if [ -f cpu/motion/2_simd.c ] && [ -d assignments/03_detector ]; then
    by_lot 03 tests/grader/videos --case-seconds 12 --total-seconds 60 --largest-pixels 600
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
