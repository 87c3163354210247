#!/bin/sh
# What the rungs of motion say of themselves: each takes the steps that its header names, and what the steps allocate and
# upload at the start is charged to allocate. The last line is "N passed, N failed, N skipped".
# usage: test_motion.sh BUILD-FOLDER
set -u
cd "$(dirname "$0")/.." || exit 2
rungs=$1/rungs
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $1"; }

# Whose rung a pipeline is, as it says when a step of another side is put in.
for file in cpu/motion/*.c cuda/motion/v*.cu; do
    name=$(basename "${file%.*}")
    case $file in
    cpu/*) id=cpu/${name#*_} other=cuda/v1.0 ;;
    *) id=cuda/${name%%_*} other=cpu/simd ;;
    esac
    "$rungs" run "motion:$id" images/colours.png images/colours.png -o "$folder/out.npy" -p "blur=$other" >"$folder/out" 2>&1
    if [ $? = 2 ] && grep -q "a step of motion:$id must be" "$folder/out"; then ok; else bad "$id: $(cat "$folder/out")"; fi
done

# Shared bytes of a step's kernel: of v1.2 those of its tiles. usage: shared VERSION KERNEL [OPTION...]
shared() {
    version=$1 kernel=$2
    shift 2
    "$rungs" profile "motion:$version" --size 64x48 --calls 1 --no-ncu --trace "$folder/$version.json" "$@" 2>"$folder/err" |
        awk -v kernel="$kernel" '/^Launches/ { open = 1 }
                                 open && $NF == kernel { print ($(NF - 2) == 0 ? "none" : "some"); exit }'
}
shared_is() { # VERSION KERNEL none|some [OPTION...]
    wanted_by=$1 wanted_of=$2 wanted=$3
    shift 3
    found=$(shared "$wanted_by" "$wanted_of" "$@")
    if [ "$found" = "$wanted" ]; then ok; else bad "$wanted_by $*: $wanted_of has '$found' shared memory, not $wanted"; fi
}
mkdir -p "$folder/cuda"
if [ -e cuda/motion/v1.2_tiled.cu ] && "$rungs" list motion | grep -q '\[emulated\]'; then
    shared_is cuda/v1.1 blur_kernel none
    shared_is cuda/v1.1 morphology_kernel none
    shared_is cuda/v1.2 blur_kernel some
    shared_is cuda/v1.2 morphology_kernel some
    shared_is cuda/v1.2 init_kernel none # of labelling
    shared_is cuda/v1.2 init_kernel some -p labelling=cuda/v1.2
    for version in cuda/v1.0 cuda/v1.1; do
        shared "$version" blur_kernel >/dev/null
        if python3 - "$folder/$version.json" <<'END'; then ok; else bad "$version: memory is charged to a kernel's step"; fi
import json, sys
events = json.load(open(sys.argv[1]))
events = [e for e in (events if isinstance(events, list) else events["traceEvents"]) if e["ph"] == "X"]
steps = [e for e in events if e["cat"] == "step"]
memory = [e for e in events if e["cat"] == "phase" and e["name"] in ("allocate", "upload")]
inside = lambda e, s: s["ts"] <= e["ts"] and e["ts"] + e["dur"] <= s["ts"] + s["dur"]
wrong = [(s["name"], e["name"]) for e in memory for s in steps if inside(e, s) and s["name"] not in ("allocate", "upload")]
print(*wrong, sep="\n", end="\n" if wrong else "")
sys.exit(bool(wrong) or not memory)
END
    done
else
    skipped=$((skipped + 8))
    echo "SKIP steps of the rungs: CUDA is not emulated here, or there are only some of them"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
