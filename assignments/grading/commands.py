"""labs.py lab, grade and bug."""

import functools
import json
import os
import pathlib
import time

from grading.bugs import grade_bug
from grading.build import build_tools, build_version, has_gpu, make, reference_worker, run_limited
from grading.grade import Outcome, Part, grade_answers, grade_task, is_disturbed
from grading.lab import BUILD, ROOT, Lab, LabError, fix_of, maximum_of, shown
from grading.measure import check_version, time_version
from grading.races import find_kernel_race
from grading.show import next_step, progress, show_task, sizes_of, wrapped
from grading.unusual import page
from grading.worst import grade_worst


def pictures_folder(lab):
    folder = ROOT / BUILD / f"lab-{lab.number}"
    folder.mkdir(parents=True, exist_ok=True)
    return f"{BUILD}/lab-{lab.number}"


BUSY = ", busy"  # behind a figure that other programs had a part in


def show_predictions(lab, outcomes, said):
    """What was predicted beside what is; nothing is measured before it has been predicted."""
    rows = []
    by_task = {o.task["id"]: o for o in outcomes}
    for prediction in lab.predictions:
        if prediction["task"] not in by_task:
            continue
        outcome = by_task[prediction["task"]]
        measured = "-"
        if prediction["id"] not in said:
            measured = "guess first"
        elif outcome.check and outcome.check["outcome"] == "pass":
            measured = measure(lab, outcome, prediction)
        guess = f"{said[prediction['id']]:g}" if prediction["id"] in said else "-"
        rows.append(f"  {prediction['text']:<66} {guess:>10} {measured:>12}")
    if rows:
        print(f"\n  {'':<66} {'predicted':>10} {'measured':>12}")
        print("\n".join(rows))
        if any(row.endswith(BUSY) for row in rows):
            print("  (busy: other programs took the cores meanwhile; end them and measure again)")


def measure(lab, outcome, prediction):
    """As words, a number where there is one."""
    if prediction["measure"].startswith("speedup "):
        return measure_speedup(lab, outcome.task, prediction)
    call, what = prediction["measure"].split(".")
    return str(outcome.check.get(call, {}).get(what, "-"))


def measured_number(lab, outcome, prediction):
    """None where it cannot be measured, or other programs had a part in it."""
    if not outcome.check or outcome.check["outcome"] != "pass":
        return None
    try:
        return float(measure(lab, outcome, prediction))
    except ValueError:
        return None


def measure_speedup(lab, task, prediction):
    rung = prediction["measure"].split()[1]
    if task["file"].endswith(".cu") and not has_gpu():
        return "no GPU"
    progress(f"{task['id']}: timing beside {rung}")
    worker = pathlib.Path(ROOT, BUILD, "workers", lab.file_of(task))
    other = reference_worker(rung, task["algorithm"], lab)
    if rung.startswith("student/"):
        own = lab.task(rung.split("/")[1])
        other, _, _ = build_version(lab.file_of(own), own.get("helpers", ()), calls=own.get("calls", ()), added=lab.allowed)
    if not other:
        return "-"
    speed = {"seconds": 1, "zero": 1e6, "params": prediction.get("params", []), "frames": prediction.get("frames", 8)}
    result = time_version(lab, worker, other, speed, prediction["size"])
    if not result.get("wrong") and is_disturbed(result):
        result = time_version(lab, worker, other, speed, prediction["size"])
    progress("")
    if result.get("wrong"):
        return "-"
    return f"{1 / result['ratio_median']:.3g}" + (BUSY if is_disturbed(result) else "")


def command_lab(arguments):
    lab = Lab(arguments.number)
    lab.patience = arguments.patience
    lab.unconfined = bool(os.environ.get("SANITIZE"))  # sanitizers read the program to name a line; it is the student's own
    tasks = [lab.task(arguments.task)] if arguments.task else lab.tasks
    outcomes = []
    print(f"lab {lab.number}: {lab.data['title']}\n", flush=True)
    for task in tasks:  # what it needs and no more: the first answer is there before the emulator, which takes the longest
        progress(f"{task['id']}: building the judge" + (" and the emulator" if task["file"].endswith(".cu") else ""))
        build_tools(lab, lab.sources([task]), lab.are_watched([task]))
        outcome = grade_task(lab, task, pictures_folder(lab), progress)
        outcomes.append(outcome)
        progress("")
        print(show_task(outcome) + "\n", flush=True)
    if arguments.task:
        if any(p["task"] == arguments.task for p in lab.predictions):
            answers, fault = lab.answers()
            if fault:
                print(f"answers: {fault}")
            show_predictions(lab, outcomes, answers["predictions"])
            print()
    else:
        build_tools(lab, lab.sources(tasks))
        parts = show_answers(lab, outcomes)
    print(next_step(outcomes) or (words_behind(lab, arguments.task) if arguments.task else words_of_all(lab, parts)))
    return 0


