#!/bin/sh
# Studies: what they measure, keep, compute and refuse.
# Not under the sanitizers: it tests Python.
# usage: sh tests/test_study.sh BUILD-FOLDER
set -u
. tests/guard.sh
build=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $1"
    sed 's/^/     /' "$folder/stdout" "$folder/stderr" | tail -n 20
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
expect() { # TITLE STATUS COMMAND...
    title=$1 status=$2
    shift 2
    guarded 120 "$@" >"$folder/stdout" 2>"$folder/stderr" </dev/null
    code=$?
    cp "$folder/stderr" "$folder/said"
    if [ $code = "$status" ]; then ok; else bad "$title: exit $code"; fi
}

expect "no Python" 2 env -u MAKEFLAGS -u MFLAGS make -s study-nothing BUILD="$build" PYTHON=no-python
python=$(python3 -c 'import sys, tomllib; print(sys.executable)' 2>/dev/null)
if [ -z "$python" ] || ! command -v gnuplot >/dev/null; then
    skipped=1
    echo "SKIP studies: no Python with tomllib (3.11), or no gnuplot"
    finish
fi
study="$python -B common/study/study.py"
measured() { ls "$folder/work/measurements" | grep -c '^[0-9a-f]*\.json$'; }

# Counts how often the bench runs, and can be told to fail or to stall at one parameter.
cat >"$folder/rungs" <<STUB
#!/bin/sh
if [ "\$1" = bench ]; then
    echo "\$*" >>"$folder/calls"
    case "\$*" in
    *value=\${STUB_BAD:-none}*) echo "rungs: the stub refuses" >&2; exit 2 ;;
    *value=\${STUB_STALL:-none}*) : >"$folder/stalled"; exec sleep 900 ;;
    esac
