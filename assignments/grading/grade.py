"""Points with reasons: for tasks, for the bugs that a student named, for predictions."""

import os
import re
import secrets
import time

from grading.bugs import grade_bug
from grading.build import build_version, has_gpu, reference_file, reference_worker
from grading.lab import ROOT, maximum_of
from grading.races import AT_WORK, THREADS, count_watched, find_kernel_race, find_race, has_threads, shared_work
from grading.measure import CALLS, FULL, ZERO, also_missing, check_version, fault_of_counts, is_within, time_version, usable_cores
from grading.similarity import expanded, is_same
from grading.worst import grade_worst

MOST_AROUND = 0.5  # of a result's variation that may come about without shared memory, where that is asked for
MOST_OTHERS = 8  # samples for each thread of launches whose blocks a tunable does not shape
MOST_SIDE = 65535  # pixels, of any contract's pictures
ATTEMPTS = 4  # at a timing that does not earn all points
# Shares of its time that the reference may wait for a core, and of the cores that others may have; more of both, and the machine
# has other work. Either alone proves nothing: threads that wake up beside each other wait as well (on two cores for a quarter of
# a short call), and others may run where there are cores enough.
WAITED, OTHERS = 0.15, 0.15


# Of a task's side, which its file's name says: for the GPU or not.
OTHER_SIDE = {True: "works on the CPU, but this task is about the GPU: RUNGS_CUDA_VERSION, or a pipeline with on_device",
              False: "works on the GPU, but this task is about the CPU"}


def share_of(ratio, speed):
    full, zero = speed.get("full", FULL), speed.get("zero", ZERO)
    return min(1.0, max(0.0, (zero - ratio) / (zero - full)))


class Part:
    """One thing that earns points."""

    def __init__(self, name, points, maximum, reason):
        self.name, self.points, self.maximum, self.reason = name, round(points, 1), maximum, reason
        self.secret = False  # to try again shall not tell whether the answer was right


class Outcome:
    """What became of one task."""

    def __init__(self, task):
        self.task, self.parts, self.check, self.timings, self.compiler = task, [], None, [], ""
        self.unjudged = False  # the machine was too busy to say how fast it is

    points = property(lambda self: round(sum(p.points for p in self.parts), 1))
    maximum = property(lambda self: maximum_of(self.task))


def grade_task(lab, task, pictures, say):
    outcome = Outcome(task)
    speed, at_work = task.get("speed", {}), None

    def give_up(reason):
        outcome.parts.append(Part("right", 0, task["right"], reason))
        for need in task.get("need", []):
            outcome.parts.append(Part(need["title"], 0, need["points"], "needs a version that is right"))
        if speed:
            outcome.parts.append(Part("speed", 0, speed["points"], "needs a version that is right"))
        return outcome

    say(f"{task['id']}: building {task['file']}")
    worker, why, outcome.compiler = build_version(lab.file_of(task), task.get("helpers", ()), lab.are_watched([task]),
                                                  task.get("calls", ()), lab.allowed, lab.listed)
    if not worker:
        return give_up(why)
    say(f"{task['id']}: checking" + (" in the emulator" if task["file"].endswith(".cu") and not has_gpu() else ""))
    name = f"student/{task['id']}"
    check = outcome.check = check_version(lab, worker, name, pictures, task.get("counted", ()), algorithm=task["algorithm"],
                                          without=task.get("without", []), largest=task.get("largest"),
                                          counted_size=task.get("counted_size"),
                                          any_threads=any(n["count"].startswith("any_threads.") for n in task.get("need", [])))
    if check["outcome"] == "pass" and check["cuda"] != task["file"].endswith(".cu"):
        outcome.check = None
        return give_up(OTHER_SIDE[task["file"].endswith(".cu")])
    if check["outcome"] == "skip":
        return give_up(f"cannot run here: {check['reason']}")
    check["cases"] -= check.get("declined", 0)
    if check["outcome"] == "pass" and check["checked"] < check["cases"]:
        return give_up(f"too slow: after {lab.limits['total_seconds']} s only {check['checked']} of {check['cases']} cases were done")
    unwritten = re.search(r"\S+ is not written yet$", check["what"])
    if unwritten:  # as the starters say
        outcome.check = None
        return give_up(unwritten.group(0))
    if check["outcome"] != "pass":
        if check.get("ended_early"):
            return give_up(check["what"])
        fault = race_behind(lab, task, name, say)
        return give_up(f"{check['failed']} of {check['cases'] or '?'} cases wrong" + (f"; {fault}" if fault else ""))
    fault = fault_of_counts(check)
    if fault:
        outcome.check = None
        return give_up(fault)
    twin = twin_of(lab, task)
    if twin:
        return give_up(f"is the same program as {twin}: this task asks for its own")
    if has_threads(lab, task):
        say(f"{task['id']}: looking for data races")
        fault = find_race(lab, task)
        if not fault and speed and not check.get("pipeline"):
            fault, at_work = shared_work(lab, task, drawn_size(speed["sizes"][0]))
        if fault:
            return give_up(fault)
    if "any_threads" in check:
        check["any_threads"]["at_work"] = at_work if has_threads(lab, task) else 1
    if task.get("watch"):
        say(f"{task['id']}: watching kernels for data races")
        counts = {}
        fault = find_kernel_race(lab, lab.file_of(task), name, task, counts)
        if fault:
            return give_up(fault)
        if counts:
            check["watched"] = counts
    if "picture" in task:
        counts = count_watched(lab, task)
        if counts is not None:
            check["watched"] = counts
    for variant in task.get("tunables", []):
        fault = check_tunables(lab, task, worker, check, variant, pictures, say)
        if fault:
            return give_up(fault)
    outcome.parts.append(Part("right", task["right"], task["right"], f"all {check['cases']} cases agree with cpu/serial"
                              + (", in the emulator" if check["emulated"] else "")))
    good = grade_needs(outcome, task, check, lab.unpredicted(task))
    if speed:
        grade_speed(lab, outcome, task, worker, good, say, at_work)
    return outcome


