#!/bin/sh
# make report and make plot-ALGO: the page of the committed results is whole and loads nothing, bad results cost one
# line and exit status 2, and what is missing is said. usage: sh tests/test_report.sh BUILD-FOLDER
# Not under the sanitizers: it tests programs in Python.
set -u
. tests/guard.sh
build=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
mkdir "$folder/out" "$folder/empty"

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

# exits TITLE STATUS LINES PATTERN COMMAND...: so many lines on stderr, of which one matches
exits() {
    title=$1 status=$2 lines=$3 pattern=$4
    shift 4
    guarded 120 "$@" >"$folder/stdout" 2>"$folder/stderr" </dev/null
    code=$?
    if [ $code = "$status" ] && [ "$(wc -l <"$folder/stderr")" = "$lines" ] &&
        grep -q -- "$pattern" "$folder/stderr"; then
        ok
    else
        bad "$title: exit $code"
    fi
}
check() { # TITLE COMMAND...
    title=$1
    shift
    if "$@" >"$folder/stdout" 2>"$folder/stderr"; then ok; else bad "$title: $*"; fi
}

exits "no Python" 2 1 "no-python is not here; to install it" \
    env -u MAKEFLAGS -u MFLAGS make -s report PYTHON=no-python BUILD="$build"
# The interpreter itself: python3 may be a script that needs PATH.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
if [ -z "$python" ]; then
    skipped=1
    echo "SKIP the report: no python3"
    finish
fi
report() { "$python" -B common/report/report.py --rungs "$build/rungs" "$@"; }
plots() { "$python" -B common/report/plots.py "$@"; }

# --- the page
check "page of the committed results" report "$folder/out/page.html"
check "the page is whole" "$python" -B tests/check_page.py "$folder/out/page.html" . \
    $(grep -l '"schema": "rungs-\(video-\)*results"' results/*/*/*.json)
check "pictures of input and output" sh -c "test \$(grep -o 'src=\"data:image/' '$folder/out/page.html' | wc -l) -ge 10"
check "nothing else was written" test "$(ls "$folder/out")" = page.html
if [ -d docs ]; then # a lab's handout has no pages of the ladders
    check "the story of a ladder is there" grep -q "<strong>v1.1 moves what is no computation.</strong>" "$folder/out/page.html"
    check "each story once, and no heading without one" test \
        "$(grep -c "<h3>What the rungs teach</h3>" "$folder/out/page.html")" = "$(cat docs/*.md | grep -c "^## What the rungs teach")"
    check "it links to the ladders that it names" grep -q '<a href="#morphology">closed</a>' "$folder/out/page.html"
else
    skipped=$((skipped + 3))
    echo "SKIP the stories: not in this tree"
fi
exits "no such folder" 2 1 "nowhere" "$python" -B common/report/report.py "$folder/nowhere/page.html"
exits "OUT is a folder" 2 1 "is a folder" "$python" -B common/report/report.py "$folder/out"
exits "no results folder" 2 1 "no such folder" \
    "$python" -B common/report/report.py --results "$folder/nowhere" "$folder/a.html"

# A page without plots and pictures, which is quick: from results made here out of a committed file.
# variant FILE PYTHON-STATEMENT...: `r` are the results, `v` the versions by name
variant() {
    mkdir -p "$folder/results/there"
    "$python" - "$folder/results/there/$1" "$2" <<'PYTHON'
import json, sys
with open("results/h200/blur/blur_3840x2160.json", encoding="utf-8") as file:
    r = json.load(file)
v = {row["id"]: row for row in r["versions"]}
exec(sys.argv[2])
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(r, file)
PYTHON
}
# No gnuplot: what versions there are is asked of a shell script.
mkdir -p "$folder/empty" && ln -sf "$(command -v sh)" "$(command -v awk)" "$folder/empty"
quick="env PATH=$folder/empty $python -B common/report/report.py --rungs $folder/none --results $folder/results \
$folder/out/a.html"
page_has() { # TITLE TEXT
    check "$1" grep -qF -- "$2" "$folder/out/a.html"
}

