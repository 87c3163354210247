#!/bin/sh
# Not under the sanitizers: it tests programs in Python.
# The pages of the ladders and the table in README.md (common/report/pages.py): what is made of which file, that hand-written
# text stays, that bad input costs one line and writes nothing, and that the committed pages are up to date and link to what
# is there. usage: sh tests/test_pages.sh [BUILD-FOLDER]
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
tree=$folder/tree page=$folder/tree/docs/tint.md

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $1"
    sed 's/^/     /' "$folder/stdout" "$folder/stderr" | head -n 20
}
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ]
    exit
}
check() { # TITLE COMMAND...
    title=$1
    shift
    if "$@" >"$folder/stdout" 2>"$folder/stderr"; then ok; else bad "$title: $*"; fi
}
check "without Python make readme says so" sh -c "env -u MAKEFLAGS -u MFLAGS make -s readme PYTHON=no-python \
    BUILD='$folder/none' 2>'$folder/make'; test \$? = 2 && grep -q 'no-python is not here; to install it' '$folder/make' &&
    test ! -e '$folder/none'"
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
if [ -z "$python" ]; then
    skipped=1
    echo "SKIP the pages: no python3"
    finish
fi
pages() { "$python" -B common/report/pages.py --root "$tree" "$@"; }
exits() { # TITLE STATUS LINES PATTERN ARGUMENTS...: so many lines on stderr, of which one matches
    title=$1 status=$2 lines=$3 pattern=$4
    shift 4
    pages "$@" >"$folder/stdout" 2>"$folder/stderr"
    code=$?
    if [ $code = "$status" ] && [ "$(wc -l <"$folder/stderr")" = "$lines" ] &&
        { [ "$lines" = 0 ] || grep -q -- "$pattern" "$folder/stderr"; }; then
        ok
    else
        bad "$title: exit $code"
    fi
}
refuses() { # TITLE PATTERN: exit 2 with one line, and no file is touched
    find "$tree" -type f -exec cksum {} + | sort >"$folder/before"
    exits "$1" 2 1 "$2"
    find "$tree" -type f -exec cksum {} + | sort >"$folder/after"
    check "$1: nothing was written" cmp "$folder/before" "$folder/after"
}
has() { # TITLE FILE TEXT
    check "$1" grep -qF -- "$3" "$2"
}
lacks() { # TITLE FILE TEXT
    check "$1" sh -c "! grep -qF -- \"\$1\" \"\$2\"" - "$3" "$2"
}

# --- a tree with one ladder of three rungs
mkdir -p "$tree/common/algo" "$tree/cpu/tint" "$tree/cuda/tint" "$tree/results" "$tree/docs"
overview=$tree/docs/README.md
cat >"$tree/common/algo/tint.h" <<'C'
/*
 * tint.h: a colour laid over an image, the contract of every version in cpu/tint and cuda/tint.
 *
 * Input    one image; <b>u8</b> *alone*.
 * Output   one image.
 *
 * Formula  For all samples
 *
 *              out = w[j](x) * in
 *
 * Errors   of no use to a reader of tables.
 *
 * Votes    a definition under a name of its own.
 *
 * Source   nobody.
 */
C
: >"$tree/common/algo/tint.c"
printf '/*\n * Idea:     a loop | with <script> and `code`.\n * Changed:  nothing.\n * Expect:   little.\n */\nint a;\n' >"$tree/cpu/tint/0_serial.c"
printf '/*\n * Idea:     threads.\n * Changed:  a pragma.\n * Expect:   twice.\n * Result:   2.00 times, 3 us (results/here/tint/a.json, not results/none.json; b.json, c.json).\n */\nint a;\n' >"$tree/cpu/tint/1_omp.c"
printf '/*\n * Idea:     branches off.\n * Expect:   much.\n * From:     cpu/serial\n */\nint a;\n' >"$tree/cpu/tint/2_table.c"
printf '/*\n * Idea:     a grid.\n * Changed:  all.\n * Expect:   much.\n */\nint a;\n' >"$tree/cuda/tint/v1.0_naive.cu"

