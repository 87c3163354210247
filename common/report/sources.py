"""What the sources say of themselves: contracts, the header lines of each version, the diff to the rung below."""

import difflib
import glob
import os
import re
import textwrap

SIDES = ("cpu", "cuda", "peer")
LADDER = ("cpu/serial", "cpu/omp", "cpu/simd")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Version:
    """One file: id, path (below the root), side; idea, changed, expect, result, climbs_from ("" where the header has no
    such line) as common/build/versions.sh reads them; the lines below that header; the version below it, or None."""

    def __init__(self, root, path):
        self.path = path
        folder, name = path.split("/")[0], os.path.splitext(os.path.basename(path))[0]
        self.side = "peer" if folder == "peers" else folder
        self.id = f"{self.side}/{name.split('_')[0] if self.side == 'cuda' else name}"
        text = read(os.path.join(root, path))
        self.idea = self.changed = self.expect = self.result = self.climbs_from = ""
        header = re.match(r"\s*/\*(.*?)\*/[ \t]*\n?", text, re.DOTALL)
        self._read_header(header.group(1) if header else "")
        self.lines = text[header.end() if header else 0 :].splitlines()
        self.below = None

    def _read_header(self, comment):
        key = None
        for line in comment.splitlines():
            line = re.sub(r"^\s*\*?\s*", "", line).strip()
            start = re.match(r"(Idea|Changed|Expect|Result|From):\s*(.*)", line)
            if start:
                key = {"From": "climbs_from"}.get(start.group(1), start.group(1).lower())
                setattr(self, key, start.group(2))
            elif not line:
                key = None
            elif key:
                setattr(self, key, f"{getattr(self, key)} {line}")

    def order(self):
        """The order of common/contract/registry.c: sides, then the CPU's ladder, then by name with numbers as numbers."""
        step = LADDER.index(self.id) if self.id in LADDER else len(LADDER)
        natural = [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", self.id)]
        return SIDES.index(self.side), step, natural


def algorithms(root):
    return sorted(os.path.splitext(os.path.basename(path))[0] for path in glob.glob(f"{root}/common/algo/*.c"))


def takes_video(root, algorithm):
    """Whether its struct algorithm says .video = true."""
    return re.search(r"\.video\s*=\s*true", read(os.path.join(root, "common", "algo", algorithm + ".c"))) is not None


def versions(root, algorithm):
    """All versions of an algorithm in the order of its ladder, each with the one below it (None for peers)."""
    found = []
    for pattern in ("cpu/{}/*.c", "cuda/{}/*.cu", "peers/{}/*.c", "peers/{}/*.cpp", "peers/{}/*.cu"):
        for path in glob.glob(os.path.join(root, pattern.format(algorithm))):
            found.append(Version(root, os.path.relpath(path, root)))
    found = follow_from(sorted(found, key=Version.order))
    for lower, upper in zip([None] + found, found):
        named = [version for version in found if version.id == upper.climbs_from]
        if named:
            upper.below = named[0]
        elif lower and upper.side == lower.side and upper.side != "peer":
            upper.below = lower
    return found


def follow_from(waiting):
    """Every rung behind the one that it names, as registry_open() does, which also refuses circles."""
    ordered = []
    while waiting:
        ids = [version.id for version in ordered]
        ready = [version for version in waiting if not version.climbs_from or version.climbs_from in ids]
        ordered.append((ready or waiting)[0])
        waiting = [version for version in waiting if version is not ordered[-1]]
    return ordered


def diff(lower, upper):
    """(kind, text) of each line of the unified diff below the headers; kind is add, remove, same or skip."""
    lines = []
    for line in list(difflib.unified_diff(lower.lines, upper.lines, lineterm="", n=4))[2:]:
        kind = {"+": "add", "-": "remove", "@": "skip"}.get(line[:1], "same")
        lines.append((kind, line))
    return lines


# ------------------------------------------------------------------------------------------------------ contracts


class Contract:
    """The opening comment of common/algo/<name>.h: a summary, and sections (label, [(kind, text)]), kind "text" for
    what may be wrapped anew and "pre" for formulas and columns."""

    def __init__(self, root, algorithm):
        path = os.path.join(root, "common", "algo", algorithm + ".h")
        self.path = os.path.relpath(path, root)
        self.summary, self.sections = algorithm, []
        try:
            comment = re.match(r"\s*/\*(.*?)\*/", read(path), re.DOTALL)
        except OSError:
            return
        if not comment:
            return
        lines = [re.sub(r"^ ?\*( |$)", "", line).rstrip() for line in comment.group(1).splitlines()]
        opening = []
        while lines and (lines[0] or not opening):
            opening.append(lines.pop(0))
        text = " ".join(" ".join(opening).split())
        named = re.match(rf"{re.escape(algorithm)}\.h: (.*?)(?:[.,] [Tt]he contract of .*)?\.?$", text)
        self.summary = (named.group(1) if named else text) or algorithm
        self.sections = [_section(block) for block in _blocks(lines)]


def _blocks(lines):
    """Splits at lines that begin at the margin."""
    block = []
    for line in lines:
        if line and not line[0].isspace():
            if block:
                yield block
            block = []
        if line or block:
            block.append(line)
    if block:
        yield block


def _section(block):
    first = re.match(r"(\S+)\s*(.*)", block[0])
    label, text = first.groups()
    start = first.start(2)
    indents = [len(line) - len(line.lstrip()) for line in block[1:] if line.strip()]
    margin = min(indents + [start]) if text else min(indents or [0])
    lines = [" " * (start - margin) + text] + [line[margin:] for line in block[1:]]
    return label, list(_paragraphs(lines))


def _paragraphs(lines):
    """Groups lines between blank ones. An indented line, or columns in one, make the group a formula."""
    group = []
    for line in lines + [""]:
        if line.strip():
            group.append(line)
        elif group:
            columns = any(re.search(r"[^\s.:] {2,}\S", text) for text in group)
            if columns or any(text[0].isspace() for text in group):
                yield "pre", textwrap.dedent("\n".join(group))
            else:
                yield "text", " ".join(text.strip() for text in group)
            group = []