variant blur.json 'v["cuda/v1.2"]["kernel"] = {k: 2.5 * t if k != "n" else t for k, t in v["cuda/v1.1"]["kernel"].items()}
r["input"] = "<script>alert(1)</script> & \"co\""
r["command"] = "rungs <b>"; v["peer/opencv"]["why"] = "</section>"'
exits "no gnuplot, no rungs" 0 2 "no plots: gnuplot is not here; to install it" $quick
page_has "slower" "2.50$(printf '\302\240')× as slow"
page_has "not different" "not different"
page_has "markup in results is text" "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;co&quot;"
check "a page of hostile words is whole" "$python" -B tests/check_page.py "$folder/out/a.html" .

# --- a search: its points instead of versions
point='{"values": {"width": WIDTH}, "outcome": "timed", "time": {"median": TIME, "q1": TIME, "q3": TIME, "n": 5},
    "default": DEFAULT, "best": BEST, "like_best": False, "over_default": {"times": OVER, "differs": True}}'
points=$(printf '%s' "$point" | sed 's/WIDTH/16/; s/TIME/2e-3/g; s/DEFAULT/True/; s/BEST/False/; s/OVER/1/'
    echo ,
    printf '%s' "$point" | sed 's/WIDTH/64/; s/TIME/1e-3/g; s/DEFAULT/False/; s/BEST/True/; s/OVER/2/')
variant blur_search.json 'del r["versions"]; r.update(kind="tune", tuned_version="cuda/v1.3", time="kernel",
    axes=[{"name": "width", "values": [16, 64]}], points=['"$points"'])'
cp "$folder/results/there/blur_search.json" "$folder/search.json"
exits "a search" 0 2 "no plots" $quick
page_has "of how many" "Search: cuda/v1.3, 3840×2160, 2 combinations timed"
page_has "the fastest point" '<tr><th scope="row">1.00 ms ± 0.0 %</th>'
page_has "the fastest point in words" 'Best: <code>width=64</code>, 1.00 ms ± 0.0 %, 2.00 times as fast as the default. NVIDIA'
page_has "the heat map" '<title>width=64: 1.00 ms ± 0.0 %</title>'
echo '<svg xmlns="http://www.w3.org/2000/svg"/>' >"$folder/results/there/blur_search.svg"
exits "the picture of a search" 0 2 "no plots" $quick
check "is drawn from its points" sh -c "! grep -q data:image/svg '$folder/out/a.html'"
check "a page of a search is whole" "$python" -B tests/check_page.py "$folder/out/a.html" . \
    "$folder/results/there/blur_search.json"
exits "no plots of a search" 2 1 "a search, not a bench" \
    "$python" -B common/report/plots.py blur "$folder/plots" "$folder/results/there/blur_search.json"
rm "$folder/results/there/"*

# --- a profile, with what the command printed beside it
cp results/h200/blur/profile_blur_v1.0.json results/h200/blur/profile_blur_v1.0.txt "$folder/results/there"
exits "a profile" 0 2 "no plots" $quick
page_has "a kernel" '<tr><th scope="row"><code>blur_kernel</code></th>'
page_has "against CUDA events" '<td class="number">+0.1 %</td>'
page_has "its launch" '<td class="number">120×68</td>'
page_has "hardware metrics" '<th scope="row">achieved occupancy</th>'
page_has "what the command printed" '$ rungs profile blur:cuda/v1.0 --size 3840x2160'
check "a page of a profile is whole" "$python" -B tests/check_page.py "$folder/out/a.html" . \
    "$folder/results/there/profile_blur_v1.0.json"
exits "no plots of a profile" 2 1 "a profile, not a bench" \
    "$python" -B common/report/plots.py blur "$folder/plots" "$folder/results/there/profile_blur_v1.0.json"
sed 's/"cuda_emulated": *false/"cuda_emulated": true/' results/h200/blur/profile_blur_v1.0.json >"$folder/results/there/profile_blur_v1.0.json"
rm "$folder/results/there/profile_blur_v1.0.txt"
exits "a profile that was counted" 0 2 "no plots" $quick
page_has "its counters in the row of the version" '<th scope="col" class="number">sectors a global load</th>'
check "a page of counters is whole" "$python" -B tests/check_page.py "$folder/out/a.html" .
rm "$folder/results/there/"*

