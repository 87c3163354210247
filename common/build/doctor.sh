#!/bin/sh
# Looks at what this machine has and lacks for Rungs: one line each, OK, note (optional, or what would be better) or
# MISSING, with what to type. Needs nothing but a POSIX shell and its usual companions, so that it helps before
# anything could be built. Changes nothing. Exit status: 0 everything needed is there, 1 something is missing,
# 2 this machine cannot be looked at.
# usage: sh common/build/doctor.sh      also: make doctor, rungs doctor
# CC, CXX and NVCC say which compilers to look at, as for make; DOCTOR_ROOT=folder puts another /proc and /sys before
# the machine's own (the tests do).
set -u

CC=${CC:-gcc} CXX=${CXX:-g++} root=${DOCTOR_ROOT:-}
missing=0 notes=0
if [ "$(id -u)" = 0 ]; then sudo=; else sudo='sudo '; fi
work=$(mktemp -d 2>/dev/null) || { echo "doctor: no folder for temporary files: is ${TMPDIR:-/tmp} writable?" >&2; exit 2; }
trap 'rm -rf "$work"' EXIT
# What the programs tried below need, several times over.
if ! head -c 262144 /dev/zero 2>/dev/null >"$work/room"; then
    echo "doctor: no room for temporary files in ${TMPDIR:-/tmp}: set TMPDIR to a folder that has 1 MB" >&2
    exit 2
fi
rm "$work/room"

ok() { printf 'OK       %-12s %s\n' "$1" "$2"; }
note() { # WHAT TEXT [TYPE]
    notes=$((notes + 1))
    printf 'note     %-12s %s\n' "$1" "$2"
    [ -z "${3:-}" ] || printf '%21s type: %s\n' '' "$3"
}
lacks() {
    missing=$((missing + 1))
    printf 'MISSING  %-12s %s\n' "$1" "$2"
    printf '%21s type: %s\n' '' "$3"
}

has() { command -v "$1" >/dev/null 2>&1; }
if has apt-get; then
    install() { echo "${sudo}apt-get install --no-install-recommends $*"; }
else
    install() { echo "your package manager's install command for what Debian calls $*"; }
fi
# nvidia-smi hangs when the driver is broken: what says nothing for 20 s counts as absent.
limit=
if has timeout; then limit='timeout 20'; fi
first_line() { $limit "$@" 2>/dev/null </dev/null | head -n 1; }
read_first() { # FILE: its first line, or nothing
    line=
    [ -r "$root$1" ] && read -r line <"$root$1"
    printf '%s' "$line"
}
# cmocka.h wants the others before it.
has_header() { printf '#include <%s>\n' setjmp.h stdarg.h stddef.h stdint.h "$1" | $CC -E -x c - >/dev/null 2>&1; }

# --- needed: what `make` cannot do without ---------------------------------------------------------------------------
deps='make deps, or '
has make || deps=

for compiler in "$CC" "$CXX"; do
    # CC may be two words: ccache gcc.
    if ! has "${compiler%% *}"; then
        lacks compiler "$compiler: not found" "$deps$(install gcc g++ libc6-dev)"
    elif ! echo 'int main(void) { return 0; }' | $compiler -x c - -o "$work/program" 2>"$work/log"; then
        lacks compiler "$compiler cannot link a program: $(head -n 1 "$work/log")" "$deps$(install gcc g++ libc6-dev)"
    else
        ok compiler "$(first_line $compiler --version)"
    fi
done

if ! has make; then
    lacks make "not found" "$(install make)"
elif first_line make --version | grep -q '^GNU Make'; then
    ok make "$(first_line make --version)"
else
    lacks make "$(command -v make) is not GNU make" "$(install make)"
fi

cat >"$work/openmp.c" <<'EOF'
#include <omp.h>
int main(void) { int n = 0;
_Pragma("omp parallel num_threads(2) reduction(+ : n)") n += omp_get_num_threads() == 2;
return n == 2 ? 0 : 1; }
EOF
if ! has "${CC%% *}"; then
    note OpenMP "cannot be tried without a compiler"
elif ! $CC -fopenmp "$work/openmp.c" -o "$work/openmp" 2>"$work/log"; then
    lacks OpenMP "$CC -fopenmp does not compile: $(head -n 1 "$work/log")" "$deps$(install "$(case $CC in *clang*) echo libomp-dev ;; *) echo gcc ;; esac)")"
elif ! "$work/openmp"; then
    lacks OpenMP "a program with two threads does not get them" "unset OMP_THREAD_LIMIT OMP_DYNAMIC"
else
    ok OpenMP "a program with two threads compiles and runs"
fi

