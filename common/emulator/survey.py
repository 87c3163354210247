#!/usr/bin/env python3
"""Compiles and runs every CUDA program below a folder with build/cu and prints a table: whether it compiles, whether it ends, what its
own check says, and the first obstacle. A program is a .cu file with main(); where the linker misses something, the other files beside it
are added. With --list FILE the programs are those of a list: folder, files parted by ;, arguments, parted by tabs.
With --changes FILE some programs are changed first, in a copy: a line has the program's name, what kind of change, and the change, parted by
tabs. The kinds: "constant", NAME=NUMBER, for the one place in the program that says what NAME is; "word", OLD=NEW, where OLD stands once;
"arguments" of the program; "setting", NAME=VALUE of the environment; "headers", a folder, from the program's, where headers lie. The table says
what was changed.
usage: survey.py [--cu build/cu] [--list FILE] [--changes FILE] [--limit SECONDS] [--jobs N] [--only TEXT] [--out FILE] FOLDER"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

MAIN = re.compile(r"^[ \t]*(?:int|void|auto)?[ \t\n]*main[ \t]*\(", re.MULTILINE)
# What the own check of a program prints. "error" may stand before a number that is small; a program that exits with 0 knows that.
GOOD = re.compile(r"\b(pass(?:ed|es)?|success(?:ful(?:ly)?)?|correct(?:ly)?|ok|match(?:es)?|results? (?:are|is) (?:equal|the same))\b", re.IGNORECASE)
BAD = re.compile(r"(?<!\b0 )\b((?<!assert )(?<!assertion )fail(?:ed|ure)|mismatch(?:es)?|incorrect|wrong|not (?:equal|correct)|do(?:es)? ?n.t match|match: no|CUDA error)|✗", re.IGNORECASE)
# What proves nothing: a kernel's assertion, since the program says what came of it, or cu does; and what is as expected.
NEITHER = re.compile(r"^.*( thread: \[\d+,\d+,\d+\] Assertion `.*` failed\.$|\bas expected\b.*$)", re.MULTILINE)
LONGEST = 900  # seconds on the wall, for what waits for ever; a busy machine makes no program too slow
SOURCES = {".cu", ".cpp", ".cc", ".c"}
KINDS = ("constant", "word", "arguments", "setting", "headers")
Program = collections.namedtuple("Program", "name folder files arguments changes")


def text_of(path):
    return path.read_text(encoding="utf-8", errors="replace")


def lines_of(path):
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")]


def programs_below(folder):
    for path in sorted(folder.rglob("*.cu")):
        if MAIN.search(text_of(path)):
            yield Program(str(path.relative_to(folder)), path.parent, [path], [], [])


def programs_of(listed, folder):
    for line in lines_of(listed):
        top, files, arguments = (line.split("\t") + [""])[:3]
        paths = [folder / top / name for name in files.split(";")]
        yield Program(f"{top}/{files.split(';')[0]}", paths[0].parent, paths, arguments.split(), [])


def changes_of(path):
    changes = collections.defaultdict(list)
    for line in lines_of(path):
        parts = line.split("\t")
        if len(parts) != 3 or parts[1] not in KINDS or (parts[1] in ("constant", "word", "setting") and "=" not in parts[2]):
            raise ValueError(f"{path}: wanted a program, one of {', '.join(KINDS)}, and the change: {line}")
        changes[parts[0]].append((parts[1], parts[2]))
    return changes


def place_of(kind, word):
    """Where a change goes: the number that a constant is defined by, or a word."""
    if kind == "word":
        return re.compile(rf"()\b({word})\b")
    return re.compile(rf"^([ \t]*(?:#[ \t]*define[ \t]+{word}[ \t]+|(?:[A-Za-z_][\w:]*[ \t]+)+{word}[ \t]*[={{][ \t]*))"
                      r"(\(?[0-9](?:[^;,}/\n]|/(?![/*]))*)", re.MULTILINE)


def changed(program, work):
    """The program's files, as changed. Copies, if so: all of them, since they include each other."""
    texts = {path: text_of(path) for path in program.files}
    changes = [(kind, *change.split("=", 1)) for kind, change in program.changes if kind in ("constant", "word")]
    for kind, old, new in changes:
        where = [(path, match) for path, text in texts.items() for match in place_of(kind, old).finditer(text)]
        if len(where) != 1:  # the change may be of something else, then
            raise ValueError(f"{kind} {old} stands in {len(where)} places, wanted one")
        path, match = where[0]
        texts[path] = texts[path][:match.start(2)] + new + texts[path][match.end(2):]
    if not changes:
        return program.files
    for path, text in texts.items():
        (pathlib.Path(work) / path.name).write_text(text, encoding="utf-8")
    return [pathlib.Path(work) / path.name for path in program.files]


