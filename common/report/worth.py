"""When is a GPU worth it: one line for each ladder, from benches of its top rungs in results/<machine>/worth/.

    ALGORITHM_1.json, _4, _16   the top rung of the CPU with so many threads; in _16 that of the GPU too
    ALGORITHM_pinned.json       that of the GPU, with the host's pictures in page-locked memory

Times are end to end, from a picture in the host's memory to the result there.
"""

import glob
import os

import markdown
import results as rungs
from markdown import code, inline, link

THREADS = (1, 4, 16)
EQUAL = 1.2  # times that do not decide anything


class Worth:
    """The rows of a ladder's top rungs: on the CPU by number of threads, on the GPU from ordinary and page-locked memory."""

    def __init__(self, machine, name):
        self.machine, self.name, self.cpu, self.size = machine, name, {}, ""
        self.ordinary = self.pinned = None
        self.video = False  # its frames lie in page-locked memory anyhow

    def add(self, key, results):
        cpu = rungs.best(results, lambda row: rungs.side(row) == "cpu" and not row["reference"], "end_to_end")
        gpu = rungs.best_of(results, "cuda", "end_to_end")
        if key == "pinned":
            self.pinned = gpu
            return
        self.cpu[int(key)] = cpu
        if gpu:
            self.ordinary, self.size, self.video = gpu, rungs.size(results), rungs.is_video(results)

    def times(self):
        """End to end: of the CPU with the number of threads that is best for it, and of the GPU from ordinary memory."""
        return min(row["end_to_end"]["median"] for row in self.cpu.values()), self.ordinary["end_to_end"]["median"]

    def verdict(self):
        """What a user with 16 cores may conclude."""
        cores, gpu = self.times()
        locked = self.pinned["end_to_end"]["median"] if self.pinned else gpu
        if cores > EQUAL * gpu:
            return f"the GPU, {rungs.number(cores / gpu)} times"
        if EQUAL * cores > gpu:
            return "neither"
        times = f"the CPU, {rungs.number(gpu / cores)} times"
        if self.ordinary["kernel"]["median"] > cores:
            return f"{times}: the kernel alone takes longer"
        if locked > cores:
            return f"{times}: the bus alone takes longer"
        return f"{times}; the GPU from page-locked memory, {rungs.number(cores / locked)} times"


def gather(root, names):
    """A Worth for each of these ladders that has a bench with 16 threads, the GPU's largest lead over them first."""
    found = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(root), "results", "*", rungs.WORTH, "*.json"))):
        results = rungs.load(path)
        key = os.path.splitext(os.path.basename(path))[0].rpartition("_")[2]
        if key not in ("1", "4", "16", "pinned"):
            raise rungs.ResultsError(f"{path}: the name ends in none of _1, _4, _16, _pinned")
        machine = rungs.machine_of(results)
        found.setdefault((machine, results["algorithm"]), Worth(machine, results["algorithm"])).add(key, results)
    whole = [one for one in found.values() if one.name in names and one.ordinary and 16 in one.cpu]
    return sorted(whole, key=lambda one: one.times()[1] / one.times()[0])


def table(root, names):
    head = ["ladder", "picture", *(f"CPU, {inline(str(n))} thread{'s' * (n > 1)}" for n in THREADS)]
    head += ["GPU, ordinary memory", "GPU, page-locked", "its kernels", "faster"]
    rows = []
    for one in gather(root, names):
        cpu = [rungs.time(one.cpu[n]["end_to_end"]["median"]) if n in one.cpu else "–" for n in THREADS]
        ordinary, kernel = (rungs.time(one.ordinary[phase]["median"]) for phase in ("end_to_end", "kernel"))
        pinned = rungs.time(one.pinned["end_to_end"]["median"]) if one.pinned else "–"
        gpu = ["–", ordinary, "–"] if one.video else [ordinary, pinned, kernel]
        rows.append([link(one.name, f"{one.name}.md"), inline(one.size), *cpu, *gpu, inline(one.verdict())])
    return markdown.table(head, rows, 2) + "\n"