library() { # NAME HEADER LINK-FLAG PACKAGE WHAT-FOR
    if ! has "${CC%% *}"; then
        note "$1" "cannot be tried without a compiler"
    elif ! has_header "$2"; then
        lacks "$1" "no $2, for $5" "$deps$(install "$4")"
    elif [ -n "$3" ] && ! echo 'int main(void) { return 0; }' | $CC -x c - "$3" -o "$work/program" 2>/dev/null; then
        lacks "$1" "$2 is there, but nothing links with $3" "$deps$(install "$4")"
    else
        ok "$1" "for $5"
    fi
}
library stb stb/stb_image.h '' libstb-dev "PNG, JPEG and BMP files"
library jansson jansson.h -ljansson libjansson-dev "JSON"
library cmocka cmocka.h -lcmocka libcmocka-dev "the unit tests"
library seccomp seccomp.h -lseccomp libseccomp-dev "the labs' grader"

# --- optional programs and libraries ---------------------------------------------------------------------------------
opencv=
for folder in $(pkg-config --cflags-only-I opencv4 2>/dev/null | tr ' ' '\n' | sed -n 's/^-I//p') /usr/include/opencv4; do
    [ -z "$opencv" ] && [ -f "$folder/opencv2/imgproc.hpp" ] && opencv=$folder
done
if [ -n "$opencv" ]; then
    ok OpenCV "$(sed -n 's/^#define CV_VERSION_\(MAJOR\|MINOR\|REVISION\) *\([0-9]*\).*/\2/p' \
        "$opencv/opencv2/core/version.hpp" 2>/dev/null | head -n 3 | tr '\n' '.' | sed 's/\.$//'), the peer on the CPU"
else
    note OpenCV "not found: tables have no OpenCV row" "$(install libopencv-imgproc-dev)"
fi
if has ffmpeg; then
    ok ffmpeg "$(first_line ffmpeg -version | sed 's/ Copyright.*//')"
else
    note ffmpeg "not found: no video in or out" "$(install ffmpeg)"
fi
if has gnuplot; then
    ok gnuplot "$(first_line gnuplot --version)"
else
    note gnuplot "not found: no plots" "$(install gnuplot-nox)"
fi
if has git; then
    ok git "$(first_line git --version)"
else
    note git "not found: results files cannot name the commit" "$(install git)"
fi

# --- the CPU, and what disturbs times on it --------------------------------------------------------------------------
cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

# The tightest quota of this process's cgroup and those around it, in thousandths of a core; empty without one.
quota_of() { # QUOTA PERIOD
    case $1 in '' | max | -*) return ;; esac
    [ "${2:-0}" -gt 0 ] && thousandths=$((1000 * $1 / $2)) && { [ -z "$quota" ] || [ $thousandths -lt "$quota" ]; } &&
        quota=$thousandths
}
quota=
path=$(sed -n 's/^0:://p' "$root/proc/self/cgroup" 2>/dev/null | head -n 1)
while :; do
    set -- $(read_first "/sys/fs/cgroup${path%/}/cpu.max")
    quota_of "${1:-}" "${2:-}"
    case ${path%/} in '') break ;; esac
    path=${path%/}
    path=${path%/*}
done
quota_of "$(read_first /sys/fs/cgroup/cpu/cpu.cfs_quota_us)" "$(read_first /sys/fs/cgroup/cpu/cpu.cfs_period_us)"
if [ -n "$quota" ] && [ "$quota" -lt $((1000 * cores)) ]; then
    whole=$((quota / 1000))
    [ $whole -ge 1 ] || whole=1
    note cores "$cores, but this cgroup's quota is worth $((quota / 1000)).$((quota % 1000 / 100)): more threads get stopped, not served" \
        "rungs bench ... --threads $whole"
else
    ok cores "$cores for this process"
fi

features=$(sed -n 's/^\(flags\|Features\)[ \t]*: *//p' "$root/proc/cpuinfo" 2>/dev/null | head -n 1)
knows() { for feature in "$@"; do case " $features " in *" $feature "*) ;; *) return 1 ;; esac done; }
if knows avx512f avx512bw avx512vl avx512_vnni; then
    ok SIMD "AVX-512 with VNNI"
elif knows avx512f avx512bw avx512vl; then
    ok SIMD "AVX-512 without VNNI: dot products take more instructions"
elif knows avx2 avx_vnni; then
    ok SIMD "AVX2 with VNNI"
elif knows avx2; then
    ok SIMD "AVX2"
elif knows ssse3; then
    ok SIMD "SSSE3, without AVX2"
elif knows asimd asimddp i8mm; then
    ok SIMD "NEON with i8mm"
elif knows asimd asimddp; then
    ok SIMD "NEON with dot products"
elif knows asimd; then
    ok SIMD "NEON without dot products"
else
    note SIMD "neither SSSE3 nor NEON to be seen: the simd versions gain little here"
fi

governor=$(read_first /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor)
case $governor in
performance) ok governor "performance" ;;
'') note governor "the kernel shows none (a virtual machine or container): clocks may change while you measure" ;;
*) note governor "$governor: the clock changes while you measure" "${sudo}cpupower frequency-set -g performance" ;;
esac

