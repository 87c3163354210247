#!/usr/bin/env python3
"""The labs: builds, checks, times and grades a student's versions. `make lab-NN` and its relatives call it.

    labs.py lab NN [--task ID]                what the student wrote, beside the reference rungs, and what to do next
    labs.py grade NN [--out DIR]              points with reasons: report.txt, results.json (Gradescope's format),
                                              and instructor.txt: what is unusual in it
    labs.py bug NN BUG                        what the checker says about one of the lab's broken versions
    labs.py worst NN                          how many launches the student's pictures cost
    labs.py handout NN,NN DIR                 the tree of a course: everything but the solutions
    labs.py solution NN                       tests the lab itself: starter, ladder and mutants get what they deserve
    labs.py new NN_topic                      a lab of one task, to begin with
    labs.py mutants NN DIR                    the same for a folder of versions, <task>-<name>.c

Python's standard library is all it needs. A student's code is never run by this program, but by build/lab-NN/judge in a
process that can reach nothing (common/remote/remote.h); compilers run here, with limits.
"""

import argparse
import os
import sys

from grading.commands import command_bug, command_grade, command_lab, command_worst
from grading.handout import command_handout
from grading.lab import LabError
from grading.newlab import command_new
from grading.selftest import command_mutants, command_solution
from grading.show import progress


def main():
    parser = argparse.ArgumentParser(prog="labs.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function, needs in (("lab", command_lab, ()), ("grade", command_grade, ()), ("bug", command_bug, ("bug",)),
                                  ("worst", command_worst, ()),
                                  ("handout", command_handout, ("out",)), ("solution", command_solution, ()),
                                  ("mutants", command_mutants, ("mutants",)), ("new", command_new, ())):
        sub = commands.add_parser(name)
        sub.set_defaults(function=function)
        sub.add_argument("number", help="of the lab, 01 say")
        for need in needs:
            sub.add_argument(need)
        if name in ("lab", "grade", "solution"):
            sub.add_argument("--task", help="this one only")
        if name == "new":
            sub.add_argument("--algorithm", help="its ladder (default: the name's own)")
        if name == "solution":
            sub.add_argument("--mutant", help="this one of solution/mutants.toml only")
            sub.add_argument("--share", type=int, default=1, help="one in so many of the mutants, one rung of a task and one bug, others at each commit")
        if name in ("lab", "grade", "solution", "mutants"):
            sub.add_argument("--patience", type=float, default=60, help="seconds to wait for a quiet machine (default: 60)")
        if name == "mutants":
            for limit in ("case-seconds", "total-seconds", "memory-mib", "largest-pixels"):
                sub.add_argument(f"--{limit}", type=float, help="in place of the lab's own")
            sub.add_argument("--share", type=int, default=1, help="one in so many of the files, others at each commit")
        if name == "grade":
            sub.add_argument("--out", help="folder for report.txt and results.json (default: BUILD/grade-NN)")
            sub.add_argument("--submission", help="a student's tree, of which only the lab's files are taken")
            sub.add_argument("--classmates", help="a folder with a folder for each submission: instructor.txt compares this one with them")
            sub.add_argument("--unconfined", action="store_true",
                             help="no system call filter: for code that you trust, where the kernel or a GPU's driver wants none")
            sub.add_argument("--passing", type=float, help="points for exit status 0 (default: all)")
        if name == "handout":
            sub.add_argument("--arch", default="x86-64-v3" if os.uname().machine == "x86_64" else "",
                             help="processor that ready-made references need (gcc's -march)")
    arguments = parser.parse_args()
    try:
        return arguments.function(arguments)
    except LabError as error:
        progress("")
        print(f"labs: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
