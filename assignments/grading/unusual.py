"""A page for the instructor beside a submission's report: of each file how much of it stands elsewhere, and what nobody else uses. It takes
no points and judges nothing: it says which files are worth reading."""

import pathlib

from grading.allowed import Refused, base_list, pattern_of, tokens_of
from grading.build import reference_file
from grading.lab import ROOT, is_folder, read_regular, shown
from grading.similarity import FEWEST, TOO_MUCH, runs_of

MOST_NAMES = 12


def constructs(text, suffix):
    """Names of the lists, headers and pragmas that a file has, and its directives."""
    lists, found = base_list()[suffix.lstrip(".")], set()
    known = pattern_of(tuple(lists["functions"] + lists["names"] + lists["attributes"]))
    try:
        parts = tokens_of(text, suffix)
    except Refused as refused:
        return {f"({refused})"}
    for is_directive, tokens in parts:
        words = [t.text for t in tokens]
        if is_directive and words:
            found.add("#" + ("".join(words) if words[0] == "include" else " ".join(words[:3]) if words[0] == "pragma" else words[0]))
        else:
            found |= {t.text for t in tokens if t.kind == "word" and (known.fullmatch(t.text) or t.text.startswith(("_", "cuda", "atomic")))}
    return found


def share(own, other):
    return len(own & other) / len(own) if len(own) >= FEWEST else 0.0


def files_of_classmates(lab, folder, name):
    """(who, text) of the same file in other submissions, each a folder below this one."""
    for place in sorted(p for p in pathlib.Path(folder).iterdir() if p.is_dir()) if folder else ():
        inner = place / shown(lab.folder) if is_folder(place, shown(lab.folder)) else place
        content = read_regular(inner, name)
        if content is not None and place.resolve() != pathlib.Path(lab.submitted or lab.folder).resolve():
            yield place.name, content.decode("utf-8", "replace")


def page(lab, tasks, classmates):
    lines = [f"lab {lab.number}: what is unusual in this submission. For you, not for students; nothing here has cost points.", ""]
    starters = {t["id"]: (read_regular(lab.folder, t["file"]) or b"").decode("utf-8", "replace") for t in lab.tasks}
    for task in tasks:
        content = read_regular(lab.place, task["file"])
        if content is None:
            lines += [f"{task['id']}: no file", ""]
            continue
        text, suffix = content.decode("utf-8", "replace"), pathlib.Path(task["file"]).suffix
        given = runs_of(starters[task["id"]]) | runs_of((ROOT / "cpu" / task["algorithm"] / "0_serial.c").read_text(encoding="utf-8"))
        own = runs_of(text) - given
        answers = [f for f in (reference_file(rung, task["algorithm"], lab) for rung in task.get("rung", ())) if f]
        others = [(f"the solution {f}", (ROOT / f).read_text(encoding="utf-8")) for f in answers]
        others += [(f"the starter of {name}", starter) for name, starter in starters.items() if name != task["id"]]
        mates = [(f"the submission {who}", copy) for who, copy in files_of_classmates(lab, classmates, task["file"])]
        lines.append(f"{task['id']}: {len(text.splitlines())} lines; of its code {100 * (1 - len(own) / max(1, len(runs_of(text)))):.0f} % was given")
        near = sorted(((share(own, runs_of(other)), name) for name, other in others + mates), reverse=True)
        lines += [f"    {100 * part:.0f} % of its own code stands in {name}" for part, name in near[:5] if part >= TOO_MUCH / 2]
        usual = constructs(starters[task["id"]], suffix).union(*(constructs((ROOT / f).read_text(encoding="utf-8"), suffix) for f in answers),
                                                               *(constructs(copy, suffix) for _, copy in mates))
        rare = sorted(constructs(text, suffix) - usual)
        if rare:
            lines.append(f"    nobody else uses: {', '.join(rare[:MOST_NAMES])}" + (f" and {len(rare) - MOST_NAMES} more" if len(rare) > MOST_NAMES else ""))
        lines.append("")
    return "\n".join(lines)
