#!/bin/sh
# The test of the harness: every mutant in tests/mutants must fail `rungs check`, with the diagnosis that the header of
# its file expects (one of several, where " | " separates them); the controls, which expect PASS, must pass. Under the
# sanitizers only the faults of memory are tried, which the sanitizers may report first: with the small pictures that versions
# are checked with there, and with the same diagnosis as in the normal build. The other faults have shown there already that
# they are found.
# Where its header names a `Case:`, only the cases in whose line that stands are tried, of all that check has: it must be among
# them, and the mutant must fail it. `Option: --thorough` tries a picture there that check leaves to a GPU otherwise.
# Takes minutes: it begins before others.
# usage: test_mutants.sh BUILD-FOLDER|PROGRAM [NAME...]
set -u
cd "$(dirname "$0")/.." || exit 2
program=$1
shift
[ -d "$program" ] && program=$program/rungs-mutants
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0 left=0 drawn=0
. tests/limits.sh
. tests/mutants.sh
asan=no small= watched=no
grep -q __asan_init "$program" && asan=yes small="--largest $small_pixels"
# Nearly all faults show in pictures of this size; one that does not is looked for in all.
[ $asan = yes ] || small="--largest $middle_pixels"
[ $asan = yes ] || ! grep -q __tsan_read4 "$program" || watched=yes # common/emulator/races.h
# A deadlock needs no five minutes to show.
export RUNGS_IDLE_SECONDS=30

# Those of tests/mutants/mutants.toml lie in the build folder; the sanitizers' build has none.
for file in tests/mutants/*/*.c tests/mutants/*/*.cu "${program%/*}"/patched/tests/mutants/*/*.c*; do
    case $file in *"*"*) continue ;; esac
    name=${file##*/}
    name=${name%.*}
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    case $file in
    */patched/*)
        if ! grep -q "/${file##*/patched/}\"" "${program%/*}/generated/mutants.c"; then # MUTANT_SHARE
            left=$((left + 1))
            continue
        fi
        drawn=$((drawn + 1)) ;;
    esac
    if [ "$name $asan" = "uninitialised yes" ]; then
        skipped=$((skipped + 1))
        echo "SKIP $name: AddressSanitizer fills fresh memory, with the same bytes each time"
        continue
    fi
    folder=${file%/*}
    if [ "$(expectation "$file") $asan" = "found by a sanitizer no" ]; then
        skipped=$((skipped + 1))
        echo "SKIP $name: reads what is not its own and throws it away, which a sanitizer must see"
        continue
    fi
    version=${folder##*/}:mutant/$name
    expect=$(expectation "$file")
    if [ "${expect#ThreadSanitizer}" != "$expect" ]; then
        skipped=$((skipped + 1))
        echo "SKIP $name: a race on the CPU, which tests/openmp_races.sh must find"
        continue
    fi
    finds=$(sed -n '/\*\//q; s/^ \* Case: *//p' "$file")
    [ $asan = no ] || finds=
    large=$(sed -n '/\*\//q; s/^ \* Option: *//p' "$file")
    # A case of a certain size is tried however slow this machine's processor is.
    case $finds in [0-9]*x[0-9]*) large=--thorough ;; esac
    # Endless takes as long as it is given; a healthy case needs a fraction of a second.
    limit=60
    case $name in endless_loop | endless_on_nan) limit=3 ;; esac
    [ $asan = no ] || is_of_memory "$expect" || continue
    check() { # OPTION...
        ${RUN:-} "$program" check "$version" --seed 1 --first --limit $limit --pictures "$scratch" --case "$finds" $large "$@" >"$scratch/out" 2>&1
    }
    code=0
    [ "$expect" = PASS ] || [ -n "$finds" ] || { check $small; code=$?; }
    [ $code != 0 ] || { check; code=$?; } # a control, or a fault that only large pictures have
    diagnosis=$(sed -n 's/^    diagnosis: //p' "$scratch/out")

    good=no
    if [ "$expect $watched $code" = "race no 0" ]; then
        skipped=$((skipped + 1))
        echo "SKIP $name: passes by luck where nobody watches for races"
        continue
    fi
    if [ "$expect" = PASS ]; then
        [ $code = 0 ] && grep -q "^  PASS  mutant/$name " "$scratch/out" && good=yes
    elif [ "$expect $watched $code" = "race no 1" ]; then
        good=yes
    elif [ $code = 1 ] && [ -n "$expect" ]; then
        rest="$expect | "
        while [ -n "$rest" ]; do
            one=${rest%%" | "*}
            rest=${rest#*" | "}
            case $diagnosis in *"$one"*) good=yes ;; esac
        done
    fi
    if [ $good = yes ]; then
        passed=$((passed + 1))
        echo "ok   $name${diagnosis:+: $diagnosis}"
    else
        failed=$((failed + 1))
        echo "FAIL $name: expected \"$expect\", exit status $code and:"
        sed 's/^/     | /' "$scratch/out"
    fi
done
# What is said about a version that fails in every case, and in the phases that only rungs diff records.
if [ $# -eq 0 ]; then
    ${RUN:-} "$program" check blur:mutant/reports_failure --seed 1 $small >"$scratch/out" 2>&1
    if grep -q '^    case: *13x7, ' "$scratch/out"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL the reported case is not the first that is more than a row: $(grep 'case:' "$scratch/out")"
    fi
    # Four threads round their sums of floats in another way each time, which is no race. The sanitizers' build has mutants with a
    # fault of memory alone.
    if [ $asan = no ] && [ -f tests/mutants/correlation/no_diagonal.c ]; then
        OMP_NUM_THREADS=4 ${RUN:-} "$program" check correlation:mutant/no_diagonal --seed 1 --largest $middle_pixels >"$scratch/out" 2>&1
        if grep -q 'diagnosis: only the diagonal is wrong' "$scratch/out"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL four threads: $(grep 'diagnosis:' "$scratch/out")"
        fi
    fi
    if [ -f tests/mutants/blur/control_cuda.cu ]; then # a lab's handout does not have it
        ${RUN:-} "$program" diff blur mutant/control_cuda mutant/exits_large --no-code --size 640x48 >"$scratch/out" 2>&1
        code=$?
        if [ $code = 1 ] && grep -q 'mutant/exits_large.* exit code 0 before its work was done' "$scratch/out"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL diff of a version that exits: exit status $code and:"
            sed 's/^/     | /' "$scratch/out"
        fi
    else
        skipped=$((skipped + 1))
        echo "SKIP diff of a version that exits: tests/mutants/blur/control_cuda.cu is not here"
    fi
fi
if [ $left -gt 0 ]; then
    [ $# -gt 0 ] || [ $drawn -gt 0 ] || { failed=$((failed + 1)); echo "FAIL none of $left versions with a few changed words was built"; }
    skipped=$((skipped + left))
    echo "SKIP $left versions with a few changed words: others at each commit, all with MUTANT_SHARE=1"
fi
[ $((passed + failed)) -gt 0 ] || { echo "no mutants found"; failed=1; }
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
