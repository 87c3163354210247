"""labs.py solution and mutants: does the lab itself give what versions deserve?"""

import functools
import os
import pathlib
import random
import re
import shutil
import subprocess

from grading.bugs import find_fault
from grading.build import build_tools, build_version, reference_file, reference_worker
from grading.commands import pictures_folder
from grading.grade import grade_answers, grade_task
from grading.lab import ROOT, Lab, LabError, fix_of, load_toml, shown
from grading.measure import FULL, time_version
from grading.show import progress, show_task


BUSY = "the machine was too busy to time it"
ONLY_TIME = "only time could show it, and here it did not"


class Verdicts:
    """Prints each as it falls, and counts."""

    def __init__(self):
        self.failed = self.unjudged = 0

    def expect(self, title, good, text, unjudged=""):
        """`unjudged`: why what is not good may be so by time alone."""
        if unjudged and not good:
            print(f"SKIP {title}: {unjudged}", flush=True)
            return
        self.failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {title}" + (f": {text}" if text else ""), flush=True)

    def end(self):
        if self.unjudged:
            print(f"{self.unjudged} times the machine was too busy to judge speed: repeat on a quiet one", flush=True)
        return 1 if self.failed else 0


def changed(text, pairs, where):
    """The text with each `from` of the pairs, which must be there, replaced by its `to`."""
    for old, new in pairs:
        if old not in text:
            raise LabError(f"{where}: '{old}' is not in the file that it changes")
        text = text.replace(old, new)
    return text


def lots_of(lab):
    """Draws the same at each try of a commit, so that what CI has found can be repeated, and others at the next."""
    head = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    return random.Random(f"{head} {lab.number}")


def mutants_of(lab):
    path = lab.folder / "solution" / "mutants.toml"
    mutants = load_toml(path).get("mutant", []) if path.is_file() else []
    for mutant in mutants:
        unknown = set(mutant) - {"name", "of", "change", "right", "speed", "need", "says", "timed"}
        if unknown:
            raise LabError(f"{shown(path)}: {mutant.get('name', '?')}: unknown key {sorted(unknown)[0]}")
    return mutants


def source_of(lab, task, rung):
    file = shown(lab.folder / task["file"]) if rung == "starter" else reference_file(rung, task["algorithm"], lab)
    if file is None:
        raise LabError(f"{shown(lab.folder)}: there is no {rung} of {task['algorithm']}")
    return (ROOT / file).read_text(encoding="utf-8")


def grade(lab, task, verdicts):
    outcome = grade_task(lab, task, pictures_folder(lab), progress)
    progress("")
    verdicts.unjudged += outcome.unjudged
    return outcome


def full(outcome):
    """All points, but for speed that nobody could judge."""
    return all(p.points >= p.maximum - 0.05 or p.name == "speed" and outcome.unjudged for p in outcome.parts)


def command_solution(arguments):
    """The starter fails, the ladder's rungs get full points, every mutant gets what it deserves."""
    lab = Lab(arguments.number)
    if lab.key is None:
        raise LabError(f"{shown(lab.folder)}/solution is not here: a handout cannot test itself")
    lab.patience = arguments.patience
    os.environ.setdefault("RUNGS_IDLE_SECONDS", "30")  # mutants that wait for ever need no five minutes to show it
    lab.take_submission(lab.folder)
    build_tools(lab, lab.sources(lab.tasks), lab.are_watched(lab.tasks))
    verdicts = Verdicts()
    if arguments.mutant:
        expect_mutants(lab, lab.tasks, verdicts, lots_of(lab), named=arguments.mutant)
        return verdicts.end()
    if not arguments.task:
        bugs, predictions, _ = grade_answers(lab, pictures_folder(lab))
        starter = sum(grade(lab, t, verdicts).points for t in lab.tasks) + sum(p.points for p in bugs + predictions)
        verdicts.expect("starter", starter <= 0.1 * lab.maximum, f"{starter:g} of {lab.maximum} points")
    tasks = [t for t in lab.tasks if arguments.task in (None, t["id"])]
    lots = lots_of(lab)
    for task in tasks:
        for rung in lots.sample(task["rung"], 1) if arguments.share > 1 else task["rung"]:
            (ROOT / lab.file_of(task)).write_text(source_of(lab, task, rung), encoding="utf-8")
            expect_twice(f"{task['id']} by {rung}", functools.partial(weigh_rung, lab, task, verdicts, arguments.share > 1), verdicts)
    expect_mutants(lab, tasks, verdicts, lots, share=arguments.share)
    if not arguments.task:
        expect_bugs(lab, verdicts, lots, arguments.share)
        expect_answers(lab, verdicts)
    return verdicts.end()