refuses "no README.md" "README.md: is not here"
echo "# Title" >"$tree/README.md"
refuses "a README.md without markers" "README.md: no line <!-- ladder: ... -->"
printf '# Title\n<!-- /ladder -->\n<!-- ladder: tint -->\n' >"$tree/README.md"
refuses "markers in the wrong order" "README.md: no line <!-- ladder: "
printf '# Title\n\n<!-- ladder: tint -->\nold\n<!-- /ladder -->\nlast line' >"$tree/README.md"
refuses "no table of all ladders" "docs/README.md: is not here"
printf '# All\n\n<!-- worth: all -->\n<!-- /worth -->\n<!-- ladders: tint -->\nold\n<!-- /ladders -->\nlast line' >"$overview"
exits "missing pages are found" 1 3 "tint.md: is outdated" --check
check "--check writes nothing" test ! -e "$page"
exits "pages are made" 0 0 ""
exits "made pages are up to date" 0 0 "" --check
check "to make them again changes nothing" sh -c "test -z \"\$('$python' -B common/report/pages.py --root '$tree')\""
check "the rest of README.md stays" sh -c "head -n 1 '$tree/README.md' | grep -q '^# Title' && tail -n 1 '$tree/README.md' | grep -q '^last line'"
lacks "what stood between the markers is gone" "$tree/README.md" old
has "a ladder without results has dashes" "$overview" \
    "| [tint](tint.md) | a colour laid over an image | 3 cpu, 1 cuda | – | – | – | – | – |"
has "a page without results says so" "$page" "Not yet. \`make bench-tint\`"
has "its rungs are there" "$page" "| [\`cpu/omp\`](../cpu/tint/1_omp.c) | threads. |"
has "a result of a header" "$page" "*Result:* 2.00 times, 3 µs (results/here/tint/a.json, not"
has "the rung that a branch comes from" "$page" "**[\`cpu/table\`](../cpu/tint/2_table.c)**, from \`cpu/serial\`"
has "links to its sections" "$page" "(#what-every-version-computes) · [The climb](#the-climb) · [Each rung"
has "markup of a header is text, code is code" "$page" 'a loop \| with &lt;script> and `code`.'
has "markup of a contract is text" "$page" '**Input** one image; &lt;b>u8&lt;/b> \*alone\*.'
has "a formula is as it is" "$page" 'out = w[j](x) * in'
lacks "sections that a page does not need" "$page" Errors
has "a definition whatever it is called" "$page" "**Votes** a definition under a name of its own."
lacks "no heading over an empty story" "$page" "What the rungs teach"

# --- results. result FILE PYTHON-STATEMENT...: `r` are the results, `v` the versions by name
result() {
    mkdir -p "$tree/results/${1%/*}"
    "$python" - "$tree/results/$1" "${2:-}" <<'PYTHON'
import json, sys

def row(name, seconds, method="host clock"):
    time = {"median": seconds, "q1": seconds, "q3": seconds, "n": 9}
    over = {"version": "cpu/serial", "kernel": {"times": 8e-3 / seconds, "differs": True},
            "end_to_end": {"times": 8e-3 / seconds, "differs": True}}
    return {"id": name, "outcome": "timed", "reference": name == "cpu/serial", "worst_difference": 0,
            "interior_only": False, "why": None, "kernel": time, "end_to_end": time, "kernel_method": method,
            "limit": 1e-3, "limit_fraction": 1e-3 / seconds, "over_serial": None if name == "cpu/serial" else over,
            "over_below": None if name == "cpu/serial" else over}

r = {"schema": "rungs-results", "version": 1, "date": "2026-01-31T12:00:00Z", "commit": "abc", "command": "rungs bench tint",
     "machine": {"cpu": "Test", "cores": 2, "compiler": "gcc 1", "flags": "-O3", "gpu": None}, "algorithm": "tint",
     "params": {}, "settings": "depth=3", "input": "a.png", "width": 640, "height": 480, "channels": 1, "threads": 2,
     "cost": {"bytes": 1, "operations": 1, "operation": None}, "ceilings": {},
     "versions": [row("cpu/serial", 8e-3), row("cpu/omp", 4e-3)]}
v = {row["id"]: row for row in r["versions"]}
exec(sys.argv[2])
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(r, file)
PYTHON
}
result here/tint/a.json
echo '{}' >"$tree/results/here/tint/b.json"
exits "a new results file makes pages outdated" 1 3 "README.md: is outdated" --check
exits "pages of results" 0 0 ""
has "a number of the file" "$page" '| `cpu/omp` | 2.00 | 2.00 |'
has "what all versions are is said once" "$page" 'Every version gave the bits of `cpu/serial`.'
has "what the columns are is said above them" "$page" '- × serial, × rung below, × `peer/...`: how many times as fast'
has "the section of a machine is linked" "$page" "[Measured](#measured) on [here](#on-here)"
has "the file is linked" "$page" '[all numbers](../results/here/tint/a.json)'
has "a file that a header names" "$page" '2.00 times, 3 µs ([results/here/tint/a.json](../results/here/tint/a.json), not results/none.json; [b.json](../results/here/tint/b.json), c.json).'
has "the machine" "$page" "Test, 2 cores, gcc 1 -O3"
has "the best of the ladder, without a library" "$overview" '| 3 cpu, 1 cuda | 2.00 `cpu/omp` | – | – | – | – |'
has "of one ladder machine and file underneath" "$tree/README.md" "640×480, Test, 2 cores, gcc 1 -O3 ([all numbers](results/here/tint/a.json))"
result here/tint/a.json 'v["cpu/omp"]["over_serial"]["kernel"]["times"] = 3'
exits "a number that changed is found" 1 3 "tint.md: is outdated" --check
result here/tint/a.json 'v["cpu/omp"].update(outcome="failed", kernel=None, end_to_end=None, over_serial=None, over_below=None)'
exits "a wrong version" 0 0 ""
has "is shown as wrong" "$page" '| `cpu/omp` | **wrong** | – | – |'

