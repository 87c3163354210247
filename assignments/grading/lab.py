"""A lab as its folder describes it: lab.toml, the student's answers, the key where it is there."""

import os
import pathlib
import shutil
import stat
import tomllib

from grading.answers import read_answers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = os.environ.get("BUILD", "build")


class LabError(Exception):
    """What stops the program: one line that names the file and the reason."""


def load_toml(path):
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LabError(f"{shown(path)}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"{shown(path)}: {error}") from None


def shown(path):
    try:
        return str(pathlib.Path(path).resolve().relative_to(ROOT))
    except ValueError:
        return str(path)


MOST_FILE_BYTES = 1 << 20


def open_below(folder, path, flags):
    """A file below a folder, as a descriptor, with no symbolic link on the way; None when there is none."""
    place = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    *folders, name = pathlib.PurePosixPath(path).parts
    try:
        for part in folders:
            below = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
            os.close(place)
            place = below
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    except OSError:
        return None
    finally:
        os.close(place)


def is_folder(folder, path):
    file = open_below(folder, path, os.O_PATH | os.O_DIRECTORY)
    if file is not None:
        os.close(file)
    return file is not None


def read_regular(folder, path):
    """The bytes of a regular file of at most MOST_FILE_BYTES; None for all else. A pipe is not waited for."""
    file = open_below(folder, path, os.O_RDONLY | os.O_NONBLOCK)
    if file is None:
        return None
    try:
        its = os.fstat(file)
        return os.read(file, MOST_FILE_BYTES) if stat.S_ISREG(its.st_mode) and its.st_size <= MOST_FILE_BYTES else None
    finally:
        os.close(file)


POINTS = 100  # of every lab
TASK_KEYS = {"id", "without", "title", "file", "algorithm", "right", "rung", "next", "speed", "need", "tunables", "watch", "largest",
             "counted", "counted_size", "helpers", "calls", "picture", "picture_params", "unlike"}
BUG_KEYS = {"id", "title", "file", "points", "changes", "figure", "watch", "also"}
PREDICTION_KEYS = {"id", "text", "task", "measure", "size", "params", "frames", "points"}
WORST_KEYS = {"id", "title", "version", "picture", "side", "params", "zero", "full", "points"}
OF_PICTURE = {"watched.global_sectors", "watched.bank_conflicts"}  # counted of the call on a task's picture alone
SPEED_KEYS = {"points", "reference", "sizes", "params", "kernel", "full", "zero", "seconds", "threads", "frames", "watched_size"}


class Lab:
    def __init__(self, number):
        folders = sorted((ROOT / "assignments").glob(f"{number}_*"))
        if len(folders) != 1:
            known = ", ".join(sorted(p.name[:2] for p in (ROOT / "assignments").glob("[0-9][0-9]_*")))
            raise LabError(f"no lab {number}; there is {known or 'none'}")
        self.folder = folders[0]
        self.number = number
        self.place = self.folder  # where the student's files lie
        self.submitted = None  # where they were taken from
        self.unconfined = False  # --unconfined: no system call filter
        self.listed = True  # False: what is behind the list of what versions may use is tried (selftest.py)
        self.patience = 60  # seconds to wait for a quiet machine
        path = self.folder / "lab.toml"
        self.data = load_toml(path)
        self.tasks = self.data.get("task", [])
        self.bugs = self.data.get("bug", [])
        self.predictions = self.data.get("prediction", [])
        self.worst = self.data.get("worst", [])
        self.allowed = self.data.get("allowed", {})  # besides what all versions may use (allowed.py)
        self.limits = {"case_seconds": 20, "total_seconds": 120, "memory_mib": 1024} | self.data.get("limits", {})
        key = self.folder / "solution" / "key.toml"
        self.key = load_toml(key) if key.exists() else None
        self.check_keys(path)
        self.maximum = sum(maximum_of(t) for t in self.tasks) + sum(b["points"] for b in self.bugs + self.worst) + sum(
            p["points"] for p in self.predictions)
        if self.maximum != POINTS:
            raise LabError(f"{shown(path)}: the points sum to {self.maximum}, and must to {POINTS}")

    def check_keys(self, path):
        kinds = (("task", self.tasks, TASK_KEYS, {"id", "title", "file", "algorithm", "right"}),
                 ("bug", self.bugs, BUG_KEYS, {"id", "title", "file", "points"}),
                 ("worst", self.worst, WORST_KEYS, WORST_KEYS - {"params"}),
                 ("prediction", self.predictions, PREDICTION_KEYS, {"id", "text", "task", "measure", "points"}))
        for kind, entries, known, needed in kinds:
            for entry in entries:
                unknown = sorted(set(entry) - known | set(entry.get("speed", {})) - SPEED_KEYS)
                missing = sorted(needed - set(entry))
                if unknown or missing:
                    raise LabError(f"{shown(path)}: {kind} {entry.get('id', '?')}: "
                                   + (f"unknown key {unknown[0]}" if unknown else f"no {missing[0]}"))
                counts = {condition["count"] for need in entry.get("need", []) for condition in (need, *need.get("also", []))}
                if counts & OF_PICTURE and "picture" not in entry:
                    raise LabError(f"{shown(path)}: task {entry['id']}: {sorted(counts & OF_PICTURE)[0]} needs a picture")

    def answers(self):
        """The student's answers, and what is wrong with the file, or None."""
        page = (self.folder / "README.md").read_text(encoding="utf-8") if (self.folder / "README.md").is_file() else None
        return read_answers(self.place / "answers.toml", shown(self.place / "answers.toml"), page)

    def unpredicted(self, task):
        """What is counted or timed of a task and not yet predicted: the student shall not see it before."""
        said = self.answers()[0]["predictions"]
        return {p["measure"].split(".")[-1] for p in self.predictions if p["task"] == task["id"] and p["id"] not in said}

    def files(self):
        """What students hand in, as paths in the lab's folder."""
        return [t["file"] for t in self.tasks] + [fix_of(b) for b in self.bugs if "figure" not in b] + [
            w["picture"] for w in self.worst] + ["answers.toml"]

    def take_submission(self, folder):
        """Copies what the lab asks for, and nothing else, from a student's tree or its lab folder; grades that."""
        source = pathlib.Path(folder)
        self.submitted = source
        if not source.is_dir():
            raise LabError(f"{folder}: no folder")
        if is_folder(source, shown(self.folder)):
            source = source / shown(self.folder)
        self.place = ROOT / BUILD / f"lab-{self.number}" / "submission"
        shutil.rmtree(self.place, ignore_errors=True)
        for name in self.files():
            target = self.place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            content = read_regular(source, name)
            if content is not None:
                target.write_bytes(content)

    def sources(self, tasks):
        """All files that may be built for these tasks; all tasks are those of the lab, and its bugs come with them."""
        return [t["file"] for t in tasks] + [b["file"] for b in self.bugs if len(tasks) == len(self.tasks) and "figure" not in b]

    def are_watched(self, tasks):
        return any("picture" in t or t.get("watch") for t in tasks)

    def file_of(self, task):
        return f"{shown(self.place)}/{task['file']}"

    def task(self, name):
        for task in self.tasks:
            if task["id"] == name:
                return task
        raise LabError(f"lab {self.number} has no task '{name}'; it has {', '.join(t['id'] for t in self.tasks)}")


def fix_of(bug):
    """Where the student's mended copy of a broken version lies: bugs/absdiff/bug1.c becomes starter/absdiff/bug1.c."""
    return bug["file"].replace("bugs/", "starter/", 1)


def maximum_of(task):
    return task["right"] + task.get("speed", {}).get("points", 0) + sum(n["points"] for n in task.get("need", []))
