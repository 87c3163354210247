#!/bin/sh
# The emulator's small kernels with one fault each, and correct ones that look odd (common/emulator/tests/test_faults.sh).
# Not under the sanitizers: build/cu takes the emulator of a plain build.
# usage: [SEEDS=50] sh tests/test_faults.sh BUILD [CASE...]
build=${1:?usage: [SEEDS=50] sh tests/test_faults.sh BUILD [CASE...]}
shift
make --no-print-directory -s "$build/cu" BUILD="$build" && exec sh common/emulator/tests/test_faults.sh "$build/cu" "$@"