fi
exec "$build/\${STUB_PROGRAM:-rungs}" "\$@"
STUB
case $build in /*) ;; *) sed -i "s|exec \"|exec \"$PWD/|" "$folder/rungs" ;; esac
chmod +x "$folder/rungs"
calls() { if [ -e "$folder/calls" ]; then wc -l <"$folder/calls"; else echo 0; fi; }

cat >"$folder/small.toml" <<'TOML'
title = "A small study"
algorithm = "threshold"
[[sweep]]
versions = ["omp", "cuda/v1.0"]
sizes = ["64x48"]
inputs = [{ make = "noise", density = [0.25, 0.5] }]
parameters = { value = [10, 128, 200] }
threads = [2]
pinned = true
time = 0.02
rounds = 2
short = { parameters = { value = [10, 200] } }
[[plot]]
name = "time"
title = "Time"
x = "value"
y = "kernel"
series = ["version", "density"]
[[plot]]
name = "stack"
title = "Parts"
kind = "stacked"
x = "version"
y = ["kernel", "transfer"]
unit = "time"
[[table]]
title = "Times"
rows = "value"
y = "kernel"
where = { version = "cpu/*" }
[[published]]
title = "Times of old"
machine = "a VAX"
year = 1981
y = "kernel"
unit = "time"
rows = [{ version = "cpu/omp", value = 0.5 }]
[numbers]
worst = { max = "kernel * 1e9", where = { version = "cpu/omp" } }
worst_at = { argmax = "kernel", of = "value", where = { version = "cpu/omp" } }
speedup = { geomean = "ratio(kernel, 'cpu/serial')", where = { version = "cpu/omp" } }
both = { value = "worst * speedup" }
gpu = { min = "kernel", where = { version = "cuda/*" } }
[[paragraph]]
text = "Worst {worst} ns at {worst_at}, {speedup} times, product {both}, {points} points."
[[paragraph]]
when = "speedup < 0"
text = "Never {worst}."
[[paragraph]]
text = "A GPU: {gpu}."
otherwise = "No GPU here."
TOML
small="$study run $folder/small.toml --rungs $folder/rungs --work $folder/work"

# --- a study runs, its words agree with its data, and a second call measures nothing
expect "a study runs" 0 $small --level short
check "4 points in 2 rounds" test "$(calls)" = 8
check "from page-locked memory" test "$(grep -c -- "--pinned" "$folder/calls")" = 8
check "8 measurements are kept" test "$(measured)" = 8
cat >"$folder/agree.py" <<'PYTHON'
import csv, glob, json, math, re, sys
folder = sys.argv[1]
rows = list(csv.DictReader(open(f"{folder}/results.csv", encoding="utf-8")))
assert len(rows) == 8, len(rows)
assert {row["version"] for row in rows} == {"cpu/omp", "cuda/v1.0"}
timed = [row for row in rows if row["version"] == "cpu/omp"]
assert all(row["outcome"] == "timed" for row in timed)
document = json.load(open(f"{folder}/results.json", encoding="utf-8"))
assert (document["schema"], document["version"]) == ("rungs-study", 2)
worst = max(timed, key=lambda row: float(row["kernel"]))
found = re.match(r"Worst (\S+) ns at (\d+), (\S+) times, product \S+, 4 points\.$", document["paragraphs"][0])
assert found, document["paragraphs"]
assert math.isclose(float(found[1]), float(worst["kernel"]) * 1e9, rel_tol=6e-3), (found[1], worst)
assert found[2] == worst["value"]
ratios = []
for point in document["points"]:
    assert point["timed"] == ["cpu/serial", "cpu/omp"] and "rungs bench" in point["command"], point
    match = [r for r in timed if r["value"] == str(point["values"]["value"]) and r["density"] == str(point["values"]["density"])]
    assert len(match) == 1
    median, q1, q3 = (float(match[0]["kernel" + end]) for end in ("", "_q1", "_q3"))
    assert q1 <= median <= q3
    ratios.append(1 / median)
# Of the definition the kept measurements have the times: a point's median is the mean of its two rounds'.
kept = {}
for path in glob.glob(f"{folder}/../measurements/*.json"):
    one = json.load(open(path, encoding="utf-8"))
    serial = next(row for row in one["versions"] if row["id"] == "cpu/serial")
    kept.setdefault(re.sub(r",cuda/v1.0| --json.*", "", one["command"]), []).append(serial["kernel"]["median"])
assert [len(rounds) for rounds in kept.values()] == [2] * 4, kept
ratios += [sum(rounds) / 2 for rounds in kept.values()]
assert math.isclose(float(found[3]), math.exp(sum(map(math.log, ratios)) / 4), rel_tol=6e-3)
assert math.isclose(document["numbers"]["both"], document["numbers"]["worst"] * document["numbers"]["speedup"])
assert not any("Never" in text for text in document["paragraphs"])
text = open(f"{folder}/study.md", encoding="utf-8").read()
assert document["paragraphs"][0] in text and "theirs: a VAX, 1981" in text and "500 ms" in text
if "emulated" in {row["outcome"] for row in rows}:
    assert document["paragraphs"][1] == "No GPU here." and "Verified without times" in text
    assert all(row["kernel"] == "" for row in rows if row["version"] == "cuda/v1.0")
PYTHON
check "the words agree with the data" "$python" -B "$folder/agree.py" "$folder/work/short"
check "the plots are there" sh -c "grep -q '</svg>' '$folder/work/short/time.svg' && grep -q '</svg>' '$folder/work/short/stack.svg'"
cp "$folder/work/short/results.csv" "$folder/before.csv"
expect "again" 0 $small --level short
check "nothing is measured twice" test "$(calls)" = 8
check "and the data are the same" cmp "$folder/before.csv" "$folder/work/short/results.csv"
sed 's/^text = "Worst/text = "At worst/; s/value = \[10, 200\]/value = [10, 128]/' "$folder/small.toml" >"$folder/changed.toml"
expect "another text, another point" 0 $study run "$folder/changed.toml" --rungs "$folder/rungs" --work "$folder/work" --level short
check "only the other points are measured" test "$(calls)" = 12
echo "# another program" >>"$folder/rungs"
expect "another program" 0 $small --level short
check "measures all anew" test "$(calls)" = 20
rm -r "$folder/work" "$folder/calls"

# --- measured where there is no gnuplot, published elsewhere, by another program
mkdir "$folder/bare"
for program in sh env ls; do ln -s "$(command -v $program)" "$folder/bare/$program"; done
expect "no gnuplot" 1 env PATH="$folder/bare" $small --level short
check "says what to do" grep -q -- "--measured --work with that folder publishes it" "$folder/said"
check "all is measured" test "$(calls)" = 8
check "how long it will take was said" grep -q '8 measurements to make, 0 kept of an earlier call; about [0-9]' "$folder/said"
mv "$folder/work" "$folder/carried"
echo "# of another machine" >>"$folder/rungs"
carried="$study run $folder/small.toml --rungs $folder/rungs --work $folder/carried --level short"
expect "published elsewhere" 0 $carried --measured
check "measures nothing" test "$(calls)" = 8
check "all points are there" grep -q '4 points' "$folder/carried/short/study.md"
expect "one of its sweeps" 0 $carried --measured --sweeps sweep1
expect "none of them" 2 $carried --measured --sweeps nothing
check "lists its sweeps" grep -q "no sweep 'nothing' with points to measure; there are sweep1" "$folder/said"
rm -r "$folder/carried" "$folder/calls"

# --- each picture of a folder as the argument of a script; one search for all of them; the mean and deviation of a cell
mkdir -p "$folder/pictures/big"
cp images/shapes.png images/impulse.png "$folder/pictures/big"
cat >"$folder/masks.toml" <<'TOML'
title = "Masks"
algorithm = "labelling"
[[sweep]]
versions = ["serial"]
sizes = ["64x48"]
inputs = [{ script = "cpu/labelling/photograph.py", photograph = "DIR/big:images" }]
time = 0.02
rounds = 1
[[table]]
title = "Times"
rows = "version"
columns = "size"
y = "kernel"
statistic = "deviation"
TOML
expect "pictures of a folder" 0 env RUNGS="$build/rungs" $study run "$folder/masks.toml" --rungs "$folder/rungs" --work "$folder/masks" --dir "$folder/pictures"
check "two of them" grep -q '2 points' "$folder/masks/full/study.md"
check "deviate" grep -q '^| cpu/serial | [0-9]' "$folder/masks/full/study.md"
sed 's/"deviation"/"spread"/' "$folder/masks.toml" >"$folder/spread.toml"
expect "an unknown statistic" 2 $study run "$folder/spread.toml" --rungs "$folder/rungs" --dir "$folder/pictures"
check "is named" grep -q "statistic 'spread': must be" "$folder/said"
rm -f "$folder/calls"

# --- what another run has recorded is read in the place of a measurement: a results file, and a table of numbers
"$build/rungs" bench threshold --size 64x48 --versions cpu/omp --time 0.02 --json "$folder/recorded.json" >/dev/null 2>&1
printf 'split,chosen,recall\n0,0,0.25\n0,1,0.5\n1,1,0.75\n' >"$folder/recorded.csv"
cat >"$folder/recorded.toml" <<TOML
title = "What was recorded"
algorithm = "threshold"
[[sweep]]
name = "here"
versions = ["omp"]
sizes = ["64x48"]
time = 0.02
rounds = 1
[[sweep]]
name = "there"
recorded = "$folder/recorded.json"
[[sweep]]
name = "worth"
versions = ["cpu/omp"]
recorded = "$folder/recorded.csv"
[[plot]]
name = "worth"
title = "Worth"
x = "chosen"
y = "recall"
series = "split"
where = { sweep = "worth" }
[numbers]
there = { only = "kernel * 1e9", where = { sweep = "there", version = "cpu/omp" } }
worth = { mean = "recall", where = { sweep = "worth", chosen = 1 } }
[[paragraph]]
text = "There {there} ns, worth {worth}."
TOML
recorded="$study run $folder/recorded.toml --rungs $folder/rungs --work $folder/recorded --level short"
expect "a recorded sweep" 0 $recorded
check "one point is measured" test "$(calls)" = 1
check "its numbers are the files'" "$python" -B - "$folder" <<'PYTHON'
import json, sys
folder = sys.argv[1]
recorded = json.load(open(f"{folder}/recorded.json", encoding="utf-8"))
median = next(row for row in recorded["versions"] if row["id"] == "cpu/omp")["kernel"]["median"]
document = json.load(open(f"{folder}/recorded/short/results.json", encoding="utf-8"))
assert document["numbers"] == {"there": median * 1e9, "worth": 0.625}, document["numbers"]
assert [point["values"]["sweep"] for point in document["points"]] == ["here", "there"]
assert "worth 0.625." in document["paragraphs"][0]
PYTHON
check "its plot is there" grep -q '</svg>' "$folder/recorded/short/worth.svg"
# Versions that are emulated here have times there, and take part.
sed -i 's,"cpu/omp","cuda/v1.0",; s,"id": "cpu/omp","id": "cuda/v1.0",' "$folder/recorded.json"
sed 's,sweep = "there"\, version = "cpu/omp",sweep = "there"\, version = "cuda/v1.0",' "$folder/recorded.toml" >"$folder/device.toml"
check "its version is one of a device" grep -q '"id": "cuda/v1.0"' "$folder/recorded.json"
expect "a recorded sweep of a device, timed versions only" 0 $study run "$folder/device.toml" --rungs "$folder/rungs" \
    --work "$folder/recorded" --level short --timed-only --versions cpu
check "its times are there" grep -q '^There [1-9][0-9.]* ns' "$folder/recorded/short/study.md"
sed -i 's,"id": "cuda/v1.0","id": "cpu/omp",' "$folder/recorded.json"
unrecorded() { # TITLE PATTERN SED-SCRIPT
    sed "$3" "$folder/recorded.toml" >"$folder/unrecorded.toml"
    expect "$1" 2 $study run "$folder/unrecorded.toml" --rungs "$folder/rungs" --work "$folder/unrecorded"
    check "$1: why" grep -q -- "$2" "$folder/said"
}
unrecorded "a recorded sweep of sizes" "a recorded sweep takes no 'sizes'" 's/^name = "there"/name = "there"\nsizes = ["64x48"]/'
unrecorded "no recorded file" "there is no file .*nowhere.json" 's/recorded.json/nowhere.json/'
unrecorded "recorded of another algorithm" "is of threshold, not of blur" 's/^name = "there"/name = "there"\nalgorithm = "blur"/'
unrecorded "a recorded table of nobody" "needs the one version" '/^name = "worth"/{n;s/cpu\/omp/cpu/}'
printf 'recall\nmuch\n' >"$folder/words.csv"
unrecorded "a recorded table of words" "a cell of it is no number" 's/recorded.csv/words.csv/'
rm -rf "$folder/recorded" "$folder/unrecorded" "$folder/calls" "$folder/work"

# --- a bad point, a stop, a wrong version
expect "a bad point" 1 env STUB_BAD=200 $small --level short
check "is named" grep -q "left out: .*value=200.*: rungs: the stub refuses" "$folder/said"
check "in study.md too" grep -q "value=200.*the stub refuses" "$folder/work/short/study.md"
check "the rest is measured" test "$(measured)" = 4
rm "$folder/calls"
expect "the bad point is tried again" 0 $small --level short
check "and it alone" sh -c "test \$(wc -l <'$folder/calls') = 4 && ! grep -v 'value=200' '$folder/calls'"
rm -r "$folder/work" "$folder/calls"

# Python itself in the background of a shell without job control ignores SIGINT unless it is told not to.
STUB_STALL=200 "$python" -B -c '
import os, signal, subprocess, sys, time
folder = sys.argv[1]
signal.signal(signal.SIGINT, signal.default_int_handler)
study = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=open(folder + "/stop", "w"))
for _ in range(6000):
    if os.path.exists(folder + "/stalled") or study.poll() is not None:
        break
    time.sleep(0.05)
study.send_signal(signal.SIGINT)
sys.exit(study.wait(timeout=600))
' "$folder" "$python" -B common/study/study.py run "$folder/small.toml" --rungs "$folder/rungs" --work "$folder/work" --level short
code=$?
check "a stop ends with 130" test $code = 130
check "says how to go on" grep -q "the same command goes on" "$folder/stop"
check "leaves no outcome" test ! -e "$folder/work/short"
kept=$(measured)
before=$(calls)
check "others were measured before" test "$kept" -ge 1
check "and kept, but not the one that was stopped" test "$((before - 1))" = "$kept"
expect "it goes on" 0 $small --level short
check "without what was measured" test "$(($(calls) - before))" = "$((8 - kept))"
rm -r "$folder/work"

cat >"$folder/wrong.toml" <<'TOML'
title = "With a wrong version"
algorithm = "threshold"
[[sweep]]
versions = ["signed_bytes", "serial"]
sizes = ["64x48"]
time = 0.02
rounds = 1
[[plot]]
name = "time"
title = "Time"
x = "version"
y = "kernel"
kind = "bars"
[numbers]
points_timed = { count = "kernel", where = { version = "mutant/*" } }
[[paragraph]]
text = "{points_timed} right, {wrong} wrong."
TOML
expect "a wrong version" 1 env STUB_PROGRAM=rungs-mutants $study run "$folder/wrong.toml" --rungs "$folder/rungs" \
    --work "$folder/work"
check "is reported" grep -q "wrong: threshold:mutant/signed_bytes" "$folder/said"
check "and counted by no statistic" grep -q "^0 right, 1 wrong\.$" "$folder/work/full/study.md"
check "nor plotted" sh -c "grep -q serial '$folder/work/full/time.svg' && ! grep -q signed_bytes '$folder/work/full/time.svg'"

# --- what a study file may not say: one line, exit 2, nothing measured
rm -rf "$folder/work" "$folder/calls"
refuses() { # TITLE PATTERN SED-SCRIPT
    sed "$3" "$folder/small.toml" >"$folder/bad.toml"
    guarded 60 "$python" -B common/study/study.py run "$folder/bad.toml" --rungs "$folder/rungs" --work "$folder/work" \
        >"$folder/stdout" 2>"$folder/stderr" </dev/null
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <"$folder/stderr")" = 1 ] && grep -q -- "$2" "$folder/stderr" && [ "$(calls)" = 0 ] &&
        [ ! -e "$folder/work" ]; then ok; else bad "$1: exit $code"; fi
}
refuses "unknown key" "sweep 1: unknown key 'speed'" 's/^rounds = 2/speed = 2/'
refuses "unknown key at the top" "unknown key 'titel'" 's/^title = "A small/titel = "A small/'
refuses "unknown algorithm" "no algorithm 'sharpen'" 's/"threshold"/"sharpen"/'
refuses "unknown version" "no version 'magic'" 's/"omp"/"magic"/'
refuses "unknown parameter" "no parameter 'level'; there are value" 's/{ value = \[10, 128/{ level = [10, 128/'
refuses "unknown statistic" "numbers.worst: no statistic or key 'largest'" 's/^worst = { max/worst = { largest/'
refuses "unknown column" "no column 'colonel'" 's/rows = "value"/rows = "colonel"/'
refuses "no such point" "no point has value = 11" 's/{ version = "cpu\/\*" }/{ value = 11 }/'
refuses "a version that is not measured" "no point has version = peer/\*" 's/where = { version = "cuda\/\*" }/where = { version = "peer\/*" }/'
refuses "unknown number" "no number 'gnu'" 's/{gpu}/{gnu}/'
refuses "division by nothing" "divides by 0" 's/worst \* speedup/worst \/ 0/'
refuses "code in a formula" "no function __import__" "s/worst \* speedup/__import__(1)/"
refuses "an attribute in a formula" "no place in a formula" "s/worst \* speedup/(1).real/"
refuses "a size" "size .64.: must be" 's/"64x48"/"64"/'
refuses "an input" "nothing makes 'fog'" 's/make = "noise"/make = "fog"/'
refuses "a density" "density = 2: must be 0 to 1" 's/0.25, 0.5/0.25, 2/'
refuses "no TOML" "not TOML" 's/^title = /title /'
refuses "a plot of two kinds" "must be lines, bars or stacked" 's/kind = "stacked"/kind = "pie"/'
refuses "a pattern out of the tree" "no such file" 's/{ make = "noise", density = \[0.25, 0.5\] }/"nowhere.png"/'
refuses "channels" "channels = 2: must be 1 or 3" 's/^time = 0.02/channels = 2/'
# --- some versions alone, pictures in gray
rm -f "$folder/calls"
sed 's/^time = 0.02/time = 0.02\nchannels = 1/' "$folder/small.toml" >"$folder/gray.toml"
sides="$study run $folder/gray.toml --rungs $folder/rungs --work $folder/sides --level short --versions"
expect "the CPU's versions alone" 0 $sides cpu,peer
check "no others are measured" sh -c "test \$(wc -l <'$folder/calls') = 8 && ! grep -q cuda '$folder/calls'"
check "in gray" test "$(grep -c -e '--channels 1' "$folder/calls")" = 8
expect "none of its versions" 2 $sides peer
check "is one line" sh -c "test \$(wc -l <'$folder/said') = 1 && grep -q 'no version of it is one of peer' '$folder/said'"
# A sweep with a judge where no version of the CPU is measured: the judge gets the table of another one.
cat >"$folder/judged.toml" <<'TOML'
title = "A judged study"
algorithm = "hough"
[[sweep]]
versions = ["cpu/serial", "cuda/v1.0"]
sizes = ["96x64"]
inputs = [{ script = "cpu/hough/scene.py", lines = 2, noise = 0, seed = 1 }]
parameters = { threshold = 40, theta_steps = 90, window = 5 }
time = 0.02
judge = { script = "cpu/hough/judge.py", columns = ["recall"] }
[[table]]
title = "Recall"
rows = "version"
y = "recall"
TOML
expect "a judge and the GPU's versions alone" 0 $study run "$folder/judged.toml" --rungs "$folder/rungs" --work "$folder/judged" --versions cuda
check "says what the lines are worth" grep -q ',recall' "$folder/judged/full/results.csv"
check "and finds them" sh -c "grep -q '\"recall\": 1' '$folder'/judged/measurements/judged_*.json"
sed 's/worst \* speedup/worst \/ none/; s/^both/none = { count = "kernel", where = { version = "cuda\/*", value = 128 } }\nboth/' \
    "$folder/small.toml" >"$folder/zero.toml"
expect "division by a count of nothing" 2 $study run "$folder/zero.toml" --rungs "$folder/rungs" --work "$folder/work" --level short
check "in one line" grep -q "numbers.both: 'worst / none' divides by 0" "$folder/said"
check "without an outcome" test ! -e "$folder/work/short"
# A lab's handout has none.
names=$($study list | sed -n 's/^study-\([^ ]*\) .*/\1/p')
expect "an unknown study" 2 $study run nothing
check "lists those that exist" grep -q "there are $(echo ${names:-none} | sed 's/ /, /g')\$" "$folder/said"
expect "make says the same" 2 env -u MAKEFLAGS -u MFLAGS make -s study-nothing BUILD="$build"
check "with its list" grep -q "the studies are $(echo $names)\. " "$folder/said"
expect "an unknown level" 2 $study run nothing --level long