# --- a video, with a peer that was added to the file
cat >"$folder/results/there/motion.json" <<'JSON'
{"schema": "rungs-video-results", "version": 1, "date": "2026-01-31T12:00:00Z", "commit": "abc", "command": "rungs bench",
 "machine": {"cpu": "Test", "cores": 2, "compiler": "gcc 1", "flags": "-O3", "gpu": null}, "algorithm": "motion",
 "settings": "", "params": {}, "input": "walk", "width": 64, "height": 48, "frames": 9, "threads": 2, "versions": [
 {"id": "cpu/serial", "path": "", "outcome": "timed", "reference": true, "why": null, "frames_verified": 9,
  "end_to_end": {"median": 8e-3, "q1": 8e-3, "q3": 8e-3, "n": 9}, "memory": null, "over_serial": null,
  "over_below": null, "steps": [{"name": "blur", "seconds": 6e-3}, {"name": "boxes", "seconds": 2e-3}]},
 {"id": "cpu/omp", "path": "", "outcome": "timed", "reference": false, "why": null, "frames_verified": 9,
  "end_to_end": {"median": 4e-3, "q1": 4e-3, "q3": 4e-3, "n": 9},
  "memory": {"start": {"allocate": {"bytes": 5000, "calls": 2}}, "frame": {"upload": {"bytes": 9216, "calls": 1}}},
  "over_serial": {"version": "cpu/serial", "times": 2, "differs": true},
  "over_below": {"version": "cpu/serial", "times": 2, "differs": true},
  "steps": [{"name": "blur", "seconds": 1e-3}, {"name": "close", "seconds": 1e-3}, {"name": "boxes", "seconds": 2e-3}]},
 {"id": "cuda/v1.0", "path": "", "outcome": "failed", "reference": false, "why": "frame 7 <differs>",
  "frames_verified": 6, "end_to_end": null, "memory": null, "over_serial": null, "over_below": null, "steps": []},
 {"id": "peer/opencv-python", "path": "peers/motion/opencv_python.py", "library": "OpenCV 5", "outcome": "timed",
  "reference": false, "why": null, "frames_verified": null, "memory": null, "over_serial": null, "over_below": null,
  "end_to_end": {"median": 2e-3, "q1": 2e-3, "q3": 2e-3, "n": 9}, "steps": [{"name": "blur", "seconds": 2e-3}]}]}
JSON
cp "$folder/results/there/motion.json" "$folder/motion.json"
exits "a video" 0 2 "no plots" $quick
page_has "frames per second" '<td class="number">250</td>'
page_has "a step, its share, its gain" '1.00 ms<br /><span class="under">25 % · 6.00×</span>'
page_has "memory" '<td class="number">9.22 kB in 1 call</td>'
page_has "why it is wrong" '<code>cuda/v1.0</code>: frame 7 &lt;differs&gt;'
page_has "a peer of a library" '<code>peer/opencv-python</code>: OpenCV 5, timed right after'
page_has "times serial by its medians" '<strong>2.00</strong> <code class="cpu">cpu/omp</code>'
check "a page of a video is whole" "$python" -B tests/check_page.py "$folder/out/a.html" . \
    "$folder/results/there/motion.json"
check "steps in their order" "$python" -c "
import sys
text = open(sys.argv[1], encoding='utf-8').read()
places = [text.index('<th scope=\"row\">' + name) for name in ('blur<', 'close<', 'boxes<', '<strong>all steps')]
sys.exit(places != sorted(places))" "$folder/out/a.html"
rm "$folder/results/there/"*

# --- one field spoilt, each in turn
check "every field, spoilt in every way" "$python" -B tests/spoil_results.py "$folder/motion.json" "$folder/search.json"

