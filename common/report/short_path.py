"""The short path up a ladder: of the rungs that the fastest of a side stands on, the few that made the most of its speed.

From the fastest rung back to the first, each by the rung that it climbs from (sources.Version.below); of these, in the order
of the climb, each that is GAIN times as fast as the one listed before it and OWN_GAIN times as fast as the one that it
follows, so that a rung is not listed for what others gained. The first and the fastest always are, and at most MOST in all:
of more, those go that gained least. Rungs are compared on one workload only, that on which the path has most rungs.
"""

import os
import re

import results as rungs
from markdown import code, inline, link, table

GAIN, OWN_GAIN, MOST = 1.2, 1.1, 8
FEW = 4  # a side of so few rungs is short enough
SIDES = {"cpu": "CPU", "cuda": "GPU"}
IDEA_LEAST, IDEA_MOST = 45, 150  # characters of an idea


def chain(version):
    """The rungs of its side that a version stands on, from the first to itself."""
    below = version.below
    return (chain(below) if below and below.side == version.side else []) + [version]


def workload(results):
    """What two files have in common whose times may be compared."""
    names = ("settings", "input", "width", "height", "channels", "threads")
    return rungs.machine_of(results), *(results[name] for name in names)


def speed(row, side):
    """By which rungs of a side are compared: on a GPU calls a second; on a CPU, which may be shared, × serial of the same
    run. None where that was not measured."""
    if row is None or row["outcome"] != "timed":
        return None
    if side == "cuda":
        return 1 / row["kernel"]["median"]
    if row["reference"]:
        return 1
    over = row["over_serial"]
    return over["kernel"]["times"] if over and over["kernel"] else None


def measured(climb, many):
    """(speed, row, file) of each rung that one of the files timed, by id: of several files the one that timed most."""
    found = {}

    def timed(results):
        rows = [(version, rungs.find(results, version.id)) for version in climb]
        return {v.id: (speed(row, v.side), row, results) for v, row in rows if speed(row, v.side)}

    for more in sorted(map(timed, many), key=len, reverse=True):
        found = {**more, **found}
    return found


def steps(climb, found):
    """The rungs of the path, in the order of the climb."""
    path, last = climb[:1], climb[-1]

    def gain(version, before):
        return found[version.id][0] / found[before.id][0] if before.id in found else float("inf")

    before = climb[0]
    for version in climb[1:-1]:
        if version.id in found:
            if gain(version, path[-1]) >= GAIN and gain(version, before) >= OWN_GAIN:
                path.append(version)
            before = version
    while len(path) > 1 and last.id in found and gain(last, path[-1]) <= 1:
        path.pop()
    while len(path) >= MOST:
        path.remove(min(path[1:], key=lambda version: gain(version, path[path.index(version) - 1])))
    return path if last in path else path + [last]


class Path:
    """Of one side: fastest; climb, the rungs from the first to the last, which is the fastest or on the way to it the first
    that is not different from it; steps, those of them that are listed; found, what was measured of them on one workload."""

    def __init__(self, ladder, side, main):
        """`main` is the file that stands for the side."""
        self.side = side
        # A file may have rows of rungs that are no longer in the tree.
        versions = {version.id: version for version in ladder.versions if version.side == side}
        best = rungs.best(main, lambda row: row["id"] in versions and speed(row, side), "kernel")
        way = chain(versions[best["id"]]) if best else []
        rows = [rungs.find(main, version.id) for version in way]
        like_best = [bool(speed(row, side)) and not rungs.differ(row["kernel"], best["kernel"]) for row in rows]
        self.fastest, self.climb = (way[-1], way[: like_best.index(True) + 1]) if best else (None, [])
        # A CPU beside a GPU is another machine than one alone.
        files = [results for many in ladder.machines.values() for results in many]
        self.files = [main] + [r for r in files if (r["machine"]["gpu"] is None) == (main["machine"]["gpu"] is None)]
        self.steps, self.found = max(map(self._on, self.files), key=lambda choice: choice[0])[1:] if best else ([], {})

    def _on(self, results):
        """(rank, steps, found) on the workload of a file: that is best which has most rungs in the path, of several such
        that of the main file, then the one that timed most of the climb."""
        found = measured(self.climb, [other for other in self.files if workload(other) == workload(results)])
        path = steps(self.climb, found)
        rank = sum(version.id in found for version in path), workload(results) == workload(self.files[0]), len(found)
        return rank, path, found

    def used(self):
        """The files that its numbers are from."""
        files = [self.found[version.id][2] for version in self.steps if version.id in self.found]
        return list({results["path"]: results for results in files}.values())

    def last(self):
        """(row, file) of the last rung, which was not timed with the others: on another machine, or else in the main file."""
        timed = [results for results in self.files if speed(rungs.find(results, self.climb[-1].id), self.side)]
        alike = [results for results in timed if workload(results)[1:] == workload(self.used()[0])[1:]]
        results = (alike or timed)[0]
        return rungs.find(results, self.climb[-1].id), results


