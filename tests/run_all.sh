#!/usr/bin/env bash
# All tests, as `make test` runs them, by the rule in tests/README.md: unit tests, version checks, mutants and command line, in the
# normal build; or, as `make test-sanitized` runs them, in one with AddressSanitizer and UndefinedBehaviorSanitizer. What is
# needed is built first, by one make, so that the cores are at work until the last file; then as many stages run at a time as there are cores until the last has ended, the longest first; beside them, one at a time,
# those that mostly wait (for time limits, for other processes), which say `Waits:` in their first comment. Each stage prints its
# seconds and its processor seconds, which a busy machine does not change much. What was not tried is printed by reason, and line by
# line in BUILD/not_tried.txt. The last line is "N passed, N failed, N skipped".
# usage: MAKE=make BUILD=build CUDA=emulated [CHECKED='cuda/blur ...'] bash tests/run_all.sh normal|sanitized
#        (CHECKED: of these ladders alone every version is checked)
set -u
MAKE=${MAKE:-make} BUILD=${BUILD:-build} CUDA=${CUDA:-emulated}
case ${1:-} in
normal) tested=$BUILD goal=test-programs ;;
sanitized) tested=$BUILD-asan goal=test-builds ;;
*) echo 'usage: run_all.sh normal|sanitized' >&2; exit 2 ;;
esac
jobs=$(nproc 2>/dev/null || echo 2)
# Threads that spin while they wait take the cores from those that work, here and beside this.
export OMP_WAIT_POLICY=passive
BUDGET=${BUDGET:-1}
. tests/limits.sh
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
: >"$work/plan"
: >"$work/waiting"
: >"$work/skipped"

# Runs a command whose last line of that form is "N passed, N failed, N skipped", or which is a cmocka program; leaves
# "PASSED FAILED SKIPPED SECONDS PROCESSOR-SECONDS" in $1.counts and the output in $1.
run_stage() { # FILE COMMAND...
    local file=$1 code counts begin=$SECONDS processor TIMEFORMAT='%U %S'
    shift
    { time "$@" >"$file" 2>&1 </dev/null; } 2>"$file.time"
    code=$?
    processor=$(awk 'END {printf "%.0f", $1 + $2}' "$file.time")
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$file" | tail -n 1)
    if [ -z "$counts" ]; then
        count() { sed -n "s/^\[  $1 *\] \([0-9]*\) test(s).*/\1/p" "$file" | awk '{n += $1} END {print n + 0}'; }
        counts="$(count PASSED) $(count FAILED) $(count SKIPPED)"
    fi
    set -- $counts
    # Crashed or refused before it could count; or ran nothing: neither may look like success.
    if [ "$2" = 0 ] && { [ $code != 0 ] || [ $(($1 + $3)) = 0 ]; }; then
        echo "exit status $code with $1 passed and none failed" >>"$file"
        set -- "$1" 1 "$3"
    fi
    echo "$1 $2 $3 $((SECONDS - begin)) $processor" >"$file.new"
    mv "$file.new" "$file.counts"
}

# Peers in Python need numpy, which a python3 that comes first on PATH may lack where Debian's own has it.
[ -n "${RUNGS_PYTHON:-}" ] || python3 -c 'import numpy' 2>/dev/null || [ ! -x /usr/bin/python3 ] || export RUNGS_PYTHON=/usr/bin/python3

stages=0 processor_seconds=0
titles=() budgets=() over=()

# Prints the stages that have ended since.
report() {
    local i
    for ((i = 1; i <= stages; i++)); do
        [ -n "${titles[i]}" ] && [ -e "$work/$i.counts" ] || continue
        local title=${titles[i]} budget=${budgets[i]}
        titles[i]=
        set -- $(cat "$work/$i.counts")
        if [ "$budget" != 0 ] && [ "$5" -gt "$budget" ]; then
            over+=("$title: $5 processor seconds, budget $budget")
        fi
        passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3)) processor_seconds=$((processor_seconds + $5))
        awk -v title="$title" '/^ *SKIP /          { sub(/^ *SKIP */, ""); print title ": " $0 }
                               /^\[  SKIPPED \] / && !/listed below/ && !seen[$NF]++ { print title ": " $NF }' \
            "$work/$i" >>"$work/skipped"
        if [ "$2" = 0 ]; then
            echo "ok     $title: $1 passed, $3 skipped ($4 s, processor $5 s)"
        else
            echo "FAILED $title: $1 passed, $2 failed, $3 skipped ($4 s, processor $5 s)"
            # Without what went well, or nobody finds the rest.
            grep -v '^ok  \|^  PASS  \|^\[       OK \]\|^\[ RUN ' "$work/$i" | sed 's/^/       | /'
        fi
    done
}

register() { # BUDGET TITLE
    stages=$((stages + 1))
    budgets[stages]=$1
    titles[stages]=$2
}