# --- other files beside the results
echo '{"schema": "rungs-dreams", "version": 1}' >"$folder/results/there/dream.json"
echo '[1, 2]' >"$folder/results/there/list.json"
echo '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>' >"$folder/results/there/blur_map.svg"
echo '<svg' >"$folder/results/there/broken.svg"
printf 'kernel <1>\n' >"$folder/results/there/blur_profile.txt"
printf '# how\na,b\n1,<2>\n' >"$folder/results/there/search.csv"
exits "other kinds are left out, with a note" 0 5 "dream.json: left out" $quick
cp "$folder/stderr" "$folder/notes"
check "so is a list" grep -q "list.json: left out" "$folder/notes"
check "so is half a picture" grep -q "broken.svg: left out" "$folder/notes"
page_has "text is shown" "kernel &lt;1&gt;"
page_has "a table is shown" "<td class=\"number\">&lt;2&gt;</td>"
page_has "a picture is shown" "data:image/svg+xml;base64,"
check "it cannot run a script" "$python" -B tests/check_page.py "$folder/out/a.html" .
echo '{"schema": "rungs-dreams"}' >"$folder/results/there/search.json"
echo dreams >"$folder/results/there/search.txt"
rm "$folder/results/there/dream.json" "$folder/results/there/list.json" "$folder/results/there/broken.svg"
exits "no note of another kind that is shown as text" 0 2 "no plots" $quick
rm "$folder/results/there/"*

# --- bad results: one line, exit 2, no page
rm -f "$folder/out/a.html"
refuses() { # PATTERN STATEMENT
    variant bad.json "$2"
    exits "$1" 2 1 "bad.json.*$1" $quick
}
refuses "no 'commit'" 'del r["commit"]'
refuses "'width' has the wrong type" 'r["width"] = "wide"'
refuses "'machine.cores' has the wrong type: true is no integer" 'r["machine"]["cores"] = True'
refuses "'height': 0 must be at least 1" 'r["height"] = 0'
refuses "is no object" 'r["versions"][0] = 7'
refuses "is not a version" 'v["cpu/omp"]["id"] = "cpu/om\"p"'
refuses "is not an algorithm" 'r["algorithm"] = "../blur"'
refuses "(cpu/omp).outcome': .fine. is unknown" 'v["cpu/omp"]["outcome"] = "fine"'
refuses "not 0 < q1" 'v["cpu/omp"]["kernel"]["q1"] = 9'
refuses "without times" 'v["cpu/omp"]["kernel"] = None'
refuses "no JSON number" 'v["cpu/omp"]["limit"] = float("nan")'
refuses ".over_below.kernel.times' has the wrong type" 'v["cpu/omp"]["over_below"]["kernel"]["times"] = None'
refuses "no 'points'" 'r.update(kind="tune", tuned_version="cuda/v1.3", time="kernel", axes=[])'
refuses "no 'profile'" 'r.update(kind="profile", bench=v["cpu/omp"])'
refuses "no 'gpu_activities'" 'r.update(kind="profile", bench=v["cpu/omp"], profile={"calls": 1, "call": None})'
refuses "(cpu/omp).limit': -1 must be more than 0" 'v["cpu/omp"]["limit"] = -1'
refuses "(cpu/omp).limit': a number of 401 digits is more than 1e+300" 'v["cpu/omp"]["limit"] = 10**400'
refuses "'width': a number of 401 digits is more than" 'r["width"] = 10**400'
refuses "'cost.bytes': a number of 401 digits is more than" 'r["cost"]["bytes"] = 10**400'
refuses "(cpu/omp).kernel.n' has the wrong type: 1.5 is no integer" 'v["cpu/omp"]["kernel"]["n"] = 1.5'
refuses "'ceilings.cpu.copy_bytes_per_second': -5 must be at least 0" 'r["ceilings"]["cpu"]["copy_bytes_per_second"] = -5'
refuses "'input': .*u001b.* is not plain text" 'r["input"] = "\x1b]0;title\x07"'
refuses "'machine.gpu.name': .*u009b.* is not plain text" 'r["machine"]["gpu"]["name"] = "\x9b31m"'
refuses "a name with control characters" 'r["params"]["\x1b[31m"] = 1'
refuses "'params.k': .* is not plain text" 'r["params"]["k"] = "a\nb"'
refuses "'versions' has the wrong type: .* is no array" 'r["versions"] = {"id": "cpu/omp"}'
refuses ".kernel' has the wrong type: \[1, 2\] is no object" 'v["cpu/omp"]["kernel"] = [1, 2]'
refuses "no 'frames'" 'r["schema"] = "rungs-video-results"'
head -c 3000 results/h200/blur/blur_3840x2160.json >"$folder/results/there/bad.json"
exits "cut off" 2 1 "bad.json: not JSON" $quick
printf '\377\376{}' >"$folder/results/there/bad.json"
exits "not UTF-8" 2 1 "bad.json: not JSON" $quick
check "no page of bad results" test ! -e "$folder/out/a.html"
rm "$folder/results/there/"*

