#!/bin/sh
# Of the rungs and helper files that a version could be linked with, those that it needs: rungs that it, or one of
# these, names in a string ("cuda/v1.2", or v1.2 as a word of one), helper files of the folders whose headers they
# include, and files of common/cuda of the header's name. Ready-made rungs (assignments/grading/handout.py) show
# strings, and no headers: theirs are all helpers of their ladder. Lines of comments name nothing.
# usage: steps.sh "VERSION FILE-OF-A-PIPELINE'S-CONTRACT..." RUNG... -- HELPER...
exec awk '
function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
function name_of(path) { sub(/.*\//, "", path); sub(/[.]cu?$/, "", path); if (path ~ /^v[0-9]/) sub(/_.*/, "", path); sub(/^[0-9]+_/, "", path); return path }
function need(path) { if (!(path in needed)) { needed[path] = 1; queue[++queued] = path } }
function need_words(text,    words, count, i, n, list, k) {
    count = split(text, words, /[^A-Za-z0-9_.]+/)
    for (i = 1; i <= count; i++) {
        n = split(rungs[words[i]], list, " ")
        for (k = 1; k <= n; k++) need(list[k])
    }
}
function need_header(path) {
    if (path !~ /^(cpu|cuda|common\/cuda)\// || path in headers) return
    headers[path] = 1
    queue[++queued] = path
    if (path ~ /^common/) {
        sub(/[.]h$/, ".cu", path)
        if (path in shared) need(path)
    } else need_helpers(folder_of(path))
}
function need_helpers(where,    list, n, i) {
    n = split(helpers[where], list, " ")
    for (i = 1; i <= n; i++) need(list[i])
}
function read(path,    line, part, count, i) {
    while ((getline line <path) > 0) {
        count = split(line, part, "\"")
        if (line ~ /^[ \t]*(\/[*\/]|[*])/) continue
        if (line ~ /^[ \t]*#[ \t]*include/) need_header(part[2])
        else for (i = 2; i <= count; i += 2) need_words(part[i])
    }
    close(path)
    if ((getline line <(path ".s")) >= 0) {
        do if (line ~ /[.]string/ && split(line, part, "\"") > 1) need_words(part[2])
        while ((getline line <(path ".s")) > 0)
        close(path ".s")
        need_helpers(folder_of(path) "/*")
    }
}
BEGIN {
    for (i = 2; i < ARGC && ARGV[i] != "--"; i++) rungs[name_of(ARGV[i])] = rungs[name_of(ARGV[i])] " " ARGV[i]
    while (++i < ARGC) {
        where = folder_of(ARGV[i])
        if (where == "common/cuda") {
            shared[ARGV[i]] = 1
            continue
        }
        helpers[where] = helpers[where] " " ARGV[i]
        helpers[folder_of(where) "/*"] = helpers[folder_of(where) "/*"] " " ARGV[i]
    }
    queued = split(ARGV[1], queue, " ")
    need_words("serial")
    for (at = 1; at <= queued; at++) read(queue[at])
    for (path in needed) print path
    exit
}' "$@"
