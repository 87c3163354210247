#!/bin/sh
# The one place that says what versions there are, in which order they climb, and what each one's header says.
# usage: versions.sh [--some | --list] FILE... [-- REASON FILE...]...
#        Writes the table of versions as C (struct version_source of common/contract/registry.h) on stdout; the files
#        behind `-- REASON` are listed but not built, for REASON.
#        --some: of a program that holds only some of the rungs; a rung climbs from one of these, not from what it names
#        --list: the same as lines of text, fields between tabs, for scripts and pages: algorithm, id, path, group,
#                below, and the lines of the header in the order of `keys`; a file that lacks one of those is no error
#
# The path is the identity, and its number is the place in the climb:
#   cpu/blur/2_separable.c -> cpu/separable     cuda/blur/v1.2_tiled.cu -> cuda/v1.2
#   peers/blur/opencv.cpp -> peer/opencv
#   cuda/labelling/published/union_find.cu -> cuda/union_find: beside the climb, in the group `published`
#   cpu/blur/shared/, cuda/blur/shared/: helpers, no versions
#   tests/mutants/blur/race.c -> mutant/race    tests/small/gram/serial.c -> cpu/serial
#   assignments/02_blur/starter/blur/mine.c -> student/mine   (the folder that holds the file names the algorithm)
# A rung climbs from the one before it. `From:` in a header names another one of the same side.
set -eu
exec awk -v sides="${0%/*}/../contract/sides.c" '
function refuse(text) { print "versions.sh: " text > "/dev/stderr"; bad = 1; exit 1 }
function quote(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); return "\"" text "\"" }
function optional(text) { return text == "" ? "NULL" : quote(text) }

# Names as they are sorted: runs of digits as numbers, so that v1.9 comes before v1.10.
function natural(text,    out) {
    while (match(text, /[0-9]+/)) {
        out = out substr(text, 1, RSTART - 1) sprintf("%09d", substr(text, RSTART, RLENGTH))
        text = substr(text, RSTART + RLENGTH)
    }
    return out text
}

