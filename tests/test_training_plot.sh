#!/bin/sh
# cpu/detect/plot_training.py: three plots of what a training says of its stages, and one line where a file is no such report. usage:
# test_training_plot.sh BUILD-FOLDER
set -u
cd "$(dirname "$0")/.." || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
command -v python3 >/dev/null && command -v gnuplot >/dev/null || { echo "SKIP no python3 or no gnuplot"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
draw() { python3 -B cpu/detect/plot_training.py "$1" "$folder/out.svg" 2>"$folder/stderr"; }
refuses() { # TITLE FILE REASON
    rm -f "$folder/out.svg"
    draw "$2"
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <"$folder/stderr")" = 1 ] && grep -q "^plot_training: .*$3" "$folder/stderr" && [ ! -e "$folder/out.svg" ]; then
        ok
    else
        bad "$1: exit $code, $(cat "$folder/stderr")"
    fi
}

report=results/cpu2/detect/faces_training.csv
draw $report || bad "a report: $(cat "$folder/stderr")"
for curve in "held out objects lost" "windows that pass" "the stage's Z" "stages a window takes" threshold; do
    if sed 's/&apos;\|&#39;/'"'"'/g' "$folder/out.svg" | grep -q "$curve"; then ok; else bad "no curve: $curve"; fi
done
# The plot that is committed beside a report is that of the report.
for committed in results/cpu2/detect/faces_training results/cpu2_avx2/detect/training_500; do
    draw $committed.csv || bad "$committed.csv"
    if [ "$(grep -c '<path' "$folder/out.svg")" = "$(grep -c '<path' $committed.svg)" ]; then ok; else bad "$committed.svg is another plot"; fi
done
head -n 2 $report >"$folder/one.csv"
if draw "$folder/one.csv"; then ok; else bad "one stage: $(cat "$folder/stderr")"; fi
head -n 1 $report >"$folder/none.csv"
sed '2s/^1,/one,/' $report >"$folder/words.csv"
cut -d , -f 1-4 $report >"$folder/columns.csv"
refuses "no stages" "$folder/none.csv" 'no stages'
refuses "words" "$folder/words.csv" 'no report of a training'
refuses "other columns" "$folder/columns.csv" 'no report of a training'
refuses "a picture" images/shapes.png 'no report of a training'
refuses "nothing" "$folder/nothing.csv" 'No such file'
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
