"""Mended copies of the bug hunts that go round what is wrong: each is right in all cases, and earns nothing. One in SHARE by lot.

usage: python3 -B tests/grader/mends.py SHARE
"""

import sys

sys.path.insert(0, "assignments")
from grading.bugs import changed_lines, grade_fix, lines_of
from grading.build import build_tools
from grading.commands import pictures_folder
from grading.lab import Lab, fix_of
from grading.selftest import lots_of

# Lab, bug, what the copy does, changes, what the verdict says.
MENDS = [
    ("02", "1", "adds in global memory", [("&counts[row[x]], 1", "&histogram[row[x]], 1")], "is right whatever `atomicAdd"),
    ("02", "2", "one band has all rows", [("begin += BAND", "begin += height"), ("begin + BAND < height ? begin + BAND : height", "height")],
     "is without `begin += BAND`"),
    ("02", "2", "the first band has all rows", [("begin + BAND < height ? begin + BAND : height", "height")], "is right whatever `begin += BAND`"),
    ("03", "1", "one stream has both halves", [("block, 0, state->other>>>", "block, 0, stream>>>")], "is without `absdiff_kernel"),
    ("04", "2", "each pixel is a run", [("end < labels && label_at(in, end) == label", "end < i")], "is right whatever `end++`"),
    ("05", "2", "one buffer, waited for",
     [("if (band >= BUFFERS)\n", "if (band >= 0)\n"), ("turn = band % BUFFERS", "turn = 0"),
      ("cudaEventSynchronize(state->emptied[(band - 1) % BUFFERS])", "cudaStreamSynchronize(state->streams[turn])")], "streams of the second call: 1"),
    ("07", "1", "adds pixel by pixel, ballots never run",
     [("    while (left) {", "    if (inside)\n        atomicAdd(&histogram[own], 1u);\n    left = 0;\n    while (left) {")], "atomics of the second call"),
    ("07", "1", "each lane is its own ballot", [("__ballot_sync(0xffffffff, own == value)", "1u << leader")], "atomics of the second call"),
    ("08", "1", "one thread adds all up",
     [("int half = THREADS / 2; half > 0", "int half = 32; half == 32"),
      ("        if (thread < half)\n            sums[thread] += sums[thread + half];",
       "        for (int i = 1; thread == 0 && i < THREADS; i++)\n            sums[0] += sums[i];")], "busiest steps"),
    ("09", "1", "adds in global memory", [("atomicAdd(&counts[((const", "atomicAdd(&histogram[((const")], "is right whatever `atomicAdd"),
]


def verdict(number, name, changes):
    lab = Lab(number)
    lab.take_submission(lab.folder)
    bug = next(b for b in lab.bugs if b["id"] == name)
    build_tools(lab, [bug["file"]])
    text = (lab.folder / bug["file"]).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, (number, name, old)
        text = text.replace(old, new, 1)
    copy = lab.place / fix_of(bug)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, encoding="utf-8")
    line = min(changed_lines(lines_of(lab.folder / bug["file"]), lines_of(copy))[0])
    return grade_fix(lab, bug, line, pictures_folder(lab))


share = int(sys.argv[1])
for number, name, what, changes, says in MENDS[lots_of(Lab("02")).randrange(share)::share]:
    points, why = verdict(number, name, changes)
    print(f"{'ok  ' if points == 0 and says in why else 'FAIL'} mend of lab {number}, bug {name}: {what}: {points} points, {why}", flush=True)
