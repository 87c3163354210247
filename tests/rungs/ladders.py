"""Prints every rung with what a reader meets in it that the rung below does not have, and holds ladders to their rules.

usage: ladders.py ROOT EXCEPTIONS [ALGORITHM...]

Counted are real lines (no blanks, comments, #include): `own` are those that the rung has and the rung below has not, `shared`
those of files in shared/ that are new on its path. The rules of a ladder:
  - `ls` is the climb: a file of the main path has a number and climbs from the one before it; at most 7 on the CPU, 9 in CUDA;
  - own + shared is at most 120, a rung has at most 250 lines;
  - its header has at most 8 lines of 100 columns: Problem, Idea, Expect, Result, Run, and From where it is in a group;
  - above the first of its side it has a Result with the results file.
EXCEPTIONS lists what exceeds a limit, a line each: "pair|lines|result ALGORITHM ID NUMBER" and the reason behind a #. The number is the
rung's own, to the line: a rung that gets better lowers or removes its line. The last line is "N passed, N failed, 0 skipped".
"""

import difflib
import functools
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "common", "report"))
import sources

PAIR, LINES, HEADER, WIDTH = 120, 250, 8, 100
MOST = {"cpu": 7, "cuda": 9}
KEYS = ["Problem", "Idea", "Expect", "Result", "Run", "From"]


def real_lines(text):
    """Without comments, blanks and #include."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#include")]


@functools.lru_cache(maxsize=None)
def shared_files(root, path):
    """The files in a shared/ folder that a file stands on."""
    found, waiting = set(), [path]
    while waiting:
        name = waiting.pop()
        for header in re.findall(r'^ *# *include "((?:cpu|cuda)/\w+/shared/[^"]+)"', sources.read(os.path.join(root, name)), re.M):
            stem = os.path.splitext(header)[0]
            for other in {header, stem + ".c", stem + ".cu"} - found:
                if os.path.isfile(os.path.join(root, other)):
                    found.add(other)
                    waiting.append(other)
    return frozenset(found)


def path_below(version):
    while version.below:
        version = version.below
        yield version


def figures_of(root, rung):
    """(own, shared, lines)."""
    lines = len(sources.read(os.path.join(root, rung.path)).splitlines())
    if not rung.below:
        return None, None, lines
    lower, upper = ("\n".join(version.lines) for version in (rung.below, rung))
    matcher = difflib.SequenceMatcher(None, real_lines(lower), real_lines(upper), autojunk=False)
    own = sum(end - begin for kind, _, _, begin, end in matcher.get_opcodes() if kind in ("insert", "replace"))
    known = set().union(*(shared_files(root, version.path) for version in path_below(rung)))
    new = shared_files(root, rung.path) - known
    return own, sum(len(real_lines(sources.read(os.path.join(root, path)))) for path in new), lines


def header_faults(rung, first):
    keys = [match[1] for match in (re.match(r" \* ([A-Z]\w+):", line) for line in rung.header) if match]
    lines = [line for line in rung.header if line.strip(" *")]
    if len(lines) > HEADER:
        yield f"a header of {len(lines)} lines"
    if any(len(line) > WIDTH for line in rung.header):
        yield f"a header wider than {WIDTH} columns"
    if keys != [key for key in KEYS if key in keys] or not {"Idea", "Expect"} <= set(keys):
        yield f"a header of {', '.join(keys)}"
    if not rung.problem and not first:
        yield "no Problem"
    if "From" in keys and not rung.group:
        yield "From on the main path"


def read_exceptions(path):
    found = {}
    for number, line in enumerate(sources.read(path).splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 4 or words[0] not in ("pair", "lines", "result") or not words[3].isdigit() or "#" not in line:
            sys.exit(f"{path}:{number}: not of the form 'pair|lines|result ALGORITHM ID NUMBER  # reason'")
        if tuple(words[:3]) in found:
            sys.exit(f"{path}:{number}: there twice")
        found[tuple(words[:3])] = int(words[3])
    return found


def ladder_faults(root, algorithm, rungs):
    """What is wrong with the main path as a whole."""
    for side, most in MOST.items():
        path = [rung for rung in rungs if rung.side == side and not rung.group]
        names = [os.path.basename(rung.path) for rung in path]
        unnumbered = [name for name in names if not re.match(r"v?\d", name)]
        if unnumbered:
            yield f"{side}/{algorithm}: no number, and so no place in the climb: {' '.join(unnumbered)}"
        if names != sorted(names):
            yield f"ls {side}/{algorithm} is not its climb: {' '.join(names)}"
        if any(rung.below is not below for rung, below in zip(path, [None] + path)):
            yield f"{side}/{algorithm}: a rung does not climb from the one before it"
        if len(path) > most:
            yield f"{side}/{algorithm} has {len(path)} rungs on its main path, more than {most}"


def main():
    root, path, *wanted = sys.argv[1:]
    exceptions = read_exceptions(path)
    passed = failed = count = 0
    print(f"{'':12} {'rung':22} {'climbs from':22} {'own':>4} {'shared':>6} {'lines':>5}")
    for algorithm in wanted or sources.algorithms(root):
        rungs = [version for version in sources.versions(root, algorithm) if version.side != "peer"]
        count += len(rungs)
        for rung in rungs:
            own, shared, lines = figures_of(root, rung)
            judged = {"lines": (lines, LINES)}
            remarks = []
            if rung.below:
                judged["pair"] = (own + shared, PAIR)
            first = rung.id == "cpu/serial" or rung.id == "cuda/v1.0"
            remarks += header_faults(rung, first)
            judged["result"] = (0 if first or "results/" in rung.result else 1, 0)
            for what, (figure, limit) in judged.items():
                listed = exceptions.pop((what, algorithm, rung.id), None)
                if listed is not None and figure != listed:
                    remarks.append(f"{what} is {figure}, not {listed}: {'change' if figure > limit else 'remove'} its line in {path}")
                elif listed is None and figure > limit:
                    remarks.append("no Result with a file" if what == "result" else f"{what} {figure}, more than {limit}")
            passed += not remarks
            failed += bool(remarks)
            print(f"{algorithm:12} {rung.id:22} {rung.below.id if rung.below else '':22} {'' if own is None else own:>4} "
                  f"{'' if shared is None else shared:>6} {lines:>5}{'  FAIL ' if remarks else ''}{'; '.join(remarks)}")
        faults = list(ladder_faults(root, algorithm, rungs))
        passed += not faults
        failed += len(faults)
        for fault in faults:
            print(f"FAIL {fault}")
    for what, algorithm, name in exceptions:
        if not wanted or algorithm in wanted:
            failed += 1
            print(f"FAIL {path}: '{what} {algorithm} {name}' names no rung that is compared")
    print(f"{count} rungs")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