def twin_of(lab, task):
    """Which program that this task does not ask for a version is, in words; "" where it is its own."""
    for name in task.get("unlike", []):
        if "/" not in name:
            if is_twin(lab, task, lab.task(name)):
                return f"{lab.task(name)['file']}, which is another task's answer"
            continue
        other = reference_file(name, task["algorithm"], lab)  # none of our own solutions in a handout
        if other and is_same(*(expanded(ROOT / f) for f in (lab.file_of(task), other))):
            return f"{name}, which is the answer of another task" if name.startswith("solution/") else f"{name}, which was handed out"
    return ""


def is_twin(lab, task, other):
    files = [lab.place / t["file"] for t in (task, other)]
    return all(f.is_file() for f in files) and is_same(*map(expanded, files))


def race_behind(lab, task, name, say):
    """Of a version with wrong results: the data race that may be why, which names its lines, or ""."""
    say(f"{task['id']}: looking for data races")
    fault = ""
    if has_threads(lab, task):
        fault = find_race(lab, task)
    elif task.get("watch"):
        fault = find_kernel_race(lab, lab.file_of(task), name, task)
    return fault if fault.startswith("data race") else ""


def better(earlier, timing):
    """Of two timings the one with the lower median: what else the machine does may only cost time, never points."""
    if timing["wrong"]:
        return timing
    timing["ratio"] = timing["ratio_median"]
    return earlier if earlier and earlier["ratio"] <= timing["ratio"] else timing


def check_tunables(lab, task, worker, check, variant, pictures, say):
    """None, or why a value of a tunable that must work does not."""
    name, values = variant["name"], variant["values"]
    known = check["tunables"].get(name)
    if not known:
        return f"has no tunable '{name}' (RUNGS_CUDA_VERSION({task['algorithm']}, .tunables = tunables))"
    for value in values:
        if value not in known["legal"]:
            return f"the tunable {name} has no value {value}; it has {known['legal']}"
        say(f"{task['id']}: checking {name}={value}")
        settings = [f"{name}={value}", *variant.get("with", [])]
        result = check_version(lab, worker, f"student/{task['id']}", pictures, settings, 1.5,
                               without=task.get("without", []))
        if result["outcome"] != "pass":
            check.update(result)
            return f"with {' '.join(settings)}: {result['what']}"
        found = result.get("second_call", {}).get(variant.get("sets"))
        if found not in (None, value):
            return f"with {' '.join(settings)}: its kernel runs with {variant['sets'].replace('_', ' ')} {found}: the tunable has no effect"
        if result.get("second_call", {}).get("other_threads", 0) * MOST_OTHERS > result.get("samples", 0):
            return (f"with {' '.join(settings)}: a kernel whose blocks are others has {result['second_call']['other_threads']} threads, where there "
                    f"are {result['samples']} samples: the tunable has no effect on it")
    return None


