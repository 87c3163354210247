#!/bin/sh
# cu: translates, compiles and runs a CUDA program of one's own in the emulator, without a GPU (CU.md).
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
usage() {
    cat <<'TEXT'
usage: cu [OPTION]... FILE... [-- ARGUMENT...]
Translates, compiles and runs a CUDA program in the emulator: no GPU, no CUDA Toolkit. Each FILE is .cu, .cpp, .cc, .c, .o or .a, and
one of them has main(). Local headers are found as nvcc finds them. After -- come the program's own arguments.

  --race         watch every access of every kernel for data races, and say what was never freed; slower
  --check        --race, with streams as late as they may be, and with three seeds of the random order
  --profile      count what each kernel and each of its lines costs in memory, and print it when the program ends; slower
  --compile      compile only
  --seed N       the seed of the order in which threads and blocks get their turn; default 1
  -o PROGRAM     keep the program
  -I DIR -D NAME[=VALUE] -U NAME -L DIR -l LIBRARY -include FILE    as nvcc and gcc know them
  -c -g -G -w -O... -arch... -gencode... -std=... -rdc... -lineinfo --use_fast_math -Xcompiler X -Xptxas X    are taken and change nothing
  --unsupported  what the emulator does not have

Exit status: the program's own; 1 when a kernel failed and the program never asked; 2 when it could not be translated or compiled.
TEXT
}
refuse() {
    echo "cu: $*" >&2
    exit 2
}

# Installed, or in the folder where it was built.
library=$here include='@INCLUDE@'
[ ! -d "$here/../lib/cu/include" ] || { library=$(cd "$here/../lib/cu" && pwd) && include=$library/include; }
[ -d "$include" ] || refuse "$include: no such folder: the emulator was moved; build it again"
CXX=${CXX:-@CXX@}
work=$(mktemp -d "${TMPDIR:-/tmp}/cu.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

race= check= profile= only= seed=${RUNGS_EMULATOR_SEED:-1} program=$work/program
: >"$work/sources"
: >"$work/flags"
: >"$work/folders"
: >"$work/libraries"
keep() { # LIST TEXT: one word for the shell, a line of its own
    printf "'%s'\n" "$(printf '%s' "$2" | sed "s/'/'\\\\''/g")" >>"$work/$1"
}
value() { # OPTION LEFT
    [ "$2" -gt 1 ] || refuse "$1 needs a value"
}
while [ $# -gt 0 ]; do
    case $1 in
    --) shift; break ;;
    --help | -h) usage; exit 0 ;;
    --unsupported) "$library/cu2cpp" --unsupported; exit ;;
    --race) race=1 ;;
    --check) race=1 check=1 ;;
    --profile) profile=1 ;;
    --compile) only=1 ;;
    --seed)
        value "$1" $#
        case $2 in '' | *[!0-9]*) refuse "--seed $2: wanted a whole number" ;; esac
        seed=$2
        shift
        ;;
    -o) value "$1" $#; program=$2; shift ;;
    -I | -D | -U | -L | -l | -include)
        value "$1" $#
        case $1 in
        -I) keep folders "$2" ;;
        -L | -l) keep libraries "$1$2" ;;
        -include) keep flags -include; keep flags "$2" ;;
        *) keep flags "$1$2" ;;
        esac
        shift
        ;;
    -I*) keep folders "${1#-I}" ;;
    -D* | -U*) keep flags "$1" ;;
    -lcudart* | -lcuda | -lcudadevrt | -lm | -lpthread | -lrt | -ldl | -lstdc++ | -lgomp) ;;
    -L* | -l*) keep libraries "$1" ;;
    -Xcompiler | -Xptxas | -Xlinker | -gencode | -arch | --gpu-architecture | -code | -std | -x | --generate-code | -maxrregcount)
        value "$1" $#
        shift
        ;;
    -c | -g | -G | -w | -O* | -W* | -f* | -m* | -arch=* | -gencode=* | -code=* | -std=* | -rdc=* | -dc | -lineinfo | -cudart* | -ccbin=* | -Xcompiler=* | \
        -Xptxas=* | -maxrregcount=* | -pthread | --use_fast_math | -use_fast_math | --std=* | --expt-* | --extended-lambda | -extended-lambda | --ptxas-options=* | \
        --gpu-architecture=* | --generate-code=* | --relocatable-device-code=* | -default-stream=* | --default-stream*) ;;
    -*) refuse "$1: not an option of cu (see --help)" ;;
    *) keep sources "$1" ;;
    esac
    shift
done
[ -s "$work/sources" ] || { usage >&2; exit 2; }

# Names of lines are found by addr2line, which reads DWARF 4 more exactly; code of the emulator's headers is known by their folder
# (lines.cpp).
optimize=-O2
cuda="-std=c++20 -DEMULATED_PROGRAM"
watch=
if [ -n "$race$profile" ]; then
    case $CXX in *clang*) refuse "--race and --profile need gcc: $CXX calls other functions at each access" ;; esac
    optimize=-O1 # as the mutants
    watch='-fsanitize=thread --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1'
fi
flags="-fdebug-prefix-map='$include'=common/emulator/include -D_GNU_SOURCE $optimize -g1 -gdwarf-4 -w -fno-strict-aliasing -fno-diagnostics-show-caret -fmax-errors=8 -fopenmp"
# Code in the order of the source, and structs read whole (common/emulator/counters.h).
[ -z "$profile" ] || watch="$watch -DEMULATED_COUNTED -fsanitize-coverage=trace-pc -fno-tree-sra -fno-reorder-blocks -fno-guess-branch-probability -fno-thread-jumps"

