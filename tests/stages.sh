# stages.sh: stages one after the other, and whatever happens to them a table of their seconds at the end, and of the processor seconds
# of what has ended in them, which a busy machine changes little. Sourced by tests/verify.sh; the caller is bash without `set -e`.
#
#   stage NAME COMMAND...     runs a command, or a function of the caller, which ends at the first of its commands that fails
#   beside NAME COMMAND...    the same in the background, while other stages run; what it prints comes with `join`
#   join NAME                 waits for it
#
# The first stage that fails ends all with its exit status; with KEEP_GOING=1 the others are run, and the status is the first one's. The
# last line is then "failed: NAME ..., exit status N". With STAMPS=FOLDER a stage that has passed is not run again for the same tree.

stage_names=() stage_seconds=() stage_used=() stage_states=()
stage_failed=() stage_status=0
stage_used_before=0
stage_log=$(mktemp -d) || exit 1
declare -A stage_pids stage_begins

# Of children that have ended: the second line of `times`, which a subshell would ask about its own.
stage_note_used() {
    times >"$stage_log/times"
    stage_used_now=$(awk 'NR == 2 {for (i = 1; i < 3; i++) {split($i, t, "[ms]"); sum += 60 * t[1] + t[2]}; printf "%.0f", sum}' "$stage_log/times")
}

stage_row() { # NAME SECONDS STATE
    stage_note_used
    stage_names+=("$1") stage_seconds+=("$2") stage_states+=("$3") stage_used+=($((stage_used_now - stage_used_before)))
    stage_used_before=$stage_used_now
}

stage_ended() { # NAME SECONDS STATUS
    if [ "$3" = 0 ]; then
        stage_row "$1" "$2" ''
        [ -z "${STAMPS:-}" ] || { mkdir -p "$STAMPS" && printf '%s\n' "$TREE" >"$STAMPS/$(stage_slug "$1")"; }
        return
    fi
    stage_row "$1" "$2" "FAILED, exit status $3"
    stage_failed+=("$1")
    [ $stage_status != 0 ] || stage_status=$3
    [ -n "${KEEP_GOING:-}" ] || exit "$stage_status"
}

stage_slug() { printf '%s' "$*" | tr -c 'A-Za-z0-9\n' '_'; }

# Whether a stage has passed for this tree; says so in the table.
stage_is_done() { # NAME
    [ -n "${STAMPS:-}" ] && [ "$(cat "$STAMPS/$(stage_slug "$1")" 2>/dev/null)" = "$TREE" ] || return 1
    stage_row "$1" 0 'has passed before'
}

stage() { # NAME COMMAND...
    local name=$1 begin=$SECONDS
    shift
    ! stage_is_done "$name" || return 0
    printf '\n== %s (%ds)\n' "$name" "$SECONDS"
    (set -e && "$@")
    stage_ended "$name" $((SECONDS - begin)) $?
}

# In a process group of its own, which ends with this shell.
beside() { # NAME COMMAND...
    local name=$1
    shift
    ! stage_is_done "$name" || return 0
    stage_begins[$name]=$SECONDS
    set -m
    (set -e && "$@") >"$stage_log/$(stage_slug "$name")" 2>&1 </dev/null &
    stage_pids[$name]=$!
    set +m
}

join() { # NAME
    local name=$1 code
    [ -n "${stage_pids[$name]:-}" ] || return 0
    printf '\n== %s: what is left of it (%ds)\n' "$name" "$SECONDS"
    wait "${stage_pids[$name]}"
    code=$?
    unset "stage_pids[$name]"
    cat "$stage_log/$(stage_slug "$name")"
    stage_ended "$name" $((SECONDS - stage_begins[$name])) $code
}

stage_finish() { # STATUS
    local i code=$1
    trap - EXIT
    for i in "${!stage_pids[@]}"; do
        kill -- "-${stage_pids[$i]}" 2>/dev/null || :
        wait "${stage_pids[$i]}" 2>/dev/null || :
    done
    stage_note_used
    printf '\n     s  processor\n'
    for i in "${!stage_names[@]}"; do
        printf '%6d %10d  %s%s\n' "${stage_seconds[i]}" "${stage_used[i]}" "${stage_names[i]}" "${stage_states[i]:+: ${stage_states[i]}}"
    done
    printf '%6d %10d  in all\n' "$SECONDS" "$stage_used_now"
    rm -rf "$stage_log"
    [ $stage_status = 0 ] || code=$stage_status
    [ ${#stage_failed[@]} = 0 ] || {
        printf 'failed:'
        printf ' %s,' "${stage_failed[@]}"
        printf ' exit status %d\n' "$code"
    }
    exit "$code"
}
trap 'stage_finish $?' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
