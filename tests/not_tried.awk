# One line for each reason why tests were not tried, out of lines "STAGE: WHAT: WHY" (tests/run_all.sh).
# usage: awk -f tests/not_tried.awk FILE

function joined(list, word) { # the list, with the word if it is not in it
    if (index(" " list " ", " " word " ")) return list
    return list == "" ? word : list " " word
}
function counted(n, word) { return n " " word (n == 1 ? "" : "s") }

/^[^ ]*rungs check [^ ]*: [a-z]*\// {
    ladder = $3
    sub(/:$/, "", ladder)
    version = $4
    under_sanitizers = $1 ~ /-asan\//
    why = $0
    sub(/^[^ ]* check [^ ]*: [^ ]* */, "", why)
    if (match(why, / is not installed: pip install /)) {
        packages = joined(packages, substr(why, RSTART + RLENGTH))
        why = "their Python packages are not installed"
    } else if (under_sanitizers && why ~ /was not found when Rungs was built$/)
        why = "nobody here built their libraries with sanitizers"
    if (!(why in checks)) reasons[++reason_count] = why
    checks[why]++
    ladders[why] = joined(ladders[why], ladder)
    versions[why] = joined(versions[why], version)
    next
}
{
    sub(/ \([^ ]*\): /, ": ") # the build folder
    sub(/^[^ ]*\/tests\/test_/, "tests/test_")
    if (!($0 in others)) lines[++line_count] = $0
    others[$0]++
}
END {
    for (i = 1; i <= reason_count; i++) {
        why = reasons[i]
        ladder_count = split(ladders[why], unused, " ")
        version_count = split(versions[why], unused, " ")
        named = version_count <= 4 ? versions[why] : counted(version_count, "version")
        text = why ~ /Python packages/ ? why ": pip install " packages : why
        printf "not tried: %s of %s (%s): %s\n", counted(checks[why], "check"), counted(ladder_count, "ladder"), named, text
    }
    for (i = 1; i <= line_count; i++)
        printf "not tried: %s%s\n", lines[i], (others[lines[i]] > 1 ? " (in both builds)" : "")
}
