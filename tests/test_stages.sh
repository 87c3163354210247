#!/bin/sh
# What .ci/run and make verify say of their stages: the exit status is that of the stage that failed, its name stands in the last line, and
# the table is there, whichever stage it is and whatever else runs; what has passed is not run again; nothing is left running.
# Not under the sanitizers: it tests a shell script.
# usage: sh tests/test_stages.sh BUILD-FOLDER
set -u
unset KEEP_GOING # of whoever runs all the tests
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
printed() { sed 's/^/     /' "$folder/out"; }
runs() { # TITLE STATUS LAST-LINE: the script that is read from standard input
    local code
    { printf '. tests/stages.sh\n' && cat; } >"$folder/script"
    folder=$folder bash "$folder/script" >"$folder/out" 2>&1
    code=$?
    if [ $code = "$2" ] && tail -n 1 "$folder/out" | grep -qx -- "$3" && grep -q '^ *s  processor$' "$folder/out" && grep -q ' in all$' "$folder/out"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: exit $code instead of $2, last line '$(tail -n 1 "$folder/out")'"
        printed
    fi
}
is() { # TITLE COMMAND...
    local title=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $title"; printed; fi
}

runs "all stages pass" 0 ' *[0-9]* *[0-9]*  in all' <<'E'
stage "one thing" true
stage "another" true
E
is "both are in the table" test "$(grep -cE '^ *[0-9]+ +[0-9]+  (one thing|another)$' "$folder/out")" = 2
runs "the first fails" 7 'failed: one thing, exit status 7' <<'E'
stage "one thing" bash -c 'exit 7'
stage "another" touch "$folder/was_run"
E
is "nothing is run behind it" test ! -e "$folder/was_run"
is "its row says so" grep -qE '^ *[0-9]+ +[0-9]+  one thing: FAILED, exit status 7$' "$folder/out"
runs "the last fails" 1 'failed: another, exit status 1' <<'E'
stage "one thing" true
stage "another" false
E
runs "a function ends at its first failure" 3 'failed: steps, exit status 3' <<'E'
steps() {
    true
    (exit 3)
    touch "$folder/was_run"
}
stage "steps" steps
E
is "and goes no further" test ! -e "$folder/was_run"
runs "a stage that a signal ends" 143 'failed: killed, exit status 143' <<'E'
stage "killed" bash -c 'kill -TERM $$'
E
runs "what runs beside has ended before a stage fails" 5 'failed: later, exit status 5' <<'E'
beside "labs" true
stage "one thing" sleep 0.3
stage "later" bash -c 'exit 5'
join "labs"
E
runs "what runs beside goes on when a stage fails" 5 'failed: one thing, exit status 5' <<'E'
beside "labs" bash -c 'echo $$ >"$folder/pid"; exec sleep 600'
stage "one thing" bash -c 'until [ -s "$folder/pid" ]; do sleep 0.05; done; exit 5'
E
is "and is ended" bash -c '! kill -0 "$(cat "$0")" 2>/dev/null' "$folder/pid"
runs "what runs beside fails" 4 'failed: labs, exit status 4' <<'E'
beside "labs" bash -c 'echo its words; exit 4'
stage "one thing" true
join "labs"
E
is "its words are printed" grep -qx 'its words' "$folder/out"
runs "the shell itself is ended" 143 'failed: stopped, exit status 143\| *[0-9]* *[0-9]*  in all' <<'E'
stage "one thing" true
kill -TERM $$
E
runs "keep going: all are run, the first status counts" 6 'failed: one thing, third, exit status 6' <<'E'
KEEP_GOING=1
stage "one thing" bash -c 'exit 6'
stage "second" touch "$folder/second"
stage "third" false
E
is "the one between them was run" test -e "$folder/second"
resumable() {
    runs "$1" "$2" "$3" <<'E'
STAMPS=$folder/stamps KEEP_GOING=1
TREE=$(cat "$folder/tree")
stage "one thing" bash -c 'echo run >>"$folder/first"'
stage "another" test -e "$folder/mended"
E
}
echo a >"$folder/tree"
resumable "with stamps, one fails" 1 'failed: another, exit status 1'
touch "$folder/mended"
resumable "it goes on" 0 ' *[0-9]* *[0-9]*  in all'
is "what has passed is not run again" test "$(wc -l <"$folder/first")" = 1
is "and says so" grep -q 'one thing: has passed before$' "$folder/out"
echo b >"$folder/tree"
resumable "another tree" 0 ' *[0-9]* *[0-9]*  in all'
is "of which all is run" test "$(wc -l <"$folder/first")" = 2
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
