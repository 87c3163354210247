#!/bin/sh
# Installs the Debian or Ubuntu packages that Rungs needs and that are missing. Never prompts.
# usage: deps.sh [ci | needed]    ci: also what only .ci/run needs (clang with its run-time libraries, the aarch64 cross
#                                 compiler and jansson, qemu-user); needed: nothing optional
#
# needed    compiler, make, pkg-config, stb (image files), jansson (JSON), cmocka (unit tests), seccomp and Python 3
#           (the labs' grader; Python also plots and report)
# optional  OpenCV's imgproc, OpenBLAS: the CPU peers that the tables compare with; gnuplot: plots; numpy: peers in
#           Python; opencv-data: the cascades of detect's peers;
#           ffmpeg: video files in and out (image folders and y4m need none). Rungs works without them
set -u

needed="gcc g++ make pkg-config libc6-dev libstb-dev libjansson-dev libcmocka-dev libseccomp-dev python3"
optional="libopencv-imgproc-dev libopenblas-dev gnuplot-nox python3-numpy opencv-data"
# One of the user's own does as well.
command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null || optional="$optional ffmpeg"
if [ "${1:-}" = needed ]; then
    optional=
fi
if [ "${1:-}" = ci ]; then
    needed="$needed clang clang-format libclang-rt-14-dev libomp-dev gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static libjansson-dev:arm64"
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "deps: this is no Debian or Ubuntu; install the equivalents of: $needed (optional: $optional)" >&2
    # A build may still succeed: the compiler will say what is missing.
    exit 0
fi

is_installed() { dpkg-query -W -f='${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed'; }
missing_of() { for package in "$@"; do is_installed "$package" || printf '%s ' "$package"; done; }

missing=$(missing_of $needed)
missing_optional=$(missing_of $optional)
if [ -z "$missing$missing_optional" ]; then
    echo "deps: nothing to install"
    exit 0
fi

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    as_root=none
fi

# A mirror that is away for a moment is asked again; while another apt runs, this one waits for up to ten minutes.
patient="-o Acquire::Retries=3 -o DPkg::Lock::Timeout=600"
install() {
    [ "$as_root" != none ] || return 1
    echo "deps: ${as_root:+$as_root }apt-get install -y --no-install-recommends $*"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $patient "$@" >"$log" 2>&1 </dev/null
}
# One call is several times faster than one a package; after it failed these tell which package it is.
install_each() {
    install "$@" && return 0
    for package in "$@"; do
        is_installed "$package" || install "$package" || [ "$as_root" != none ] || return 0
    done
}

how_to() {
    echo "deps: to add what is missing, as root: apt-get update && apt-get install -y --no-install-recommends $*" >&2
}

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
if [ "$as_root" != none ]; then
    case $missing in *:arm64*) $as_root dpkg --add-architecture arm64 ;; esac
    echo "deps: ${as_root:+$as_root }apt-get update"
    $as_root apt-get update -qq $patient >"$log" 2>&1 </dev/null || echo "deps: apt-get update failed; trying with the lists at hand" >&2
fi
[ -z "$missing" ] || install_each $missing
missing=$(missing_of $needed)
if [ -n "$missing" ]; then
    [ "$as_root" = none ] || tail -n 5 "$log" >&2
    for package in $missing; do
        echo "deps: $package is not here, and Rungs needs it" >&2
    done
    how_to $missing $missing_optional
    exit 1
fi
[ -z "$missing_optional" ] || install_each $missing_optional
missing_optional=$(missing_of $missing_optional)
for package in $missing_optional; do
    case $package in
    ffmpeg) lacks="video files cannot be read or written" ;;
    python3-numpy) lacks="peers in Python (peers/*/*.py) do not run" ;;
    opencv-data) lacks="peers/detect/opencv_*.py have no cascades" ;;
    gnuplot-nox) lacks="there are no plots" ;;
    libopenblas-dev) lacks="tables of matrices have no OpenBLAS row" ;;
    *) lacks="tables have no OpenCV row" ;;
    esac
    echo "deps: $package is not here, so $lacks" >&2
done
[ -z "$missing_optional" ] || how_to $missing_optional
exit 0