# The main file: of the settings that most files have the largest picture, and of several such the newest.
result here/tint/a.json
result here/tint/older.json 'r.update(width=1280, height=960, date="2025-01-31T12:00:00Z", input="older")'
result here/tint/newer.json 'r.update(width=1280, height=960, input="newer")'
result here/tint/other.json 'r.update(width=9000, height=9000, settings="depth=1", input="other")'
exits "several files" 0 0 ""
has "the newest of the largest is the main one" "$tree/README.md" "1280×960, Test, 2 cores, gcc 1 -O3 ([all numbers](results/here/tint/newer.json))"
check "it comes first, the others are folded" "$python" - "$page" <<'PYTHON'
import sys
text = open(sys.argv[1], encoding="utf-8").read().split("## Measured")[1]
places = [text.index(word) for word in ("tint/newer.json", "<details>", "tint/older.json", "tint/a.json", "tint/other.json")]
sys.exit(places != sorted(places))
PYTHON
# The machine of a column: one that timed a library, then the one of the largest picture, then the one with the most cores.
result big/tint/a.json 'r["machine"]["cores"] = 64; r.update(width=640, height=480)'
exits "two machines" 0 0 ""
lacks "more cores, smaller picture" "$tree/README.md" "64 cores"
result big/tint/a.json 'r["machine"]["cores"] = 64; r.update(width=1280, height=960)'
exits "two machines" 0 0 ""
has "more cores" "$tree/README.md" "Test, 64 cores"
result here/tint/newer.json 'r.update(width=1280, height=960); r["versions"].append(row("peer/lib", 12e-3))'
exits "two machines, one with a library" 0 0 ""
has "a library beside" "$tree/README.md" "Test, 2 cores"
has "× library" "$overview" '| 2.00 `cpu/omp` | 3.00 `peer/lib` |'
result big/tint/a.json 'r["machine"].update(cores=64, gpu={"name": "G", "driver": "1", "cuda": "13"})
r["versions"] += [row("cuda/v1.0", 1e-3, "device events, graph"), row("peer/npp", 2e-3, "device events, graph")]
r["versions"][-2]["end_to_end"] = row("", 2e-3)["kernel"]; r["versions"][-2]["over_serial"]["end_to_end"]["differs"] = False'
exits "a GPU" 0 0 ""
result big/tint/wide.json 'r["machine"].update(cores=64); r.update(threads=1, settings="depth=3 rounds=2", input="b.png, scaled")
r["versions"] += [row("cpu/table", 1e-3), row("cpu/tile", 1e-3), row("peer/lib", 2e-3)]'
exits "a file with other settings" 0 0 ""
has "a folded table says what is unlike in it" "$page" \
    "<summary>640×480, rounds=2, 1 thread, b.png: 3 of cpu/omp to tile, peer/lib (wide)</summary>"
