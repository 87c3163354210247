"""Reads a study file: checks every word of it before anything is measured, and lists the points of its sweeps.

CONTRIBUTING.md ("Add a study") explains the format by an example. A wrong file raises StudyError with one line."""

import csv
import fnmatch
import glob
import itertools
import os
import re
import tomllib

import generators
import results as rungs
from expressions import Formula, StudyError

LEVELS = ("full", "short")
# What a level uses where the file says nothing: seconds a version and point, and rounds.
DEFAULTS = {"full": {"time": 0.5, "rounds": 3}, "short": {"time": 0.05, "rounds": 1}}

TOP = {
    "title": str, "question": str, "algorithm": str, "source": dict, "sweep": list, "plot": list, "table": list,
    "numbers": dict, "paragraph": list, "published": list,
}  # fmt: skip
SOURCE = {"authors": str, "title": str, "year": int, "where": str}
SWEEP = {
    "name": str, "algorithm": str, "versions": list, "sizes": list, "inputs": list, "parameters": dict,
    "parameter_sets": list, "threads": list, "environment": dict, "time": (int, float), "rounds": int, "frames": int,
    "channels": int, "pinned": bool, "tune": list, "judge": dict, "short": (dict, bool), "recorded": str,
}  # fmt: skip
RECORDED = ("name", "algorithm", "recorded", "versions", "short")
JUDGE = {"script": str, "columns": list}
PLOT = {
    "name": str, "title": str, "kind": str, "x": str, "y": (str, list), "series": (str, list), "where": dict,
    "log": list, "x_label": str, "y_label": str, "unit": str, "caption": str,
}  # fmt: skip
TABLE = {"title": str, "rows": str, "columns": str, "y": str, "where": dict, "unit": str, "statistic": str}
STATISTICS = ("min", "max", "median", "mean", "geomean", "sum", "count", "deviation", "argmin", "argmax", "only")
NUMBER = {name: str for name in STATISTICS} | {
    "value": str, "of": str, "where": dict, "crossover": str, "x": str, "from": str, "to": str, "unit": str,
}  # fmt: skip
PARAGRAPH = {"text": str, "when": str, "otherwise": str}
PUBLISHED = {"title": str, "machine": str, "year": int, "source": str, "y": str, "unit": str, "rows": list}
UNITS = ("time", "number", "percent", "text")

# Columns that every row has; times are in seconds. Others are parameters, arguments of inputs and environment.
TIMES = ("kernel", "end_to_end", "transfer", "first_call", "limit", "per_pixel")
STATISTIC_COLUMNS = tuple(f"{phase}_{end}" for phase in ("kernel", "end_to_end", "per_pixel") for end in ("q1", "q3"))
POINT_COLUMNS = ("sweep", "algorithm", "input", "size", "width", "height", "channels", "pixels", "threads")
TEXT_COLUMNS = ("sweep", "algorithm", "input", "size", "version", "side", "outcome")
# Tunables of these names are no columns; row.tunables.NAME is their value.
SHADOWED = ("threads", "pixels", "side")
ROW_COLUMNS = ("version", "side", "outcome", *TIMES, *STATISTIC_COLUMNS, "rate", "limit_fraction")
# result.X.Y is a number of the results file, row.X.Y one of the version's object in it, step.X a step's seconds.
FREE = ("result.", "row.", "step.")


class Point:
    """One bench: what to measure. `values` are its columns, `versions` ids in full."""

    def __init__(self, sweep, values, **facts):
        self.sweep, self.values = sweep, values
        self.algorithm, self.size, self.input = facts["algorithm"], facts["size"], facts["input"]
        self.threads, self.params, self.environment = facts["threads"], facts["params"], facts["environment"]
        self.versions, self.time, self.rounds = facts["versions"], facts["time"], facts["rounds"]
        self.frames, self.tune, self.judge, self.channels = facts["frames"], facts["tune"], facts["judge"], facts.get("channels")
        self.pinned = facts.get("pinned", False)
        # A committed file that is read in place of a measurement; the rows of a table that is no results file of a
        # bench.
        self.recorded, self.table = facts.get("recorded"), facts.get("table", [])

    def title(self):
        words = [self.algorithm, self.size or "", self.input["label"] if self.input else ""]
        made = self.input["arguments"] if self.input else {}
        words += [f"{name}={value}" for name, value in {**made, **self.params, **self.environment}.items()]
        words += ["pinned"] * self.pinned
        words += [f"{self.threads} thread{'' if self.threads == 1 else 's'}" if self.threads else ""]
        return ", ".join(word for word in words if word)