stage() { # BUDGET TITLE COMMAND...
    while [ "$(jobs -rp | grep -vcx "$waiting")" -ge "$jobs" ]; do
        wait -n
        report
    done
    register "$1" "$2"
    shift 2
    run_stage "$work/$stages" "$@" &
}

# For later: what takes more of these "seconds" begins earlier.
plan() { # SECONDS BUDGET TITLE COMMAND
    printf '%s\t%s\t%s\t%s\n' "$@" >>"$work/plan"
}

waits() { # FILE
    head -n 12 "$1" | grep -q '^[#*/ ]*Waits:'
}

# As many versions as a peer in Python takes the time of, where the libraries that they call are installed: few machines have them.
python_peer=0
! "${RUNGS_PYTHON:-python3}" -c 'import importlib.util, sys
sys.exit(not any(importlib.util.find_spec(name) for name in ("cv2", "skimage", "sklearn")))' 2>/dev/null || python_peer=20

suite() { # BUILD-FOLDER LADDER-BUDGET CHECK-OPTIONS
    local build=$1 budget options=$3
    budget=$(awk "BEGIN {printf \"%.0f\", $2 * $BUDGET}")
    for script in tests/test_*.sh; do
        [ "$build" = "$BUILD" ] || ! grep -q '^# Not under the sanitizers:' "$script" || continue
        [ "$build" = "$BUILD" ] || [ -z "${CHECKED:-}" ] || ! grep -q '^# Under the sanitizers in a release only:' "$script" || continue
        if waits "$script"; then
            printf '%s\t%s\n' "$script ($build)" "sh $script $build" >>"$work/waiting"
            continue
        fi
        seconds=1000
        ! grep -q '^# Takes minutes:' "$script" || seconds=2000
        plan $seconds 0 "$script ($build)" "sh $script $build"
    done
    for contract in common/algo/*.c; do
        algorithm=$(basename "$contract" .c)
        # Of a ladder whose turn it is not (.ci/run) the scripts have tried a few versions.
        case " ${CHECKED:-cuda/$algorithm} " in *" cuda/$algorithm "*) ;; *) continue ;; esac
        versions=$(ls cpu/"$algorithm"/*.c cuda/"$algorithm"/*.cu peers/"$algorithm"/* 2>/dev/null | wc -l)
        versions=$((versions + python_peer * $(ls peers/"$algorithm"/*.py 2>/dev/null | wc -l)))
        plan $((budget * versions)) $((budget * versions)) "$build/rungs check $algorithm" \
            "$build/rungs check $algorithm $options"
    done
    if [ "$build" = "$BUILD" ]; then # a study is Python and what `rungs bench` prints, which is tested under sanitizers
        for name in $(python3 -B common/study/study.py list 2>/dev/null | sed -n 's/^study-\([^ ]*\) .*/\1/p'); do
            plan 20 0 "study-$name, short form" "sh tests/study_short.sh $build $name"
        done
    fi
    for program in "$build"/tests/test_*; do
        if [ ! -x "$program" ] || [ -d "$program" ]; then
            continue
        elif waits "$(ls "tests/${program##*/}".c*)"; then
            printf '%s\t%s\n' "$program" "$program" >>"$work/waiting"
        else
            plan 0 0 "$program" "$program"
        fi
    done
}

if $MAKE --no-print-directory -s "$goal" BUILD="$BUILD" CUDA="$CUDA" >"$work/build" 2>&1; then
    echo "built  $tested ($SECONDS s)"
    case $1 in
    normal) suite "$tested" $budget_normal "--share $emulated_share" ;;
    sanitized) suite "$tested" $budget_asan "--largest $small_pixels --brief --share $sanitized_share" ;;
    esac
else
    echo "FAILED build of $tested"
    tail -n 40 "$work/build" | sed 's/^/       | /'
    failed=1
fi
while IFS=$(printf '\t') read -r title _; do
    register 0 "$title"
done <"$work/waiting"
(
    i=0
    while IFS=$(printf '\t') read -r _ command; do
        i=$((i + 1))
        run_stage "$work/$i" $command
    done <"$work/waiting"
) &
waiting=$!
sort -s -t "$(printf '\t')" -k1,1nr "$work/plan" >"$work/sorted"
while IFS=$(printf '\t') read -r _ budget title command; do
    stage "$budget" "$title" $command
done <"$work/sorted"
while [ -n "$(jobs -rp)" ]; do
    wait -n
    report
done
report
if [ -s "$work/skipped" ]; then
    cp "$work/skipped" "$tested/not_tried.txt"
    awk -f tests/not_tried.awk "$work/skipped"
    echo "not tried, line by line: $tested/not_tried.txt"
fi
[ ${#over[@]} = 0 ] || printf 'over budget: %s\n' "${over[@]}"
echo "$SECONDS s; the stages took $processor_seconds processor seconds"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