# What the compiler says, with the libraries that are not there by their names.
explain() {
    "$library/cu2cpp" --unsupported | awk -F '\t' -v messages="$work/messages" '
        { what[NR] = $1; count[NR] = split($3, words, " "); for (i in words) names[NR, i] = words[i] }
        END {
            while ((getline line < messages) > 0) {
                sub(/^cc1plus: /, "", line)
                if (line ~ /error: #error .* is not supported by cu/) {
                    sub(/:[0-9]*: error: #error /, ": ", line); named[++n] = line
                } else if (line ~ /error: inline PTX is not supported by cu/) {
                    sub(/:[0-9]*: error: /, ": ", line); named[++n] = line
                } else if (match(line, /\047[A-Za-z_0-9]+\047 (was not declared|has not been declared|does not name a type|is not a)|\342\200\230[A-Za-z_0-9]+\342\200\231 (was not declared|has not been declared|does not name a type|is not a)/)) {
                    word = substr(line, RSTART); gsub(/^\342\200\230|^\047/, "", word); sub(/[^A-Za-z_0-9].*/, "", word)
                    found = ""
                    for (k = 1; k in what; k++)
                        for (i = 1; i <= count[k]; i++)
                            if (found == "" && index(word, names[k, i]) == 1) found = what[k]
                    if (found == "" && word ~ /^(cuda|__)/) found = "which"
                    if (found == "") { other[++m] = line; continue }
                    sub(/:[0-9]*: error:.*/, "", line)
                    named[++n] = line ": " word (found == "which" ? ", which the emulator does not have" : ": " found " is not supported by cu")
                } else
                    other[++m] = line
            }
            for (k = 1; k <= n; k++) if (!seen[named[k]]++) print named[k]
            if (n == 0) for (k = 1; k <= m; k++) print other[k]
        }'
}

objects= number=0 headers=$work/headers
mkdir "$headers" || exit 2
folders=$(sed 's/^/-I/' "$work/folders" | tr '\n' ' ')
extra=$(tr '\n' ' ' <"$work/flags")
eval "set -- $(tr '\n' ' ' <"$work/sources") --arguments \"\$@\""
while [ "$1" != --arguments ]; do
    source=$1
    shift
    [ -f "$source" ] || refuse "$source: no such file"
    number=$((number + 1))
    object=$work/$number.o
    beside=$(dirname "$source")
    case $source in
    *.cu)
        mkdir "$headers/$number" || exit 2
        eval "\"\$library/cu2cpp\" --program \"\$headers/\$number\" $(tr '\n' ' ' <"$work/folders") \"\$source\" \"\$work/\$number.cpp\"" || exit 2
        eval "$CXX $flags $cuda -D__CUDACC__ -D__NVCC__ -D__CUDA_ARCH__=900 $watch -I\"\$include/program\" -I\"\$include\" -I\"\$beside\" $folders $extra -c \"\$work/\$number.cpp\" -o \"\$object\"" 2>"$work/messages"
        ;;
    *.cpp | *.cc | *.cxx) eval "$CXX $flags $cuda -I\"\$include/program\" -I\"\$include\" -I\"\$beside\" $folders $extra -c \"\$source\" -o \"\$object\"" 2>"$work/messages" ;;
    *.c) eval "\${CC:-gcc} -x c $flags -I\"\$beside\" $folders $extra -c \"\$source\" -o \"\$object\"" 2>"$work/messages" ;;
    *.o | *.a | *.so) object=$source ;;
    *) refuse "$source: wanted a file that ends in .cu, .cpp, .cc, .c, .o or .a" ;;
    esac
    if [ $? != 0 ]; then
        explain >&2
        exit 2
    fi
    keep objects "$object"
done
shift
eval "$CXX -rdynamic $(tr '\n' ' ' <"$work/objects") \"\$library/libcu.a\" $(tr '\n' ' ' <"$work/libraries") -fopenmp -lpthread -lm -o \"\$program\"" 2>"$work/messages" || {
    grep -v 'In function\|/usr/bin/ld: warning' "$work/messages" | sed 's,^/usr/bin/ld: [^ ]*/[0-9]*\.o: in function,in function,; s,^collect2: error: ,,' >&2
    exit 2
}
[ -z "$only" ] || exit 0

case $program in */*) ;; *) program=./$program ;; esac
export RUNGS_EMULATOR_TELL=1
[ -z "$race" ] || export RUNGS_EMULATOR_RACES=2 RUNGS_EMULATOR_TELL=2
[ -z "$check" ] || export RUNGS_EMULATOR_LATE=1
[ -z "$profile" ] || export RUNGS_EMULATOR_COUNTERS="${RUNGS_EMULATOR_COUNTERS:-1}"
seeds=$seed
[ -z "$check" ] || seeds="$seed $((seed + 1)) $((seed + 2))"
for seed in $seeds; do
    RUNGS_EMULATOR_SEED=$seed "$program" "$@"
    status=$?
    [ $status = 0 ] || break
    export RUNGS_EMULATOR_TELL=1 # what was never freed is told once
done
[ $status = 0 ] || [ -z "$check" ] || echo "cu: with seed $seed (again with --seed $seed)" >&2
exit $status
