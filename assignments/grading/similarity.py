"""How much of an answer stands in another file: normalised code, and only what the student is not given anyway."""

import pathlib
import re
import tempfile

from grading.allowed import KEYWORDS
from grading.build import reference_file, run_limited
from grading.jail import COMPILE_SECONDS, limit_compiler
from grading.lab import ROOT, shown

RUN = 8  # tokens that must stand in the same order
TOO_MUCH = 0.4  # share of an answer's own runs in another file that gives the answer away
SAME = 0.85  # of the runs without names that two files have, those that both have: then they are one answer handed in twice
WITHIN = 0.95  # of a file's runs without names, those that stand in another: then all of it does, whatever else is there; 0.85 of lab 02's
FEWEST = 24  # runs of its own that an answer must have for that share to mean anything

NAMES = re.compile(r"\b(absdiff|blur|boxes|correlation|eigen|grayscale|harris|kmeans|labelling|lbp|morphology|motion|nearest|otsu|threshold|filter)", re.I)


def tokens(text):
    """C without comments, includes, layout and the algorithm's name."""
    text = re.sub(r"/\*.*?(?:\*/|\Z)|//[^\n]*|^[ \t]*#[ \t]*include[^\n]*", " ", text, flags=re.S | re.M)
    text = NAMES.sub("NAME", text)
    return re.findall(r'"(?:[^"\\\n]|\\.)*"?|\w+|<<<|>>>|[-+*/&|<>=!]=|&&|\|\||->|\+\+|--|\S', text)


def runs(path):
    return runs_of(path.read_text(encoding="utf-8", errors="replace"))


def runs_of(text):
    words = tokens(text)
    return {tuple(words[i:i + RUN]) for i in range(len(words) - RUN + 1)}


def is_same(text, other):
    """Whether a file is the `other` one, whatever its names are, or has all of it beside code that is there to look different."""
    a, b = ({tuple(words[i:i + RUN]) for i in range(len(words) - RUN + 1)} for words in map(nameless, (text, other)))
    return len(a & b) >= min(SAME * max(1, len(a | b)), WITHIN * max(FEWEST, len(b)))


def expanded(path):
    """A file whose own macros are spelled out, so that none makes one program look like another; nothing is included."""
    text = path.read_text(encoding="utf-8", errors="replace")
    bare = re.sub(r"/\*.*?(?:\*/|\Z)|//[^\n]*", " ", text.replace("\\\n", ""), flags=re.S)
    if not re.search(r"^\s*(?:#|%:)\s*define", bare, re.M):
        return text
    with tempfile.NamedTemporaryFile("w", suffix=path.suffix.replace(".cu", ".cpp"), encoding="utf-8") as file:
        file.write(re.sub(r"^[ \t]*(?:#|%:)[ \t]*(?:include\w*|import|embed)\b[^\n]*", "", bare, flags=re.M))
        file.flush()
        code, said = run_limited(["gcc", "-E", "-P", "-nostdinc", file.name], COMPILE_SECONDS, limit_compiler)
    return said if code == 0 else text


def nameless(text):
    return ["a name" if re.fullmatch(r"[A-Za-z_]\w*", word) and word not in KEYWORDS else word for word in tokens(text)]


def answers_of(lab):
    """(task, path) of the answer that each task was made for: the first of its rungs."""
    for task in lab.tasks:
        file = reference_file(task["rung"][0], task["algorithm"], lab) if task.get("rung") else None
        if file:
            yield task, ROOT / file


def own_runs(lab, task, answer):
    """What an answer has and what the student is given has not: the starter, the definition, what the lab shows."""
    given = set()
    for pattern in lab.data.get("handout", {}).get("shows", []):
        for path in sorted(ROOT.glob(pattern)):
            given |= runs(path)
    for path in (*sorted((lab.folder / "starter").glob("*/*.c*")), ROOT / "cpu" / task["algorithm"] / "0_serial.c"):
        given |= runs(path)
    return runs(answer) - given


def giveaways(labs, files):
    """{file: (task, share)} of those files in which too much of an answer stands."""
    known = {f: runs(ROOT / f) for f in files if pathlib.Path(f).suffix in (".c", ".cu", ".cuh", ".h", ".md", ".cpp")}
    found = {}
    for lab in labs:
        for task, answer in answers_of(lab):
            own = own_runs(lab, task, answer)
            for file, there in known.items():
                share = len(own & there) / max(1, len(own))
                if share >= TOO_MUCH and len(own) >= FEWEST and share > found.get(file, ("", 0))[1]:
                    found[file] = (f"{shown(lab.folder)[12:14]} {task['id']}", share)
    return found
