#!/bin/sh
# rungs compare: which changes count, which measurements are not comparable, and that a foreign file costs one line.
# usage: sh tests/test_compare.sh BUILD-FOLDER
set -u
build=$1
rungs=$build/rungs
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

# What results/schema.json wants of every file besides, and of every row of a bench.
about='"command": "rungs", "cost": {"bytes": 1, "operations": 1, "operation": "additions"}, "ceilings": {}'
row='"reference": false, "worst_difference": 0, "interior_only": false, "limit": null, "limit_fraction": null, "over_serial": null, "over_below": null'
# A results file of blur on one machine. usage: results MEDIAN_OMP MEDIAN_SIMD [sed script]; quartiles 2 % around.
results() {
    version() { # ID MEDIAN
        awk -v id="$1" -v m="$2" -v row="$row" 'BEGIN { printf "{\"id\": \"%s\", %s, \"outcome\": \"timed\", \"kernel_method\": \"host clock\", \"end_to_end\": null, ", id, row
            printf "\"why\": null, \"tunables\": {\"rows\": 8}, \"kernel\": {\"median\": %.9f, \"q1\": %.9f, \"q3\": %.9f, \"n\": 20}}", m, m * 0.98, m * 1.02 }'
    }
    cat <<EOF | sed "${3:-}"
{"schema": "rungs-results", "version": 1, "date": "2026-01-31T12:00:00Z", "commit": "abc", $about,
 "machine": {"cpu": "Test CPU", "cores": 2, "compiler": "gcc 1", "flags": "-O3", "gpu": null},
 "algorithm": "blur", "settings": "ksize=15", "params": {"ksize": 15}, "input": "photo", "type": "u8",
 "width": 640, "height": 480, "channels": 1, "threads": 2,
 "versions": [
$(version cpu/omp "$1"),
$(version cpu/simd "$2")
]}
EOF
}

compares() { # TITLE EXIT-STATUS PATTERN OLD NEW [OPTIONS]
    title=$1 expected=$2 pattern=$3
    shift 3
    "$rungs" compare "$@" >"$folder/stdout" 2>"$folder/stderr"
    code=$?
    if [ $code = "$expected" ] && tr -s ' ' <"$folder/stdout" | grep -q -- "$pattern" && [ ! -s "$folder/stderr" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: exit $code"
        sed 's/^/     /' "$folder/stdout" "$folder/stderr"
    fi
}

refuses() { # TITLE PATTERN ARGUMENTS...: exit 2 and one line that matches
    title=$1 pattern=$2
    shift 2
    "$rungs" compare "$@" >"$folder/stdout" 2>"$folder/stderr"
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <"$folder/stderr")" = 1 ] && grep -q -- "$pattern" "$folder/stderr" && [ ! -s "$folder/stdout" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: exit $code"
        sed 's/^/     /' "$folder/stdout" "$folder/stderr"
    fi
}

