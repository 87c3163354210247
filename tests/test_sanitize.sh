#!/bin/sh
# make sanitize: what compute-sanitizer may say becomes the right result, files are whole, runs are kept, ended and gone on with, and bad
# use costs one line. A script speaks as compute-sanitizer 2025.3 does, another as rungs check. usage: sh tests/test_sanitize.sh BUILD-FOLDER
# Not under the sanitizers: it tests a program in Python.
# Waits: for runs that do not end.
set -u
. tests/guard.sh
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
here=$PWD
mkdir "$folder/bin" "$folder/say" "$folder/nothing"
export RUNGS_COMMIT=abc SAY="$folder/say" LASTS=61.$$ # as nobody else's do, of the tests that run beside this one

# --- what stands in for the programs. SAY/TOOL-VERSION, or SAY/TOOL, is what the tool says, in place of nothing found; its line "exit N"
# is the status, "sleep" a run that does not end, with processes in a group and in a session of their own.
cat >"$folder/bin/compute-sanitizer" <<'SH'
#!/bin/sh
[ "$1" = --version ] && printf 'NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1.0 (build 1) (public-release)\n' && exit
echo "$@" >>"$SAY/calls"
tool=$2
for word; do case $word in [a-z]*:cuda/*) version=${word##*/} ;; esac; done
while [ "$1" != check ]; do rungs=$1 && shift; done
echo "========= COMPUTE-SANITIZER"
"$rungs" "$@"
status=$?
say=$SAY/$tool-$version
[ -e "$say" ] || say=$SAY/$tool
if [ -e "$say" ]; then
    grep -v '^exit\|^sleep' "$say"
    if grep -q '^sleep' "$say"; then
        setsid -w sleep "$LASTS" &
        python3 -c 'import os; os.setpgid(0, 0); os.execvp("sleep", ["sleep", os.environ["LASTS"]])' &
        wait
    fi
    exit "$(sed -n 's/^exit //p' "$say" | grep . || echo 9)"
fi
if [ $tool = racecheck ]; then
    echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
else
    echo "========= ERROR SUMMARY: 0 errors"
fi
exit $status
SH
cat >"$folder/bin/rungs" <<'SH'
#!/bin/sh
echo "threshold: a threshold (seed 1, pictures of at most 300 pixels)"
version=${2##*:}
if [ -e "$SAY/check-${version##*/}" ]; then
    cat "$SAY/check-${version##*/}"
    exit 1
fi
printf '  PASS  %s  22 cases   exact\n' "$version"
[ -e "$SAY/left_out" ] && cat "$SAY/left_out"
echo "1 passed, 0 failed, 0 skipped"
SH
printf '#!/bin/sh\necho "NVIDIA H100 80GB HBM3, 580.159.04"\n' >"$folder/bin/nvidia-smi"
printf '#!/bin/sh\necho "Cuda compilation tools, release 13.0, V13.0.88"\n' >"$folder/bin/nvcc"
chmod +x "$folder/bin/"*

# --- a ladder of three CUDA versions with a helper, in a tree of its own
tree=$folder/tree
mkdir -p "$tree/common/algo" "$tree/cuda/tint/shared" "$tree/cpu/tint"
echo '/* tint.h: a colour. */' >"$tree/common/algo/tint.h"
: >"$tree/common/algo/tint.c"
for version in v1.0_naive v1.1_buffers v2.0_fused; do
    printf '/*\n * Idea:     %s.\n * Changed:  all.\n * Expect:   much.\n */\n#include "cuda/tint/shared/tint.h"\nint a;\n' $version >"$tree/cuda/tint/$version.cu"
done
echo 'int b;' >"$tree/cuda/tint/shared/tint.h"
echo 'int c;' >"$tree/cuda/tint/shared/tint.cu"

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $1"
    sed 's/^/     /' "$folder/printed" | head -n 20
}
# says TITLE STATUS PATTERN COMMAND...: in what it prints there is one line of that pattern
says() {
    title=$1 status=$2 pattern=$3
    shift 3
    "$@" >"$folder/printed" 2>&1 </dev/null
    code=$?
    if [ $code = "$status" ] && [ "$(grep -c -- "$pattern" "$folder/printed")" = 1 ] && ! grep -q Traceback "$folder/printed"; then
        ok
    else
        bad "$title: exit $code"
    fi
}
sanitize() {
    guarded 60 env PATH="$folder/bin:$PATH" python3 -B common/report/sanitize.py --rungs "$folder/bin/rungs" --nvcc nvcc --root "$tree" --results "$folder/results" \
        --jobs 3 "$@"
}
file=$folder/results/here/tint/sanitizer.json
# holds TITLE EXPRESSION: of d, the document, and v, its versions by name
holds() {
    if python3 - "$file" "$2" >"$folder/printed" 2>&1 <<'PYTHON'; then ok; else bad "$1: $2"; fi
import json, sys
sys.path.insert(0, "common/report")
import sanitizer
d = sanitizer.load(sys.argv[1])
v = {version["id"]: version for version in d["versions"]}
value = eval("(" + sys.argv[2] + ")")
if not value:
    print(json.dumps(d, indent=1)[:3000])
sys.exit(not value)
PYTHON
}
asleep() { grep -qsz "^61[.]$$\$" /proc/[0-9]*/cmdline; }
calls() { # TITLE NUMBER: so many runs since the last look
    number=$(grep -c . "$SAY/calls" 2>/dev/null)
    rm -f "$SAY/calls"
    if [ "${number:-0}" = "$2" ]; then ok; else bad "$1: $number runs"; fi
}

