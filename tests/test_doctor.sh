#!/bin/sh
# The doctor on machines that lack something: made up from a folder of programs and a /proc and /sys of our own.
# Not under the sanitizers: it tests a shell script.
# usage: sh tests/test_doctor.sh BUILD-FOLDER
set -u
build=$1
doctor=common/build/doctor.sh
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

says() { # TITLE EXIT-STATUS PATTERN [VARIABLE=VALUE...] COMMAND...: exit status and a line that matches; one type: for each MISSING
    title=$1 expected=$2 pattern=$3
    shift 3
    env "$@" >"$folder/log" 2>"$folder/stderr"
    code=$?
    missing=$(grep -c '^MISSING' "$folder/log")
    if [ $code = "$expected" ] && tr -s ' ' <"$folder/log" | grep -q -- "$pattern" && [ ! -s "$folder/stderr" ] &&
        ! grep -vq '^OK   \|^note \|^MISSING\|^  *type: \|^$\|^everything needed\|^[0-9]* missing, ' "$folder/log" &&
        [ "$missing" -le "$(grep -c ' type: ' "$folder/log")" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: exit $code"
        sed 's/^/     /' "$folder/log" "$folder/stderr"
    fi
}

says "this machine, which has built Rungs" 0 "^everything needed is here" sh $doctor
says "through the program" 0 "^OK OpenMP" "$build/rungs" doctor
says "no C compiler" 1 "^MISSING compiler nonesuch: not found" CC=nonesuch sh $doctor
says "and how to get one" 1 "type: .*gcc" CC=nonesuch sh $doctor
says "a compiler of two words" 0 "^OK compiler" CC="env gcc" sh $doctor

# Next to nothing installed: the usual companions of a shell, no compiler, no make.
mkdir "$folder/bin"
for program in sh cat head sed tr id mktemp rm nproc grep dirname readlink env; do
    ln -s "$(command -v $program)" "$folder/bin/$program"
done
says "a bare machine: compiler" 1 "^MISSING compiler gcc: not found" PATH="$folder/bin" sh $doctor
says "a bare machine: make" 1 "^MISSING make not found" PATH="$folder/bin" sh $doctor
says "a bare machine: optional programs are notes" 1 "^note ffmpeg" PATH="$folder/bin" sh $doctor
says "without apt-get no apt-get line" 1 "type: your package manager" PATH="$folder/bin" sh $doctor

# Compilers that fail in their own ways.
program() { # NAME, text on stdin
    { echo '#!/bin/sh'; cat; } >"$folder/$1"
    chmod +x "$folder/$1"
}
echo 'echo "cannot find crt1.o" >&2; exit 1' | program broken-cc
says "a compiler that cannot link" 1 "^MISSING compiler .*broken-cc cannot link a program: cannot find crt1.o" CC="$folder/broken-cc" sh $doctor
echo "case \" \$* \" in *' -fopenmp '*) echo 'no omp.h' >&2; exit 1 ;; esac; exec gcc \"\$@\"" | program plain-cc
says "a compiler without OpenMP" 1 "^MISSING OpenMP .*no omp.h" CC="$folder/plain-cc" sh $doctor
echo "for a; do case \$a in -ljansson) exit 1 ;; esac; done; exec gcc \"\$@\"" | program nolib-cc
says "a header without its library" 1 "^MISSING jansson jansson.h is there, but nothing links" CC="$folder/nolib-cc" sh $doctor

# Another /proc and /sys.
mkdir -p "$folder/root/proc/self" "$folder/root/proc/sys/kernel" "$folder/root/sys/fs/cgroup/a/b" \
    "$folder/root/sys/devices/system/cpu/cpu0/cpufreq" "$folder/root/proc/driver/nvidia"
echo '0::/a/b' >"$folder/root/proc/self/cgroup"
echo 'max 100000' >"$folder/root/sys/fs/cgroup/a/b/cpu.max"
echo '50000 100000' >"$folder/root/sys/fs/cgroup/a/cpu.max"
says "a quota above" 0 "^note cores .* quota is worth 0.5" DOCTOR_ROOT="$folder/root" sh $doctor
says "and the threads that fit" 0 "type: rungs bench ... --threads 1" DOCTOR_ROOT="$folder/root" sh $doctor
echo 'max 100000' >"$folder/root/sys/fs/cgroup/a/cpu.max"
says "no quota" 0 "^OK cores" DOCTOR_ROOT="$folder/root" sh $doctor
echo powersave >"$folder/root/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
says "a governor that saves" 0 "^note governor powersave" DOCTOR_ROOT="$folder/root" sh $doctor
printf 'flags\t\t: fpu sse2 ssse3 avx2\n' >"$folder/root/proc/cpuinfo"
says "AVX2" 0 "^OK SIMD AVX2$" DOCTOR_ROOT="$folder/root" sh $doctor
printf 'Features\t: fp asimd asimddp\n' >"$folder/root/proc/cpuinfo"
says "NEON" 0 "^OK SIMD NEON with dot products" DOCTOR_ROOT="$folder/root" sh $doctor
says "no perf events" 0 "^note counters this kernel has no perf events" DOCTOR_ROOT="$folder/root" sh $doctor
echo 1 >"$folder/root/proc/sys/kernel/perf_event_paranoid"
says "a processor without counters" 0 "^note counters the processor shows none here" DOCTOR_ROOT="$folder/root" sh $doctor
mkdir -p "$folder/root/sys/bus/event_source/devices/cpu"
says "counters permitted" 0 "^OK counters perf_event_paranoid is 1" DOCTOR_ROOT="$folder/root" sh $doctor

# A GPU, and an nvcc that does or does not fit it.
mkdir "$folder/gpu"
cat >"$folder/gpu/nvidia-smi" <<'EOF'
#!/bin/sh
case $* in
*--query-gpu*) echo "Test GPU, 9.0, 580.1" ;;
*) echo "| NVIDIA-SMI 580.1   Driver Version: 580.1   CUDA Version: 13.0 |" ;;
esac
EOF
cat >"$folder/gpu/nvcc" <<'EOF'
#!/bin/sh
case $1 in
--version) echo "Cuda compilation tools, release ${TEST_RELEASE:-13.0}, V1" ;;
--list-gpu-code) printf 'sm_75\nsm_%s\n' "${TEST_ARCHITECTURE:-90}" ;;
esac
EOF
chmod +x "$folder/gpu/nvidia-smi" "$folder/gpu/nvcc"
with="PATH=$folder/gpu:$PATH"
nvcc="NVCC=$folder/gpu/nvcc"
says "a GPU" 0 "^OK GPU Test GPU, compute capability 9.0, driver 580.1" "$with" "$nvcc" sh $doctor
says "an nvcc that fits" 0 "^OK nvcc 13.0, the driver runs up to CUDA 13.0, builds for sm_90" "$with" "$nvcc" sh $doctor
says "an nvcc too new for the driver" 0 "^note nvcc 14.1, but the driver runs CUDA 13.0 at most" TEST_RELEASE=14.1 "$with" "$nvcc" sh $doctor
says "an nvcc that does not know the GPU" 0 "^note nvcc 13.0 does not build for this GPU (sm_90)" TEST_ARCHITECTURE=80 "$with" "$nvcc" sh $doctor
says "a GPU without nvcc" 0 "^note nvcc not found: there is a GPU" "$with" NVCC="$folder/none" sh $doctor
says "no NPP there" 0 "^note NPP" "$with" "$nvcc" sh $doctor

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