cd "$folder" || exit 1
case $rungs in /*) ;; *) rungs=$OLDPWD/$rungs ;; esac
results 1 0.1 >old.json
cp old.json same.json
results 1 0.2 >slower.json
results 1 0.05 >faster.json
results 1.03 0.1 >within.json
results 1.08 0.1 >above.json
results 1 0.2 's/"width": 640/"width": 320/' >size.json
results 1 0.2 's/Test CPU/Other CPU/' >cpu.json
results 1 0.2 's/"threads": 2/"threads": 1/' >threads.json
results 1 0.2 's/"ksize": 15/"ksize": 31/' >params.json
results 1 0.2 's/"input": "photo"/"input": "noise"/' >input.json
results 1 0.1 's/gcc 1/gcc 2/' >compiler.json
results 1 0.1 's/"rows": 8/"rows": 16/' >tunables.json
results 1 0.1 's,cpu/simd,cpu/blocked,' >other.json
results 1 0.1 '/simd/s/"timed"/"failed"/; /simd/s/"why": null/"why": "3 samples differ"/' >wrong.json
results 1 0.1 '/simd/s/"timed"/"skipped"/; /simd/s/"why": null/"why": "no AVX"/' >skipped.json

compares "a file with itself" 0 "2 same (threshold 1.05)" old.json same.json
compares "slower" 1 "cpu/simd call 100 ms 200 ms 0.500 SLOWER" old.json slower.json
compares "faster" 0 "cpu/simd call 100 ms 50.0 ms 2.00 faster" old.json faster.json
compares "quartiles that overlap" 0 "cpu/omp call 1.00 s 1.03 s 0.971 same" old.json within.json
compares "beyond the noise and the threshold" 1 "cpu/omp .* SLOWER" old.json above.json
compares "beyond the noise, within a wider threshold" 0 "cpu/omp .* same" old.json above.json --threshold 1.1
compares "no threshold can make noise count" 0 "cpu/omp .* unsure" old.json within.json --threshold 1
compares "another size" 0 "width: 640 -> 320" old.json size.json
compares "has no verdict" 0 "cpu/simd call 100 ms 200 ms - not comparable: other size, input or parameters" old.json size.json
compares "and says that it says nothing" 0 "no two times were comparable" old.json size.json
compares "another CPU" 0 "not comparable: other CPU or threads" old.json cpu.json
compares "other threads" 0 "threads: 2 -> 1" old.json threads.json
compares "other parameters" 0 "ksize: 15 -> 31" old.json params.json
compares "another input" 0 "not comparable: other size, input or parameters" old.json input.json
compares "another compiler is what one compares" 0 "compiler: gcc 1 -> gcc 2" old.json compiler.json
compares "other launch parameters are said" 0 "cpu/simd: rows: 8 -> 16" old.json tunables.json
compares "a new version" 0 "cpu/blocked .* new" old.json other.json
compares "a vanished one" 0 "cpu/simd .* vanished" old.json other.json
# Ids of before a ladder was cut (results/renames.tsv): one that is another now, and one that is no rung any more.
results 1 0.1 's,cpu/simd,cpu/packed,' >then.json
results 1 0.1 's,cpu/simd,cpu/dot_product,; s/2026-01-31/2027-01-31/' >now.json
results 1 0.1 's,cpu/simd,cpu/quads,' >gone.json
results 1 0.1 's,cpu/simd,cpu/packed,; s/2026-01-31/2027-01-31/' >later.json
compares "an id of before" 0 "cpu/dot_product call 100 ms 100 ms 1.00 same" then.json now.json
compares "no rung any more" 0 "^1 same, 1 new (" gone.json now.json
compares "an id is what it is in a file of later" 0 "cpu/packed .* vanished" later.json now.json
compares "now wrong" 1 "cpu/simd .* NOW WRONG: 3 samples differ" old.json wrong.json
compares "mended" 0 "cpu/simd .* mended" wrong.json old.json
compares "skipped now" 0 "cpu/simd .* not comparable: timed -> skipped" old.json skipped.json

device='s/"kernel_method": "host clock", "end_to_end": null/"kernel_method": "device events, graph", "end_to_end": {"median": 2, "q1": 1.9, "q3": 2.1, "n": 9}/'
gpu='s/"gpu": null/"gpu": {"name": "GPU A", "driver": "1", "cuda": "13.0"}/'
results 1 0.1 "$device; $gpu" >gpu.json
results 1 0.2 "$device; $gpu; s/GPU A/GPU B/" >gpu_other.json
results 1 0.2 "$device; $gpu; s/Test CPU/Other CPU/" >gpu_cpu.json
compares "another GPU" 0 "cpu/simd kernel .* not comparable: other GPU" gpu.json gpu_other.json
compares "kernels do not mind another CPU" 1 "cpu/simd kernel 100 ms 200 ms 0.500 SLOWER" gpu.json gpu_cpu.json
compares "transfers do" 1 "cpu/simd end to end .* not comparable: other CPU" gpu.json gpu_cpu.json

RUNGS_TUNED=
export RUNGS_TUNED
skipped=0
if "$rungs" list blur | grep -q '^  cpu/simd'; then
    "$rungs" tune blur:simd --size 64x48 --time 0.02 --threads 2 -p schedule=static --json tune.json >/dev/null
    compares "tune with itself" 0 "band_height=64 schedule=static threads=2 call .* 1.00 same" tune.json tune.json
else # the handout of a lab that asks for it
    skipped=2
    echo "SKIP tuning files: no blur:cpu/simd in this tree"
fi
"$rungs" bench blur --versions omp --size 64x48 --time 0.02 --threads 2 --json bench.json >/dev/null
compares "what bench writes can be read" 0 "cpu/omp call .* 1.00 same" bench.json bench.json

# A video: frames per second, and the steps that explain a change. usage: video MEDIAN CLOSE
video() {
    cat <<EOF
{"schema": "rungs-video-results", "version": 1, "date": "2026-01-31T12:00:00Z", "commit": "abc", "command": "rungs",
 "machine": {"cpu": "Test CPU", "cores": 2, "compiler": "gcc 1", "flags": "-O3", "gpu": null},
 "algorithm": "motion", "settings": "", "params": {}, "input": "walk", "width": 64, "height": 48, "frames": ${3:-9},
 "threads": 2, "versions": [{"id": "cpu/simd", "outcome": "timed", "reference": false, "why": null,
 "frames_verified": 9, "memory": null, "over_serial": null, "over_below": null, "end_to_end": {"median": $1, "q1": $1, "q3": $1,
 "n": 9}, "steps": [{"name": "blur", "seconds": 1e-3}, {"name": "close", "seconds": $2}]}]}
EOF
}
video 4e-3 2e-3 >video.json
video 8e-3 6e-3 >video_slower.json
video 4e-3 6e-3 >video_step.json
video 8e-3 6e-3 10 >video_frames.json
compares "a video with itself" 0 "cpu/simd frame 4.00 ms 4.00 ms 1.00 same: 250 -> 250 frames/s" video.json video.json
compares "frames per second fell" 1 "cpu/simd frame .* SLOWER: 250 -> 125 frames/s" video.json video_slower.json
compares "the step that did it" 1 "^ close 2.00 ms 6.00 ms 0.333 (step)" video.json video_slower.json
compares "a step has no verdict" 0 "1 same (threshold" video.json video_step.json
compares "another number of frames" 0 "frames: 9 -> 10" video.json video_frames.json
if grep -q blur video.json && "$rungs" compare video.json video_slower.json | grep -q 'blur '; then
    failed=$((failed + 1))
    echo "FAIL a step that is the same is shown"
else
    passed=$((passed + 1))
fi

# A profile: kernels and copies in a call, between least and most. usage: profile VERSION AVERAGE CALLS [BENCH]
profile() {
    bench=${4:-1e-3}
    cat <<EOF
{"schema": "rungs-results", "version": 1, "kind": "profile", "date": "2026-01-31T12:00:00Z", "commit": "abc", $about,
 "machine": {"cpu": "Test CPU", "cores": 2, "compiler": "gcc 1", "flags": "-O3",
 "gpu": {"name": "GPU A", "driver": "1", "cuda": "13.0"}},
 "algorithm": "blur", "settings": "", "params": {}, "input": "photo", "type": "u8", "width": 64, "height": 48,
 "channels": 1, "threads": 2, "bench": {"id": "$1", $row, "why": null, "outcome": "timed", "kernel_method": "device events, graph",
 "kernel": {"median": $bench, "q1": $bench, "q3": $bench, "n": 9},
 "end_to_end": {"median": 2e-3, "q1": 2e-3, "q3": 2e-3, "n": 9}},
 "profile": {"calls": 10, "call": null, "api_calls": [], "host_ranges": [], "gpu_busy": null, "kernels_per_call": null,
 "copy_fraction": null, "metrics": null, "openmp": {"threads": [], "regions": [], "parallel_seconds": 0}, "counters": null,
 "missing": [], "gpu_activities": [
 {"kind": "kernel", "name": "blur_kernel", "calls": $3, "bytes": 0, "average": $2, "least": $2, "most": $2},
 {"kind": "copy", "name": "[CUDA memcpy HtoD]", "calls": 10, "bytes": 0, "average": $2, "least": 1e-4, "most": 9e-3}],
 "launches": [{"kernel": "blur_kernel", "times": 10, "grid": [1, 1, 1], "block": [1, 1, 1], "registers": $3,
 "static_shared_bytes": 0, "dynamic_shared_bytes": 0, "local_bytes": 0, "theoretical_occupancy": 1,
 "occupancy_bound_by": "nothing"}]}}
EOF
}
profile cuda/v1.0 1e-3 10 >profile.json
profile cuda/v1.0 2e-3 10 >profile_slower.json
profile cuda/v1.0 1e-3 20 >profile_twice.json
profile cuda/v1.3 2e-3 10 >profile_other.json
profile cuda/v1.3 1e-3 10 2e-3 >profile_worse.json
sed 's/GPU A/GPU B/' profile_slower.json >profile_gpu.json
compares "a profile with itself" 0 "bench kernel 1.00 ms 1.00 ms 1.00 same" profile.json profile.json
compares "a slower kernel" 1 "blur_kernel kernel 1.00 ms 2.00 ms 0.500 SLOWER" profile.json profile_slower.json
compares "a copy between least and most" 1 "HtoD\] copy .* unsure: spreads of" profile.json profile_slower.json
compares "a kernel launched twice as often" 1 "blur_kernel kernel 1.00 ms 2.00 ms 0.500 SLOWER" profile.json \
    profile_twice.json
compares "its launch" 1 "blur_kernel: registers: 10 -> 20" profile.json profile_twice.json
compares "two versions: kernels are parts" 0 "blur_kernel .* slower part" profile.json profile_other.json
compares "and it says which" 0 "version: cuda/v1.0 -> cuda/v1.3" profile.json profile_other.json
compares "the whole counts" 1 "bench kernel 1.00 ms 2.00 ms 0.500 SLOWER" profile.json profile_worse.json
compares "a profile of another GPU" 0 "blur_kernel .* not comparable: other GPU" profile.json profile_gpu.json
"$rungs" profile blur:cpu/omp --size 64x48 --json cpu_profile.json >/dev/null 2>&1
compares "what profile writes can be read" 0 "bench call .* 1.00 same" cpu_profile.json cpu_profile.json

refuses "a profile against a bench" "is of profile and .* of bench" profile.json old.json
refuses "a video against a bench" "is of bench of a video and .* of bench" video.json old.json
sed 's/"profile": {"calls": 10/"profile": {"calls": 0/' profile.json >no_calls.json
refuses "a profile of no calls" 'no_calls.json: .profile.calls.: 0 is out of its range' profile.json no_calls.json
sed 's/"gpu_activities"/"activities"/' profile.json >no_activities.json
refuses "a profile without activities" ".profile.: has no 'gpu_activities'" profile.json no_activities.json
sed 's/"least": 1e-4/"least": -1/' profile.json >negative_least.json
refuses "a negative least time" "gpu_activities.1..least.: -1 " profile.json negative_least.json
refuses "one file" "two results files" old.json
refuses "three" "two results files" old.json old.json old.json
refuses "no such file" "missing.json" old.json missing.json
refuses "a folder" "directory" old.json "$folder"
[ $skipped = 2 ] || refuses "tune against bench" "is of bench" bench.json tune.json
sed 's/"blur"/"otsu"/' old.json >otsu.json
refuses "another algorithm" "blur and otsu.json of otsu" old.json otsu.json
head -c 300 old.json >cut.json
refuses "cut off" "cut.json:[0-9]*: not valid JSON" old.json cut.json
echo '[]' >array.json
refuses "foreign JSON" "array.json: not a results file of Rungs" old.json array.json
sed 's/"version": 1/"version": 2/' old.json >future.json
refuses "from the future" "version 2" old.json future.json
sed 's/"version": 1/"version": 1, "kind": "poem"/' old.json >poem.json
refuses "of another kind" "kind 'poem'" old.json poem.json
sed 's/"machine"/"engine"/' old.json >machine.json
refuses "no machine" "it: has no 'machine'" old.json machine.json
sed 's/"median": 1.0[0-9]*/"median": -1/' old.json >negative.json
refuses "a negative time" "versions.0..kernel.median.: -1 " old.json negative.json
sed 's/"id": "cpu.omp"/"id": 7/' old.json >number.json
refuses "an id that is a number" 'versions.0..id.: 7 has the wrong type' old.json number.json
sed 's/"width": 640/"width": -5/' old.json >width.json
refuses "a negative width" "'width': -5 is out of its range" old.json width.json
sed '/omp/s/"timed"/"quick"/' old.json >outcome.json
refuses "an unknown outcome" "versions.0..outcome.: .quick. is unknown" old.json outcome.json
sed 's/"cores": 2/"cores": "two"/' old.json >cores.json
refuses "cores in words" "'machine.cores': .two. has the wrong type" old.json cores.json
sed 's/"median": 1.0[0-9]*/"median": 0.5/' old.json >order.json
refuses "a median outside its quartiles" "no median with quartiles" old.json order.json
: >empty.json
refuses "an empty file" "empty.json" old.json empty.json
refuses "threshold 0.5" "--threshold" old.json old.json --threshold 0.5
refuses "threshold nan" "--threshold" old.json old.json --threshold nan
refuses "threshold with a sign" "--threshold" old.json old.json --threshold 5%

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