# --- bad use, and a machine that cannot
says "no machine" 2 "MACHINE=My PC" sanitize "My PC"
says "no such ladder" 2 "sanitize: sobel: no ladder; there are tint" sanitize here sobel
says "no such tool" 2 "sanitize: TOOLS=valgrind: no tool; there are memcheck" sanitize --tools memcheck,valgrind here
says "no such version" 2 "sanitize: VERSIONS=cuda/v9.9: none of" sanitize --versions cuda/v1.0,cuda/v9.9 here
says "no limit" 2 "sanitize: LIMIT=0: at least 1" sanitize --limit 0 here
says "no jobs" 2 "sanitize: JOBS=0: at least 1" sanitize --jobs 0 here
says "an emulated build" 2 "emulated in this build (no NVIDIA GPU here): compute-sanitizer needs" sanitize --emulated "no NVIDIA GPU here" here
says "make says so before it builds" 2 "^sanitize: CUDA is emulated in this build (asked for)" \
    env -u MAKEFLAGS -u MFLAGS make -s sanitize MACHINE=here CUDA=emulated BUILD="$folder/none" DEPS=needed
says "make without a machine" 2 "^sanitize: MACHINE=NAME is missing" env -u MAKEFLAGS -u MFLAGS make -s sanitize CUDA=emulated BUILD="$folder/none" DEPS=needed
printf '#!/bin/sh\nexit 9\n' >"$folder/nothing/nvidia-smi"
chmod +x "$folder/nothing/nvidia-smi"
without() { PATH=$folder/nothing:$PATH python3 -B common/report/sanitize.py --root "$tree" --results "$folder/results" "$@"; }
says "no GPU" 2 "sanitize: nvidia-smi finds no NVIDIA GPU here" without --rungs "$folder/bin/rungs" here
cp "$folder/bin/nvidia-smi" "$folder/nothing"
says "not built" 2 "not: is not built" without --rungs "$folder/not" here
if [ -z "$(command -v compute-sanitizer)" ] && ! ls /usr/local/cuda/bin/compute-sanitizer /usr/local/cuda/compute-sanitizer >/dev/null 2>&1; then
    says "no compute-sanitizer" 2 "sanitize: compute-sanitizer is not on PATH" without --rungs "$folder/bin/rungs" here
fi
if [ ! -e "$folder/results" ]; then ok; else bad "nothing is written by bad use"; fi
calls "none of these ran anything" 0

# --- nothing found
says "all clean" 0 "^12 clean (0 of them kept)[.]" sanitize here
calls "four tools, three versions" 12
holds "every run is clean" 'all(x[t]["outcome"] == "clean" and x[t]["cases"] == 22 and x[t]["left_out"] == 0 for x in v.values() for t in sanitizer.TOOLS)'
holds "what was run, where" 'd["machine"] == {"gpu": {"name": "NVIDIA H100 80GB HBM3", "driver": "580.159.04", "cuda": "13.0"}, "sanitizer": "2025.3.1.0"}
    and d["commit"] == "abc" and v["cuda/v1.0"]["racecheck"]["command"].endswith(
    "compute-sanitizer --tool racecheck --racecheck-report all --target-processes all --strip-paths no --error-exitcode 9 "
    + sys.argv[1].replace("results/here/tint/sanitizer.json", "bin/rungs")
    + " check tint:cuda/v1.0 --largest 300 --brief --seed 1 --limit 90 --total 60")' 2>/dev/null
