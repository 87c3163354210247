#!/bin/sh
# Includes in common/ run one way, as common/rooms.txt has it; a room or an include that breaks this is named, and units that call
# each other in a circle.
# Not under the sanitizers: it reads sources.
# usage: sh tests/test_rooms.sh [BUILD]
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

check() { # EXIT-STATUS PATTERN TITLE ROOT [OPTION...]: the exit status and a line that matches
    wanted=$1 pattern=$2 title=$3
    shift 3
    python3 -B tests/test_rooms.py "$@" >"$work/output" 2>&1
    code=$?
    if [ $code = "$wanted" ] && grep -q "$pattern" "$work/output"; then
        passed=$((passed + 1))
        echo "ok   $title"
    else
        failed=$((failed + 1))
        echo "FAIL $title: exit status $code instead of $wanted, or no '$pattern' in:"
        sed 's/^/     /' "$work/output"
    fi
}

check 0 '^contract .*core' "the tree" .
check 0 '^core *-$' "as a graph" . --dot "$work/rooms.dot"
if grep -q '"cli" -> "core"' "$work/rooms.dot"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL the graph has no arrow"; fi

# Two rooms, then one fault after the other.
mkdir -p "$work/t/common/low" "$work/t/common/high"
printf 'low\nhigh # above\n' >"$work/t/common/rooms.txt"
touch "$work/t/common/low/README.md" "$work/t/common/high/README.md" "$work/t/common/low/a.h"
echo '#include "common/low/a.h"' >"$work/t/common/high/b.h"
check 0 '^high *low 1$' "a small tree" "$work/t"
echo '#  include "common/high/b.h"' >"$work/t/common/low/c.c"
check 1 'low/c.c: includes common/high/b.h: high is above low' "an include upwards" "$work/t"
echo '#include "common/low/d.h"' >"$work/t/common/low/c.c"
check 1 'low/c.c: includes common/low/d.h, which is not there' "an include of nothing" "$work/t"
echo '#include "common/low/c.h"' >"$work/t/common/low/d.h"
echo '#include "common/low/d.h"' >"$work/t/common/low/c.h"
check 1 'circle of includes: common/low/[cd].h -> common/low/[cd].h -> common/low/[cd].h' "a circle" "$work/t"
echo >"$work/t/common/low/c.h"

# Two units of which each calls the other; the header of one declares both functions.
printf 'int first(int x);\nint second(int x);\n' >"$work/t/common/low/one.h"
printf '#include "common/low/one.h"\nint first(int x)\n{\n    return x;\n}\n' >"$work/t/common/low/one.c"
printf '#include "common/low/one.h"\nint second(int x)\n{\n    return first(x); /* second */\n}\n' >"$work/t/common/low/two.c"
check 0 '^high *low 1$' "calls one way" "$work/t"
sed -i 's/return x/return x ? second(x - 1) : 0/' "$work/t/common/low/one.c"
check 1 'circle of calls: common/low/[a-z]* -> common/low/[a-z]* -> common/low/[a-z]*$' "a circle of calls" "$work/t"
rm "$work/t/common/low/one.c" "$work/t/common/low/two.c"
rm "$work/t/common/high/README.md"
check 1 'common/high: no README.md' "no README" "$work/t"
touch "$work/t/common/high/README.md"
yes '/* a line */' | head -n 600 >"$work/t/common/high/long.c"
check 0 '^high *low 1$' "600 lines" "$work/t"
echo '/* one more */' >>"$work/t/common/high/long.c"
check 1 'common/high/long.c: 601 lines, at most 600' "601 lines" "$work/t"
rm "$work/t/common/high/long.c" "$work/t/common/high/README.md"
mkdir "$work/t/common/attic"
check 1 'common/attic: not in common/rooms.txt' "a room that is not listed" "$work/t"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
