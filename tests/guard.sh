# guarded SECONDS COMMAND...: the command, each of whose processes may use so many seconds of processor time. The wall clock ends it after
# a quarter of an hour, for what waits for ever: a busy machine makes nothing fail. Sourced by the tests that run what might hang.
guarded() {
    (
        ulimit -t "$1"
        shift
        exec timeout 900 "$@"
    )
}