# Fills in algorithm, id, group and key (what the file is sorted by) of files[n].
function identify(n,    path, part, count, name, number, side) {
    path = files[n]
    count = split(path, part, "/")
    name = part[count]
    sub(/[.][a-z]+$/, "", name)
    algorithm[n] = part[count - 1]
    side = part[1]
    if (path ~ /^tests\/mutants\// || path ~ /\/patched\/tests\/mutants\//) side = "mutant"
    else if (path ~ /^assignments\// || path ~ /\/submission\/starter\//) side = "student"
    else if (side == "peers") side = "peer"
    else if (path ~ /^tests\/small\//) side = "cpu"
    else {
        if (!(side in climbs)) refuse(path " is in no folder for versions")
        algorithm[n] = part[2]
        if (count > 3) group[n] = part[3]
    }
    if (side == "cuda" && group[n] == "") {
        if (name !~ /^v[0-9]+[.][0-9]+_[a-z][a-z0-9_]*$/) refuse(path ": name it like v1.2_tiled.cu")
        number = natural(name)
        sub(/_.*/, "", name)
    } else if (side in climbs && group[n] == "" && match(name, /^[0-9]+_/)) {
        number = sprintf("%09d", name)
        sub(/^[0-9]+_/, "", name)
    } else number = "z"
    if (name !~ /^[a-z][a-z0-9_.]*$/) refuse(path ": use lower-case letters, digits and _ in its name")
    id[n] = side "/" name
    if ((algorithm[n], id[n]) in at) refuse(files[at[algorithm[n], id[n]]] " and " path " would both be " algorithm[n] ":" id[n])
    at[algorithm[n], id[n]] = n
    key[n] = algorithm[n] SUBSEP sprintf("%02d", order[side]) SUBSEP number SUBSEP group[n] SUBSEP natural(name)
    if (!list && !reason[n] && side != "mutant" && path !~ /[.]py$/) registers[n] = 1
}

# The lines of its header: `Key: text`, over several lines up to an empty one or the end of the comment.
function read(n,    line, raw, word, open, ended, registered) {
    while ((getline raw <files[n]) > 0) {
        if (ended && !(n in registers)) break
        if (raw ~ /^RUNGS_(CPU|CUDA|PIPELINE)_VERSION(_WITH_STATE|_WITH_RUN)?\(/) {
            line = raw
            gsub(/^[A-Z_]*\(|[,)].*/, "", line)
            if (line == algorithm[n]) registered = 1
        }
        if (ended) continue
        line = raw
        sub(/^[ \t]*(\/\*|\*\/|\*|\/\/)[ \t]*/, "", line)
        sub(/[ \t]*\*\/[ \t]*$/, "", line)
        if (match(line, /^(Problem|Idea|Changed|Expect|Result|Run|From|Case):/)) {
            word = substr(line, 1, RLENGTH - 1)
            line = substr(line, RLENGTH + 1)
            sub(/^[ \t]*/, "", line)
            text[n, word] = line
            open = 1
        } else if (open && raw ~ /^"""/) open = 0
        else if (open && line == "") open = 0
        else if (open) text[n, word] = text[n, word] " " line
        if (text[n, "Idea"] != "" && (raw ~ /\*\// || raw ~ /^"""/)) ended = 1
    }
    close(files[n])
    if (list) return
    if (n in registers && !registered)
        refuse(files[n] ": no line RUNGS_CPU_VERSION(" algorithm[n] "), RUNGS_CUDA_VERSION or RUNGS_PIPELINE_VERSION, which registers it")
    if (text[n, "Idea"] == "") refuse(files[n] ": no header line \"Idea: ...\"")
    if (text[n, "Expect"] == "") refuse(files[n] ": no header line \"Expect: ...\"")
}

function sort(low, high,    i, last, t) {
    if (low >= high) return
    t = place[int((low + high) / 2)]; place[int((low + high) / 2)] = place[low]; place[low] = t
    last = low
    for (i = low + 1; i <= high; i++)
        if (key[place[i]] < key[t]) { last++; swapped = place[last]; place[last] = place[i]; place[i] = swapped }
    place[low] = place[last]; place[last] = t
    sort(low, last - 1)
    sort(last + 1, high)
}

# Puts every rung behind the one that it names, and leaves the order as it is otherwise.
function follow(    i, n, taken, done, waits, ordered) {
    for (taken = 1; taken <= count; taken++) {
        waits = 0
        for (i = 1; i <= count; i++) {
            n = place[i]
            if (n in done) continue
            if (text[n, "From"] == "" || at[algorithm[n], text[n, "From"]] in done) break
            if (!waits) waits = n
        }
        if (i > count) refuse(files[waits] ": From: " text[waits, "From"] ", which climbs from this one itself")
        done[n] = 1
        ordered[taken] = n
    }
    for (i = 1; i <= count; i++) place[i] = ordered[i]
}

BEGIN {
    FS = "\""
    while ((getline line <sides) > 0)
        if (match(line, /\.name = "[a-z]+"/)) {
            name = substr(line, RSTART + 9, RLENGTH - 10)
            match(line, /\.order = [0-9]+/)
            order[name] = substr(line, RSTART + 9, RLENGTH - 9)
            if (line ~ /\.ladder = true/) climbs[name] = 1
        }
    split("Problem Idea Expect Result Run", keys, " ")
    for (i = 1; i < ARGC; i++) {
        if (ARGV[i] == "--some") some = 1
        else if (ARGV[i] == "--list") list = 1
        else if (ARGV[i] == "--") why = ARGV[++i]
        else {
            files[++count] = ARGV[i]
            reason[count] = why
        }
    }
    for (n = 1; n <= count; n++) {
        place[n] = n
        identify(n)
        read(n)
        if (some) text[n, "From"] = ""
    }
    sort(1, count)
    for (n = 1; n <= count; n++) {
        from = text[n, "From"]
        if (from == "") continue
        split(from, part, "/")
        split(id[n], own, "/")
        if (list && !((algorithm[n], from) in at)) text[n, "From"] = ""
        else if (!((algorithm[n], from) in at) || at[algorithm[n], from] == n || part[1] != own[1])
            refuse(files[n] ": From: " from ", which is no other rung of its side")
    }
    follow()
    for (i = 1; i <= count; i++) {
        n = place[i]
        side = id[n]
        sub(/\/.*/, "", side)
        below = text[n, "From"]
        if (below == "" && side in climbs && group[n] == "") below = before[algorithm[n], side]
        if (side in climbs && group[n] == "") before[algorithm[n], side] = id[n]
        if (list) {
            line = algorithm[n] "\t" id[n] "\t" files[n] "\t" group[n] "\t" below
            for (k = 1; k in keys; k++) {
                gsub(/\t/, " ", text[n, keys[k]])
                line = line "\t" text[n, keys[k]]
            }
            table = table line "\n"
            continue
        }
        table = table "    {" quote(files[n]) ", " quote(algorithm[n]) ", " quote(id[n]) ", " optional(group[n]) ", " optional(below) ",\n"
        for (k = 1; k in keys; k++)
            table = table "     " optional(text[n, keys[k]]) ",\n"
        table = table "     " optional(reason[n]) "},\n"
    }
    if (list) {
        printf "%s", table
        exit
    }
    print "/* Generated by common/build/versions.sh: do not edit. */"
    print "#include \"common/contract/registry.h\""
    print "const struct version_source version_sources[] = {"
    printf "%s", table
    print "};"
    print "const size_t version_source_count = " count + 0 ";"
    exit
}
END { exit bad }' "$@"
