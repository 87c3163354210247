"""What the sources say of themselves: contracts, the header lines of each version, the diff to the rung below."""

import difflib
import glob
import os
import re
import subprocess
import textwrap

VERSIONS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "versions.sh")
FOLDERS = ("cpu/{}/*.c", "cpu/{}/*/*.c", "cuda/{}/*.cu", "cuda/{}/*/*.cu", "peers/{}/*.c", "peers/{}/*.cpp", "peers/{}/*.cu")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Version:
    """One file: id, path (below the root), side, group ("" for a step of the climb), below (the version that it climbs from,
    or None); problem, idea, expect, result, run ("" where the header has no such line), all of them as common/build/versions.sh
    says; the lines below that header."""

    def __init__(self, root, line):
        _, self.id, self.path, self.group, self.below, self.problem, self.idea, self.expect, self.result, self.run = (
            line.rstrip("\n").split("\t"))
        self.side = self.id.split("/")[0]
        text = read(os.path.join(root, self.path))
        header = re.match(r"\s*/\*(.*?)\*/[ \t]*\n?", text, re.DOTALL)
        self.header = header.group(1).splitlines() if header else []
        self.lines = text[header.end() if header else 0 :].splitlines()


def algorithms(root):
    return sorted(os.path.splitext(os.path.basename(path))[0] for path in glob.glob(f"{root}/common/algo/*.c"))


def takes_video(root, algorithm):
    """Whether its struct algorithm says .video = true."""
    return re.search(r"\.video\s*=\s*true", read(os.path.join(root, "common", "algo", algorithm + ".c"))) is not None


def versions(root, algorithm):
    """All versions of an algorithm in the order of its ladder, each with the one below it (None for peers)."""
    paths = [
        os.path.relpath(path, root)
        for pattern in FOLDERS
        for path in glob.glob(os.path.join(glob.escape(root), pattern.format(algorithm)))
        if os.path.basename(os.path.dirname(path)) != "shared"
    ]
    if not paths:
        return []
    run = subprocess.run(["sh", VERSIONS, "--list", *paths], cwd=root, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(run.stderr.strip())
    found = [Version(root, line) for line in run.stdout.splitlines()]
    by_id = {version.id: version for version in found}
    for version in found:
        version.below = by_id.get(version.below)
    return found


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
