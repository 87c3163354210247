"""Bug hunts: the line that is wrong, and a mended copy that the checker finds right; of a printed figure, the right one."""

import difflib
import random
import re

from grading.build import build_version
from grading.lab import fix_of, shown
from grading.measure import USUAL, also_missing, check_version, fault_of_counts
from grading.races import find_kernel_race
from grading.similarity import tokens

CHANGES = 6  # lines that a fix may change, unless the lab says otherwise
WIDTH = 120  # characters of a line, at most
NEAR = 2     # lines between the one that is named and one that the fix changes
# Words and signs that a fix may change: so many times those that the key's does, and so many besides. Another algorithm is a hundred.
TIMES, BESIDES = 1.5, 30
SPOILED_SECONDS = 2  # of cases, of which the first ones show it
AROUND = 5   # lines between one that a student changes and one that the key does: what is further off is another program


# Whatever has no end goes on to the line's or the file's, so that none of it is looked at twice.
TEXT = re.compile(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?""", re.S)


def lines_of(path):
    """The lines of a file without its comments: those that a comment takes out of it are changed as well."""
    return plain_lines(path.read_text(encoding="utf-8", errors="replace"))


def plain_lines(text):
    text = TEXT.sub(lambda m: m.group(0) if m.group(0)[0] in "\"'" else "\n" * m.group(0).count("\n"), text)
    return [" ".join(line.split()) for line in text.splitlines()]


def directives(lines):
    """What the preprocessor is told but by #pragma, whatever its # is spelled like: it leaves out and brings in lines that nobody counts."""
    text = re.sub(r"(?:\\|\?\?/)\n", "", "\n".join(lines))
    return [m.group(1) for m in re.finditer(r"^ ?(?:#|%:|\?\?=) ?(?!pragma\b)(\w.*)$", text, re.M)]


def weight(lines):
    """How many lines they are, if each has WIDTH characters at most: else all of another program goes into one."""
    return sum((len(line) + WIDTH - 1) // WIDTH for line in lines)


def changed_lines(broken, fixed):
    """The lines of `broken` (from 1) that a fix changes, or before which it inserts; and how many it changes in all."""
    lines, count = set(), 0
    for tag, a, b, c, d in difflib.SequenceMatcher(None, broken, fixed, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        count += max(weight(broken[a:b]), weight(fixed[c:d]))
        lines |= set(range(a + 1, max(b, a + 1) + 1)) | ({a} if a == b else set())
    return lines, count


def changed_tokens(broken, fixed):
    """How many words and signs a fix changes."""
    steps = difflib.SequenceMatcher(None, tokens("\n".join(broken)), tokens("\n".join(fixed)), autojunk=False).get_opcodes()
    return sum(max(b - a, d - c) for tag, a, b, c, d in steps if tag != "equal")


def grade_bug(lab, bug, said, pictures):
    """Points and the reason; `said` is the line (or figure) of answers.toml, or None."""
    return grade_figure(lab, bug, said) if "figure" in bug else grade_fix(lab, bug, said, pictures)


def grade_fix(lab, bug, said, pictures):
    mine, copy = lab.place / fix_of(bug), fix_of(bug)
    if not mine.is_file():
        return 0, f"no mended copy: make bug-{lab.number} BUG={bug['id']} says how to begin"
    broken = lines_of(lab.folder / bug["file"])
    mended = lines_of(mine)
    most = bug.get("changes", CHANGES)
    if len(mended) > len(broken) + most:  # to compare a megabyte of lines would take hours
        return 0, f"{copy} has {len(mended)} lines, {bug['file']} {len(broken)}: mend it, in at most {most}"
    lines, count = changed_lines(broken, mended)
    if directives(mended) != directives(broken):
        return 0, f"{copy} has other lines for the preprocessor than {bug['file']}: mend the code itself"
    if count == 0:
        return 0, f"{copy} is still as broken as {bug['file']}"
    if count > most:
        return 0, f"{copy} differs in {count} lines from {bug['file']}: mend it, in at most {most}"
    for seed in (USUAL, random.SystemRandom().randrange(2, 1 << 40)):  # and cases that nobody has seen
        fault, cases = find_fault(lab, bug, shown(mine), pictures, seed)
        if fault:
            return 0, f"{copy}: {fault}" if cases else fault
    key = key_of(lab, bug)
    right = changed_lines(broken, key)[0] if key else set()
    far = sorted(line for line in lines if right and all(abs(line - other) > AROUND for other in right))
    if far:
        return 0, f"{copy} changes line {far[0]} of {bug['file']}, where nothing is wrong: mend what is, and keep the other lines"
    found, allowed = changed_tokens(broken, mended), TIMES * changed_tokens(broken, key) + BESIDES
    if key and found > allowed:
        return 0, f"{copy} changes {found} words and signs of {bug['file']}, and {allowed:g} do: mend what is wrong, and keep the algorithm"
    fault = idle_lines(lab, bug, mine, pictures)
    if fault:
        return 0, f"{copy} {fault}: mend what is wrong, and let the other lines do their work"
    half = bug["points"] / 2
    if said is None:
        return half, "mended; answers.toml does not say which line was wrong"
    if not any(abs(said - line) <= NEAR for line in lines):
        return half, f"mended, but not at line {said:g} of {bug['file']}, which answers.toml names"
    return bug["points"], f"line {said:g} named and mended: all {cases} cases agree"


def fix_in_key(lab, bug):
    return next((f for f in (lab.key or {}).get("fix", []) if f["bug"] == bug["id"]), None)


def idle_lines(lab, bug, mine, pictures):
    """Whether a mended copy goes round lines that its algorithm stands on, in words, or "": they must be there, and where the key says how
    to spoil them, a copy that is spoiled must be wrong."""
    text = mine.read_text(encoding="utf-8", errors="replace")
    for line, *spoiled in (fix_in_key(lab, bug) or {}).get("works", []):
        if line not in "\n".join(plain_lines(text)):
            return f"is without `{line}`"
        if not spoiled:
            continue
        other = mine.with_stem(f"{mine.stem}_spoiled")
        other.write_text(re.sub(r"\s+".join(map(re.escape, line.split())), lambda _: spoiled[0], text), encoding="utf-8")
        worker, _, _ = build_version(shown(other), added=lab.allowed)
        if worker and check_version(lab, worker, f"student/bug{bug['id']}", pictures, total=SPOILED_SECONDS)["outcome"] == "pass":
            return f"is right whatever `{line}` does"
    return ""


def key_of(lab, bug):
    """The lines of the broken version as the key mends it; none in a handout, which has no key."""
    fix = fix_in_key(lab, bug)
    if not fix:
        return []
    text = (lab.folder / bug["file"]).read_text(encoding="utf-8")
    for old, new in fix["change"]:
        text = text.replace(old, new)
    return plain_lines(text)


def find_fault(lab, bug, file, pictures, seed=USUAL):
    """What is wrong with a broken version or a copy of it, or "", and how many cases said so; 0 when it does not compile."""
    worker, why, _ = build_version(file, added=lab.allowed)
    if not worker:
        return why, 0
    check = check_version(lab, worker, f"student/bug{bug['id']}", pictures, seed=seed)
    if check["outcome"] != "pass" or check["checked"] < check["cases"]:
        return f"{check['failed']} of {check['cases'] or '?'} cases wrong: {check['what']}", max(check["cases"], 1)
    fault = fault_of_counts(check)  # mended by a loop of the host behind the kernel, or in one thread
    if fault:
        return fault, check["cases"]
    if bug.get("watch"):
        counts = {}
        fault = find_kernel_race(lab, file, f"student/bug{bug['id']}", counts=counts)
        check |= {"watched": counts} if counts else {}
    return fault or also_missing(bug, check), check["cases"]


def grade_figure(lab, bug, said):
    if said is None:
        return 0, "no figure in answers.toml"
    if lab.key is None:
        return 0, "answered; the key is with your instructor"
    low, high = lab.key["bugs"][bug["id"]]
    return (bug["points"], f"{said:g} is right") if low <= said <= high else (0, f"{said:g} is not the right figure")
