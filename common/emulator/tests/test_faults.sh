#!/bin/sh
# programs/faults*.cu: small programs with one fault each, which the watch must find with each seed, and name the lines of; and correct
# ones that look odd, of which it must say nothing. Of two seeds one has late streams, as cu --check. Prints a table of what was found
# with how many seeds.
# usage: [SEEDS=50] sh test_faults.sh CU [CASE...]          (CU: the command, built or installed)
set -u
cu=$(readlink -f "${1:?usage: [SEEDS=50] sh test_faults.sh CU [CASE...]}") || exit 2
shift
# guarded SECONDS COMMAND...: with so much processor time; the wall clock ends only what waits for ever
guarded() {
    (
        ulimit -t "$1"
        shift
        exec timeout 900 "$@"
    )
}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
programs=$(cd "$(dirname "$0")" && pwd)/programs
seeds=${SEEDS:-3} first=${RUNGS_SEED:-$(($(date +%s) % 100000))}
passed=0 failed=0

for name in faults faults_streams; do
    "$cu" --race --compile -o "$folder/$name" "$programs/$name.cu" || exit 2
    "$folder/$name" --list >"$folder/list" || exit 2
    sed "s/^/$name	/" "$folder/list" >>"$folder/cases"
done
echo "seeds: $seeds from $first on"
printf '%-22s %-7s %s\n' case found message
while IFS="$(printf '\t')" read -r program name wanted; do
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    lines=$(awk -v name="$name" '{ for (i = 1; i < NF; i++) if (index($0, "/*") && $i == name && $(i + 1) ~ /^[12]$/) print NR }' "$programs/$program.cu")
    good=0 worst=
    seed=$first
    while [ $seed -lt $((first + seeds)) ]; do
        RUNGS_EMULATOR_SEED=$seed RUNGS_EMULATOR_LATE=$((seed % 2)) RUNGS_EMULATOR_RACES=2 RUNGS_EMULATOR_TELL=2 \
            guarded 20 "$folder/$program" "$name" >"$folder/out" 2>&1 </dev/null
        code=$?
        right=yes
        if [ -z "$wanted" ]; then
            [ $code = 0 ] && [ ! -s "$folder/out" ] || right=
        else
            case $wanted in *"never freed"*) [ $code = 0 ] ;; *) [ $code = 1 ] ;; esac && grep -qF -- "$wanted" "$folder/out" || right=
            for line in $lines; do
                grep -q "$program\.cu:$line\([^0-9]\|\$\)" "$folder/out" || right=
            done
        fi
        [ -z "$right" ] && worst=${worst:-"seed $seed: $(head -c 300 "$folder/out" | tr '\n' ' ')"} || good=$((good + 1))
        seed=$((seed + 1))
    done
    printf '%-22s %-7s %s\n' "$name" "$good/$seeds" "${wanted:-nothing to find}$(for line in $lines; do printf ' :%s' "$line"; done)"
    if [ $good = "$seeds" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name: $worst"
    fi
done <"$folder/cases"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
