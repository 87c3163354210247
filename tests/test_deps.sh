#!/bin/sh
# common/build/deps.sh beside packages, a mirror and a user of this test's own: nothing is installed here.
# Not under the sanitizers: it tests a shell script.
# usage: sh tests/test_deps.sh
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
# Installed is what stands in the file `here`; apt-get brings what does not stand in `away`, unless it is asked for many at once and one
# of them is there.
cat >"$folder/bin/dpkg-query" <<'E'
#!/bin/sh
for package; do :; done
grep -qx -- "$package" "$STUB/here" && echo 'install ok installed'
E
cat >"$folder/bin/apt-get" <<'E'
#!/bin/sh
echo "$*" >>"$STUB/calls"
[ "$1" = install ] || exit 0
for word; do grep -qx -- "$word" "$STUB/away" && { echo "E: Unable to fetch $word"; exit 100; }; done
for word; do case $word in install | -* | *=*) ;; *) echo "$word" >>"$STUB/here" ;; esac; done
E
printf '#!/bin/sh\necho "${STUB_USER:-0}"\n' >"$folder/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/sudo"
chmod +x "$folder"/bin/*
needed=$(sed -n 's/^needed="\([^$]*\)"$/\1/p' common/build/deps.sh)
optional=$(sed -n 's/^optional="\(.*\)"$/\1/p' common/build/deps.sh | head -n 1)

passed=0 failed=0
begin() { # PACKAGES-THAT-ARE-HERE PACKAGES-THAT-ARE-AWAY
    printf '%s\n' $1 >"$folder/here"
    printf '%s\n' $2 none >"$folder/away"
    : >"$folder/calls"
}
runs() { # TITLE STATUS: deps.sh
    STUB=$folder PATH=$folder/bin:$PATH sh common/build/deps.sh >"$folder/out" 2>"$folder/err"
    is "$1: exit status $2" test $? = "$2"
}
is() { # TITLE COMMAND...
    title=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title"
        sed 's/^/     /' "$folder/out" "$folder/err" "$folder/calls"
    fi
}
lines() { test "$(grep -c -- "$1" "$folder/err")" = "$2"; }

begin "$needed $optional ffmpeg" ""
runs "all is here" 0
is "it says so and asks nobody" test "$(cat "$folder/out" "$folder/calls")" = "deps: nothing to install"
begin "" ""
runs "a bare machine" 0
is "one call for all that is needed" test "$(grep -c '^install.* libstb-dev libjansson-dev ' "$folder/calls")" = 1
is "every call is repeated where the mirror fails, and waits for another apt" \
    test "$(grep -c 'Acquire::Retries=3.*DPkg::Lock::Timeout' "$folder/calls")" = "$(wc -l <"$folder/calls")"
begin "$needed" "gnuplot-nox"
runs "an optional package is away" 0
is "it has one line" lines 'gnuplot-nox is not here, so there are no plots$' 1
is "the others came" grep -qx libopenblas-dev "$folder/here"
is "and none of those a line" lines 'is not here' 1
begin "" "libjansson-dev libcmocka-dev"
runs "two that are needed are away" 1
is "each has one line" lines '^deps: lib[a-z]*-dev is not here, and Rungs needs it$' 2
is "what there is was installed" grep -qx libstb-dev "$folder/here"
is "one line says what to type" lines 'as root: apt-get update .* libjansson-dev libcmocka-dev' 1
begin "gcc make" ""
STUB_USER=1000
export STUB_USER
runs "who is not root" 1
is "apt-get is not asked" test ! -s "$folder/calls"
is "each package that is needed has a line" lines 'and Rungs needs it' $(($(echo $needed | wc -w) - 2))
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