def words_behind(lab, task):
    """Of a task with its full points: what comes behind it in the lab's text."""
    names = [t["id"] for t in lab.tasks]
    behind = names[names.index(task) + 1:]
    left = [b["id"] for b in lab.bugs if b["id"] not in lab.answers()[0]["bugs"]]
    step = (f"lab-{lab.number} TASK={behind[0]}" if behind else f"worst-{lab.number}" if lab.worst
            else f"bug-{lab.number} BUG={left[0]}" if left else "")
    return f"{task} has its full points" + (f"; next: make {step}" if step else "")


def words_of_all(lab, parts):
    """Where all tasks have their full points: which picture or bug has not. A figure is not judged here, but missing or not."""
    answered = lab.answers()[0]["bugs"]
    left = [p for p in parts if (p.name.split()[1] not in answered if p.secret else p.points < p.maximum - 0.05)]
    left.sort(key=lambda part: part.name.startswith("bug"))
    step = "" if not left else f"bug-{lab.number} BUG={left[0].name.split()[1]}" if left[0].name.startswith("bug") else f"worst-{lab.number}"
    return "all tasks have their full points" + (f"; next: make {step}" if step else "")


def show_answers(lab, outcomes):
    bugs, predictions, fault = grade_answers(lab, pictures_folder(lab), outcomes, functools.partial(measured_number, lab))
    if fault:
        print(f"answers: {fault}")
    for part in bugs:
        print(f"{part.name:<12} {part.points:g} of {part.maximum} points   {part.reason}")
    show_predictions(lab, outcomes, lab.answers()[0]["predictions"])
    total = sum(o.points for o in outcomes) + sum(p.points for p in bugs + predictions)
    figures = any("figure" in b for b in lab.bugs) and lab.key is None
    print(f"\n{total:g} of {lab.maximum} points" + (", the figures of the bugs not counted" if figures else ""))
    return bugs


def command_grade(arguments):
    lab = Lab(arguments.number)
    lab.unconfined = arguments.unconfined
    lab.patience = arguments.patience
    if arguments.submission:
        lab.take_submission(arguments.submission)
    tasks = [lab.task(arguments.task)] if arguments.task else lab.tasks
    out = pathlib.Path(arguments.out or ROOT / BUILD / f"grade-{lab.number}")
    out.mkdir(parents=True, exist_ok=True)
    started = time.time()
    build_tools(lab, lab.sources(tasks), lab.are_watched(tasks))
    outcomes = [grade_whatever_happens(lab, task) for task in tasks]
    progress("")
    bugs, predictions, fault = ([], [], None) if arguments.task else grade_answers(
        lab, pictures_folder(lab), outcomes, functools.partial(measured_number, lab))
    total, maximum = write_results(lab, outcomes, bugs + predictions, fault, out, time.time() - started)
    (out / "instructor.txt").write_text(page(lab, tasks, arguments.classmates) + "\n", encoding="utf-8", errors="replace")
    passing = arguments.passing if arguments.passing is not None else maximum
    print((out / "report.txt").read_text(encoding="utf-8"), end="")
    print(f"written: {shown(out / 'report.txt')}, {shown(out / 'results.json')}; for the instructor: {shown(out / 'instructor.txt')}")
    unjudged = [o.task["id"] for o in outcomes if o.unjudged]
    possible = total + sum(p.maximum - p.points for o in outcomes if o.unjudged for p in o.parts if p.name == "speed")
    if total < passing - 0.05 <= possible:
        raise LabError(f"not judged, because the machine was busy: {', '.join(unjudged)}; grade again when it is not")
    return 0 if total >= passing - 0.05 else 1


def grade_whatever_happens(lab, task):
    """A fault of the grader costs the points of one task, and the report says so: results are written in any case."""
    try:
        return grade_task(lab, task, pictures_folder(lab), progress)
    except LabError:
        raise
    except Exception as error:  # noqa: BLE001
        outcome = Outcome(task)
        outcome.parts.append(Part("right", 0, maximum_of(task), f"the grader failed at this file: {error!r:.200}"))
        return outcome


