#!/bin/sh
# What the header of a mutant says; sourced by test_mutants.sh. As a program it prints which of these files the sanitizers need:
# faults of memory, and what the last tests of test_mutants.sh and test_profile.sh use.
# usage: sh tests/mutants.sh FILE...

expectation() { # FILE
    awk '/^ \* Expect:/ { open = 1 }
         open && (/\*\// || /^ \* Case:/) { exit }
         open { sub(/^ \*( Expect:)? */, ""); text = text (text == "" ? "" : " ") $0 }
         END { print text }' "$1"
}

is_of_memory() { # EXPECTATION
    case $1 in
    *overrun* | *crash* | *sanitizer* | *padding* | *memory* | *"input modified"* | *"never written"*) ;;
    *) return 1 ;;
    esac
}

case $0 in
*tests/mutants.sh)
    for file in "$@"; do
        case ${file##*/} in
        reports_failure.c | control_cuda.cu | exits_large.cu | border_off_by_one.c) echo "$file" ;;
        *) ! is_of_memory "$(expectation "$file")" || echo "$file" ;;
        esac
    done
    ;;
esac
