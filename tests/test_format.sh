#!/bin/sh
# Not under the sanitizers: it reads sources.
# No file that git keeps is larger than 1 MiB: packages, wheels and pictures of others come from where they are kept.
# The layout of all C and CUDA sources is what clang-format makes of them (.clang-format), and no line is longer than 120 columns.
# usage: test_format.sh [BUILD-FOLDER]
set -u
cd "$(dirname "$0")/.." || exit 2
sources() { find common cpu cuda peers images tests assignments -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' | sort; }
passed=0 failed=0
# tests/grader is code as students may write it.
long=$(sources | grep -v '^tests/grader/' | xargs awk '{ gsub(/[\200-\277]/, "") } length > 120 { print FILENAME ":" FNR }')
if [ -z "$long" ]; then passed=1; else failed=1 && echo "FAIL lines above 120 columns:" && echo "$long"; fi
large=$(git ls-files -z 2>/dev/null | xargs -0 -r sh -c 'find "$@" -prune -size +1024k' sh)
if [ -z "$large" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL larger than 1 MiB:" && echo "$large"; fi
if command -v clang-format >/dev/null; then
    if sources | xargs -P "$(nproc)" -n 40 clang-format --dry-run --Werror >"${TMPDIR:-/tmp}/format.$$" 2>&1; then passed=$((passed + 1))
    else failed=$((failed + 1)) && echo "FAIL layout; mend it with clang-format -i FILE:" && grep -m 20 'error:' "${TMPDIR:-/tmp}/format.$$"; fi
    rm -f "${TMPDIR:-/tmp}/format.$$"
    echo "$passed passed, $failed failed, 0 skipped"
else
    echo "SKIP layout: no clang-format"
    echo "$passed passed, $failed failed, 1 skipped"
fi
[ $failed = 0 ]
