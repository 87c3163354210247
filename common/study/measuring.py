"""Measures the points of a study: each point a few times, in rounds of changing order, each measurement a file.

A measurement's file is named by a digest of all that it depends on: the program, the command, the environment, and the
bytes of the inputs. So a second call measures only what is missing, and a rebuilt program or a changed point measures
anew, while a changed text or plot does not. A file appears whole or not at all.

points.json says which file is which round of which point, in words that hold on another machine: what was measured where there
is no gnuplot is carried home as that folder and published there.

A bench has one round, for the study has its own, and times no first calls where no formula asks for them: a GPU is started that
much less often.

Times of rounds are pooled: the median of the rounds' medians; as quartiles the outer ones of the medians of the rounds'
quartiles and of the quartiles of the rounds' medians, so that a spread between rounds shows as well."""

import copy
import hashlib
import json
import os
import random
import re
import subprocess
import sys

import generators
import results as rungs
import schema
from expressions import StudyError

# A bench that takes longer than its budgets by this is stuck; the program itself bounds what a version may take.
PATIENCE = 3600
# What a bench takes beside its budgets, in seconds: starting and the reference; a version's first calls and verification. From points
# of many studies; where versions are slow or large it takes longer.
STARTING, CALLS = 1.0, 0.1


def note(text):
    print(f"study: {schema.plain(text)}", file=sys.stderr, flush=True)


