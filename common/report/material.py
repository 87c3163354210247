"""What the report shows: the ladders with their results, searches, profiles, studies and other files."""

import glob
import os
import subprocess
import sys

import results as rungs
import sanitizer
import schema
import sources
import studies

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def note(text):
    print(f"report: {schema.plain(text)}", file=sys.stderr)


class Ladder:
    """One algorithm: contract, versions, and by machine: results of benches (the main one first), searches, profiles,
    studies, what compute-sanitizer found, other files."""

    def __init__(self, name):
        self.name = name
        self.contract = sources.Contract(ROOT, name)
        self.versions = sources.versions(ROOT, name)
        self.video = sources.takes_video(ROOT, name)
        self.machines, self.searches, self.profiles, self.studies, self.files = {}, {}, {}, {}, {}
        self.sanitizers = {}

    def add(self, results):
        rungs.rebase(results, {version.id: version.below.id for version in self.versions if version.below})
        where = self.machines
        if rungs.is_tune(results):
            where = self.searches
        elif rungs.is_profile(results):
            where = self.profiles
        where.setdefault(rungs.machine_of(results), []).append(results)

    def sort_results(self):
        """The main results of a machine first. Profiles in the order of the ladder."""
        for many in self.machines.values():
            many[:] = rungs.in_order(many)
        order = [version.id for version in self.versions]
        for many in self.profiles.values():
            many.sort(key=lambda r: order.index(r["bench"]["id"]) if r["bench"]["id"] in order else len(order))

    def places(self):
        everything = (self.machines, self.searches, self.profiles, self.studies, self.sanitizers, self.files)
        return sorted(set().union(*everything), key=lambda name: machine_order(name, self.machines.get(name)))


def machine_order(name, many):
    """Machines with a GPU first: they have the whole ladder."""
    return (0 if many and many[0]["machine"]["gpu"] else 1, name)


def gather(folder, names):
    """Ladders by name, and the files that belong to none of them, by machine."""
    ladders, others, shown = {name: Ladder(name) for name in names}, {}, {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "**", "*.json"), recursive=True)):
        if studies.is_study(path) or os.path.basename(path) in ("schema.json", sanitizer.NAME):
            continue
        try:
            results = rungs.load(path)
        except rungs.OtherKind as other:
            # What it says as text is shown.
            if not os.path.exists(os.path.splitext(path)[0] + ".txt"):
                note(f"{path}: left out: {other}")
            continue
        if results["algorithm"] not in ladders:
            note(f"{path}: left out: there is no algorithm {results['algorithm']} here")
            continue
        ladders[results["algorithm"]].add(results)
        results["beside"] = []
        shown[os.path.splitext(path)[0]] = results
    for kind in ("svg", "csv", "txt"):
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*", "**", "*." + kind), recursive=True)):
            if studies.is_study(path):
                continue
            stem = os.path.splitext(path)[0]
            if stem in shown:
                # The heat map of a search is drawn from its points.
                if kind != "svg" or not rungs.is_tune(shown[stem]):
                    shown[stem]["beside"].append(path)
                continue
            parent = os.path.basename(os.path.dirname(path))
            owners = [name for name in names if os.path.basename(path).startswith(name + "_")]
            owner = parent if parent in names else max(owners, key=len, default=None)
            files = ladders[owner].files if owner else others
            # Two levels below results/, or one: the folder right below it names the machine.
            machine = os.path.relpath(path, folder).split(os.sep)[0]
            files.setdefault(machine, []).append(path)
    for study in studies.committed(folder):
        if study["algorithm"] in ladders:
            ladders[study["algorithm"]].studies.setdefault(study["machine"], []).append(study)
        else:
            note(f"{study['folder']}: left out: there is no algorithm {study['algorithm']} here")
    for document in sanitizer.committed(folder):
        if document["algorithm"] in ladders:
            ladders[document["algorithm"]].sanitizers[document["machine_name"]] = document
        else:
            note(f"{document['path']}: left out: there is no algorithm {document['algorithm']} here")
    for ladder in ladders.values():
        ladder.sort_results()
    return ladders, others


def commit():
    try:
        process = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return process.stdout.strip() if process.returncode == 0 else ""
