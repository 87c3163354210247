"""A lab as its folder describes it: lab.toml, the student's answers, the key where it is there."""

import math
import os
import pathlib
import shutil
import stat
import tomllib

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


MOST_ANSWER_BYTES = 1 << 16
MOST_FILE_BYTES = 1 << 20


def is_plain(value):
    """A text of one line, or a number that a report can show."""
    if isinstance(value, str):
        return value.isprintable()
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(float(value))
    except OverflowError:
        return False


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
    with os.fdopen(file, "rb") as stream:
        its = os.fstat(file)
        return stream.read() if stat.S_ISREG(its.st_mode) and its.st_size <= MOST_FILE_BYTES else None


TASK_KEYS = {"id", "title", "file", "algorithm", "right", "rung", "next", "speed", "need", "tunables"}
SPEED_KEYS = {"points", "reference", "sizes", "params", "kernel", "full", "zero", "seconds", "threads", "frames"}


class Lab:
    def __init__(self, number):
        folders = sorted((ROOT / "assignments").glob(f"{number}_*"))
        if len(folders) != 1:
            known = ", ".join(sorted(p.name[:2] for p in (ROOT / "assignments").glob("[0-9][0-9]_*")))
            raise LabError(f"no lab {number}; there is {known or 'none'}")
        self.folder = folders[0]
        self.number = number
        self.place = self.folder  # where the student's files lie
        self.unconfined = False  # --unconfined: no system call filter
        path = self.folder / "lab.toml"
        self.data = load_toml(path)
        self.tasks = self.data.get("task", [])
        self.bugs = self.data.get("bug", [])
        self.predictions = self.data.get("prediction", [])
        self.limits = {"case_seconds": 20, "total_seconds": 120, "memory_mib": 1024} | self.data.get("limits", {})
        key = self.folder / "solution" / "key.toml"
        self.key = load_toml(key) if key.exists() else None
        for task in self.tasks:
            unknown = set(task) - TASK_KEYS | set(task.get("speed", {})) - SPEED_KEYS
            missing = {"id", "title", "file", "algorithm", "right"} - set(task)
            if unknown or missing:
                raise LabError(f"{shown(path)}: task {task.get('id', '?')}: " + (
                    f"unknown key {sorted(unknown)[0]}" if unknown else f"no {sorted(missing)[0]}"))
        self.maximum = sum(maximum_of(t) for t in self.tasks) + sum(b["points"] for b in self.bugs) + sum(
            p["points"] for p in self.predictions)

    def answers(self):
        """The student's answers, texts and numbers in tables, and what is wrong with the file, or None."""
        path = self.place / "answers.toml"
        try:
            if path.is_file() and path.stat().st_size > MOST_ANSWER_BYTES:
                raise LabError(f"{shown(path)}: larger than {MOST_ANSWER_BYTES} bytes")
            data = load_toml(path)
        except LabError as error:
            return {}, str(error)
        except (RecursionError, ValueError) as error:  # brackets in brackets; a number of thousands of digits
            return {}, f"{shown(path)}: cannot be read: {str(error)[:200]}"
        return {table: {k: v for k, v in its.items() if is_plain(v)} for table, its in data.items()
                if isinstance(its, dict)}, None

    def take_submission(self, folder):
        """Copies what the lab asks for, and nothing else, from a student's tree or its lab folder; grades that."""
        source = pathlib.Path(folder)
        if is_folder(source, shown(self.folder)):
            source = source / shown(self.folder)
        self.place = ROOT / BUILD / f"lab-{self.number}" / "submission"
        shutil.rmtree(self.place, ignore_errors=True)
        for name in [t["file"] for t in self.tasks] + ["answers.toml"]:
            target = self.place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            content = read_regular(source, name)
            if content is not None:
                target.write_bytes(content)

    def file_of(self, task):
        return f"{shown(self.place)}/{task['file']}"

    def task(self, name):
        for task in self.tasks:
            if task["id"] == name:
                return task
        raise LabError(f"lab {self.number} has no task '{name}'; it has {', '.join(t['id'] for t in self.tasks)}")


def maximum_of(task):
    return task["right"] + task.get("speed", {}).get("points", 0) + sum(n["points"] for n in task.get("need", []))