# --- pictures that studies make: comb, snake, spiral and maze are one component, noise is as dense as asked
check "made pictures" "$python" -B - <<'PYTHON'
import sys
sys.path[:0] = ["common/study", "common/report"]
import generators
scattered = generators.squares(120, 90, 9, 10, 0, 1)
assert scattered.count(255) == 900 and scattered == generators.squares(120, 90, 9, 10, 0, 1)
try:
    generators.squares(40, 40, 9, 20, 0, 1)
    sys.exit("9 squares in the place of 4")
except generators.StudyError:
    pass

def components(width, height, picture):
    seen, found = bytearray(width * height), 0
    for start in range(width * height):
        if not picture[start] or seen[start]:
            continue
        found, seen[start], stack = found + 1, 1, [start]
        while stack:
            x, y = stack[-1] % width, stack.pop() // width
            for u, v in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                if 0 <= u < width and 0 <= v < height and picture[v * width + u] and not seen[v * width + u]:
                    seen[v * width + u] = 1
                    stack.append(v * width + u)
    return found

for width, height in [(1, 1), (1, 7), (7, 1), (2, 2), (3, 3), (5, 4), (4, 5), (8, 7), (16, 5), (31, 33), (32, 32)]:
    for name in ("comb", "snake", "spiral", "maze"):
        make, arguments = generators.MAKERS[name]
        picture = make(width, height, **{key: value[0] for key, value in arguments.items()})
        assert len(picture) == width * height and components(width, height, picture) == 1, (name, width, height)