def grade_needs(outcome, task, check, hidden):
    good = True
    for need in task.get("need", []):
        call, what = need["count"].split(".")
        if what not in check.get(call, {what: 0}):
            outcome.parts.append(Part(need["title"], 0, need["points"], f"{what.replace('_', ' ')}: it is wrong for the lab's picture, "
                                      "or takes too long"))
            good = False
            continue
        if call not in check:
            outcome.parts.append(Part(need["title"], need["points"], need["points"],
                                      "not counted on a GPU or under the sanitizers, where the speed shows it"))
            continue
        count = check[call][what]
        ok = is_within(need, check[call], what)
        for_show = ok and "least" in need and what in ("shared_bytes", "barriers")  # could be: asked for, and not used
        if for_show and check.get("needs_no_shared_memory"):
            outcome.parts.append(Part(need["title"], 0, need["points"], "its result is right when shared memory loses at "
                                      "each barrier what it held: nothing goes through it"))
            good = False
            continue
        around = check.get("share_around_shared_memory", 0)
        if for_show and around > MOST_AROUND:
            outcome.parts.append(Part(need["title"], 0, need["points"], f"when shared memory loses at each barrier what it held, "
                                      f"{100 * around:.0f} % of its result is still there: most samples come from elsewhere"))
            good = False
            continue
        short = also_missing(need, check)
        if short:
            outcome.parts.append(Part(need["title"], 0, need["points"], short))
            good = False
            continue
        before = next((p for p in outcome.parts if p.name == need.get("after")), None)
        if before and before.points < before.maximum:
            outcome.parts.append(Part(need["title"], 0, need["points"], f"counts once there are {before.name}"))
            good = False
            continue
        if what == "frames_at_work" and not ok and check[call]["depth"] > count:
            took = f"it takes {check[call]['depth']} frames"
            outcome.parts.append(Part(need["title"], 0, need["points"],
                                      f"{took} and keeps them: of the time of the steps that its result comes from (by step_run()) "
                                      f"{check[call]['between']} % passes between submit() and receive(), and a tenth must"
                                      if "between" in check[call] else
                                      f"{took}, but only one stream has steps of its results to run at a time (by step_run()): does submit() "
                                      "wait, or keep the frame, does an event put whole frames one behind the other, or is a copy's memory on the "
                                      "host not page-locked?"))
            good = False
            continue
        wanted = f"at most {need['most']}" if "most" in need else f"at least {need['least']}"
        if not ok and is_within(need, {what: count}, what):
            wanted += f", also for the picture moved round, where it is {check[call]['moved'][what]}"
        shown_count = "counted; the number when you have predicted it in answers.toml" if what in hidden else count
        words = f"{what.replace('_', ' ')} {CALLS[call]}: {shown_count}"
        outcome.parts.append(Part(need["title"], need["points"] if ok else 0, need["points"],
                                  words if ok else f"{words}, must be {wanted}"))
        good &= ok
    return good


def grade_speed(lab, outcome, task, worker, good, say, at_work):
    speed = task["speed"]
    points = speed["points"]

    def give(share, reason):
        outcome.parts.append(Part("speed", points * share, points, reason))

    if task["file"].endswith(".cu") and not has_gpu():
        give(1 if good else 0, "no GPU here: what is right" + (" earns it" if good else ", but not what was asked for, earns none"))
        return
    if os.environ.get("SANITIZE"):
        outcome.unjudged = True
        give(0, "not judged: under the sanitizers everything is slow")
        return
    reference = reference_worker(speed["reference"], task["algorithm"], lab)
    if not reference:
        give(0, f"not measured: {speed['reference']} is not in this tree for this processor")
        return
    on_cores = task["file"].endswith(".c")
    if on_cores and usable_cores() < 2:
        outcome.unjudged = True
        give(0, f"not judged: this machine lends the grader {usable_cores():g} cores, and what threads bring shows on 2 or more")
        return
    if at_work and at_work < AT_WORK:
        give(0, f"with {THREADS} threads {100 / at_work:.0f} % of its accesses come one after the other: one thread works while others wait")
        return
    worst, zero = 0, speed.get("zero", ZERO)
    for size in map(drawn_size, speed["sizes"]):
        timing = time_quietly(lab, task, worker, reference, size, say)
        if timing is None:
            outcome.unjudged = True
            give(0, "not judged: other programs took the cores while it was timed, each time that it was tried; end them and try again")
            return
        timing["size"] = size
        outcome.timings.append(timing)
        if timing["wrong"]:
            give(0, timing["wrong"])
            return
        if on_cores and leaves_cores_idle(timing):
            give(0, f"{timing['threads_ran']} of {timing['threads']} threads did the work, where {speed['reference']} has "
                 f"{timing['reference_threads_ran']} at work: cores are left idle")
            return
        worst = max(worst, timing["ratio"])
        if on_cores and speed.get("full", FULL) < timing["ratio"] < zero:
            zero = min(zero, zero_of_fewer_threads(lab, task, reference, size, say))
    if not good:
        give(0, f"{worst:.2f} times the time of {speed['reference']}, but not what was asked for, earns none")
        return
    give(share_of(worst, speed | {"zero": zero}), f"{worst:.2f} times the time of {speed['reference']} ("
         f"all from {speed.get('full', FULL)} down, none from {zero:.3g} up)")