rm "$tree/results/big/tint/wide.json"
exits "and without it" 0 0 ""
has "its columns" "$overview" '| 3.00 `peer/lib` | 8.00 `cuda/v1.0` | = `cuda/v1.0` | 2.00 `peer/npp` |'
has "times where a GPU took part" "$page" '| `cuda/v1.0` | 1.00 ms ± 0.0 % | 100 % | 8.00 | – | 2.00 ms ± 0.0 % | = | – |'
result big/tint/a.json 'r["machine"]["gpu"] = {"name": "G", "driver": "1", "cuda": "13"}
r["versions"] += [row("cuda/v1.0", 1e-3, "device events, graph"), row("peer/lib", 2e-3)]
r["versions"][-2]["kernel"] = {"median": 2e-3, "q1": 1e-3, "q3": 4e-3, "n": 9}'
exits "a CPU library beside a GPU" 0 0 ""
has "is compared end to end" "$overview" '| 2.00 `peer/lib` |'
has "a spread beyond the median" "$page" '| 2.00 ms; quartiles 1.00 ms, 4.00 ms | 100 % | 8.00 | – | 1.00 ms ± 0.0 % |'

# --- a video
result cam/tint/a.json 'r.update(schema="rungs-video-results", frames=9, frames_by_serial=3)
for name in ("channels", "cost", "ceilings"): del r[name]
for row in r["versions"]:
    row.update(frames_verified=9, steps=[{"name": "blur", "seconds": 3e-3}, {"name": "boxes", "seconds": 1e-3}], memory=None)
    for over in ("over_serial", "over_below"):
        if row[over]: row[over] = {"version": "cpu/serial", "times": 2, "differs": True}'
exits "a video" 0 0 ""
has "its frames" "$page" '| `cpu/omp` | 9 | 2.00 | 2.00 |'
has "its steps" "$page" '| blur | 75.0 % | 75.0 % |'
has "frames by serial" "$page" 'was given time for 3 of the 9 frames'

