#!/bin/sh
# The test of unit tests: each fault of tests/mutants/units.toml, planted in what no version computes, must make its unit test fail,
# in the part that is named there and by an assertion, not by a crash; the unit test without a fault passes beside it.
# Not under the sanitizers: the faults have shown in the normal build that they are found.
# usage: test_unit_mutants.sh BUILD-FOLDER [NAME...]
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/guard.sh
build=$1
shift
passed=0 failed=0
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
# Threads that spin while they wait would take the cores from the tests beside this one.
export OMP_WAIT_POLICY=passive

"${PYTHON:-python3}" -B tests/mutants/units.py >"$scratch/list" || exit 1
while read -r name test part; do
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    guarded 60 "$build/unit-mutants/$name" >"$scratch/out" 2>&1
    code=$?
    if [ $code -gt 0 ] && [ $code -lt 100 ] && grep -q "^\[  FAILED  \] $part$" "$scratch/out" && grep -q "\[   LINE   \]" "$scratch/out"; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name: $test should have failed in $part; exit status $code and:"
        sed 's/^/     | /' "$scratch/out"
    fi
done <"$scratch/list"
for test in $(awk '{print $2}' "$scratch/list" | sort -u); do
    if "$build/tests/$test" >"$scratch/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $test fails without a fault, too"
    fi
done
[ $((passed + failed)) -gt 0 ] || { echo "no mutants found"; failed=1; }
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
