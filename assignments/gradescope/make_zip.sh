#!/bin/sh
# Packs the autograder of one lab for Gradescope: setup.sh, run_autograder and this tree with that lab's solution and no
# other's, since the reference rungs are built from it. Students never see the zip.
# usage: sh assignments/gradescope/make_zip.sh NN FILE.zip
set -eu
[ $# = 2 ] || { echo "usage: sh assignments/gradescope/make_zip.sh NN FILE.zip" >&2; exit 2; }
lab=$1
case $2 in /*) out=$2 ;; *) out=$PWD/$2 ;; esac
cd "$(dirname "$0")/../.."
ls -d assignments/"$lab"_* >/dev/null 2>&1 || { echo "make_zip.sh: no lab $lab" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/rungs"
git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$folder/rungs"
rm -rf "$folder/rungs/results" "$folder/rungs/.ci" "$folder/rungs/docs" "$folder/rungs/tests/grader"
for other in "$folder"/rungs/assignments/[0-9]*_*; do
    case $other in */"$lab"_*) ;; *) rm -rf "$other" ;; esac
done
cp assignments/gradescope/setup.sh assignments/gradescope/run_autograder "$folder/"
echo "$lab" >"$folder/lab"
chmod +x "$folder/setup.sh" "$folder/run_autograder"
rm -f "$out"
(cd "$folder" && python3 -m zipfile -c "$out" setup.sh run_autograder lab rungs)
echo "$out: $(du -h "$out" | cut -f1)"
echo "In the assignment's settings, Autograder, choose 2 CPUs and 3 GB (Gradescope's default, half a CPU and 768 MB, cannot"
echo "tell two threads from one: speed is then not judged), and a timeout of 20 minutes."