def weigh_rung(lab, task, verdicts, lenient):
    """`lenient`: time alone fails nothing, as in CI, on whose machine nobody is to look at what else ran."""
    outcome = grade(lab, task, verdicts)
    missing = [p for p in outcome.parts if p.points < p.maximum - 0.05]
    unjudged = BUSY if outcome.unjudged else ""
    if {p.name for p in missing} == {"speed"} and not unjudged:
        unjudged = ONLY_TIME if lenient or missing[0].points >= missing[0].maximum / 2 else "" if is_steady(lab, task) else BUSY
    return full(outcome), f"{outcome.points:g} of {outcome.maximum} points" + "".join("; " + p.reason for p in missing), unjudged


def expect_bugs(lab, verdicts, lots, share):
    """Students can find what the checker finds; of a share, one bug by lot."""
    bugs = [b for b in lab.bugs if "figure" not in b]
    for bug in lots.sample(bugs, min(len(bugs), 1)) if share > 1 else bugs:
        fault, cases = find_fault(lab, bug, f"{shown(lab.folder)}/{bug['file']}", pictures_folder(lab))
        verdicts.expect(f"bug {bug['id']} is found", fault and cases, fault or "it is right in all cases")


def expect_answers(lab, verdicts):
    shutil.copy(lab.folder / "solution" / "answers.toml", lab.place / "answers.toml")
    for fix in lab.key.get("fix", []):
        bug = next(b for b in lab.bugs if b["id"] == fix["bug"])
        broken = (lab.folder / bug["file"]).read_text(encoding="utf-8")
        target = lab.place / fix_of(bug)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(changed(broken, fix["change"], f"key.toml, fix of bug {bug['id']}"), encoding="utf-8")
    for worst in lab.worst:
        (lab.place / worst["picture"]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(lab.folder / worst["picture"].replace("starter/", "solution/", 1), lab.place / worst["picture"])
    bugs, predictions, fault = grade_answers(lab, pictures_folder(lab))
    progress("")
    verdicts.expect("answers", not fault and all(p.points == p.maximum for p in bugs + predictions),
                    fault or "; ".join(p.reason for p in bugs + predictions if p.points < p.maximum) or "all points")


def is_steady(lab, task):
    """Whether the reference, timed against itself, is neither slower nor faster by what costs points."""
    speed = task["speed"]
    reference = reference_worker(speed["reference"], task["algorithm"], lab)
    most = speed.get("full", FULL)
    timings = [time_version(lab, reference, reference, speed, size) for size in speed["sizes"]]
    return all(not t["wrong"] and 1 / most < t["ratio_median"] < most for t in timings)


LIST_SAYS = r"line \d+ |needs |has a function within"  # as allowed.py begins
TRIES = 2  # a limit of seconds and a ratio of times may go wrong by what else the machine does; a fault of ours stays


def expect_twice(title, weigh, verdicts):
    """`weigh()` gives whether the verdict was the one deserved, its words, and why it may be unjudged, or ""."""
    for _ in range(TRIES):
        good, text, unjudged = weigh()
        if good or unjudged == BUSY:  # which has waited already
            break
    verdicts.expect(title, good, text, unjudged)


def expect_mutants(lab, tasks, verdicts, lots, named=None, share=1):
    """`share`: one in so many, by lot."""
    mutants = [m for m in mutants_of(lab) if named in (None, m["name"])]
    if named and not mutants:
        raise LabError(f"{shown(lab.folder)}/solution/mutants.toml has no mutant {named}")
    if share > 1:
        first = lots.randrange(share)
        print(f"mutants: each {share}th from number {first + 1} on, of {len(mutants)}; make solution LAB={lab.number} tries all", flush=True)
        mutants = mutants[first::share]
    for mutant in mutants:
        task = lab.task(mutant["name"].split("-")[0])
        if task not in tasks:
            continue
        text = changed(source_of(lab, task, mutant["of"]), mutant["change"], f"mutant {mutant['name']}")
        (ROOT / lab.file_of(task)).write_text(text, encoding="utf-8")
        expect_twice(f"mutant {mutant['name']}", functools.partial(weigh_mutant, lab, task, mutant, verdicts, share > 1), verdicts)


def weigh_mutant(lab, task, mutant, verdicts, lenient):
    outcome = grade(lab, task, verdicts)
    said = re.sub(r"\s+", " ", show_task(outcome))
    wanted = mutant.get("says", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    points = {p.name: p.points for p in outcome.parts}
    bounds = {name: mutant[name] for name in ("right", "speed") if name in mutant} | mutant.get("need", {})
    if outcome.unjudged:
        bounds.pop("speed", None)
    missed = {name for name, (low, high) in bounds.items() if not low <= points.get(name, 0) <= high}
    told = all(any(text in said for text in either.split("|")) for either in wanted)
    good = told and not missed and not (outcome.unjudged and "speed" in mutant and not wanted)
    unjudged = BUSY if outcome.unjudged and not missed else ONLY_TIME if told and missed == {"speed"} and (lenient or mutant.get("timed")) else ""
    return good, "; ".join(wanted) if good else said, unjudged


def command_mutants(arguments):
    """Each file of a folder, <task>-<name>.c, or one in --share of them by lot, gets what its first line says."""
    lab = Lab(arguments.number)
    lab.take_submission(lab.folder)
    lab.patience = arguments.patience
    for limit in ("case_seconds", "total_seconds", "memory_mib", "largest_pixels"):
        lab.limits[limit] = getattr(arguments, limit) or lab.limits.get(limit)
    build_tools(lab, lab.sources(lab.tasks), lab.are_watched(lab.tasks))
    verdicts = Verdicts()
    mutants = sorted(p for p in pathlib.Path(arguments.mutants).iterdir() if p.suffix in (".c", ".cu"))
    for mutant in mutants[lots_of(lab).randrange(arguments.share)::arguments.share]:
        task = lab.task(mutant.name.split("-")[0])
        expect_twice(f"mutant {mutant.name}", functools.partial(weigh_file, lab, task, mutant, verdicts), verdicts)
    return verdicts.end()


def weigh_file(lab, task, mutant, verdicts):
    """The mutant's first line: // expect: right 0..0 | speed 0..3 | says halo | lacks race. With a clause `list NAME` it must be refused for that name
    before it runs; what the line says besides is then the verdict of what is behind the list."""
    first = mutant.read_text(encoding="utf-8").splitlines()[0]
    clauses = [clause.strip() for clause in re.sub(r"^\W*expect:|\*/$", "", first).split("|")]
    shutil.copy(mutant, ROOT / lab.file_of(task))
    refused = [clause.split(None, 1)[1] for clause in clauses if clause.startswith("list ")]
    clauses = [clause for clause in clauses if not clause.startswith("list ")]
    if refused:
        _, why, _ = build_version(lab.file_of(task), task.get("helpers", ()), lab.are_watched([task]), task.get("calls", ()), lab.allowed)
        if refused[0] not in why or not re.match(LIST_SAYS, why):
            return False, why or "nothing is wrong with it", ""
        if not clauses:
            return True, why, ""
    lab.listed = not refused
    outcome = grade(lab, task, verdicts)
    lab.listed = True
    text = show_task(outcome)
    good = True
    for clause in clauses:
        words = clause.split(None, 1)
        if words[0] in ("says", "lacks"):
            good &= (words[1].strip() in re.sub(r"\s+", " ", text)) == (words[0] == "says")
        else:
            name, bounds = clause.strip().rsplit(None, 1)
            low, high = map(float, bounds.split(".."))
            points = sum(p.points for p in outcome.parts if p.name == name)
            good &= low <= points <= high
    return good, first.strip("/* ") if good else re.sub(r"\s+", " ", text), BUSY if outcome.unjudged else ""
