#!/usr/bin/env bash
# Runs every fuzzer for some seconds, as many at a time as there are cores, beginning with a small generated corpus and what
# earlier runs have found to be new. A finding stays in BUILD/found/NAME, with the line that repeats it.
# usage: bash tests/fuzz/run.sh BUILD-FOLDER RUNGS SECONDS
set -u
build=$1 rungs=$2 seconds=$3
case $seconds in '' | *[!0-9]* | 0) echo "fuzz: TIME=$seconds: must be whole seconds" >&2; exit 2 ;; esac
passed=0 failed=0
python3 -B tests/fuzz/corpus.py "$rungs" "$build/seeds" || exit 1
fuzz() { # PROGRAM
    local name=${1##*/fuzz_}
    mkdir -p "$build/corpus/$name" "$build/found/$name"
    # Five minutes for one input are a hang, on a busy machine too; no reader takes more than the 1 GiB that a picture may have, and its copy. A checkpoint of the
    # smallest training has 5 KB.
    UBSAN_OPTIONS=print_stacktrace=1 "$1" -max_total_time="$seconds" -timeout=300 -rss_limit_mb=4096 -malloc_limit_mb=2100 \
        -max_len=8192 -print_final_stats=1 -artifact_prefix="$build/found/$name/" "$build/corpus/$name" "$build/seeds/$name" \
        >"$build/found/$name.log" 2>&1
    echo $? >"$build/found/$name.rc"
}
programs=("$build"/tests/fuzz/fuzz_*[!.][!o])
for program in "${programs[@]}"; do
    case $program in *.o | *.d) continue ;; esac
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    fuzz "$program" &
done
wait
for program in "${programs[@]}"; do
    case $program in *.o | *.d) continue ;; esac
    name=${program##*/fuzz_}
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/found/$name.log")
    if [ "$(cat "$build/found/$name.rc")" = 0 ] && [ "${inputs:-0}" -gt 0 ]; then
        passed=$((passed + 1))
        echo "ok     fuzz $name: $inputs inputs"
    else
        failed=$((failed + 1))
        echo "FAILED fuzz $name; again: $program $build/found/$name/..."
        grep -E 'ERROR|SUMMARY|runtime error|Test unit|#[0-9]+ .* in ' "$build/found/$name.log" | head -n 20 | sed 's/^/       | /'
        tail -n 3 "$build/found/$name.log" | sed 's/^/       | /'
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