says "again" 0 "^12 clean (12 of them kept)[.]" sanitize here
calls "what has a result is kept" 0

# --- another source
sed -i 's/Expect:/Result:   twice.\n * Expect:/' "$tree/cuda/tint/v1.0_naive.cu"
says "a header is no code" 0 "(12 of them kept)" sanitize here
sed -i 's/int a/int a, x/' "$tree/cuda/tint/v1.0_naive.cu"
says "a version with another code" 0 "(8 of them kept)" sanitize here
calls "is run again" 4
echo 'int d;' >>"$tree/cuda/tint/shared/tint.cu"
says "so are all that stand on a helper" 0 "(0 of them kept)" sanitize here
calls "that is another now" 12

# --- what the tools say. Each time of another code, and the words as they are printed
again() { echo "int n$((n = ${n:-0} + 1));" >>"$tree/cuda/tint/shared/tint.cu"; }
say() { again && cat >"$SAY/$1"; }
say memcheck-v1.1 <<SAYS
========= Invalid __global__ write of size 4 bytes
=========     at store(int *, int)+0xb0 in $here/cuda/tint/v1.1_buffers.cu:39
=========     by thread (31,0,0) in block (2,0,0)
=========     Address 0x7f3c7ec000fc is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x710fdc800000 of size 1,024 bytes
=========         Device Frame: tint_kernel(int *)+0x30 in $here/cuda/tint/v1.1_buffers.cu:44
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main [0xae66] in rungs
=========
========= Invalid __global__ write of size 4 bytes
=========     at store(int *, int)+0xb0 in $here/cuda/tint/v1.1_buffers.cu:39
=========     by thread (32,0,0) in block (2,0,0)
=========         Device Frame: tint_kernel(int *)+0x30 in $here/cuda/tint/v1.1_buffers.cu:44
=========
========= ERROR SUMMARY: 104 errors
========= ERROR SUMMARY: 4 errors were not printed. Use --print-limit option to adjust the number of printed errors
SAYS
says "memcheck" 1 "memcheck  tint:cuda/v1.1 .*: 104 errors: Invalid __global__ write of size 4 bytes; by tint_kernel(int \*) at cuda/tint/v1.1_buffers.cu:39" sanitize here
holds "is an error of v1.1" 'v["cuda/v1.1"]["memcheck"]["outcome"] == "errors" and v["cuda/v1.1"]["memcheck"]["errors"] == 104 and
    v["cuda/v1.1"]["memcheck"]["messages"] == [{"text": "Invalid __global__ write of size 4 bytes", "accesses": [{"what": None,
    "thread": "(31,0,0) in block (2,0,0)", "kernel": "tint_kernel(int *)", "place": "cuda/tint/v1.1_buffers.cu:39"}]}]'
holds "and of no other" 'sum(x[t]["outcome"] == "errors" for x in v.values() for t in sanitizer.TOOLS) == 1'
rm -f "$SAY/calls"
says "an error is kept, and said again" 1 "^kept  memcheck tint:cuda/v1.1: 104 errors" sanitize here
calls "and not run again" 0
say racecheck-v2.0 <<SAYS
========= Error: Potential WAR hazard detected at __shared__ 0x8c in block (0,0,0) :
=========     Read Thread (35,0,0) at list_kernel(int *, int *)+0x90 in $here/cuda/tint/v2.0_fused.cu:44
=========     Write Thread (64,0,0) at list_kernel(int *, int *)+0x120 in $here/cuda/tint/v2.0_fused.cu:56
=========     Current Value : 35, Incoming Value : 36
=========
========= Error: Race reported between Write access at list_kernel(int *, int *)+0x120 in $here/cuda/tint/v2.0_fused.cu:56
=========     and Read access at list_kernel(int *, int *)+0x90 in $here/cuda/tint/v2.0_fused.cu:44 [508 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)
SAYS
says "racecheck" 1 "racecheck tint:cuda/v2.0 .* 2 errors: Error: Potential WAR hazard.* Read by list_kernel.*:44; Write by list_kernel.*:56" sanitize here
holds "names both accesses of a hazard with their threads" '[(a["what"], a["thread"], a["place"]) for a in v["cuda/v2.0"]["racecheck"]["messages"][0]["accesses"]]
    == [("Read", "(35,0,0)", "cuda/tint/v2.0_fused.cu:44"), ("Write", "(64,0,0)", "cuda/tint/v2.0_fused.cu:56")]'