for density in (0, 0.3, 1):
    noise = generators.noise(500, 200, density, 1, 7)
    assert len(noise) == 100000 and abs(noise.count(255) / 1e5 - density) <= (0.01 if 0 < density < 1 else 0), density
blocks = generators.noise(33, 31, 0.5, 4, 7)
assert all(blocks[y * 33 + x] == blocks[y // 4 * 4 * 33 + x // 4 * 4] for y in range(31) for x in range(33))
assert components(90, 60, generators.squares(90, 60, 6, 20, 30, 1)) == 6
PYTHON

# --- the committed form: what the report and the pages of the ladders read
expect "into a folder of results" 0 $small --level short --out "$folder/results/here/threshold/study_small"
check "is listed" sh -c "'$python' -B common/study/study.py list '$folder/results' | grep -q '\"machine\": \"here\"'"
check "the report shows it" "$python" -B common/report/report.py --rungs "$folder/none" --results "$folder/results" \
    "$folder/page.html"
check "once" test "$(grep -c 'Study: A small study' "$folder/page.html")" = 1
rm "$folder/results/here/threshold/study_small/time.svg"
expect "a study without its plot" 2 $study list "$folder/results"
check "is named" grep -q "its plot time.svg is missing" "$folder/said"

# --- the studies that there are, read and checked to the last word, for every level
for name in $names; do
    check "study-$name is right" "$python" -B - "$name" "$build/rungs" <<'PYTHON'
import os, sys
sys.path[:0] = ["common/study", "common/report"]
import study
name, path = study.find(sys.argv[1])
read = study.Study(study.ROOT, path, study.measuring.catalogue(os.path.abspath(sys.argv[2])), "images")
assert len(read.points_of["short"]) <= 20, "the short form has too many points"
PYTHON
done
finish
