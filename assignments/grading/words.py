"""What a version's own last words say about its end: abort(), assert(), the C library's complaints, the sanitizers'."""

import re

MOST_LINES = 20  # of what a version prints

COMPLAINTS = (  # of glibc, in the order in which they are looked for
    (r"double free or corruption", "something wrote beyond the end of memory from malloc(), or free() was called twice for it"),
    (r"double free", "free() was called twice for the same memory"),
    (r"invalid pointer", "free() was called for what malloc() did not give, or something was written before its beginning"),
    (r"invalid (?:next )?size|corrupted|unsorted|malloc\(\): |sysmalloc|munmap_chunk",
     "something wrote beyond the end of memory from malloc(): the heap's own notes lie there"),
    (r"stack smashing", "something wrote beyond the end of a local array"),
)


def printed(check):
    """The first lines of what the version printed, and how many more there are."""
    lines = check.get("printed", [])
    more = len(lines) - MOST_LINES
    return lines[:MOST_LINES] + ([f"... and {more} lines more"] if more > 0 else [])


def explain(check, command):
    """Puts the last words of a version in the place of the signal that ended it; `command` names the line of a crash."""
    complained = [line for line in check.get("complained", []) if line.strip()]
    sanitizer = [line for line in complained if re.search(r"runtime error: |^SUMMARY: \w+Sanitizer", line)]
    place = next((m.group(1) for m in (re.search(r"#\d+ .* in .* (\S*(?:starter|solution|bugs)/\S+:\d+)", line) for line in complained) if m), "")
    if sanitizer:
        check["what"] = sanitizer[0].replace("SUMMARY: ", "") + (f"; from {place}" if place else "")
        check["diagnosis"] = "the sanitizer stopped it there"
        return
    if "SIGSEGV" in check["what"] or "SIGBUS" in check["what"]:
        kernel = next((line for line in complained if line.startswith("in kernel ")), "")
        check["diagnosis"] = "crash: a pointer or an index out of bounds" + (
            f", {kernel}" if kernel else f", or memory that is freed while it is in use; {command} names the line")
    if "SIGABRT" not in check["what"]:
        return
    last = complained[-1] if complained else ""
    assertion = re.search(r"(\S+:\d+): .*Assertion [`'](.*)' failed", last)
    if assertion:
        check["what"] = f"assert() failed: Assertion `{assertion.group(2)}' failed at {assertion.group(1)}"
        check["diagnosis"] = "the version's own assertion does not hold in this case"
        return
    for pattern, meaning in COMPLAINTS:
        if re.search(pattern, last):
            check["what"] = f"the C library stopped it: {last}"
            check["diagnosis"] = f"{meaning}; {command} names the line"
            return
    check["what"] = "called abort()" + (f" after it had printed: {last}" if last else "")
    check["diagnosis"] = "the version itself gave up"