def include_folders(program, top):
    """Folders of headers that the programs of a collection share: Common, common, include, inc beside the program or above it."""
    names = ("Common", "common", "include", "inc", "util", "utils")
    above = [p for p in [program.folder, *program.folder.parents] if p == top or top in p.parents]
    beside = [str(program.folder / change) for kind, change in program.changes if kind == "headers"]
    # A changed program is a copy elsewhere, which looks for its headers here.
    return [*([str(program.folder)] if program.changes else []), *beside, *(str(p / name) for p in above for name in names if (p / name).is_dir())]


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    wanted = [line for line in lines if re.search("error|not supported|does not have|undefined reference", line)]
    return re.sub(r"^\S*/", "", (wanted or lines or ["?"])[0])[:160].replace("|", "\\|")


def limits(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
    resource.setrlimit(resource.RLIMIT_AS, (24 << 30, 24 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def compile_one(cu, program, files, out, top):
    command = [cu, "--compile", "-o", out, *(f"-I{p}" for p in include_folders(program, top)), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=600, check=False)
    return done.returncode == 0, done.stderr


def survey(cu, program, limit, top):
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "program")
        try:
            files = changed(program, work)
        except ValueError as wrong:
            return program, "no", "-", "-", str(wrong)
        built, said = compile_one(cu, program, files, out, top)
        if not built and "undefined reference" in said and len(program.files) == 1:
            beside = [p for p in sorted(program.folder.iterdir()) if p.suffix in SOURCES and p not in program.files]
            others = [p for p in beside if not MAIN.search(text_of(p))]
            if others:
                built, again = compile_one(cu, program, [*files, *others], out, top)
                said = said if not built else again
        if not built:
            return program, "no", "-", "-", first_line(said)
        settings = dict(change.split("=", 1) for kind, change in program.changes if kind == "setting")
        environment = {**os.environ, **settings, "RUNGS_EMULATOR_TELL": "1"}
        more = [word for kind, change in program.changes if kind == "arguments" for word in change.split()]
        try:
            with open(os.path.join(work, "output"), "w+", encoding="utf-8", errors="replace") as output:
                code = subprocess.run([out, *program.arguments, *more], cwd=program.folder, stdout=output, stderr=subprocess.STDOUT,
                                      stdin=subprocess.DEVNULL, env=environment, timeout=LONGEST,
                                      preexec_fn=lambda: limits(limit), check=False).returncode
                output.seek(0)
                said = output.read(1 << 20).replace(f"{top}/", "").replace(f"{work}/", "")
        except subprocess.TimeoutExpired:
            return program, "yes", "too slow", "-", f"more than {LONGEST} s"
        if code in (-9, -24):
            return program, "yes", "too slow", "-", f"more than {limit} s of a processor"
        said = NEITHER.sub("", said)
        bad, good = BAD.search(said), GOOD.search(said)
        check = "fails" if bad else "passes" if good else "none in it"
        reason = ""
        if code != 0 or bad:
            line = next((line for line in said.splitlines() if BAD.search(line)), (said.strip().splitlines() or [""])[-1])
            reason = re.sub(r"^\S*/", "", line.strip())[:160].replace("|", "\\|")
        return program, "yes", "yes" if code == 0 else f"status {code}", check, reason


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cu", default="build/cu")
    parser.add_argument("--list", type=pathlib.Path)
    parser.add_argument("--changes", type=pathlib.Path)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    top = options.folder.resolve()
    if not top.is_dir():
        parser.error(f"{options.folder}: no such folder")
    for file in (options.cu, options.list, options.changes):  # before the hour that it may take
        if file and not os.path.isfile(file):
            parser.error(f"{file}: no such file")
    if options.out and not os.access(os.path.dirname(os.path.abspath(options.out)), os.W_OK):
        parser.error(f"{options.out}: cannot be written")
    found = programs_of(options.list, top) if options.list else programs_below(top)
    try:
        changes = changes_of(options.changes) if options.changes else {}
    except ValueError as wrong:
        parser.error(str(wrong))
    programs = [p._replace(changes=changes.get(p.name, [])) for p in found if options.only in p.name]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(survey, os.path.abspath(options.cu), p, options.limit, top) for p in programs]
        for i, done in enumerate(work):
            rows.append(done.result())
            print(f"{i + 1}/{len(work)} {rows[-1][0].name}: {', '.join(rows[-1][1:])}", file=sys.stderr)
    compiled = sum(row[1] == "yes" for row in rows)
    ended = sum(row[2] == "yes" and row[3] != "fails" for row in rows)
    slow = sum(row[2] == "too slow" for row in rows)
    altered = sum(bool(row[0].changes) for row in rows)
    lines = [f"{len(rows)} programs: {compiled} compile, {ended} end as they should, {slow} are too slow"
             + (f"; {altered} of them are changed" if altered else ""), "",
             "| program | compiles | ends | its own check | first obstacle | changed |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [f"| {' '.join([p.name, *p.arguments])} | {' | '.join(rest)} | {', '.join(change for _, change in p.changes)} |"
              for p, *rest in rows]
    text = "\n".join(lines) + "\n"
    if options.out:
        pathlib.Path(options.out).write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