def check_keys(where, value, fields, needed=()):
    if not isinstance(value, dict):
        raise StudyError(f"{where}: must be a table")
    for key, item in value.items():
        if key not in fields:
            raise StudyError(f"{where}: unknown key '{key}'; there are {', '.join(fields)}")
        if not isinstance(item, fields[key]) or (isinstance(item, bool) and fields[key] in (int, (int, float))):
            raise StudyError(f"{where}: '{key}' has the wrong type")
    for key in needed:
        if key not in value:
            raise StudyError(f"{where}: '{key}' is missing")


def _name(where, text):
    if not re.fullmatch(r"[a-z0-9_]+", text):
        raise StudyError(f"{where}: '{text}' is no name: small letters, digits and _")


def _is_called(version, name):
    """By its id, a pattern for it, its side, or what follows the side."""
    return fnmatch.fnmatchcase(version, name) or version.startswith(f"{name}/") or version.endswith(f"/{name}")


class Study:
    """A checked file. catalogue: {algorithm: (parameter names, {version id: remark})} as `rungs list` prints them. only: names
    of versions or sides; no others are measured, and a point may be left without any."""

    def __init__(self, root, path, catalogue, folder_override=None, only=None):
        self.root, self.path, self.catalogue, self.dir, self.only = root, path, catalogue, folder_override, only
        self.named = set()  # versions, also those that are not measured
        self.where = os.path.relpath(path, root)
        try:
            with open(path, "rb") as file:
                text = tomllib.load(file)
        except OSError as error:
            raise StudyError(f"{self.where}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise StudyError(f"{self.where}: not TOML: {' '.join(str(error).split())}") from None
        check_keys(self.where, text, TOP, ("title", "sweep"))
        self.text = text
        self.title, self.question = text["title"], text.get("question", "")
        self.source = text.get("source")
        if self.source is not None:
            check_keys(f"{self.where}: source", self.source, SOURCE, ("authors", "title", "year"))
        self.algorithm = text.get("algorithm")
        for index, sweep in enumerate(self._tables("sweep"), 1):
            where = f"{self.where}: sweep {index}"
            check_keys(where, sweep, SWEEP)
            if isinstance(sweep.get("short"), dict):
                check_keys(f"{where}: short", sweep["short"], {key: SWEEP[key] for key in SWEEP if key != "short"})
        self.points_of = {level: self._points(level) for level in LEVELS}
        if not self.algorithm:
            self.algorithm = (self.points_of["full"] or self.points_of["short"])[0].algorithm
        self._algorithm(self.where, self.algorithm)
        self.first_calls = False  # whether a formula asks for them
        self._read_columns()
        self._read_outputs()

    def _tables(self, name):
        for index, table in enumerate(self.text.get(name, []), 1):
            if not isinstance(table, dict):
                raise StudyError(f"{self.where}: {name} {index}: must be a table")
        return self.text.get(name, [])

    def _algorithm(self, where, name):
        if name not in self.catalogue:
            raise StudyError(f"{where}: there is no algorithm '{name}'; there are {', '.join(self.catalogue)}")

    # --- sweeps

    def _points(self, level):
        points = []
        for index, sweep in enumerate(self._tables("sweep"), 1):
            where = f"{self.where}: sweep {index}"
            if level == "short":
                if sweep.get("short") is False:
                    continue
                sweep = {**sweep, **(sweep["short"] if isinstance(sweep.get("short"), dict) else {})}
            name = sweep.get("name", f"sweep{index}")
            _name(where, name)
            algorithm = sweep.get("algorithm", self.algorithm)
            if not algorithm:
                raise StudyError(f"{where}: 'algorithm' is missing, here or at the top")
            self._algorithm(where, algorithm)
            if "recorded" in sweep:
                points.append(self._recorded(where, name, algorithm, sweep))
                continue
            points += self._product(where, name, algorithm, sweep, DEFAULTS[level])
        if not points:
            raise StudyError(f"{self.where}: no points to measure in the {level} form")
        return points

    def _recorded(self, where, name, algorithm, sweep):
        """What another run has measured: its results file, or a CSV of numbers, which is what one version did."""
        for key in sweep:
            if key not in RECORDED:
                raise StudyError(f"{where}: a recorded sweep takes no '{key}'; it takes {', '.join(RECORDED)}")
        path, table = os.path.join(self.root, sweep["recorded"]), []
        known = self.catalogue[algorithm][1]
        if not os.path.isfile(path):
            raise StudyError(f"{where}: recorded: there is no file {sweep['recorded']}")
        if path.endswith(".csv"):
            versions = self._versions(where, algorithm, sweep.get("versions", []))
            if len(versions) != 1:
                raise StudyError(f"{where}: a recorded table needs the one version that it is of")
            with open(path, encoding="utf-8", newline="") as file:
                try:
                    table = [{key: int(cell) if cell.isdecimal() else float(cell) for key, cell in row.items() if cell}
                             for row in csv.DictReader(file)]  # fmt: skip
                except (ValueError, AttributeError):
                    raise StudyError(f"{where}: {sweep['recorded']}: a cell of it is no number") from None
        else:
            document = rungs.checked(sweep["recorded"], rungs.current(path))
            if document["algorithm"] != algorithm:
                raise StudyError(f"{where}: {sweep['recorded']} is of {document['algorithm']}, not of {algorithm}")
            patterns = sweep.get("versions", ["*"])
            versions = [row["id"] for row in document["versions"] if row["id"] in known and
                        any(fnmatch.fnmatchcase(row["id"], pattern) for pattern in patterns)]  # fmt: skip
            self.named.update(versions)
        values = {"sweep": name, "algorithm": algorithm, "input": os.path.basename(path)}
        return Point(name, values, algorithm=algorithm, size=None, input=None, threads=0, params={}, environment={},
                     versions=versions, time=0, rounds=0, frames=None, tune=[], judge=None, recorded=path, table=table)  # fmt: skip

    def _versions(self, where, algorithm, names):
        known, chosen = self.catalogue[algorithm][1], []
        for name in names:
            found = [version for version in known if isinstance(name, str) and _is_called(version, name)]
            if not found:
                raise StudyError(f"{where}: {algorithm} has no version '{name}'; there are {', '.join(known)}")
            chosen += [version for version in found if version not in chosen]
        self.named.update(chosen)
        return [v for v in chosen if self.only is None or any(_is_called(v, name) for name in self.only)]

    def _product(self, where, name, algorithm, sweep, defaults):
        def axis(key, values, kinds):
            values = values if isinstance(values, list) else [values]
            if not values:
                raise StudyError(f"{where}: '{key}' is empty")
            for value in values:
                if not isinstance(value, kinds):
                    raise StudyError(f"{where}: '{key}': {value!r} has the wrong type")
            return values

        for size in sweep.get("sizes", []):
            if not isinstance(size, str) or not re.fullmatch(r"[1-9][0-9]{0,5}x[1-9][0-9]{0,5}(x[1-9][0-9]{0,3})?", size):
                raise StudyError(f"{where}: size {size!r}: must be like \"1920x1080\", or \"1920x1080x31\" with channels")
        time, rounds = sweep.get("time", defaults["time"]), sweep.get("rounds", defaults["rounds"])
        if not 0.01 <= time <= 3600:
            raise StudyError(f"{where}: time = {time}: must be 0.01 to 3600 seconds")
        if not 1 <= rounds <= 100:
            raise StudyError(f"{where}: rounds = {rounds}: must be 1 to 100")
        channels = sweep.get("channels")
        if channels not in (None, 1, 3):
            raise StudyError(f"{where}: channels = {channels}: must be 1 or 3; a size has more, as in \"1920x1080x31\"")
        params = sweep.get("parameters", {})
        scalar = (int, float, str)
        products = [
            [{key: value} for value in axis(key, values, scalar)]
            for key, values in params.items()
        ]
        if "parameter_sets" in sweep:
            products.append(axis("parameter_sets", sweep["parameter_sets"], dict))
        for known in [params, *sweep.get("parameter_sets", [])]:
            for key in known:
                if key not in self.catalogue[algorithm][0]:
                    raise StudyError(
                        f"{where}: {algorithm} has no parameter '{key}'; "
                        f"there are {', '.join(self.catalogue[algorithm][0]) or 'none'}"
                    )
        environment = sweep.get("environment", {})
        settings = [
            [{key: value} for value in axis(key, values, str)] for key, values in environment.items()
        ]
        threads = axis("threads", sweep.get("threads", [0]), int)
        for count in threads:
            if not 0 <= count <= 1024:
                raise StudyError(f"{where}: threads: {count}: must be 1 to 1024, or 0 for all cores")
        versions = self._versions(where, algorithm, sweep.get("versions", list(self.catalogue[algorithm][1])))
        tune = self._versions(where, algorithm, sweep["tune"]) if "tune" in sweep else []
        judge = self._judge(where, sweep)
        points = []
        for size, source, count, *rest in itertools.product(
            sweep.get("sizes") or [None], self._inputs(where, sweep), threads, *products, *settings
        ):
            parameters = {key: value for part in rest[: len(products)] for key, value in part.items()}
            variables = {key: value for part in rest[len(products) :] for key, value in part.items()}
            if source and "make" in source and size is None:
                raise StudyError(f"{where}: an input that is made needs 'sizes'")
            values = {"sweep": name, "algorithm": algorithm, "input": source["label"] if source else "default"}
            named = {**parameters, **variables}
            values |= {**(source["arguments"] if source else {}), **{k: v for k, v in named.items() if k not in SHADOWED}}
            facts = {
                "algorithm": algorithm, "size": size, "input": source, "threads": count, "params": parameters,
                "environment": variables, "versions": versions, "time": time, "rounds": rounds,
                "frames": sweep.get("frames"), "tune": [version for version in tune if version in versions],
                "judge": judge, "channels": channels, "pinned": sweep.get("pinned", False),
            }  # fmt: skip
            points.append(Point(name, values, **facts))
        return points

    def _judge(self, where, sweep):
        """What holds a result against what the script of the input knows of it (measuring.py); None without."""
        judge = sweep.get("judge")
        if judge is None:
            return None
        check_keys(f"{where}: judge", judge, JUDGE, JUDGE)
        if not os.path.isfile(os.path.join(self.root, judge["script"])):
            raise StudyError(f"{where}: judge: there is no script {judge['script']}")
        for name in judge["columns"]:
            _name(f"{where}: judge", str(name))
        if not all(isinstance(entry, dict) and "script" in entry for entry in sweep.get("inputs") or [None]):
            raise StudyError(f"{where}: judge: it needs inputs that a script makes")
        return judge

    def _inputs(self, where, sweep):
        """Each {"label", "arguments", "files"} or with "make"; None is the bench's own input."""
        inputs = []
        for entry in sweep.get("inputs") or [None]:
            if entry is None or entry == "default":
                inputs.append(None)
            elif isinstance(entry, str):
                inputs += self._files(where, entry)
            elif isinstance(entry, list) and all(isinstance(item, str) for item in entry) and entry:
                files = [self._files(where, item)[0]["files"][0] for item in entry]
                inputs.append({"label": "+".join(map(os.path.basename, entry)), "arguments": {}, "files": files})
            elif isinstance(entry, dict) and ("make" in entry or "script" in entry):
                inputs += self._made(where, entry)
            else:
                raise StudyError(f"{where}: input {entry!r}: must be a file, a folder, DIR or {{ make = ... }}")
        return inputs

    def _files(self, where, entry):
        """A file, a pattern, or all pictures of a folder. "DIR:images/fetched" is the folder of DIR=, else the other;
        "DIR/512:images/fetched" is the folder 512 in it, where it has one."""
        path = entry
        if match := re.fullmatch(r"DIR(?:/([^:]+))?(?::(.*))?", entry):
            path = self.dir or match[2]
            if not path:
                raise StudyError(f"{where}: inputs: name the folder, DIR=...")
            path = os.path.join(os.getcwd(), path) if self.dir else path
            if self.dir and match[1] and os.path.isdir(os.path.join(path, match[1])):
                path = os.path.join(path, match[1])
        path = os.path.join(self.root, path)
        if os.path.isdir(path):
            endings = (".png", ".jpg", ".jpeg", ".pgm", ".ppm", ".bmp", ".npy")
            found = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.lower().endswith(endings)]
        else:
            found = sorted(glob.glob(path)) if glob.has_magic(path) else [path] if os.path.isfile(path) else []
        if not found:
            raise StudyError(f"{where}: input '{entry}': no such file, and no folder of pictures")
        return [{"label": os.path.basename(name), "arguments": {}, "files": [name]} for name in found]

    def _pictures(self, where, values):
        """Arguments of a script: DIR stands for the pictures of that folder, called as seen from the root of the tree, which is
        the same on every machine."""
        found = []
        for value in values:
            if isinstance(value, str) and re.match(r"DIR(?:[/:]|$)", value):
                found += [os.path.relpath(path, self.root) for one in self._files(where, value) for path in one["files"]]
            else:
                found.append(value)
        return found

    def _made(self, where, entry):
        script = entry.get("script")
        name = script or entry["make"]
        if not isinstance(name, str):
            raise StudyError(f"{where}: input: what makes it must be a name")
        if script and not os.path.isfile(os.path.join(self.root, script)):
            raise StudyError(f"{where}: input: there is no script {script}")
        lists = {
            key: value if isinstance(value, list) else [value]
            for key, value in entry.items()
            if key not in ("make", "script", "extension")
        }
        if script:
            lists = {key: self._pictures(where, values) for key, values in lists.items()}
        for values in itertools.product(*lists.values()):
            arguments = dict(zip(lists, values))
            if script:
                for key in arguments:
                    _name(f"{where}: input", key)
            else:
                arguments = generators.check(f"{where}: input", name, arguments)
            extension = entry.get("extension", ".pgm")
            label = os.path.splitext(os.path.basename(name))[0]
            yield {"label": label, "arguments": arguments, "make": name, "script": bool(script), "extension": extension}

    # --- what is made of the points

    def _read_columns(self):
        self.columns = list(POINT_COLUMNS) + list(ROW_COLUMNS)
        self.axes = []
        self.texts = set(TEXT_COLUMNS)
        for points in self.points_of.values():
            for point in points:
                for name, value in point.values.items():
                    if name in ROW_COLUMNS:
                        raise StudyError(f"{self.where}: '{name}' is a column of its own and can be no parameter")
                    if name not in self.columns:
                        self.axes.append(name)
                        self.columns.append(name)
                    if isinstance(value, str):
                        self.texts.add(name)
                for name in point.judge["columns"] if point.judge else list(point.table[0]) if point.table else []:
                    if name in ROW_COLUMNS or name in point.values:
                        raise StudyError(f"{self.where}: '{name}' is a column of its own and cannot come from a judge or a table")
                    if name not in self.columns:
                        self.columns.append(name)
        for point in self.points_of["full"] + self.points_of["short"]:
            for name in self.catalogue[point.algorithm][0]:
                if name not in self.columns:
                    self.columns.append(name)

    def column(self, where, name):
        if name not in self.columns and not name.startswith(FREE):
            raise StudyError(f"{where}: there is no column '{name}'; there are {', '.join(self.columns)}, "
                             f"and {'NAME, '.join(FREE)}NAME")  # fmt: skip
        return name

    def formula(self, where, text):
        formula = Formula(where, text)
        for name in formula.names:
            if name in self.texts:
                raise StudyError(f"{where}: '{text}': column '{name}' is text")
            self.column(where, name)
            self.first_calls = self.first_calls or name == "first_call" or name.startswith("row.start.")
        ids = {version for _, versions in self.catalogue.values() for version in versions}
        for version in formula.others:
            if version not in ids:
                raise StudyError(f"{where}: '{text}': there is no version '{version}'")
        return formula

    def condition(self, where, table):
        """Column: a value, a list of values, a pattern for text ("cuda/*"), or a bound for numbers (">=7")."""
        for name, wanted in table.items():
            self.column(where, name)
            values = wanted if isinstance(wanted, list) else [wanted]
            measured = [
                point.values.get(name) for points in self.points_of.values() for point in points if name in point.values
            ]
            if name == "version":
                measured = self.named
            for value in values:
                if not isinstance(value, (str, int, float)):
                    raise StudyError(f"{where}: '{name}': {value!r} has the wrong type")
                if measured and not any(matches(other, value) for other in measured):
                    raise StudyError(f"{where}: no point has {name} = {value}")
        return table

    def _unit(self, where, table, formula):
        unit = table.get("unit")
        if unit is None:
            timed = formula and not formula.is_ratio() and formula.text.strip() in TIMES + STATISTIC_COLUMNS
            return "time" if timed else "number"
        if unit not in UNITS:
            raise StudyError(f"{where}: unit '{unit}': must be one of {', '.join(UNITS)}")
        return unit

    def _read_outputs(self):
        self.plots, self.tables, self.numbers, self.paragraphs, self.published = [], [], [], [], []
        for index, plot in enumerate(self._tables("plot"), 1):
            where = f"{self.where}: plot {index}"
            check_keys(where, plot, PLOT, ("name", "title", "x", "y"))
            _name(where, plot["name"])
            kind = plot.get("kind", "lines")
            if kind not in ("lines", "bars", "stacked"):
                raise StudyError(f"{where}: kind '{kind}': must be lines, bars or stacked")
            texts = plot["y"] if isinstance(plot["y"], list) else [plot["y"]]
            if (len(texts) > 1) != (kind == "stacked"):
                raise StudyError(f"{where}: a stacked plot takes several y, the others one")
            ys = [self.formula(where, text) for text in texts]
            series = plot.get("series", "version")
            series = series if isinstance(series, list) else [series]
            for name in [plot["x"]] + series:
                self.column(where, name)
            for name in plot.get("log", []):
                if name not in ("x", "y"):
                    raise StudyError(f"{where}: log: '{name}': must be x or y")
            self.plots.append({**plot, "kind": kind, "ys": ys, "series": series, "unit": self._unit(where, plot, ys[0]),
                               "where": self.condition(where, plot.get("where", {}))})  # fmt: skip
        if len({plot["name"] for plot in self.plots}) < len(self.plots):
            raise StudyError(f"{self.where}: two plots have one name")
        for index, table in enumerate(self._tables("table"), 1):
            where = f"{self.where}: table {index}"
            check_keys(where, table, TABLE, ("title", "rows", "y"))
            y = self.formula(where, table["y"])
            if table.get("statistic", "median") not in ("median", "mean", "deviation", "min", "max", "geomean", "count"):
                raise StudyError(f"{where}: statistic '{table['statistic']}': must be median, mean, deviation, min, max, geomean or count")
            for name in (table["rows"], table.get("columns", "version")):
                self.column(where, name)
            self.tables.append({**table, "columns": table.get("columns", "version"), "formula": y,
                                "statistic": table.get("statistic", "median"),
                                "unit": self._unit(where, table, y),
                                "where": self.condition(where, table.get("where", {}))})  # fmt: skip
        self._read_numbers()
        for index, paragraph in enumerate(self._tables("paragraph"), 1):
            where = f"{self.where}: paragraph {index}"
            check_keys(where, paragraph, PARAGRAPH, ("text",))
            known = [number["name"] for number in self.numbers] + list(FACTS)
            for key in ("text", "otherwise"):
                for name in placeholders(paragraph.get(key, "")):
                    if name not in known:
                        raise StudyError(f"{where}: there is no number '{name}'; there are {', '.join(known)}")
            when = Formula(where, paragraph["when"]) if "when" in paragraph else None
            for name in when.names if when else []:
                if name not in known:
                    raise StudyError(f"{where}: there is no number '{name}'; there are {', '.join(known)}")
            self.paragraphs.append({**paragraph, "formula": when})
        for index, published in enumerate(self._tables("published"), 1):
            where = f"{self.where}: published {index}"
            check_keys(where, published, PUBLISHED, ("title", "machine", "y", "rows"))
            y = self.formula(where, published["y"])
            for row in published["rows"]:
                if not isinstance(row, dict) or type(row.get("value")) not in (int, float):
                    raise StudyError(f"{where}: each row needs a number 'value'")
                for name in row:
                    if name not in ("value", "label"):
                        self.column(where, name)
            self.published.append({**published, "formula": y, "unit": self._unit(where, published, y)})

    def _read_numbers(self):
        for name, number in self.text.get("numbers", {}).items():
            where = f"{self.where}: numbers.{name}"
            _name(where, name)
            if not isinstance(number, dict):
                raise StudyError(f"{where}: must be a table")
            for key in number:
                if key not in NUMBER:
                    raise StudyError(f"{where}: no statistic or key '{key}'; there are {', '.join(NUMBER)}")
            check_keys(where, number, NUMBER)
            kinds = [key for key in (*STATISTICS, "value", "crossover") if key in number]
            if len(kinds) != 1:
                raise StudyError(f"{where}: needs one statistic of {', '.join((*STATISTICS, 'value', 'crossover'))}")
            kind = kinds[0]
            entry = {**number, "name": name, "kind": kind, "where": number.get("where", {})}
            self.condition(where, entry["where"])
            if kind == "value":
                formula = Formula(where, number["value"])
                known = [other["name"] for other in self.numbers]
                for other in formula.names:
                    if other not in known:
                        raise StudyError(f"{where}: '{other}' is no number above it; there are {', '.join(known) or 'none'}")
            else:
                formula = self.formula(where, number[kind])
            if kind in ("argmin", "argmax", "crossover"):
                self.column(where, number.get("of", number.get("x", "version")))
            if kind == "crossover" and not all(key in number for key in ("x", "from", "to")):
                raise StudyError(f"{where}: crossover needs 'x', 'from' and 'to'")
            if kind == "crossover":
                self.column(where, number["x"])
                for side in ("from", "to"):
                    self.condition(where, {"version": number[side]})
            entry |= {"formula": formula, "unit": self._unit(where, number, formula)}
            if kind in ("argmin", "argmax", "crossover") and "unit" not in number:
                entry["unit"] = "text"
            if kind == "count":
                entry["unit"] = number.get("unit", "number")
            self.numbers.append(entry)


# Words that every paragraph may use besides its numbers.
FACTS = ("cpu", "cores", "gpu", "threads", "date", "points", "wrong")


def placeholders(text):
    """The names in {name}; {{ and }} stand for braces."""
    return re.findall(r"\{([A-Za-z0-9_]+)\}", text.replace("{{", "").replace("}}", ""))


def matches(value, wanted):
    """A row's value against one of a condition's."""
    if isinstance(wanted, str):
        bound = re.fullmatch(r"(<=|>=|<|>)\s*(-?[0-9.]+(?:e-?[0-9]+)?)", wanted)
        if bound and isinstance(value, (int, float)):
            limit = float(bound[2])
            return {"<=": value <= limit, ">=": value >= limit, "<": value < limit, ">": value > limit}[bound[1]]
        return fnmatch.fnmatchcase(str(value), wanted)
    return type(value) in (int, float) and value == wanted
