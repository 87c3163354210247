"""Prints every rung with its lines and the lines that changed from the rung below it, and holds both against the limits.

usage: ladders.py ROOT EXCEPTIONS

One idea a rung: neighbours differ by at most 80 lines below the header comments, a rung has at most 150 lines, the top
rung of a ladder 250. EXCEPTIONS lists the rungs that exceed a limit, a line each: "changed|lines ALGORITHM ID NUMBER".
The number is the rung's own, to the line: a rung that gets better lowers or removes its line, so that the list shrinks.
The last line of the output is "N passed, N failed, 0 skipped".
"""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "common", "report"))
import sources

CHANGED, LINES, TOP_LINES = 80, 150, 250


def changed_lines(lower, upper):
    """As `diff` counts them: those of the lower rung that are gone and those of the upper one that are there instead."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for version in (lower, upper):
            paths.append(os.path.join(folder, version.id.replace("/", "_")))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in version.lines)
        run = subprocess.run(["diff", *paths], capture_output=True, text=True)
    if run.returncode > 1:
        sys.exit(f"diff: {run.stderr.strip()}")
    return sum(line[:1] in "<>" for line in run.stdout.splitlines())


def read_exceptions(path):
    found = {}
    for number, line in enumerate(sources.read(path).splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 4 or words[0] not in ("changed", "lines") or not words[3].isdigit():
            sys.exit(f"{path}:{number}: not of the form 'changed|lines ALGORITHM ID NUMBER'")
        found[tuple(words[:3])] = int(words[3])
    return found


def main():
    root, path = sys.argv[1:]
    exceptions = read_exceptions(path)
    passed = failed = 0
    print(f"{'':12} {'rung':14} {'climbs from':14} {'changed':>7} {'lines':>6}")
    for algorithm in sources.algorithms(root):
        rungs = [version for version in sources.versions(root, algorithm) if version.side != "peer"]
        below = {version.below.id for version in rungs if version.below}
        for rung in rungs:
            lines = len(sources.read(os.path.join(root, rung.path)).splitlines())
            figures = {"lines": (lines, LINES if rung.id in below else TOP_LINES)}
            if rung.below:
                figures["changed"] = (changed_lines(rung.below, rung), CHANGED)
            remarks = []
            for what, (figure, limit) in figures.items():
                listed = exceptions.pop((what, algorithm, rung.id), None)
                line = f"'{what} {algorithm} {rung.id}"
                if listed is not None and figure <= limit:
                    remarks.append(f"{what} within {limit}: remove {line} {listed}'")
                elif listed is not None and figure < listed:
                    remarks.append(f"{what} better: make it {line} {figure}'")
                elif figure > (limit if listed is None else listed):
                    remarks.append(f"{what} above {limit if listed is None else listed}")
            passed += not remarks
            failed += bool(remarks)
            changed = figures["changed"][0] if rung.below else ""
            print(f"{algorithm:12} {rung.id:14} {rung.below.id if rung.below else '':14} {changed:>7} {lines:>6}"
                  f"{'  FAIL ' if remarks else ''}{'; '.join(remarks)}")
    for what, algorithm, name in exceptions:
        failed += 1
        print(f"FAIL {path}: '{what} {algorithm} {name}' names no rung that is compared")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
