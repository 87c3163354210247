#!/bin/sh
# Not under the sanitizers: it tests a program in Python.
# The pages of the documents (common/study/documents.py): the committed ones are those that their data give, each number of ours
# comes from a results file and changes with it, a claim goes where the data put it, what nobody measured has no number, and a
# wrong file costs one line. usage: sh tests/test_documents.sh [BUILD-FOLDER]
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
python=$(python3 -c 'import sys, tomllib; print(sys.executable)' 2>/dev/null)
if [ -z "$python" ]; then
    echo "SKIP the documents: no Python with tomllib (3.11)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
check() { # TITLE COMMAND...
    title=$1
    shift
    if "$@" >"$folder/out" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAIL $title: $*"
        head -n 10 "$folder/out"
    fi
}
documents() { "$python" -B common/study/documents.py --root "$folder/tree" "$@"; }
gives() { # TITLE STATUS PATTERN: of what the program says
    documents $4 >"$folder/said" 2>&1
    code=$?
    check "$1" sh -c "test $code = $2 && grep -qF -- \"\$1\" '$folder/said' && test \$(wc -l <'$folder/said') = 1" - "$3"
}
has() { check "$1" grep -qF -- "$2" "$folder/tree/docs/documents/one.md"; }
lacks() { check "$1" sh -c "! grep -qF -- \"\$1\" '$folder/tree/docs/documents/one.md'" - "$2"; }

check "the committed pages are up to date" "$python" -B common/study/documents.py --check
check "their links lead somewhere" "$python" -B tests/check_links.py docs/documents/*.md
build=${1:-build}
check "the pictures of ours are what the program draws" sh -c "OURS=yes sh images/gallery.sh '$build/rungs' '$folder/gallery' &&
    diff -r '$folder/gallery' images/gallery"

mkdir -p "$folder/tree/docs/documents" "$folder/tree/results/small/tint"
cat >"$folder/tree/results/small/tint/times.csv" <<'CSV'
version,kernel,left
cuda/v1.0,0.004,7
cuda/v1.1,0.002,7
CSV
write() { # EXTRA LINES: the document
    cat >"$folder/tree/docs/documents/one.toml" <<TOML
title = "One"
authors = "A. Nobody"
machine = "none"
ladders = ["tint"]
question = "Is it?"
awaited = ["none"]
[files]
times = ["results/no/such.csv", "results/small/tint/times.csv"]
none = ["results/no/such.csv"]
[[table]]
title = "Times"
label = "version"
unit = "time"
rows = [{ label = "first", theirs = 0.04, version = "cuda/v1.0", again = "cuda/v1.0" }, { label = "second", version = "cuda/v1.1", again = "cuda/v9" }]
columns = [
    { head = "theirs", theirs = "theirs" },
    { head = "ours", file = "times", where = { version = "{version}" }, y = "kernel" },
    { head = "times", ratio = ["theirs", "ours"] },
    { head = "partly", file = "times", where = { version = "{again}" }, y = "kernel" },
    { head = "elsewhere", file = "none", where = { version = "{version}" }, y = "kernel" },
]
[numbers]
first = { file = "times", where = { version = "cuda/v1.0" }, y = "kernel" }
second = { file = "times", where = { version = "cuda/v1.1" }, y = "kernel" }
gain = { value = "first / second" }
least = { file = "times", y = "kernel", statistic = "argmin" }
other = { file = "none", y = "kernel" }
[[claim]]
says = "The second is faster."
holds = "gain > 1"
ours = "It is {gain} times as fast as {first}."
[[claim]]
says = "The other is slow."
holds = "other > 1"
ours = "{other}."
[[claim]]
unless = "first"
says = "Not with a first."
holds = "gain > 1"
ours = "{gain}."
[[claim]]
if = "other"
says = "Not without another."
holds = "gain > 1"
ours = "{gain}."
[[open]]
left = "More"
became = "{other}"
otherwise = "Best is {least}."
[[answer]]
text = "{gain} times."
when = "gain > 1"
otherwise = "No: {gain}."
$1
TOML
}
write ""
check "a page is made" documents
has "theirs and ours" "| first | 40.0 ms | 4.00 ms | 10.0 | 4.00 ms |"
has "what is not there has no number" "| second | – | 2.00 ms | – | not measured |"
has "a column of nothing is a word" "Not measured yet: elsewhere."
has "a link to the file" "[small: times](../../results/small/tint/times.csv)"
check "a claim that holds" sh -c "sed -n '/## What held/,/## Not/p' '$folder/tree/docs/documents/one.md' | grep -q '2.00 times as fast as 4.00 ms'"
check "what nobody measured" sh -c "sed -n '/## Not measured/,\$p' '$folder/tree/docs/documents/one.md' | grep -q 'The other is slow.'"
lacks "another claim stands for it" "Not with a first."
lacks "nor one whose number is not known" "Not without another."
has "an alternative" "Best is cuda/v1.1."
has "the answer" "2.00 times. ("
check "it is up to date" documents --check
sed -i 's/0.002/0.008/' "$folder/tree/results/small/tint/times.csv"
gives "other data: outdated" 1 "docs/documents/one.md: outdated" --check
check "made anew" documents
lacks "the claim does not hold any more" "## What held"
check "it turned round" sh -c "sed -n '/## What turned round/,/## Not/p' '$folder/tree/docs/documents/one.md' | grep -q '0.500 times as fast'"
has "the other answer" "No: 0.500."
lacks "and not the first" "2.00 times."
for wrong in '[[table]]|'"'rows' is missing" 'surprise = 1|unknown key' '[[answer]]
text = "{nothing}"|there is no number' '[[claim]]
says = "x"
holds = "nothing > 1"
ours = "x"|there is no number'; do
    write "${wrong%|*}"
    gives "refused: ${wrong%|*}" 2 "documents: " ""
done
write ""
sed -i 's/^awaited/# awaited/' "$folder/tree/docs/documents/one.toml"
gives "a file that nobody awaits" 2 "files.none: no such file is here" ""
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
