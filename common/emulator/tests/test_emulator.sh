#!/bin/sh
# Builds the emulator's unit tests (units/test_*.cu) with the emulator itself, and its translator's (units/test_*.c), and runs them; under
# the sanitizers when the build folder's name ends in -asan. What the build has already made of the emulator is used.
# usage: sh test_emulator.sh BUILD [FILE.cu...]     (further tests, by their whole names)
set -u
build=$(cd "${1:?usage: sh test_emulator.sh BUILD [FILE.cu...]}" && pwd) || exit 2
shift
cd "$(dirname "$0")/.." || exit 2
CXX=${CXX:-g++}
sanitizers=
case $build in
*-asan) sanitizers='-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer' ;;
esac
# Where common/emulator/ is: in Rungs, or as the Makefile beside this has made it.
root=../..
[ -f $root/common/emulator/emulator.h ] || root=$build/root
warnings='-Wall -Wextra -Wshadow -Werror'
flags="-std=c++20 -D_GNU_SOURCE -O1 -g $warnings $sanitizers -I$root -Iinclude"
out=$build/tests/emulator
failed=0

if ! echo '#include <cmocka.h>' | "${HOSTCC:-gcc}" -include stdarg.h -include stddef.h -include stdint.h -include setjmp.h -E - >/dev/null 2>&1; then
    echo "SKIP the emulator's unit tests: no cmocka"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
mkdir -p "$out" || exit 2
cu2cpp=$build/cu2cpp
if [ ! -x "$cu2cpp" ]; then
    cu2cpp=$out/cu2cpp
    "${HOSTCC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -I$root cu2cpp.c -o "$cu2cpp" || exit 2
fi
objects=$(ls "$build"/generated/emulator_*.cpp.o 2>/dev/null)
if [ -z "$objects" ]; then
    for source in *.cpp; do
        object=$out/$source.o
        $CXX $flags -c "$source" -o "$object" || exit 2
        objects="$objects $object"
    done
fi
for test in tests/units/test_*.cu "$@"; do
    name=$(basename "$test" .cu)
    if "$cu2cpp" "$test" "$out/$name.cpp" && $CXX $flags "$out/$name.cpp" $objects -fopenmp -lcmocka -lpthread -o "$out/$name"; then
        "$out/$name" || failed=1
    else
        failed=1
    fi
done
for test in tests/units/test_*.c; do
    name=$(basename "$test" .c)
    if "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -g $warnings $sanitizers -I$root "$test" -lcmocka -o "$out/$name"; then
        "$out/$name" || failed=1
    else
        failed=1
    fi
done
exit $failed