# ---------------------------------------------------------------------------------------------------------------- words


def few_words(idea):
    """The first sentence of an idea, with the second behind one of a few words, and of a long one the first part."""
    first, *more = re.split(r"(?<=[.])\s+(?=[A-Z0-9])", idea, maxsplit=2)
    text = f"{first} {more[0]}" if more and len(first) < IDEA_LEAST else first
    if len(text) <= IDEA_MOST:
        return text
    parts = [text[: end.start()] for end in re.finditer(r"[;:] |, (?:so|which|where|because|but|for) ", text)]
    kept = [part for part in parts if IDEA_LEAST <= len(part) <= IDEA_MOST and part.count("(") == part.count(")")]
    return kept[-1] + "." if kept else text


def words_of(results):
    """The parameters of a file: its settings, word by word."""
    return re.split(r" (?=\w+=)", results["settings"])


def place(results, path):
    """Machine and size of a file, and the parameters that have another value in another file, part by part."""
    parts = [f"on {rungs.machine_of(results)}", rungs.size(results)]
    if results["channels"] > 1 and not rungs.is_video(results):
        parts.append(rungs.count(results["channels"], "channel"))
    if path.side == "cpu":
        parts.append(rungs.count(results["threads"], "thread"))
    others = {word for other in path.files for word in words_of(other)} - set(words_of(results))
    names = {word.split("=")[0] for word in others}
    return parts + [word for word in words_of(results) if word.split("=")[0] in names]


def number(row, side):
    if side == "cuda":
        return rungs.time(row["kernel"]["median"])
    return "1" if row["reference"] else rungs.ratio(row["over_serial"], "kernel")


def to_file(results, folder, text=None):
    name = os.path.basename(results["path"])[: -len(".json")]
    return link(inline(text or name), os.path.relpath(results["path"], folder))


def last_number(path, folder):
    """The number of the last rung, measured elsewhere: a link to the file, and what is unlike there."""
    row, results = path.last()
    known = path.used()[0]
    parts = [part for part in place(results, path) if part not in place(known, path) + words_of(results)]
    parts += [word for word in words_of(results) if word not in words_of(known)]
    return ", ".join([to_file(results, folder, number(row, path.side)), *map(inline, parts)])


def side_text(ladder, side, main, folder):
    """What a page says of a side's short path; `folder` is that of the page."""
    count = sum(version.side == side for version in ladder.versions)
    if count <= FEW:
        climb = "it" if count == 1 else "them all"
        return f"**{SIDES[side]}**: {rungs.count(count, 'rung')}, so climb {climb}." if count else ""
    path = Path(ladder, side, main) if main else None
    if not path or not path.steps:
        return f"**{SIDES[side]}**: none of its {count} rungs is timed yet."
    used, rows, before = path.used(), [], None
    for version in path.steps:
        if version.id in path.found:
            cell = number(path.found[version.id][1], side)
        else:
            cell = last_number(path, folder) if version is path.climb[-1] else "not timed"
        command = code(f"make diff-{ladder.name} A={before.id} B={version.id}") if before else ""
        rows.append([link(code(version.id), "../" + version.path), cell, inline(few_words(version.idea)), command])
        before = version
    what = "× serial" if side == "cpu" else "a frame" if rungs.is_video(main) else "kernel"
    where = ", ".join(map(inline, place(used[0], path)))
    files = ", ".join(to_file(results, folder) for results in used)
    text = f"**{SIDES[side]}**: {len(path.steps)} of {count} rungs, {where} ({files})."
    untimed = sum(version.id not in path.found for version in path.climb if version not in path.steps)
    if untimed:
        text += f" {untimed} of the rungs between {'is' if untimed == 1 else 'are'} not timed there."
    if path.fastest is not path.climb[-1]:
        text += f" {code(path.fastest.id)}, the fastest, is not different from the last of these."
    return text + "\n\n" + table(["rung", what, "idea", "what changed since the one above"], rows, 4)


def section(ladder, mains, folder):
    """The section of a page; `mains` are the files that stand for the sides, or None."""
    texts = [side_text(ladder, side, mains[side], folder) for side in SIDES]
    if any("|" in text for text in texts):
        texts.insert(
            0,
            "For an afternoon: the first rung, the fastest, and of those that it climbs from, one after the other, each "
            f"that is at least {100 * GAIN - 100:.0f} % faster than the one above it in the table and "
            f"{100 * OWN_GAIN - 100:.0f} % faster than the one that it follows, at most {MOST} in all. Write down what you "
            "expect, then run the command: it shows the code that changed, and measures both, kernels where there is a GPU.",
        )
    return "\n\n".join(filter(None, texts))