def drawn_size(size):
    """A size that nobody can know before, for arrays that are as large as the lab's: up to a sixteenth more, as many lanes behind the last
    vector."""
    width, height, *rest = map(int, size.split("x"))
    grown = [width + 16 * secrets.randbelow(width // 256 + 1), height + secrets.randbelow(height // 16 + 1)]
    return "x".join(str(min(side, MOST_SIDE)) for side in grown) + "".join(f"x{n}" for n in rest)


def time_quietly(lab, task, worker, reference, size, say):
    """A timing while which the reference did not wait for a core, or None: the machine stayed busy."""
    speed, timing, begin, attempt = task["speed"], None, time.monotonic(), 0
    while attempt < ATTEMPTS:
        say(f"{task['id']}: timing {size} beside {speed['reference']}" + (", again" if attempt else ""))
        latest = time_version(lab, worker, reference, speed, size)
        if not latest["wrong"] and task["file"].endswith(".c") and leaves_cores_idle(latest):
            return better(timing, latest)  # which shows on a busy machine, too
        if not latest["wrong"] and is_disturbed(latest):
            if time.monotonic() - begin > lab.patience:
                return None
            say(f"{task['id']}: other programs take the cores; waiting for them")
            time.sleep(min(3, lab.patience))
            continue
        timing = better(timing, latest)
        attempt += 1
        if timing["wrong"] or timing["ratio"] <= speed.get("full", FULL):
            break
        # Hopeless, and not by a hiccup of the machine: such a timing ends after three pairs.
        if attempt > 1 and timing["ratio"] > 3 * speed.get("zero", ZERO):
            break
    return timing


def is_disturbed(timing):
    return timing["waited"] > WAITED and timing["others"] > OTHERS


def leaves_cores_idle(timing):
    """Not where threads end with each call: of those nobody knows how long they ran."""
    return 0 < 2 * timing["threads_ran"] <= timing["reference_threads_ran"]


def zero_of_fewer_threads(lab, task, reference, size, say):
    """Times the reference's time that a version with half of its threads takes: no such version earns points by that."""
    speed = task["speed"]
    say(f"{task['id']}: timing {speed['reference']} with half of the threads")
    fewer = time_version(lab, reference, reference, speed | {"fewer": max(1, int(usable_cores()) // 2)}, size)
    if fewer["wrong"] or is_disturbed(fewer):
        return ZERO
    return max(speed.get("full", FULL) + 0.05, 0.93 * fewer["ratio_median"])  # two medians differ by 5 %


FAR = 4  # times too much or too little: such a prediction needs a reason


def grade_prediction(prediction, answers, outcome, measure):
    """Points and the reason. A number alone says nothing, so it earns points beside a measurement; a reason shows that somebody thought,
    and a number that is not far off that somebody may have. `measure()`: the number, or None where it cannot be had."""
    value = answers["predictions"].get(prediction["id"], 0)
    if value <= 0:
        return 0, "no number in answers.toml"
    if outcome and not (outcome.parts and outcome.parts[0].points):
        return 0, f"you said {value:g}; it counts once {outcome.task['id']} is right, and there is something to measure"
    if prediction["id"] in answers["reasons"]:
        return prediction["points"], f"you said {value:g}, and why"
    found = measure()
    if found and not 1 / FAR < value / found < FAR:
        return 0, f"you said {value:g}, it is {found:g}, and no `because` says why you thought so"
    return prediction["points"] / 2, f"you said {value:g}; the other half is for the reason: {value:g} because ..."


def grade_answers(lab, pictures, outcomes=(), measure=lambda outcome, prediction: None):
    """Parts for the bugs and worst cases, and for the predictions, and what is wrong with the file. `outcomes`: of the tasks, where they
    are known."""
    answers, fault = lab.answers()
    bugs, predictions = [], []
    for bug in lab.bugs:
        points, reason = grade_bug(lab, bug, answers["bugs"].get(bug["id"]), pictures)
        bugs.append(Part(f"bug {bug['id']}", points, bug["points"], reason))
        bugs[-1].secret = "figure" in bug
    for worst in lab.worst:
        points, reason = grade_worst(lab, worst)
        bugs.append(Part(f"worst {worst['id']}", points, worst["points"], reason))
    for prediction in lab.predictions:
        outcome = next((o for o in outcomes if o.task["id"] == prediction["task"]), None)
        points, reason = grade_prediction(prediction, answers, outcome, lambda: measure(outcome, prediction) if outcome else None)
        predictions.append(Part(f"prediction {prediction['id']}", points, prediction["points"], reason))
    return bugs, predictions, fault