# --- plots
blur=results/h200/blur/blur_3840x2160.json
exits "no gnuplot: no plots" 1 1 "gnuplot is not here; to install it" \
    env PATH="$folder/empty" "$python" -B common/report/plots.py blur "$folder/plots" $blur
exits "plots of another algorithm" 2 1 "results of blur, not of boxes" \
    "$python" -B common/report/plots.py boxes "$folder/plots" $blur
exits "plots of two machines" 2 1 "another machine" \
    "$python" -B common/report/plots.py blur "$folder/plots" $blur results/cpu2/blur/blur_1920x1080.json
# Names and texts that could steer a terminal are spelled out.
odd=$(printf 'odd\033]0;t\007\377.json')
exits "an odd name" 2 1 'odd.x1b]0;t.x07.xff.json: No such file' "$python" -B common/report/plots.py blur "$folder/plots" "$odd"
echo '{"schema": "rungs-results", "version": "\u001b[31m"}' >"$folder/odd.json"
exits "an odd version" 2 1 'version ".u001b.31m" of the schema, not 1' "$python" -B common/report/plots.py blur "$folder/plots" "$folder/odd.json"
exits "plots of no file" 2 1 "missing.json" \
    "$python" -B common/report/plots.py blur "$folder/plots" "$folder/missing.json"
variant emulated.json 'for row in r["versions"]: row.update(outcome="emulated", kernel=None, end_to_end=None)'
exits "nothing timed" 2 1 "no version was timed" \
    "$python" -B common/report/plots.py blur "$folder/plots" "$folder/results/there/emulated.json"
rm "$folder/results/there/"*
if command -v gnuplot >/dev/null; then
    variant small.json "r['width'], r['height'] = 640, 360
r['cost']['operation'] = '\`touch $folder/run\` \\' . system(\"touch $folder/run\")'"
    check "plots" plots blur "$folder/plots" $blur "$folder/results/there/small.json"
    check "five of them" test "$(ls "$folder/plots" | tr '\n' ' ')" = "blur_roofline.svg blur_speedup.svg \
blur_speedup_by_size.svg blur_time.svg blur_time_by_size.svg "
    for plot in "$folder"/plots/*.svg; do
        check "$plot is well-formed and names its versions" "$python" -c "
import sys, xml.etree.ElementTree as e
words = ' '.join(e.parse(sys.argv[1]).getroot().itertext())
sys.exit(not all(word in words for word in ('cpu/omp', 'cuda/v2.2', 'peer/npp')))" "$plot"
    done
    check "both sizes are there" grep -q 640×360 "$folder/plots/blur_time_by_size.svg"
    check "sizes are plotted together in the page" grep -q "Time against image size, blur" "$folder/out/page.html"
    # The text of a results file must not become a command of gnuplot.
    variant large.json "r['cost']['operation'] = '\`touch $folder/run\` \\' . system(\"touch $folder/run\")'"
    check "hostile words" plots blur "$folder/plots" "$folder/results/there/large.json"
    check "no plot of the earlier call is left" test ! -e "$folder/plots/blur_time_by_size.svg"
    check "were not run" test ! -e "$folder/run"
    check "whole or not at all" sh -c "! ls '$folder/plots' | grep -qv '\.svg\$'"
else
    skipped=$((skipped + 13))
    echo "SKIP the plots: no gnuplot"
fi
finish