holds "and those of the analysis" '[(a["what"], a["kernel"], a["place"]) for a in v["cuda/v2.0"]["racecheck"]["messages"][1]["accesses"]]
    == [("Write", "list_kernel(int *, int *)", "cuda/tint/v2.0_fused.cu:56"), ("Read", "list_kernel(int *, int *)", "cuda/tint/v2.0_fused.cu:44")]'
rm "$SAY/memcheck-v1.1"
printf '========= Warning: Race reported between Write access at k()+0x10 in a.cu:1\n=========     and Write access at k()+0x10 in a.cu:1 [4 hazards]\n=========\n========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\nexit 0\n' | say racecheck-v2.0
says "a warning with exit status 0" 1 "racecheck tint:cuda/v2.0 .* 0 errors, 1 warning: Warning: Race reported; Write by k() at a.cu:1; Write" sanitize here
rm "$SAY/racecheck-v2.0"
printf '========= Uninitialized __global__ memory read of size 4 bytes\n=========     at 0x70 in /src/a.cu:41:add(int *)\n=========     by thread (31,0,0) in block (1,0,0)\n=========     Address 0x7f3c7ec000fc\n=========\n========= ERROR SUMMARY: 1 error\n' | say initcheck
says "initcheck, in the words of 2023" 1 "initcheck tint:cuda/v1.0 .* 1 error: Uninitialized __global__ memory read of size 4 bytes; by add(int \*) at /src/a.cu:41" sanitize here
rm "$SAY/initcheck"
printf '========= Barrier error detected. Divergent thread(s) in block.\n=========     at k<256, 4>(int *)+0x11f0\n=========     by thread (32,0,0) in block (0,0,0)\n=========\n========= ERROR SUMMARY: 32 errors\n' | say synccheck-v1.0
says "synccheck, without lines" 1 "synccheck tint:cuda/v1.0 .* 32 errors: Barrier error detected. Divergent thread(s) in block.; by k<256, 4>(int \*)$" sanitize here
rm "$SAY/synccheck-v1.0"
printf '========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy.\n=========     Saved host backtrace up to driver entry point at error\n=========\n========= ERROR SUMMARY: 1 error\n' | say memcheck-v1.0
says "a call of the API" 1 "memcheck  tint:cuda/v1.0 .* 1 error: Program hit cudaErrorInvalidValue (error 1)" sanitize here
rm "$SAY/memcheck-v1.0"

# --- what is no finding, and is not clean either
printf '  FAIL  cuda/v1.0  1 of 22 cases\n    case:      3x3 noise\n    wrong:     1 of 9 samples\n0 passed, 1 failed, 0 skipped\n' >"$SAY/check-v1.0"
again
says "a wrong result" 1 "^4 failed\|8 clean, 4 failed" sanitize here
holds "is a failure with its words" 'v["cuda/v1.0"]["memcheck"]["outcome"] == "failed" and "FAIL cuda/v1.0 1 of 22 cases; 1 of 9 samples" in v["cuda/v1.0"]["memcheck"]["why"]'
printf "========= Error: process didn't terminate successfully\n========= Target application returned an error\n========= ERROR SUMMARY: 1 error\nexit 1\n" | say memcheck
says "an error of the process is none of a kernel" 1 "memcheck  tint:cuda/v1.1 .*failed: Error: process didn't terminate successfully" sanitize here
rm -f "$SAY/check-v1.0" "$SAY/memcheck" "$SAY/calls"
says "what failed is tried again" 0 "^12 clean (6 of them kept)" sanitize here
calls "and the rest is kept" 6
printf '  SKIP  cuda/v1.0  no GPU\n0 passed, 0 failed, 1 skipped\n' >"$SAY/check-v1.0"
printf '========= ERROR SUMMARY: 0 errors\nexit 0\n' | say memcheck-v1.0
says "a version that did not run is not clean" 1 "memcheck  tint:cuda/v1.0 .*failed: SKIP cuda/v1.0 no GPU" sanitize here
rm "$SAY/check-v1.0"
printf 'Segmentation fault\nexit 139\n' | say memcheck-v1.0
says "a crash without a summary" 1 "memcheck  tint:cuda/v1.0 .*failed: exit status 139, and no summary" sanitize here
rm "$SAY/memcheck-v1.0"
echo "        5 of 27 cases left out: 60 s were over" >"$SAY/left_out"
again
says "cases that were left out are counted" 0 "memcheck  tint:cuda/v1.0 .* clean in 22 cases, 5 cases left out" sanitize here
rm "$SAY/left_out"