# --- the climb, in a tree of its own
whole=$tree tree=$folder/path page=$folder/path/docs/climb.md
mkdir -p "$tree/common/algo" "$tree/cpu/climb/others" "$tree/cuda/climb" "$tree/docs"
printf '<!-- ladder: climb -->\n<!-- /ladder -->\n' >"$tree/README.md"
printf '<!-- worth: all -->\n<!-- /worth -->\n<!-- ladders: climb -->\n<!-- /ladders -->\n' >"$tree/docs/README.md"
printf '/*\n * climb.h: a ladder, the contract.\n */\n' >"$tree/common/algo/climb.h"
: >"$tree/common/algo/climb.c"
rung() { printf '/*\n%s * Idea:     %s\n * Expect:   much.\n%s */\n' "${4:+ * Problem:  $4
}" "$2" "${3:+ * From:     $3
}" >"$tree/${1%%/*}/climb/${1#*/}"; }
rung cpu/0_serial.c "the definition."
rung cpu/10_b.c "the third."
rung cpu/2_a.c "the second: and more." "" "memory is the limit."
rung cpu/others/published.c "what somebody published." cpu/serial
rung cuda/v1.0_a.cu "a grid."
rung cuda/v1.1_b.cu "buffers."
exits "a ladder without times" 0 0 ""
check "the climb is in the order of its numbers" sh -c "grep -o '^| \[.cpu/[a-z]*' '$page' | tr -dc 'a-z/\n' | head -n 3 | tr '\n' ' ' | grep -q '^cpu/serial cpu/a cpu/b $'"
has "what is beside the climb" "$page" "Beside the climb, others:"
has "a problem" "$page" "*Problem:* memory is the limit."
result gpu/climb/main.json 'r["algorithm"] = "climb"; r["machine"]["gpu"] = {"name": "G", "driver": "1", "cuda": "13"}
r["versions"] = [row("cpu/serial", 8e-3), row("cpu/b", 1e-3), row("cuda/v1.0", 1e-4, "device events, graph"), row("cuda/v1.1", 5e-5, "device events, graph")]'
result here/climb/main.json 'r["algorithm"] = "climb"
r["versions"] = [row("cpu/serial", 8e-3), row("cpu/a", 4e-3), row("cpu/b", 2e-3)]'
exits "a ladder with times" 0 0 ""
has "each side from the file that has most of its rungs" "$page" "**CPU**, on here, 640×480, 2 threads ([main](../results/here/climb/main.json))"
has "a rung of the CPU" "$page" '| [`cpu/b`](../cpu/climb/10_b.c) | 4.00 | 2.00 | the third. |'
has "a rung of the GPU" "$page" '| [`cuda/v1.1`](../cuda/climb/v1.1_b.cu) | 50.0 µs | 2.00 | buffers. |'
has "the table of README.md" "$tree/README.md" '| [`cuda/v1.1`](cuda/climb/v1.1_b.cu) | buffers | 50.0 µs | 160 |'
# Results that were measured when rungs had other ids.
printf '# a comment\nclimb\tcpu/x\tcpu/b\t2026-03-01T00:00:00Z\nclimb\tcpu/b\t-\t2026-03-01T00:00:00Z\nclimb\tcpu/y\tcpu/x\t2026-02-20T00:00:00Z\n' >"$tree/results/renames.tsv"
check "ids of today: in one step, in two, gone, later than the change" "$python" -B -c "
import sys; sys.path.insert(0, 'common/report')
import renames
ids = [renames.now('climb', name, date, '$tree') for name, date in (('cpu/x', '2026-02-25T'), ('cpu/y', '2026-01-01T'), ('cpu/b', '2026-01-01T'), ('cpu/b', '2026-04-01T'))]
sys.exit(ids != ['cpu/b', 'cpu/b', None, 'cpu/b'] and ids)"
printf 'climb\tcpu/x\n' >"$tree/results/renames.tsv"
check "a bad line of that table" sh -c "! '$python' -B -c \"
import sys; sys.path.insert(0, 'common/report')
import renames; renames.table('$tree')\" 2>'$folder/stderr' && grep -q 'results/renames.tsv:1: not of the form' '$folder/stderr'"
rm "$tree/results/renames.tsv"
printf '<!-- worth: all -->\n<!-- /worth -->\n<!-- ladders: climb other -->\n<!-- /ladders -->\n' >"$tree/docs/README.md"
refuses "a ladder that is not there" "docs/README.md: there is no ladder other"
printf '<!-- worth: all -->\n<!-- /worth -->\n<!-- ladders: climb climb -->\n<!-- /ladders -->\n' >"$tree/docs/README.md"
refuses "a ladder in two tables" "docs/README.md: climb: in no line"
tree=$whole page=$whole/docs/tint.md

# --- hostile words, bad files
result here/tint/newer.json 'r.update(width=1280, height=960, input="<script>alert(1)</script> a|b <!-- /story --> # no", command="rungs `x` | y")
r["settings"] = "[a](http://b)"'
exits "hostile words" 0 0 ""
has "are text" "$page" 'Input: &lt;script>alert(1)&lt;/script> a|b &lt;!-- /story --> # no;'
has "are no link" "$page" '[a\](http://b)'
has "code stays code" "$page" '`` rungs `x` | y ``'
exits "and the page is up to date" 0 0 "" --check
check "each row of a table has the columns of its head" "$python" - "$page" "$tree/README.md" "$overview" <<'PYTHON'
import re, sys
tables = 0
for path in sys.argv[1:]:
    columns = None
    for line in open(path, encoding="utf-8"):
        if not line.startswith("|"):
            columns = None
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        tables += columns is None
        columns = columns or cells
        if cells != columns:
            sys.exit(f"{path}: {line}")
sys.exit(tables < 8)
PYTHON
echo '{"schema": "something else"}' >"$tree/results/here/tint/other.json"
exits "JSON of another kind is no bench" 0 0 ""
has "but is linked" "$page" '[other.json](../results/here/tint/other.json)'
echo '{"schema": "rungs-results", "version": 1' >"$tree/results/here/tint/bad.json"
refuses "a file that was cut off" "bad.json: not JSON"
result here/tint/bad.json 'del r["commit"]'
refuses "a file without its commit" "bad.json: it has no 'commit'"
rm "$tree/results/here/tint/bad.json"

