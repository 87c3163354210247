"""Holds what headers say came of a rung against the results file that they name: "1.8 times runs (results/cpu2/...json)" is the
ratio of the two versions' times in that file (of kernels, end to end, or of pictures in a queue), and "2 times omp's time" the other way round. usage: check_claims.py [ROOT]

A claim is a number, "times" and another rung of the ladder, and the next file that the sentence names behind it. Left out are
claims with "over" before the number, and those whose versions the file has no times of. Prints each claim that its file
contradicts, by more than half of its last digit and 3 %; exit status 1 then, and 2 when there was no claim at all."""

import json
import os
import re
import sys

root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "common", "report"))
import renames  # noqa: E402
import sources  # noqa: E402

CLAIM = re.compile(r"(?<![\d.])(over )?(\d+(?:\.\d+)?) times (?:as fast as )?((?:cpu/|cuda/)?[a-z]\w*(?:\.\d+)?)('s time)?")
KINDS = ("kernel", "end_to_end", "pictures")
FILE = re.compile(r"results/[\w./-]+\.json")


def ratios(path, version, other):
    """How many times as fast as `other` a version is by each kind of time that a results file has of both."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    renames.apply(document)
    rows = {row["id"]: row for row in document.get("versions", [])}
    pairs = [(rows[other].get(kind), rows[version].get(kind)) for kind in KINDS] if {version, other} <= set(rows) else []
    return [a["median"] / b["median"] for a, b in pairs if a and b]


def claims():
    """(path, words of the claim, what it says, what its file says, how far apart they may be)."""
    for algorithm in sources.algorithms(root):
        versions = sources.versions(root, algorithm)
        ids = {version.id for version in versions}
        for version in versions:
            for claim in CLAIM.finditer(version.result or ""):
                named = FILE.search(version.result, claim.end())
                other = next((x for x in (claim[3], f"{version.side}/{claim[3]}") if x in ids), None)
                if claim[1] or not other or not named or not os.path.isfile(os.path.join(root, named[0])):
                    continue
                measured = ratios(os.path.join(root, named[0]), version.id, other)
                measured = [1 / ratio for ratio in measured] if claim[4] else measured
                allowed = 0.51 * 10 ** -len(claim[2].partition(".")[2]) + 0.03 * float(claim[2])
                if measured:
                    yield version.path, f"{claim[0]} ({named[0]})", float(claim[2]), measured, allowed


found = wrong = 0
for path, words, said, measured, allowed in claims():
    found += 1
    if min(abs(said - ratio) for ratio in measured) > allowed:
        wrong += 1
        print(f"{path}: {words}: there it is {' or '.join(f'{ratio:.3g}' for ratio in measured)}")
print(f"{found} claims, {wrong} wrong")
sys.exit(1 if wrong else 0 if found else 2)