# --- time: a run that does not end, and MINUTES
rm -f "$SAY/calls"
printf 'sleep\n' | say racecheck-v1.1
says "a run past its limit" 1 "^11 clean, 1 ran past its limit" sanitize --limit 10 here
holds "is said to be one" 'v["cuda/v1.1"]["racecheck"]["outcome"] == "ran past its limit" and v["cuda/v1.1"]["racecheck"]["why"] == "10 s, beside 2 others"'
if asleep; then bad "what it started goes on"; else ok; fi
says "at the same limit it is kept" 1 "(12 of them kept)" sanitize --limit 10 here
rm -f "$SAY/calls"
says "at a longer one it is tried again" 1 "^11 clean, 1 ran past its limit (11 of them kept)" sanitize --limit 11 here
calls "alone" 1
printf '========= Invalid __shared__ read of size 1 bytes\n=========     at k()+0x10 in a.cu:1\nsleep\n' | say racecheck-v1.1
says "what was found before the limit counts" 1 "racecheck tint:cuda/v1.1 .* Invalid __shared__ read of size 1 bytes; by k() at a.cu:1" sanitize --limit 10 here
printf 'sleep\n' | say memcheck
says "the minutes are over" 1 "not run .*; call again to go on" sanitize --minutes 0.1 here
holds "what had not ended has its older result" 'all(x["memcheck"]["outcome"] == "clean" for x in v.values())'
again
rm "$SAY/memcheck" "$SAY/racecheck-v1.1" "$SAY/calls"
says "and the rest" 0 "^12 clean" sanitize here
says "no time at all" 1 "^12 not run" sanitize --minutes 0 there
if [ ! -e "$folder/results/there" ]; then ok; else bad "no file of nothing"; fi

# --- order: what has no result, the top rungs first; then what has one of older code
rm -f "$file" "$SAY/calls"
says "one version, two tools" 0 "^2 clean" sanitize --versions cuda/v2.0 --tools memcheck,racecheck --jobs 1 here
holds "the others were not run" '[x[t]["outcome"] for x in v.values() for t in sanitizer.TOOLS].count("not run") == 10'
again
rm -f "$SAY/calls"
says "all of them" 0 "^12 clean" sanitize --jobs 1 here
order=$(sed 's/--tool \([a-z]*\).*cuda.\(v[0-9.]*\) .*/\1:\2/' "$SAY/calls" | tr '\n' ' ')
if [ "$order" = "initcheck:v2.0 synccheck:v2.0 memcheck:v1.1 racecheck:v1.1 initcheck:v1.1 synccheck:v1.1 memcheck:v1.0 racecheck:v1.0 \
initcheck:v1.0 synccheck:v1.0 memcheck:v2.0 racecheck:v2.0 " ]; then ok; else bad "order: $order"; fi

