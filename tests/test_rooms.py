#!/usr/bin/env python3
"""The include graph of common/ by room: prints it, and fails on what common/rooms.txt does not allow.

    test_rooms.py [--dot FILE] [ROOT]       FILE gets the graph for Graphviz: dot -Tsvg FILE

Faults: a room that is not in rooms.txt or has no README.md, an include of a room above, files that include each other in
a circle, units that call each other in a circle, a file of the rooms or the Makefile with more than 600 lines. A unit is x.c with x.h. It calls another when its code names a function
that the other one's code defines, whichever header declares that. With includes running one way only, rooms cannot form a
circle. Exit status 1 names each fault.
"""

import argparse
import collections
import pathlib
import re
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"(common/[^"]+)"', re.MULTILINE)
SUFFIXES = {".c", ".h", ".cu", ".cuh", ".cpp"}
CODE = {".c", ".cu", ".cpp"}
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
# A definition begins at the margin; calls, prototypes and static functions do not look like this.
DEFINITION = re.compile(r"^(?!static\b|typedef\b|extern\b)[A-Za-z_][\w \t]*[\s*](\w+)\([^;{}]*\)\s*\n\{", re.MULTILINE)
# The emulator is one unit in several files (emulator_internal.h): launches, memory and streams need each other.
ONE_UNIT = {"common/emulator"}
MOST_LINES = 600
TESTS = "tests"  # a room's own, in a folder of that name: no part of it


def rooms_in_order(path):
    """The rooms from the lowest to the highest: the first word of each line that is not a comment."""
    lines = (line.split("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines())
    return [words[0] for words in lines if words]


def includes_of(root):
    """{file: [the files of common/ that it includes]}, as paths from the root."""
    files = sorted(p for p in (root / "common").rglob("*") if p.suffix in SUFFIXES and p.parent.parent.name != TESTS)
    return {str(p.relative_to(root)): INCLUDE.findall(p.read_text(encoding="utf-8")) for p in files}


def room_of(file):
    parts = pathlib.PurePosixPath(file).parts
    return parts[1] if len(parts) > 2 else "(none)"


def unit_of(file):
    folder = str(pathlib.PurePosixPath(file).parent)
    return folder if folder in ONE_UNIT else str(pathlib.PurePosixPath(file).with_suffix(""))


def calls_between(root, files):
    """{unit: [the units whose functions its code names]}. A function that several files define (a stand-in of it in
    another program) says nothing about who calls whom."""
    texts = {f: NO_CODE.sub(" ", (root / f).read_text(encoding="utf-8")) for f in files
             if pathlib.PurePosixPath(f).suffix in CODE}
    defined = collections.defaultdict(set)
    for file, text in texts.items():
        for name in DEFINITION.findall(text):
            defined[name].add(unit_of(file))
    homes = {name: next(iter(units)) for name, units in defined.items() if len(units) == 1}
    graph = collections.defaultdict(set)
    for file, text in texts.items():
        local = set(re.findall(r"^static\b[^;{}()]*?(\w+)\(", text, re.MULTILINE))
        for name in set(re.findall(r"\w+", text)) - local:
            if homes.get(name, unit_of(file)) != unit_of(file):
                graph[unit_of(file)].add(homes[name])
    return {unit: sorted(others) for unit, others in sorted(graph.items())}


def long_files(root):
    """What has more than MOST_LINES lines and should be split along its sections: of the rooms' code, and the Makefile."""
    files = [p for p in (root / "common").rglob("*") if p.suffix in SUFFIXES | {".py", ".sh", ".mk"} and p.parent.parent.name != TESTS]
    for path in sorted(files + [p for p in [root / "Makefile"] if p.exists()]):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > MOST_LINES:
            yield f"{path.relative_to(root)}: {lines} lines, at most {MOST_LINES}"


def circle(graph):
    """The nodes of one circle in {node: [node]}, first and last the same, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for other in graph.get(node, ()):
            found = visit(other)
            if found:
                return found
        path.pop()
        done.add(node)
        return None

    for node in graph:
        found = visit(node)
        if found:
            return found
    return None


def faults_of(root, includes, order):
    floor = {room: i for i, room in enumerate(order)}
    folders = {p.name for p in (root / "common").iterdir() if p.is_dir()}
    for room in sorted(folders - set(order)):
        yield f"common/{room}: not in common/rooms.txt"
    for room in order:
        if room not in folders:
            yield f"common/rooms.txt: there is no room {room}"
        elif not (root / "common" / room / "README.md").is_file():
            yield f"common/{room}: no README.md"
    for file, targets in includes.items():
        for target in targets:
            if target not in includes:
                yield f"{file}: includes {target}, which is not there"
            if floor.get(room_of(target), -1) > floor.get(room_of(file), len(order)):
                yield f"{file}: includes {target}: {room_of(target)} is above {room_of(file)}"
    found = circle(includes)
    if found:
        yield "a circle of includes: " + " -> ".join(found)
    found = circle(calls_between(root, includes))
    if found:
        yield "a circle of calls: " + " -> ".join(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dot", metavar="FILE")
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent, type=pathlib.Path)
    arguments = parser.parse_args()
    order = rooms_in_order(arguments.root / "common" / "rooms.txt")
    includes = includes_of(arguments.root)
    arrows = collections.Counter(
        (room_of(file), room_of(t)) for file, targets in includes.items() for t in targets if room_of(file) != room_of(t))

    for room in reversed(order):
        below = [f"{to} {arrows[room, to]}" for to in order if (room, to) in arrows]
        print(f"{room:10} {', '.join(below) or '-'}")
    if arguments.dot:
        lines = ["digraph rooms {", "    rankdir=BT; node [shape=box];"]
        lines += [f'    "{room}";' for room in order]
        lines += [f'    "{a}" -> "{b}" [label="{n}"];' for (a, b), n in sorted(arrows.items())]
        pathlib.Path(arguments.dot).write_text("\n".join(lines + ["}", ""]), encoding="utf-8")
    faults = [*faults_of(arguments.root, includes, order), *long_files(arguments.root)]
    for fault in faults:
        print(f"FAIL {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
