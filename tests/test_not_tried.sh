#!/bin/sh
# What was not tried is printed by reason: one line for all checks that lack the same, with their number, their ladders' and the
# packages to install; what the sanitizers' build leaves out on purpose is not called missing; scripts and unit tests are named.
# Not under the sanitizers: it tests a program in awk.
# usage: sh tests/test_not_tried.sh BUILD-FOLDER
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

cat >"$folder/skipped" <<'E2'
build/rungs check blur: peer/npp            needs a GPU and a native CUDA build
build/rungs check blur: peer/opencv_python  opencv-python is not installed: pip install opencv-python
build/rungs check otsu: peer/npp            needs a GPU and a native CUDA build
build/rungs check otsu: peer/scipy          scipy is not installed: pip install scipy
build/rungs check otsu: peer/opencv_python  opencv-python is not installed: pip install opencv-python
build/rungs check pca: peer/opencv  OpenCV was not found when Rungs was built
build-asan/rungs check blur: peer/npp            needs a GPU and a native CUDA build
build-asan/rungs check blur: peer/opencv         OpenCV was not found when Rungs was built
tests/test_mutants.sh (build): openmp_counter: a race on the CPU, which tests/openmp_races.sh must find
tests/test_mutants.sh (build-asan): openmp_counter: a race on the CPU, which tests/openmp_races.sh must find
build/tests/test_image_io: numpy_agrees
E2
cat >"$folder/expected" <<'E2'
not tried: 3 checks of 2 ladders (peer/npp): needs a GPU and a native CUDA build
not tried: 3 checks of 2 ladders (peer/opencv_python peer/scipy): their Python packages are not installed: pip install opencv-python scipy
not tried: 1 check of 1 ladder (peer/opencv): OpenCV was not found when Rungs was built
not tried: 1 check of 1 ladder (peer/opencv): nobody here built their libraries with sanitizers
not tried: tests/test_mutants.sh: openmp_counter: a race on the CPU, which tests/openmp_races.sh must find (in both builds)
not tried: tests/test_image_io: numpy_agrees
E2
awk -f tests/not_tried.awk "$folder/skipped" >"$folder/printed"
if diff "$folder/expected" "$folder/printed"; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAIL not_tried.awk: expected <, printed >"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