# --- what people write
"$python" - "$page" <<'PYTHON'
import sys
text = open(sys.argv[1], encoding="utf-8").read()
open(sys.argv[1], "w", encoding="utf-8").write(text.replace("<!-- story -->\n", "<!-- story -->\nOnce upon a time.\n"))
PYTHON
exits "a story makes the page outdated, for its heading" 1 1 "tint.md: is outdated" --check
exits "a page with a story" 0 0 ""
has "the story stays" "$page" "Once upon a time."
has "under its heading" "$page" "## What the rungs teach"
echo "a note" >>"$page"
exits "words outside of the markers are found" 1 1 "tint.md: is outdated" --check
exits "and go" 0 0 ""
lacks "they are gone" "$page" "a note"
cp "$page" "$folder/whole.md"
echo "# All by hand" >"$page"
refuses "a page without markers is not overwritten" "tint.md: no line <!-- story -->"
mv "$folder/whole.md" "$page"

# --- when a GPU is worth it
worth() { result "gpu/worth/tint_$1.json" "r['machine']['gpu'] = {'name': 'G', 'driver': '1', 'cuda': '13'}
r['versions'] = [row('cpu/serial', 8e-3), $2]
for v in r['versions']:
    if v['id'] == 'cuda/v1.0':
        v['kernel'] = dict.fromkeys(('median', 'q1', 'q3'), ${3:-1e-5}) | {'n': 9}"; }
cuda() { echo "row('cuda/v1.0', $1, 'device events, graph')"; }
worth 1 "row('cpu/omp', 4e-3)"
worth 16 "row('cpu/omp', 2e-3), $(cuda 1e-3)"
exits "benches of the top rungs" 0 0 ""
has "a GPU that is ahead" "$overview" '| [tint](tint.md) | 640×480 | 4.00 ms | – | 2.00 ms | 1.00 ms | – | 10.0 µs | the GPU, 2.00 times |'
lacks "they stand for no machine" "$page" worth/tint
worth 16 "row('cpu/omp', 9e-4), $(cuda 1e-3)"
exits "another" 0 0 ""
has "neither is ahead" "$overview" '| 10.0 µs | neither |'
worth 16 "row('cpu/omp', 5e-4), $(cuda 1e-3)" && worth pinned "$(cuda 8e-4)"
exits "a slow bus" 0 0 ""
has "the bus is the bound" "$overview" '| 1.00 ms | 800 µs | 10.0 µs | the CPU, 2.00 times: the bus alone takes longer |'
worth pinned "$(cuda 4e-4)"
exits "slow copies" 0 0 ""
has "the copies are the bound" "$overview" '| the CPU, 2.00 times; the GPU from page-locked memory, 1.25 times |'
worth 16 "row('cpu/omp', 5e-4), $(cuda 1e-3)" 6e-4
exits "a slow kernel" 0 0 ""
has "the kernel is the bound" "$overview" 'the CPU, 2.00 times: the kernel alone takes longer |'
worth eight "row('cpu/omp', 5e-4)"
refuses "a bench of no such name" "worth/tint_eight.json: the name ends in none of _1, _4, _16, _pinned"
rm -r "$tree/results/gpu/worth"
exits "none of them" 0 0 ""

# --- a ladder more: its own files and nothing else
sed 's/tint/shade/g' "$tree/common/algo/tint.h" >"$tree/common/algo/shade.h"
: >"$tree/common/algo/shade.c"
refuses "a ladder in no table" "docs/README.md: shade: in no line"
sed -i 's/ladders: tint/ladders: tint shade/' "$overview"
exits "a new ladder is missed" 1 2 "shade.md: is outdated" --check
exits "and gets a page" 0 0 ""
has "with a line in the table" "$overview" "| [shade](shade.md) |"
check "nothing temporary stays" sh -c "! find '$tree' -name '*.tmp' | grep ."
check "no reader without an argument" sh -c "'$python' -B common/report/pages.py --frobnicate 2>'$folder/stderr'; test \$? = 2"

# --- the check of links finds what is broken
printf '# A title\n[a](#a-title) [b](b.md) [c](#none) `[d](d.md)`\n\n    [e](e.md)\n' >"$folder/links.md"
check "broken links are found" sh -c "'$python' tests/check_links.py '$folder/links.md' >'$folder/o'; test \$? = 1 &&
    test \$(wc -l <'$folder/o') = 3 && grep -q 'b.md: there is no such file' '$folder/o' && grep -q '#none: there is no' '$folder/o'"

# --- the committed pages; a lab's handout has none, since they tell what the student is to find out
if [ -d docs ]; then
    check "the committed pages are up to date" "$python" -B common/report/pages.py --check
    check "all links lead somewhere" "$python" tests/check_links.py README.md CONTRIBUTING.md docs/*.md results/README.md \
        images/README.md assignments/*.md assignments/*/README.md tests/grader/README.md
    for name in $(grep -o '`[a-z]*_[a-z_]*`' docs/FILES.md | tr -d '`' | sort -u) $(sed -n 's/^ *TEST(\([a-z_]*\)),$/\1/p' tests/test_formats.c); do
        check "docs/FILES.md and the tests have $name" sh -c "grep -q '\`$name\`' docs/FILES.md && grep -q 'TEST($name)' tests/test_formats.c tests/test_image_io.c"
    done
    check "what code cites has its title" "$python" -B tests/check_sources.py
    check "what headers say came of a rung is in the file that they name" "$python" -B tests/check_claims.py
    mkdir -p "$folder/claims/results/here/tint"
    cp -R "$tree/common" "$tree/cpu" "$tree/cuda" "$folder/claims"
    cp "$tree/results/here/tint/a.json" "$folder/claims/results/here/tint"
    said() { sed -i "s,Result:.*,Result:   $1 (results/here/tint/a.json).," "$folder/claims/cpu/tint/1_omp.c"; }
    claims() { "$python" -B tests/check_claims.py "$folder/claims"; }
    result here/tint/a.json 'v["cpu/omp"]["kernel"] = v["cpu/omp"]["end_to_end"] = row("", 4e-3)["kernel"]'
    cp "$tree/results/here/tint/a.json" "$folder/claims/results/here/tint"
    said "2.0 times serial"
    check "a claim that its file bears out" claims
    said "0.5 times serial's time"
    check "the same the other way round" claims
    said "3.0 times serial"
    check "a claim that its file contradicts is named" sh -c "'$python' -B tests/check_claims.py '$folder/claims' >'$folder/o'; test \$? = 1 &&
        grep -q 'cpu/tint/1_omp.c: 3.0 times serial (results/here/tint/a.json): there it is 2' '$folder/o'"
    said "as predicted"
    check "no claim at all" sh -c "'$python' -B tests/check_claims.py '$folder/claims' >'$folder/o'; test \$? = 2"
    mkdir -p "$folder/cites/cpu/blur" "$folder/cites/docs"
    printf -- '- A. Nobody, *A Title*, 2003.\n' | tee "$folder/cites/docs/sources.md" >"$folder/cites/README.md"
    printf '/* As in Nobody 2003 and in Somebody and\n * Other 2004. */\n' >"$folder/cites/cpu/blur/0_serial.c"
    check "a title that is missing is named" sh -c "'$python' -B tests/check_sources.py '$folder/cites' >'$folder/o'; test \$? = 1 &&
        test \$(wc -l <'$folder/o') = 1 && grep -q 'serial.c: Somebody and Other 2004: ' '$folder/o'"
    cp README.md "$folder/handout.md"
    check "the README.md of a handout is made" "$python" -B -c "
import pathlib, sys
sys.path.insert(0, 'assignments')
from grading.handout import cut_readme, files_of
from grading.lab import Lab
cut_readme(pathlib.Path('$folder/handout.md'), [Lab('02')], files_of([Lab('02')]))"
    check "it begins with the lab" sh -c "sed -n 3p '$folder/handout.md' | grep -q 'assignments/02_blur/README.md'"
    check "it gives nothing away" sh -c "! grep -n 'docs/[^CFU]\|ladder -->\|results/h200\|lab-01\|INSTRUCTORS' '$folder/handout.md'"
    check "README.md fits on two screens" test "$(wc -l <README.md)" -le 80
else
    skipped=$((skipped + 13))
    echo "SKIP the README of a handout: this is one, or the solution is not here"
fi
finish
