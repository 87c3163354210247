#!/bin/sh
# make measure: files appear whole or not at all, what is measured is kept, and bad use costs one line. usage: sh tests/test_measure.sh BUILD-FOLDER
# Not under the sanitizers: it tests a program in Python.
# Waits: for a bench that does not end.
set -u
. tests/guard.sh
build=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
printf 'absdiff_64x48 --size 64x48\nthreshold_64x48 --size 64x48\n' >"$folder/list"
printf 'absdiff_bad --size 0x0\nthreshold_64x48 --size 64x48\n' >"$folder/bad"

# says TITLE STATUS PATTERN COMMAND...: in what it prints there is one line of that pattern
says() {
    title=$1 status=$2 pattern=$3
    shift 3
    "$@" >"$folder/printed" 2>&1 </dev/null
    code=$?
    if [ $code = "$status" ] && [ "$(grep -c -- "$pattern" "$folder/printed")" = 1 ] && ! grep -q Traceback "$folder/printed"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: exit $code"
        sed 's/^/     /' "$folder/printed" | head -n 20
    fi
}
measure() { guarded 120 python3 -B common/report/measure.py --rungs "$build/rungs" --results "$folder/results" --versions cpu,peer --seconds 0.01 "$@"; }
files() { find "$folder/results" -type f | wc -l; }
expect() { # TITLE NUMBER
    if [ "$(files)" = "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL $1: $(files) files"; fi
}
export RUNGS_COMMIT=1
says "no machine" 2 "MACHINE=My PC" measure --list "$folder/list" "My PC"
says "no such ladder" 2 "measure: sobel: no ladder" measure --list "$folder/list" here sobel
says "no list" 2 "No such file" measure --list "$folder/none" here
says "no time" 1 "^0 measured, 2 not" measure --list "$folder/list" --minutes 0 here
says "both" 0 "^2 measured, 0 not" measure --list "$folder/list" here
expect "both" 2
says "again" 0 "^0 measured, 0 not" measure --list "$folder/list" here
RUNGS_COMMIT=2
says "one ladder of the next commit" 0 "^1 measured, 0 not" measure --list "$folder/list" here absdiff
says "the other" 0 "^1 measured, 0 not" measure --list "$folder/list" here
says "one that fails" 1 "^1 measured, 1 not" measure --list "$folder/bad" there
expect "one that fails" 3
if sh -c 'find "$1" -name "*.json" -exec grep -L "\"commit\": \"[12]\"" {} +' - "$folder/results" | grep -q .; then
    failed=$((failed + 1)) && echo "FAIL commits"
else
    passed=$((passed + 1))
fi

# --- MISSING=1: a new rung does not cost all of the others again, and stands in a file of one run
export RUNGS_COMMIT=3
missing() { measure --missing --list "$folder/list" "$@"; }
says "nothing is missing" 0 "^0 measured, 0 not" missing here
says "without a file it is a bench" 0 "^2 measured, 0 not" missing new
python3 - "$folder/results/new/absdiff/absdiff_64x48.json" <<'PYTHON'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
document["versions"] = [row for row in document["versions"] if row["id"] != "cpu/simd"]
for row in document["versions"]:
    if row["id"] == "cpu/omp":
        row["kernel"] = row["end_to_end"] = {"median": 1e-9, "q1": 1e-9, "q3": 1e-9, "n": 3}  # the best so far
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(document, file)
PYTHON
says "a new rung is measured" 0 "^1 measured, 0 not" missing new
says "in a file of its own, beside what its ratios need" 0 "^cpu/serial cpu/omp cpu/simd 3$" python3 -c "
import json
d = json.load(open('$folder/results/new/absdiff/absdiff_64x48_with_cpu_simd.json'))
print(*[row['id'] for row in d['versions'] if row['id'][:4] != 'peer'], d['commit'])"
says "and has its time then" 0 "^0 measured, 0 not" missing new
sed -i 's,cpu/absdiff/1_omp.c,cpu/absdiff/another.c,' "$folder"/results/new/absdiff/*.json
says "what had the id of a rung and is gone was another" 0 "absdiff_64x48_with_cpu_omp .* s" missing new absdiff
says "one that no command names is not missing" 0 "^0 measured, 0 not" missing --versions cuda/v9.9 new
says "a file of another name, by its command" 0 "^0 measured, 0 not" sh -c "
    mv '$folder/results/new/threshold/threshold_64x48.json' '$folder/results/new/threshold/threshold_by_hand.json'
    python3 -B common/report/measure.py --rungs '$build/rungs' --results '$folder/results' --versions cpu --missing --list '$folder/list' new"
files_before=$(files)
says "what fails leaves no file" 1 "^0 measured, 1 not" measure --missing --list "$folder/bad" new
expect "what fails leaves no file" "$files_before"

# --- what goes wrong with folders and lists costs one line, and two at once would measure each other
mkdir -p "$folder/results/file"
: >"$folder/results/file/absdiff"
says "a file where a folder must be" 2 "^measure: .*/file/absdiff: " measure --list "$folder/list" file absdiff
rm -r "$folder/results/file"
printf '\377\n' >"$folder/noise"
says "a list that is no text" 2 "^measure: .*noise: no text" measure --list "$folder/noise" here
says "MINUTES=nan" 2 "^measure: MINUTES=nan" measure --minutes nan --list "$folder/list" here
says "versions that a ladder has none of are not all of them" 0 "absdiff_64x48 .*has no version of nix" measure --versions nix --list "$folder/list" here absdiff
exec 9<"$folder/results"
flock -n 9 || echo "FAIL the folder is locked"
says "two at once" 2 "^measure: another command is measuring into .*/results/" measure --list "$folder/list" here
says "the list may be read meanwhile" 0 "benches lack times" measure --tell --list "$folder/list" here
exec 9<&-
expect "what is refused leaves no file" "$files_before"

# --- LIST=1
says "what has no time" 0 "^  absdiff_64x48  *no time: all [0-9], and no file of this bench$" measure --tell --versions cuda --list "$folder/list" here2
says "and no result of compute-sanitizer" 0 "^  memcheck, racecheck, initcheck, synccheck no result: all 2$" measure \
    --tell --versions cuda/v1.0,cuda/v1.1 --list "$folder/list" here2 absdiff
says "studies without a GPU" 0 "^  .*labelling-noise" measure --tell --list "$folder/list" here2
short_of_readers() { measure --tell --versions cuda here2 | head -n 1; }
says "a list that is not read to its end" 0 "^grayscale$" short_of_readers
says "what has its time is not told" 0 "^0 benches lack times" measure --tell --versions cpu --list "$folder/list" new
says "no machine" 2 "MACHINE=My PC" measure --tell "My PC"

# --- MINUTES holds within one bench, whatever it has begun
# What it begins bears the number of this test: another one may run on the same machine.
cat >"$folder/slow" <<SH
#!/bin/sh
[ "\$1" = bench ] || exec "$build/rungs" "\$@"
python3 -c 'import os; os.setpgid(0, 0); os.execvp("sleep", ["sleep", "63.$$"])' &
trap "" TERM
wait
wait
SH
chmod +x "$folder/slow"
says "the minutes are over within a bench" 1 "stopped after [0-9]* s: the time is over" guarded 60 python3 -B common/report/measure.py --rungs "$folder/slow" \
    --results "$folder/results" --minutes 0.1 --list "$folder/list" slow absdiff
if ! grep -qsz "^63[.]$$\$" /proc/[0-9]*/cmdline; then
    passed=$((passed + 1))
else
    failed=$((failed + 1)) && echo "FAIL MINUTES is not held to, or what a bench began goes on"
fi
expect "it leaves no file" "$files_before"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