paranoid=$(read_first /proc/sys/kernel/perf_event_paranoid)
capabilities=$(sed -n 's/^CapEff:[ \t]*//p' /proc/self/status 2>/dev/null)
# Bits 21 (CAP_SYS_ADMIN) and 38 (CAP_PERFMON) of 16 hexadecimal digits.
has_admin() { case $capabilities in ??????????[2367abefABEF]?????) ;; *) return 1 ;; esac; }
has_perfmon() { case $capabilities in ??????[4-7c-fC-F]?????????) ;; *) has_admin ;; esac; }
if [ -z "$paranoid" ]; then
    note counters "this kernel has no perf events: no instruction or cache counts"
elif ! ls "$root/sys/bus/event_source/devices" 2>/dev/null | grep -Eq '^(cpu|armv|apple)'; then
    note counters "the processor shows none here, as in most virtual machines: no instruction or cache counts"
elif [ "$paranoid" -le 2 ] || has_perfmon; then
    ok counters "perf_event_paranoid is $paranoid: a process may count its own instructions and cache misses"
else
    note counters "perf_event_paranoid is $paranoid: only an administrator may count" "${sudo}sysctl kernel.perf_event_paranoid=2"
fi

# --- the GPU ---------------------------------------------------------------------------------------------------------
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
gpu=$(first_line nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader)
case $gpu in *,*,*) ;; *) gpu= ;; esac # nvidia-smi says on stdout, too, that it found no driver
if [ -n "$gpu" ]; then
    ok GPU "$(echo "$gpu" | sed 's/, */, compute capability /; s/, *\([^,]*\)$/, driver \1/')"
elif has nvidia-smi; then
    note GPU "nvidia-smi finds none: $(first_line nvidia-smi) CUDA versions are emulated" "nvidia-smi"
else
    note GPU "no NVIDIA GPU or driver: CUDA versions are verified in the emulator, not timed"
fi
if has "$nvcc"; then
    release=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    home=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")
    newest=$($limit nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p' | head -n 1)
    capability=$(echo "$gpu" | sed -n 's/^[^,]*, *\([0-9]*\)\.\([0-9]*\),.*/\1\2/p')
    if [ -z "$release" ]; then
        note nvcc "$nvcc does not say its version" "$nvcc --version"
    elif [ -n "$newest" ] && [ "${release%%.*}" -gt "${newest%%.*}" ]; then
        note nvcc "$release, but the driver runs CUDA $newest at most: update the driver, or use the Toolkit of CUDA ${newest%%.*}" \
            "make NVCC=/usr/local/cuda-${newest%%.*}/bin/nvcc"
    elif [ -n "$capability" ] && ! "$nvcc" --list-gpu-code | grep -q "^sm_$capability\$"; then
        note nvcc "$release does not build for this GPU (sm_$capability); it knows $("$nvcc" --list-gpu-code | sed -n '1p;$p' | tr '\n' ' ')" \
            "make NVCC=/usr/local/cuda-.../bin/nvcc of a Toolkit that does"
    else
        ok nvcc "$release${newest:+, the driver runs up to CUDA $newest}${capability:+, builds for sm_$capability}"
    fi
    if [ -n "$(ls "$home"/include/nppi_filtering_functions.h "$home"/targets/*/include/nppi_filtering_functions.h 2>/dev/null)" ]; then
        ok NPP "the peer on the GPU"
    else
        note NPP "not beside nvcc: tables have no NPP row" "$(install "libnpp-dev-$(echo "$release" | tr . -)") (from NVIDIA's repository)"
    fi
    if [ -n "$(ls "$home"/extras/CUPTI/include/cupti.h "$home"/include/cupti.h "$home"/targets/*/include/cupti.h 2>/dev/null)" ]; then
        ok CUPTI "for rungs profile"
    else
        note CUPTI "not beside nvcc: rungs profile cannot list kernels and copies" \
            "$(install "cuda-cupti-dev-$(echo "$release" | tr . -)") (from NVIDIA's repository)"
    fi
elif [ -n "$gpu" ]; then
    note nvcc "not found: there is a GPU, but CUDA versions are emulated" "$(install nvidia-cuda-toolkit) (or NVIDIA's own)"
else
    note nvcc "not found: not needed without a GPU"
fi

ncu=
for program in "$(command -v ncu)" /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu; do
    [ -z "$ncu" ] && [ -x "$program" ] && ncu=$program
done
restricted=$(sed -n 's/^RmProfilingAdminOnly: *//p' "$root/proc/driver/nvidia/params" 2>/dev/null)
if [ -z "$ncu" ]; then
    [ -z "$gpu" ] || note ncu "not found: no hardware metrics of kernels" "$(install nsight-compute) (from NVIDIA's repository)"
elif [ -z "$gpu" ]; then
    ok ncu "$ncu, of no use without a GPU"
elif [ "$restricted" = 1 ] && ! has_admin; then
    note ncu "$ncu, but the driver lets only administrators profile (NVreg_RestrictProfilingToAdminUsers)" \
        "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | ${sudo}tee /etc/modprobe.d/profile.conf, then reboot"
else
    ok ncu "$ncu, permitted"
fi

echo
if [ $missing -gt 0 ]; then
    echo "$missing missing, $notes notes: what is MISSING is needed before \`make\` works"
    exit 1
fi
echo "everything needed is here, $notes notes"