# --- files are whole: an interrupted call leaves what it had, and a bad file is refused
printf 'sleep\n' | say synccheck
: >"$folder/printed" # which has "clean" in it until the call below has been started
PATH=$folder/bin:$PATH python3 -B common/report/sanitize.py --rungs "$folder/bin/rungs" --root "$tree" --results "$folder/results" --jobs 12 here >"$folder/printed" 2>&1 &
pid=$!
while [ "$(grep -c clean "$folder/printed")" -lt 9 ] && kill -0 $pid; do sleep 0.1; done
kill -TERM $pid
wait $pid
if [ $? = 130 ] && grep -q "^sanitize: interrupted; call again" "$folder/printed" && ! asleep; then ok; else bad "an interruption"; fi
holds "the nine that ended are there" 'all(x["memcheck"]["source"] == x["racecheck"]["source"] == x["initcheck"]["source"] != x["synccheck"]["source"] for x in v.values())'
if [ "$(ls "$folder/results/here/tint")" = sanitizer.json ]; then ok; else bad "no temporary file stays"; fi
cp "$file" "$folder/whole"
head -c 500 "$folder/whole" >"$file"
exec 9<"$folder/results"
flock -n 9 || bad "the folder is locked"
says "two at once" 2 "^sanitize: another command is measuring into .*/results/" sanitize here
exec 9<&-
says "a file that was cut off" 2 "sanitize: .*sanitizer.json: not JSON" sanitize here
sed 's/"outcome": "clean"/"outcome": "spotless"/' "$folder/whole" >"$file"
says "a file with another outcome" 2 "sanitizer.json: .*spotless" sanitize here
sed 's/rungs-sanitizer/rungs-dreams/' "$folder/whole" >"$file"
says "a file of another kind" 2 'is not "rungs-sanitizer"' sanitize here

# --- the ladder's page and the report show it
mkdir -p "$tree/results/here/tint" "$folder/report/here/threshold" "$folder/empty"
python3 - "$folder/whole" "$tree/results/here/tint/sanitizer.json" <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1]))
rows = {row["id"]: row for row in document["versions"]}
rows["cuda/v1.1"]["memcheck"] = {"outcome": "not run"}
rows["cuda/v1.0"]["memcheck"]["left_out"] = 5
accesses = [{"what": what, "thread": None, "kernel": "k<int>(int *)", "place": "a.cu:1"} for what in ("Read", "Write")]
rows["cuda/v2.0"]["racecheck"].update(outcome="errors", errors=2, messages=[{"text": "Error: Race reported", "accesses": accesses}])
json.dump(document, open(sys.argv[2], "w"))
PYTHON
ln -s "$(command -v sh)" "$(command -v awk)" "$folder/empty"
mkdir -p "$tree/docs"
printf '# Title\n<!-- ladder: tint -->\n<!-- /ladder -->\n' >"$tree/README.md"
printf '# Title\n<!-- worth: all -->\n<!-- /worth -->\n<!-- ladders: tint -->\n<!-- /ladders -->\n' >"$tree/docs/README.md"
page=$tree/docs/tint.md
says "the page is made" 0 "docs/tint.md" python3 -B common/report/pages.py --root "$tree"
says "it is up to date" 0 "" sh -c "python3 -B common/report/pages.py --check --root '$tree' && echo"
says "which machine" 0 "compute-sanitizer 2025.3.1.0 on here: NVIDIA H100 80GB HBM3, driver 580.159.04; last at commit abc" cat "$page"
says "which versions are clean" 0 '^- memcheck: clean: `cuda/v1.0`, `cuda/v2.0`; of these with cases left out for want of time: `cuda/v1.0`; not run: `cuda/v1.1`[.]$' cat "$page"
says "what was found" 0 '^- racecheck of `cuda/v2.0`, commit abc: 2 errors: Error: Race reported; Read by k&lt;int>(int .*) at a.cu:1; Write by' cat "$page"
sed 's/"tint"/"threshold"/' "$tree/results/here/tint/sanitizer.json" >"$folder/report/here/threshold/sanitizer.json"
says "the report is made" 0 "a.html: " env PATH="$folder/empty" "$(python3 -c 'import sys; print(sys.executable)')" -B common/report/report.py \
    --rungs "$folder/none" --results "$folder/report" "$folder/a.html"
says "the report is whole" 0 "^whole$" sh -c "python3 -B tests/check_page.py '$folder/a.html' . && echo whole"
says "and shows the same" 0 'racecheck of <code>cuda/v2.0</code>, commit abc: 2 errors: Error: Race reported; Read by k&lt;int&gt;' cat "$folder/a.html"
sed 's/"tool": /"tools": /; s/"racecheck": {/"raced": {/' "$folder/whole" >"$tree/results/here/tint/sanitizer.json"
says "a bad file is refused" 2 "pages: .*sanitizer.json: versions.0. (cuda/v1.0) has no 'racecheck'" python3 -B common/report/pages.py --root "$tree"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
