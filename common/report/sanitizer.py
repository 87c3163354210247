"""What compute-sanitizer found: its words taken apart, and results/MACHINE/LADDER/sanitizer.json, which sanitize.py writes, the
pages and the report show, and results/README.md describes."""

import functools
import glob
import hashlib
import os
import re

import results as rungs
import sources

SCHEMA, VERSION = "rungs-sanitizer", 1
NAME = "sanitizer.json"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
MOST_MESSAGES, MOST_TEXT = 4, 300

# ----------------------------------------------------------------------------------------------------------- its words

# What it says of the program, or of itself, and not of a kernel.
OF_THE_PROCESS = re.compile(
    r"(Error: |Warning: )?(process didn't terminate|Target application|No attachable process|Device not supported|"
    r"couldn't find exit code|Internal Sanitizer Error|Unable to|Failed to|Default timeout|The application)"
)


def _records(text):
    """Its messages: lines behind "=========", each with the indented ones below it."""
    records = []
    for line in text.splitlines():
        said = re.match(r"=========( ?)(.*)", line.rstrip())
        if not said:
            continue
        text = said[2]
        if not text.strip() or text == "COMPUTE-SANITIZER" or re.match(r"(ERROR|RACECHECK|LEAK) SUMMARY:", text):
            continue
        if text.startswith(" ") and records:
            records[-1].append(text.strip())
        else:
            records.append([text.strip()])
    return records


def _where(text):
    """(kernel, file:line) of "kernel(int *)+0x90 in a.cu:41", or as it was before 2025, "0x90 in a.cu:41:kernel(int *)"."""
    older = re.fullmatch(r"0x[0-9a-f]+ in (?:(?P<place>[^:]+:\d+):)?(?P<kernel>.+)", text)
    newer = re.fullmatch(r"(?P<kernel>.+?)[+:]0x[0-9a-f]+(?: in (?P<place>.+:\d+))?", text)
    found = older or newer
    if not found:
        return text[:MOST_TEXT], None
    place = found["place"]
    here = os.getcwd() + os.sep
    return found["kernel"][:MOST_TEXT], place.removeprefix(here) if place else None


def _message(record):
    """A message's own words, and each access that it names: what it is, its thread, its kernel, its place."""
    title, accesses, frames = record[0], [], []

    def access(what, thread, text):
        kernel, place = _where(text)
        accesses.append({"what": what, "thread": thread, "kernel": kernel, "place": place})

    race = re.match(r"(.*Race reported) between (\w+) access at (.*)", title)
    if race:
        title = race[1]
        access(race[2], None, race[3])
    for line in record[1:]:
        other = re.match(r"and (\w+) access at (.*?)(?: \[[\d,]+ hazards?\])?$", line)
        thread = re.match(r"(\w+) Thread (\([\d, ]+\)) at (.*)", line)
        if other:
            access(other[1], None, other[2])
        elif thread:
            access(thread[1], thread[2], thread[3])
        elif line.startswith("at ") and not accesses:
            access(None, None, line[3:])
        elif line.startswith("by thread ") and accesses:
            accesses[-1]["thread"] = line[len("by thread ") :]
        elif line.startswith("Device Frame: "):
            frames.append(line[len("Device Frame: ") :])
    # The place of the access is in what the kernel calls; the last frame is the kernel.
    if frames and accesses:
        accesses[0]["kernel"] = _where(frames[-1])[0]
    return {"text": title[:MOST_TEXT].rstrip(" :"), "accesses": accesses}


def judge(status, printed, errors):
    """What a run of compute-sanitizer over rungs check came to: outcome, errors, warnings, messages, why, cases, left_out."""
    counts = [int(n) for n in re.findall(r"^=+ ERROR SUMMARY: (\d+) errors?\s*$", printed, re.MULTILINE)]
    hazards = re.findall(r"^=+ RACECHECK SUMMARY: .*\((\d+) errors?, (\d+) warnings?\)\s*$", printed, re.MULTILINE)
    found = {
        "errors": sum(counts) + sum(int(n) for n, _ in hazards),
        "warnings": sum(int(n) for _, n in hazards),
        "messages": [],
        "why": None,
        "cases": None,
        "left_out": None,
    }
    passed = re.search(r"^  PASS  \S+ +(\d+) cases", printed, re.MULTILINE)
    left_out = re.search(r"^ +(\d+) of \d+ cases left out", printed, re.MULTILINE)
    if passed:
        found.update(cases=int(passed[1]), left_out=int(left_out[1]) if left_out else 0)
    records = _records(printed)
    kernels = [record for record in records if not OF_THE_PROCESS.match(record[0])]
    for message in map(_message, kernels):
        # Each threads' own is one too many.
        alike = [m for m in found["messages"] if (m["text"], _places(m)) == (message["text"], _places(message))]
        if not alike and len(found["messages"]) < MOST_MESSAGES:
            found["messages"].append(message)
    if kernels or (found["errors"] + found["warnings"] > 0 and not records):
        return found | {"outcome": "errors"}
    if status == 0 and passed and (counts or hazards) and not records:
        return found | {"outcome": "clean"}
    told = [" ".join(line.split()) for line in printed.splitlines() if re.match(r"  (FAIL|SKIP) ", line)]
    told += [line.split(":", 1)[1].strip() for line in printed.splitlines() if line.startswith("    wrong:")]
    told += [record[0] for record in records] + errors.strip().splitlines()[-1:]
    told.append(f"exit status {status}, and no summary" if not counts + hazards else f"exit status {status}")
    return found | {"outcome": "failed", "why": "".join(filter(str.isprintable, "; ".join(told[:3])))[:MOST_TEXT]}


