# guarded SECONDS COMMAND...: the command, each of whose processes may use so many seconds of processor time. The wall clock ends it after
# a quarter of an hour, for what waits for ever: a busy machine makes nothing fail. Sourced by the tests that run what might hang.
guarded() {
    (
        ulimit -t "$1"
        shift
        exec timeout 900 "$@"
    )
}
# until_waiting PID: until every thread of that process waits for something, so that only a signal or its input moves it on. Looked at
# twenty times a second, for five minutes at most.
until_waiting() {
    looks=0
    until [ -z "$(sed 's/.*) //; s/ .*//' "/proc/$1/task/"*/stat 2>/dev/null | grep -v S)" ] || [ $looks = 6000 ]; do
        sleep 0.05
        looks=$((looks + 1))
    done
}
