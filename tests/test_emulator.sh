#!/bin/sh
# Builds the emulator's tests (tests/emulator/*.cu) with the emulator itself and runs them; under the sanitizers when the
# build folder's name ends in -asan. What the build has already made of the emulator is used.
# usage: sh tests/test_emulator.sh BUILD
set -u
build=${1:?usage: sh tests/test_emulator.sh BUILD}
CXX=${CXX:-g++}
sanitizers=
case $build in
*-asan) sanitizers='-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer' ;;
esac
flags="-std=c++20 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wshadow -Werror $sanitizers -I. -Icommon/emulator/include"
out=$build/tests/emulator
failed=0

mkdir -p "$out" || exit 2
cu2cpp=$build/cu2cpp
if [ ! -x "$cu2cpp" ]; then
    cu2cpp=$out/cu2cpp
    "${HOSTCC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -I. common/emulator/cu2cpp.c -o "$cu2cpp" || exit 2
fi
objects=$(ls "$build"/generated/emulator_*.cpp.o 2>/dev/null)
if [ -z "$objects" ]; then
    for source in common/emulator/*.cpp; do
        object=$out/$(basename "$source").o
        $CXX $flags -c "$source" -o "$object" || exit 2
        objects="$objects $object"
    done
fi
for test in tests/emulator/test_*.cu; do
    name=$(basename "$test" .cu)
    if "$cu2cpp" "$test" "$out/$name.cpp" && $CXX $flags "$out/$name.cpp" $objects -fopenmp -lcmocka -lpthread -o "$out/$name"; then
        "$out/$name" || failed=1
    else
        failed=1
    fi
done
exit $failed