def write_results(lab, outcomes, answers, fault, out, seconds):
    """report.txt, and results.json as gradescope-autograders.readthedocs.io/en/latest/specs describes it."""
    total = round(sum(o.points for o in outcomes) + sum(p.points for p in answers), 1)
    maximum = sum(o.maximum for o in outcomes) + sum(p.maximum for p in answers)
    lines = [f"lab {lab.number}: {lab.data['title']}: {total:g} of {maximum} points", ""]
    tests = []
    for outcome in outcomes:
        lines += [show_task(outcome), ""]
        tests.append(test_of(f"{outcome.task['id']}: {outcome.task['title']}", outcome.points, outcome.maximum,
                             show_task(outcome)))
    for part in answers:
        lines.append(f"{part.name:<28} {part.points:g} of {part.maximum} points   {part.reason}")
        tests.append(test_of(part.name, part.points, part.maximum, part.reason))
        if part.secret:  # while it is hidden, Gradescope shows no total either
            tests[-1]["visibility"] = "after_published"
    if fault:
        lines.append(f"answers: {fault}")
    (out / "report.txt").write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")
    results = {"score": total, "execution_time": round(seconds), "output": fault or "", "output_format": "text",
               "visibility": "visible", "stdout_visibility": "hidden", "tests": tests}
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return total, maximum


def test_of(name, points, maximum, output):
    return {"name": name, "score": points, "max_score": maximum, "status": "passed" if points >= maximum - 0.05 else "failed",
            "output": output, "output_format": "text", "visibility": "visible"}


def command_bug(arguments):
    lab = Lab(arguments.number)
    bug = next((b for b in lab.bugs if b["id"] == arguments.bug), None)
    if not bug:
        raise LabError(f"lab {lab.number} has no bug '{arguments.bug}'; it has {', '.join(b['id'] for b in lab.bugs)}")
    file = f"{shown(lab.folder)}/{bug['file']}"
    print(f"bug {bug['id']}: {file}: {bug['title']}\n", flush=True)
    if "figure" in bug:
        code, output = make([f"{BUILD}/bugs/{file}"])
        if code != 0:
            raise LabError(output.strip())
        code, output = run_limited([f"{BUILD}/bugs/{file}"], 60)
        print(output, end="")
        print(f"\n{bug['figure']}\nMend the program where it is and run this again; with other arguments it is run as\n"
              f"{BUILD}/bugs/{file}.\nWrite the figure under [bugs] in answers.toml: {bug['id']} = ...")
        return 0
    build_tools(lab, [bug["file"]])
    fix = lab.folder / fix_of(bug)
    mended = fix.is_file() and fix.read_bytes() != (lab.folder / bug["file"]).read_bytes()
    show_bug(lab, bug, shown(fix) if mended else file)
    if mended:
        points, reason = grade_bug(lab, bug, lab.answers()[0]["bugs"].get(bug["id"]), pictures_folder(lab))
        print(f"\n{points:g} of {bug['points']} points: {reason}")
    else:
        print(f"\nMend a copy:  install -D -m 644 {file} {shown(fix)}\n"
              f"and write the line that was wrong under [bugs] in answers.toml: {bug['id']} = ...")
    return 0


def command_worst(arguments):
    lab = Lab(arguments.number)
    if not lab.worst:
        raise LabError(f"lab {lab.number} asks for no worst cases")
    for worst in lab.worst:
        progress(f"worst {worst['id']}: counting launches")
        points, reason = grade_worst(lab, worst)
        progress("")
        print(wrapped(f"worst {worst['id']}: {points:.1f} of {worst['points']} points ", reason, 0))
    return 0


def show_bug(lab, bug, file):
    worker, why, output = build_version(file, added=lab.allowed)
    if not worker:
        raise LabError(f"{file}: {why}")
    check = check_version(lab, worker, f"student/bug{bug['id']}", pictures_folder(lab))
    print(f"{file}: {check['failed']} of {check['cases']} cases wrong" + (", in the emulator" if check["emulated"] else ""))
    if check["failures"]:
        print(wrapped("sizes:    ", sizes_of(check)))
    for key, label in (("case", "case:     "), ("what", "wrong:    "), ("diagnosis", "diagnosis:"), ("picture", "picture:  ")):
        if check.get(key):
            print(wrapped(label, check[key]))
    race = find_kernel_race(lab, file, f"student/bug{bug['id']}") if bug.get("watch") and not check["failed"] else ""
    if race:
        print(wrapped("watched:  ", race))