def _places(message):
    return [(access["what"], access["kernel"], access["place"]) for access in message["accesses"]]


# ---------------------------------------------------------------------------------------------- which source it was of

NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:[^"\\\n]|\\.)*")', re.DOTALL)


@functools.lru_cache(maxsize=None)
def _code(path):
    """A file without comments, each run of blanks as one, for a header's Result is written after the run; "" where there is none."""
    try:
        return " ".join(NO_CODE.sub(lambda found: found[1] or " ", sources.read(path)).split())
    except OSError:
        return ""


def _stands_on(root, path):
    """The version's file, what it includes of cuda/, common/cuda/ and contracts, the units of those headers, and the versions of
    other ladders that a pipeline names as its steps."""
    found, waiting = {}, [path]
    while waiting:
        name = waiting.pop()
        code = _code(os.path.join(root, name))
        if name in found or not code:
            continue
        found[name] = code
        if not name.startswith("common/algo/"):
            waiting += re.findall(r'#include "((?:cuda|common/cuda|common/algo)/[^"]+)"', code)
            stem = os.path.splitext(name)[0]
            waiting += [stem + ending for ending in (".cu", ".c") if name != stem + ending]
    # A pipeline names them in strings, and their ladders as well, or its contract's code does.
    own = path.split("/")[1]
    texts = [*found.values(), _code(os.path.join(root, "common", "algo", own + ".c"))]
    ladders = {word for code in texts for word in re.findall(r'"([a-z]+)"', code)} - {own}
    named = {step for code in found.values() for step in re.findall(r'"(cuda/v[\d.]+)"', code)}
    steps = []
    for ladder in ladders:
        for step in named:
            rung = os.path.join(root, "cuda", ladder, os.path.basename(step))
            steps += glob.glob(glob.escape(rung) + "_*.cu")
    return found, [os.path.relpath(step, root) for step in steps]


@functools.lru_cache(maxsize=None)
def fingerprint(root, path):
    """A hash of the code of a version and of what it stands on."""
    found, steps = _stands_on(root, path)
    for step in steps:
        found |= _stands_on(root, step)[0]
    text = "\n".join(f"{name}\n{code}" for name, code in sorted(found.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --------------------------------------------------------------------------------------------------------- its results


def path_of(results, machine, ladder):
    return os.path.join(results, machine, ladder, NAME)


def load(path):
    """The document, checked; None where there is none."""
    return checked(path, rungs.read(path)) if os.path.exists(path) else None


def checked(path, document):
    """The same of a document that was read before; `path` is what messages call it."""
    if not isinstance(document, dict) or (document.get("schema"), document.get("version")) != (SCHEMA, VERSION):
        raise rungs.ResultsError(f'{path}: its "schema" is not "{SCHEMA}", version {VERSION}')
    rungs.require(path, document, "sanitizer")
    for (version, tool), run in runs(document).items():
        if run["outcome"] == "clean" and not run["cases"]:
            raise rungs.ResultsError(f"{path}: {version}: {tool}: clean, but of no cases")
    return document


def runs(document):
    """{(version, tool): run} of all runs that took place."""
    found = {}
    for version in document["versions"] if document else []:
        found |= {(version["id"], tool): version[tool] for tool in TOOLS if version[tool]["outcome"] != "not run"}
    return found


def _access(one):
    words = [one["what"] or "", "by " + one["kernel"] if one["kernel"] else "", "at " + one["place"] if one["place"] else ""]
    return " ".join(filter(None, words))


def in_words(run):
    """A run in a line: clean, or what was found first."""
    if run["outcome"] == "clean":
        part = f", {rungs.count(run['left_out'], 'case')} left out" if run["left_out"] else ""
        return f"clean in {rungs.count(run['cases'], 'case')}{part}"
    if run["outcome"] != "errors":
        return run["outcome"] + (f": {run['why']}" if run.get("why") else "")
    text = rungs.count(run["errors"], "error")
    if run["warnings"]:
        text += ", " + rungs.count(run["warnings"], "warning")
    for message in run["messages"][:1]:
        text += f": {message['text']}" + "".join("; " + _access(one) for one in message["accesses"])
    return text


def summary(document):
    """[line]: of each tool which versions it found clean, and then what else was found, a line each."""
    lines = []
    for tool in TOOLS:
        many = [(version["id"], version[tool]) for version in document["versions"]]
        clean = [name for name, run in many if run["outcome"] == "clean"]
        part = [name for name, run in many if run["outcome"] == "clean" and run["left_out"]]
        absent = [name for name, run in many if run["outcome"] == "not run"]
        words = [f"clean: {', '.join(f'`{name}`' for name in clean) or 'none'}"]
        if part:
            words.append(f"of these with cases left out for want of time: {', '.join(f'`{name}`' for name in part)}")
        if absent:
            words.append(f"not run: {', '.join(f'`{name}`' for name in absent)}")
        lines.append(f"{tool}: {'; '.join(words)}.")
        lines += [
            f"{tool} of `{name}`, commit {run['commit']}: {in_words(run)}."
            for name, run in many
            if run["outcome"] not in ("clean", "not run")
        ]
    return lines


def committed(results):
    """The documents below results/, with "machine_name" (the folder's) and "path"."""
    found = []
    for path in sorted(glob.glob(os.path.join(glob.escape(results), "*", "*", NAME))):
        found.append(load(path) | {"machine_name": os.path.relpath(path, results).split(os.sep)[0], "path": path})
    return found
