"""labs.py new: the skeleton of a lab, which passes its own test (`make solution`) from the first minute."""

import re

from grading.lab import ROOT, LabError, shown

FILES = {
    "lab.toml": '''# The lab's settings; assignments/INSTRUCTORS.md says what each means. All points sum to 100.
title = "{title}"

[limits]
case_seconds = 10
total_seconds = 60
memory_mib = 1024

[[task]]
id = "omp"
title = "all cores"
file = "starter/{algorithm}/omp.c"
algorithm = "{algorithm}"
rung = ["cpu/omp"]
right = 50
next = "README.md, task 1: begin with the loops of cpu/{algorithm}/0_serial.c."
[task.speed]
points = 40
reference = "cpu/omp"
sizes = ["1920x1080"]
zero = 1.75  # half of the threads take twice the time

[[prediction]]
id = "omp"
text = "omp: how many times as fast as cpu/serial, 640x360"
task = "omp"
measure = "speedup cpu/serial"
size = "640x360"
points = 10

[handout]
remove = ["results/*/{algorithm}/*"]
''',
    "answers.toml": '''# Your answers: numbers. 3.5, 46*46 and 2x are all read. Fill in the predictions BEFORE you measure, each
# with its reason: 3.5 because four cores share the work and memory is not yet the limit

[predictions]
omp =          # how many times as fast as cpu/serial will your omp be?
''',
    "README.md": '''# Lab {number}: {topic}

What you make, and what it is good for, in one paragraph.

You will learn

- one thing that holds beyond this lab.

## How it works

You write in `assignments/{name}/starter/{algorithm}/` and in `answers.toml` beside this page, nowhere else:

    make lab-{number}             # all tasks: right? how fast? what next?
    make lab-{number} TASK=omp    # one of them

Fill in `[predictions]` in `answers.toml` before you measure: what is not predicted is not shown.

## Background

**The contract** is `common/algo/{algorithm}.h`.

## Tasks

### Task 1: `omp.c`, all cores (90 points)

1. Read `cpu/{algorithm}/0_serial.c`.
2. `make lab-{number} TASK=omp`

## Your table

| | predicted | measured | why the difference? |
| --- | --- | --- | --- |
| `omp` over `cpu/serial` | | | |
''',
    "starter/{algorithm}/omp.c": '''/*
 * Idea:     (one sentence: what this version does)
 * Changed:  (what is new since cpu/serial)
 * Expect:   (how many times as fast as cpu/serial it will be, and why; write it BEFORE you measure)
 */
#include "common/algo/{algorithm}.h"

static enum status run(const struct image *in, struct image *out, const struct {algorithm}_params *params)
{{
    (void)in, (void)out, (void)params;
    return status_set(STATUS_FAILED, "omp.c is not written yet");
}}

RUNGS_CPU_VERSION({algorithm})
''',
    "solution/answers.toml": "[predictions]\nomp = 2 because two cores share the rows of serial\n",
    "solution/key.toml": "# The figures of the bugs that are programs, from and to; and a fix of each other bug.\n[bugs]\n",
    "solution/mutants.toml": '''# Mistakes that students make, each a change of a rung, with the points and the words that it deserves.

[[mutant]]
name = "omp-not_written"
of = "starter"
change = []
right = [0, 0]
speed = [0, 0]
says = "is not written yet"

[[mutant]]
name = "omp-no_threads"
of = "cpu/serial"
change = []
right = [50, 50]
speed = [0, 0]
''',
}


def command_new(arguments):
    name = arguments.number
    matched = re.fullmatch(r"(\d\d)_([a-z][a-z0-9_]*)", name)
    if not matched:
        raise LabError(f"'{name}': call it like 04_labelling, two digits and a topic")
    number, topic = matched.groups()
    algorithm = arguments.algorithm or topic
    folder = ROOT / "assignments" / name
    if not (ROOT / "cpu" / algorithm / "1_omp.c").is_file():
        raise LabError(f"there is no cpu/{algorithm}/1_omp.c to begin with: name another ladder, ALGORITHM=blur say")
    if list((ROOT / "assignments").glob(f"{number}_*")):
        raise LabError(f"there is a lab {number} already")
    words = {"name": name, "number": number, "topic": topic.replace("_", " "), "algorithm": algorithm,
             "title": topic.replace("_", " ").capitalize()}
    for file, text in FILES.items():
        path = folder / file.format(**words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(**words), encoding="utf-8")
    print(f"{shown(folder)}: a lab of one task. It passes:  make solution LAB={number}\n"
          "What each file is for: assignments/INSTRUCTORS.md, Writing a lab")
    return 0