def catalogue(program):
    """{algorithm: ([parameters, launch parameters], {version: remark})} from `rungs list --all`."""
    try:
        process = subprocess.run([program, "list", "--all"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise StudyError(f"{program}: {error.strerror}") from None
    if process.returncode != 0:
        raise StudyError(f"{program} list: {(process.stderr.strip().splitlines() or ['failed'])[0]}")
    known, algorithm, version = {}, None, None
    for line in process.stdout.splitlines():
        if match := re.match(r"([a-z0-9_]+): ", line):
            algorithm, version = match[1], None
            known[algorithm] = ([], {})
        elif match := re.match(r" +-p ([A-Za-z0-9_]+)=", line):
            known[algorithm][0].append(match[1])
        elif match := re.match(r"  ([a-z]+/[A-Za-z0-9_.-]+)( .*|$)", line):
            version = match[1]
            known[algorithm][1][version] = match[2]
        elif version:
            known[algorithm][1][version] += line
    return known


def _digest(path, cache={}):
    state = os.stat(path)
    key = (path, state.st_mtime_ns, state.st_size)
    if key not in cache:
        with open(path, "rb") as file:
            cache[key] = hashlib.file_digest(file, "sha256").hexdigest()
    return cache[key]


def _short_digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:20]


def _lasting(seconds):
    """A length of time in words, roughly."""
    return rungs.count(round(seconds / 60), "minute") if seconds > 90 else f"{round(seconds)} s"


def _words(point):
    return f"{point.sweep}: {point.title()}"


class Measurer:
    """Runs benches and keeps their results in `folder`."""

    def __init__(self, study, program, folder, root):
        self.study, self.program, self.root = study, program, root
        self.measurements, self.inputs = os.path.join(folder, "measurements"), os.path.join(folder, "inputs")
        os.makedirs(self.measurements, exist_ok=True)
        os.makedirs(self.inputs, exist_ok=True)
        self.binary = _digest(program)
        self.process = None
        self.failed = {}  # point index: what was wrong
        self.index = os.path.join(folder, "points.json")
        self.kept = {}  # words of a point: {round: name of its file}
        if os.path.exists(self.index):
            with open(self.index, encoding="utf-8") as file:
                self.kept = json.load(file)

    def _keep(self, point, turn, path):
        """Writes down which file is that round of the point."""
        rounds = self.kept.setdefault(_words(point), {})
        if rounds.get(str(turn)) != os.path.basename(path):
            rounds[str(turn)] = os.path.basename(path)
            with open(f"{self.index}.tmp", "w", encoding="utf-8") as file:
                json.dump(self.kept, file, indent=1)
            os.replace(f"{self.index}.tmp", self.index)

    def _input_files(self, point):
        source = point.input
        if source is None:
            return []
        if "files" in source:
            return source["files"]
        width, height = map(int, point.size.split("x")[:2])
        what = [source["make"], width, height, source["arguments"]]
        script = os.path.join(self.root, source["make"]) if source["script"] else generators.__file__
        what.append(_digest(script))
        path = os.path.join(self.inputs, f"{source['label']}_{_short_digest(what)}{source['extension']}")
        if not os.path.exists(path):
            if source["script"]:
                generators.run_script(path, script, width, height, source["arguments"])
            else:
                generators.write(path, source["make"], width, height, source["arguments"])
        return [path]

    def _emulated(self, point, version):
        return "[emulated]" in self.study.catalogue[point.algorithm][1][version].replace("\n", " ")

    def timed_only(self, points):
        """Those that are left when emulated versions take no part; what is recorded was measured elsewhere."""
        for point in points:
            point.versions = [v for v in point.versions if point.recorded or not self._emulated(point, v)]
        return [point for point in points if point.versions]

    def _options(self, point, files):
        made = point.input and "make" in point.input  # in this size: bench asks for sizes of pictures only
        width, height, *channels = point.size.split("x") if point.size and not made else (None, None)
        options = ["--size", f"{width}x{height}"] if width else []
        channels = channels or ([str(point.channels)] if point.channels else [])
        options += ["--channels", *channels] if channels else []
        for path in files:
            options += ["--input", path]
        options += ["--threads", str(point.threads)] if point.threads else []
        options += ["--frames", str(point.frames)] if point.frames else []
        for name, value in point.params.items():
            options += ["-p", f"{name}={value}"]
        return options

    def task(self, point, turn):
        """(command without --json, path of the measurement) of a point's round, or None: emulated versions, which have
        no times, are verified once, and what is recorded never."""
        if point.recorded:
            return None
        files = self._input_files(point)
        versions = [v for v in point.versions if turn == 0 or not self._emulated(point, v)]
        if not versions:
            return None
        command = [self.program, "bench", point.algorithm, "--versions", ",".join(versions)]
        command += self._options(point, files) + ["--pinned"] * point.pinned + ["--time", f"{point.time:g}", "--rounds", "1"] + ["--warm"] * (not self.study.first_calls)
        what = [self.binary, command[1:], [_digest(path) for path in files], point.environment, point.tune, turn]
        return command, os.path.join(self.measurements, f"{_short_digest(what)}.json")

    def _run(self, command, environment):
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.root
        )
        try:
            _, errors = self.process.communicate(timeout=PATIENCE)
        except BaseException as error:
            self.process.kill()
            self.process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return -1, f"took over {PATIENCE} s"
            raise
        lines = [line for line in errors.splitlines() if line.strip()]
        return self.process.returncode, lines[-1] if lines else ""

    def _environment(self, point):
        """Values of the user's own searches would make a study depend on what else was done here; a study has its own."""
        return {**os.environ, "RUNGS_TUNED": "", **point.environment}

    def _tune(self, point):
        """Searches the launch parameters of the versions that ask for it; the values' file. Points that differ in nothing but the
        picture share the search on the first of them, for a search of each would take longer than all that is measured."""
        files = self._input_files(point)
        options = self._options(point, files)
        what = [self.binary, self._options(point, []), point.size, point.algorithm, point.tune, point.environment]
        path = os.path.join(self.measurements, f"tuned_{_short_digest(what)}.json")
        if os.path.exists(path):
            return path
        temporary = f"{path}.tmp"
        if os.path.exists(temporary):
            os.remove(temporary)
        environment = {**self._environment(point), "RUNGS_TUNED": temporary}
        for version in point.tune:
            if self._emulated(point, version):
                continue
            command = [self.program, "tune", f"{point.algorithm}:{version}"] + options
            code, why = self._run(command + ["--time", f"{point.time:g}"], environment)
            if code != 0:
                note(f"{version} keeps its defaults: {why or f'exit status {code}'}")
        if not os.path.exists(temporary):
            return ""
        os.replace(temporary, path)
        return path

    def measure(self, points):
        """Every point in every round that is not measured yet. Raises KeyboardInterrupt through."""
        jobs = []
        for turn in range(max(point.rounds for point in points)):
            order = list(range(len(points)))
            random.Random(turn).shuffle(order)
            jobs += [(turn, index) for index in order if turn < points[index].rounds]
        todo = []
        for turn, index in jobs:
            try:
                task = self.task(points[index], turn)
            except (StudyError, OSError) as error:
                self.failed.setdefault(index, str(error))
                continue
            if task and not os.path.exists(task[1]):
                todo.append((turn, index, *task))
            elif task:
                self._keep(points[index], turn, task[1])
        done = len(jobs) - len(todo) - sum(1 for _, index in jobs if index in self.failed)
        if todo:
            seconds = sum(STARTING + len(points[index].versions) * (points[index].time + CALLS) for _, index, *_ in todo)
            note(f"{rungs.count(len(todo), 'measurement')} to make, {done} kept of an earlier call; about {_lasting(seconds)}")
        for number, (turn, index, command, path) in enumerate(todo, 1):
            point = points[index]
            if index in self.failed:
                continue
            note(f"[{number}/{len(todo)}] round {turn + 1} of {point.rounds}: {point.title()}")
            environment = self._environment(point)
            if point.tune:
                environment["RUNGS_TUNED"] = self._tune(point)
            temporary = f"{path}.tmp"
            code, why = self._run(command + ["--json", temporary], environment)
            # 130: the program was stopped together with this one.
            if code in (130, -2):
                raise KeyboardInterrupt
            try:
                if code not in (0, 1):
                    raise rungs.ResultsError(why or f"exit status {code}")
                rungs.checked("its results", rungs.read(temporary))
            except (rungs.ResultsError, rungs.OtherKind) as error:
                self.failed[index] = str(error).replace(temporary, "results") if code in (0, 1) and not why else why or str(error)
                note(f"{point.title()}: left out: {self.failed[index]}")
                if os.path.exists(temporary):
                    os.remove(temporary)
                continue
            os.replace(temporary, path)
            self._keep(point, turn, path)

    def judged(self, point):
        """{column: number} from the judge of a point's sweep, once per point: of one version, of the CPU where there is one, for all
        that were timed are equal. The script gets what the input's script got, and the table, and prints a JSON object."""
        if not point.judge:
            return {}
        files, source = self._input_files(point), point.input
        version = next((v for v in point.versions if v.startswith("cpu/")), point.versions[0])
        script = os.path.join(self.root, point.judge["script"])
        settings = [word for name, value in point.params.items() for word in ("-p", f"{name}={value}")]
        command = [self.program, "run", f"{point.algorithm}:{version}", *files, *settings]
        what = [self.binary, command[1:], [_digest(path) for path in [*files, script, os.path.join(self.root, source["make"])]]]
        path = os.path.join(self.measurements, f"judged_{_short_digest(what)}.json")
        if not os.path.exists(path):
            table = f"{path}.csv"
            code, why = self._run(command + ["-o", table], self._environment(point))
            if code != 0:
                raise StudyError(f"{point.title()}: {why or f'exit status {code}'}")
            width, height = point.size.split("x")[:2]
            known = {"width": width, "height": height, **source["arguments"]}
            words = [word for name, value in known.items() for word in (f"--{name}", str(value))]
            process = subprocess.run([sys.executable, "-B", script, *words, table], capture_output=True, text=True, check=False)
            os.remove(table)
            if process.returncode != 0:
                raise StudyError(f"{point.judge['script']}: {(process.stderr.strip().splitlines() or ['failed'])[-1]}")
            with open(f"{path}.tmp", "w", encoding="utf-8") as file:
                file.write(process.stdout)
            os.replace(f"{path}.tmp", path)
        with open(path, encoding="utf-8") as file:
            values = json.load(file)
        return {name: values[name] for name in point.judge["columns"]}

    def results(self, point):
        """The pooled results of a point's rounds as a document of `rungs bench`, or None."""
        if point.recorded:
            return rungs.current(point.recorded)
        documents = []
        for turn in range(point.rounds):
            name = self.kept.get(_words(point), {}).get(str(turn))
            if name and os.path.exists(os.path.join(self.measurements, name)):
                documents.append(rungs.read(os.path.join(self.measurements, name)))
        return pooled(documents) if documents else None


