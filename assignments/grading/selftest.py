"""labs.py solution and mutants: does the lab itself give what versions deserve?"""

import pathlib
import re
import shutil

from grading.build import build_tools, reference_file
from grading.commands import needed_references, pictures_folder
from grading.grade import grade_answers, grade_task
from grading.lab import ROOT, Lab, LabError, shown
from grading.show import progress, show_task


def command_solution(arguments):
    """The starter fails, the ladder's rungs get full points, every shipped mutant gets what its first line says."""
    lab = Lab(arguments.number)
    if lab.key is None:
        raise LabError(f"{shown(lab.folder)}/solution is not here: a handout cannot test itself")
    lab.take_submission(lab.folder)
    build_tools(needed_references(lab, lab.tasks, False))
    failed = 0
    pictures = pictures_folder(lab)

    def expect(title, good, text):
        nonlocal failed
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {title}: {text}", flush=True)

    if not arguments.task:
        bugs, predictions, _ = grade_answers(lab)
        starter = sum(grade_task(lab, t, pictures, progress).points for t in lab.tasks) + sum(
            p.points for p in bugs + predictions)
        progress("")
        expect("starter", starter <= 0.1 * lab.maximum, f"{starter:g} of {lab.maximum} points")
    total = 0
    for task in lab.tasks:
        if arguments.task and task["id"] != arguments.task:
            continue
        place = ROOT / lab.file_of(task)
        for number, rung in enumerate(task["rung"]):
            shutil.copy(ROOT / reference_file(rung, task["algorithm"], lab), place)
            outcome = grade_task(lab, task, pictures, progress)
            progress("")
            expect(f"{task['id']} by {rung}", outcome.points >= outcome.maximum - 0.05,
                   f"{outcome.points:g} of {outcome.maximum} points"
                   + "".join("; " + p.reason for p in outcome.parts if p.points < p.maximum - 0.05))
            total += outcome.points if number == 0 else 0
        for mutant in sorted((lab.folder / "solution" / "mutants").glob(f"{task['id']}-*")):
            expect_mutant(lab, task, mutant, pictures, expect)
    if not arguments.task:
        shutil.copy(lab.folder / "solution" / "answers.toml", lab.place / "answers.toml")
        bugs, predictions, fault = grade_answers(lab)
        total += sum(p.points for p in bugs + predictions)
        expect("answers", not fault and all(p.points == p.maximum for p in bugs + predictions),
               "; ".join(p.reason for p in bugs + predictions if p.points < p.maximum) or "all points")
        expect("everything", total >= lab.maximum - 0.05 * (1 + len(lab.tasks)), f"{total:g} of {lab.maximum} points")
    return 1 if failed else 0


def command_mutants(arguments):
    """Each file of a folder, <task>-<name>.c, gets what its first line says."""
    lab = Lab(arguments.number)
    lab.take_submission(lab.folder)
    for limit in ("case_seconds", "total_seconds", "memory_mib"):
        lab.limits[limit] = getattr(arguments, limit) or lab.limits[limit]
    build_tools(needed_references(lab, lab.tasks, False))
    failed = 0

    def expect(title, good, text):
        nonlocal failed
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {title}: {text}", flush=True)

    for mutant in sorted(p for p in pathlib.Path(arguments.mutants).iterdir() if p.suffix in (".c", ".cu")):
        expect_mutant(lab, lab.task(mutant.name.split("-")[0]), mutant, pictures_folder(lab), expect)
    return 1 if failed else 0


def expect_mutant(lab, task, mutant, pictures, expect):
    """The mutant's first line: // expect: right 0..0 | speed 0..3 | says halo"""
    first = mutant.read_text(encoding="utf-8").splitlines()[0]
    shutil.copy(mutant, ROOT / lab.file_of(task))
    outcome = grade_task(lab, task, pictures, progress)
    progress("")
    text = show_task(outcome)
    good = True
    for clause in re.sub(r"^\W*expect:|\*/$", "", first).split("|"):
        words = clause.split(None, 1)
        if words[0] == "says":
            good &= words[1].strip() in re.sub(r"\s+", " ", text)
        else:
            name, bounds = clause.strip().rsplit(None, 1)
            low, high = map(float, bounds.split(".."))
            points = sum(p.points for p in outcome.parts if p.name == name)
            good &= low <= points <= high
    expect(f"mutant {mutant.name}", good, re.sub(r"\s+", " ", text) if not good else first.strip("/* "))
