#!/usr/bin/env bash
# What must hold, in stages with a table at the end (tests/stages.sh); tests/README.md says why what is where.
#   landing   what .ci/run does at each commit: half an hour on two cores
#   release   everything: every ladder with each tool, all labs, longer fuzzing and soak. Goes on after a stop, and tries all stages
#             whatever fails (make verify)
# usage: bash tests/verify.sh landing|release
#        TURN=0..15: whose turn it is in a landing, in place of the commit's last digit; BASE=commit: the ladders that have changed since
#        then come first, in place of those of the last day
set -u
cd "$(dirname "$0")/.." || exit 2
case ${1:-} in
landing | release) kind=$1 ;;
*) echo 'usage: verify.sh landing|release' >&2; exit 2 ;;
esac
cores=$(nproc 2>/dev/null || echo 2)
turn=${TURN:-$(printf '%d' "0x$(git rev-parse HEAD 2>/dev/null | tail -c 2)" 2>/dev/null || echo 0)}
if [ "$kind" = release ]; then
    KEEP_GOING=1 STAMPS=build/verify
    TREE="$(git rev-parse HEAD 2>/dev/null) $(git diff HEAD 2>/dev/null | cksum)"
fi
# The cases of a landing are drawn by its commit too: what passes here passes there.
[ "$kind" = release ] || export RUNGS_SEED=$(printf '%d' "0x$(git rev-parse HEAD 2>/dev/null | cut -c 1-6)" 2>/dev/null || echo 1)
. tests/stages.sh

packages() { sh common/build/deps.sh ci; }

# First, because other stages take its objects where their compiler and flags are the same.
builds() { make -s -j"$cores" test-builds; }

# For its warnings alone, and for another processor than gcc's: one with AVX-512, but without the instructions that came after it.
clang_warnings() { # LADDERS
    local arch=native
    [ "$(uname -m)" != x86_64 ] || arch=x86-64-v4
    make -s -j"$cores" CC=clang CXX=clang++ ARCH=$arch EXTRA=-fsyntax-only LADDERS="$1" BUILD=build-clang objects
}

# One architecture is enough to see every warning; tensor-core instructions need 8.0. Nothing runs on a device here: the least optimisation
# that this nvcc has (a templated kernel takes 2.8 processor seconds in place of 7.6).
nvcc_builds() { # LADDERS LADDERS-WITH-THEIR-STEPS
    local nvcc capability hurry="-Xptxas -O0" workers
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    [ -x "$nvcc" ] || { echo "no nvcc on this machine: native CUDA is not compiled"; return 0; }
    capability=$("$nvcc" --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$/\1/p' | awk '$1 >= 80' | head -n 1)
    # All of the help is read: grep -q would end nvcc by a broken pipe.
    [ -z "$("$nvcc" --help | grep -- --Ofast-compile)" ] || hurry="--Ofast-compile max"
    # Workers of the labs' judge: of a ladder and of a pipeline.
    workers=$(for ladder in blur motion lbp texture harris lines detect pca; do
        case " $1 " in *" cuda/$ladder "*) echo "build-native/workers/$(ls cuda/$ladder/v1.1_*.cu)" ;; esac
    done | head -n 2)
    # shellcheck disable=SC2086 # a list of targets
    make -s -j"$cores" CUDA=native OBJECTS=build EXTRA_CUDA="$hurry -Xcompiler -O0" BUILD=build-native capability="$capability" \
        LADDERS="$2" all build-native/rungs-judge $workers
    build-native/rungs list --all >build-native/list.txt
}

# Beside each other: either leaves a core idle half of the time.
races_and_aarch64() { # LADDERS LADDERS-WITH-THEIR-STEPS
    local aarch64 code=0 log
    log=$(mktemp)
    LADDERS=$2 CHECKED=$1 sh tests/aarch64.sh >"$log" 2>&1 &
    aarch64=$!
    LADDERS=$2 CHECKED=$1 sh tests/openmp_races.sh || code=$?
    wait $aarch64 || { code=$?; echo "aarch64:"; }
    cat "$log"
    rm -f "$log"
    return $code
}

# In a landing of each fourth lab one in sixteen of its broken versions and one rung of each task, others at each commit. Nobody waits for
# quiet cores: time alone decides nothing here.
lab() { # NUMBER [SHARE]
    make -s solution LAB="$1" SHARE="${2:-}" PATIENCE=0
}
labs_in_turn() {
    for toml in assignments/[0-9]*/lab.toml; do
        number=${toml#assignments/} number=${number%%_*}
        [ $((${number#0} % 4)) != $((turn % 4)) ] || lab "$number" 16
    done
}

handouts() { sh tests/labs.sh build; }
fuzzers() { make -s fuzz TIME="$1"; }
pages() { python3 -B common/study/documents.py --check && python3 -B common/report/pages.py --check; }
tests() { make -s test; }
sanitized() { CHECKED=$1 make -s test-sanitized; }
soak() { make -s soak TIME="$1"; }
ladders() { sh tests/ladders.sh "$@" | tr '\n' ' '; }

stage "packages" packages
stage "both builds of the tests" builds
if [ "$kind" = landing ]; then
    checked=$(ladders turn "$turn") built=$(ladders turn "$turn" --built)
    beside "labs by sample" labs_in_turn
    stage "clang: $checked" clang_warnings "$checked"
    stage "nvcc: three of them" nvcc_builds "$(COUNT=3 ladders turn "$turn")" "$(COUNT=3 ladders turn "$turn" --built)"
    join "labs by sample"
    stage "tests" tests
    stage "tests under AddressSanitizer and UndefinedBehaviorSanitizer" sanitized "$checked"
    stage "aarch64 under qemu-user, races of OpenMP: the same ladders" races_and_aarch64 "$checked" "$built"
    stage "handouts" handouts
    stage "fuzzers, 6 s each" fuzzers 6
    stage "pages of the ladders" pages
    stage "soak, 10 s" soak 10
else
    export GRADER_SHARE=1 MUTANT_SHARE=1
    stage "tests" tests
    stage "tests under AddressSanitizer and UndefinedBehaviorSanitizer" sanitized ""
    for part in 0 1 2 3; do
        checked=$(ladders quarter $part) built=$(ladders quarter $part --built)
        stage "clang $part: $checked" clang_warnings "$checked"
        stage "nvcc $part" nvcc_builds "$checked" "$built"
        stage "aarch64 and races $part" races_and_aarch64 "$checked" "$built"
    done
    for toml in assignments/[0-9]*/lab.toml; do
        number=${toml#assignments/} number=${number%%_*}
        stage "lab $number" lab "$number"
    done
    stage "handouts" handouts
    stage "fuzzers, 60 s each" fuzzers 60
    stage "pages of the ladders" pages
    stage "soak, 5 minutes" soak 300
fi