# ---------------------------------------------------------------------------------------------------------- pooling


def quantile(values, share):
    """Linear between the two nearest, as common/measure/statistics.c has it."""
    values = sorted(values)
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def _pooled_times(rounds):
    medians = [times["median"] for times in rounds]
    q1 = min(quantile([times["q1"] for times in rounds], 0.5), quantile(medians, 0.25))
    q3 = max(quantile([times["q3"] for times in rounds], 0.5), quantile(medians, 0.75))
    return {"median": quantile(medians, 0.5), "q1": q1, "q3": q3, "n": sum(times["n"] for times in rounds)}


def _ratio(base, row, phase):
    before, after = base.get(phase) if base else None, row.get(phase)
    if not before or not after:
        return None
    differs = before["q3"] < after["q1"] or after["q3"] < before["q1"]
    return {"times": before["median"] / after["median"], "differs": differs}


def pooled(documents):
    """One document of several rounds of one point."""
    document = copy.deepcopy(documents[0])
    document["rounds_pooled"] = len(documents)
    rows = {row["id"]: row for row in document["versions"]}
    for name, row in rows.items():
        rounds = [other for one in documents for other in one["versions"] if other["id"] == name]
        wrong = next((other for other in rounds if other["outcome"] == "failed"), None)
        if wrong:
            row.clear()
            row.update(copy.deepcopy(wrong))
            continue
        timed = [other for other in rounds if other["outcome"] == "timed"]
        for phase in ("kernel", "end_to_end"):
            times = [other[phase] for other in timed if other.get(phase)]
            if times:
                row[phase] = _pooled_times(times)
        if len(timed) > 1 and row.get("first_call") is not None:
            row["first_call"] = quantile([other["first_call"] for other in timed], 0.5)
        if len(timed) > 1 and row.get("limit"):
            row["limit"] = quantile([other["limit"] for other in timed if other["limit"]], 0.5)
            row["limit_fraction"] = row["limit"] / row["kernel"]["median"]
        if len(timed) > 1 and row.get("steps"):
            for place, step in enumerate(row["steps"]):
                step["seconds"] = quantile([other["steps"][place]["seconds"] for other in timed], 0.5)
    for row in rows.values():
        for over in ("over_serial", "over_below"):
            if not row.get(over):
                continue
            base = rows.get(row[over]["version"])
            if base is None or base["outcome"] != "timed" or row["outcome"] != "timed":
                row[over] = None
            elif "times" in row[over]:
                row[over].update(_ratio(base, row, "end_to_end"))
            else:
                for phase in ("kernel", "end_to_end"):
                    row[over][phase] = _ratio(base, row, phase)
    return document
