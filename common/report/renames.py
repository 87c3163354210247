"""Versions that had another id when a results file was written: results/renames.tsv, a line for each,

    algorithm <tab> id then <tab> id now, or - where the version is no rung any more <tab> when that began, "2026-11-27T20:00:00Z"

A file whose "date" is before that has the old ids. Ids may have gone round: lines of one moment hold together.
"""

import functools
import os

TABLE = "results/renames.tsv"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@functools.lru_cache(maxsize=None)
def table(root=ROOT):
    """[(moment, {(algorithm, old): new})] from the first moment to the last."""
    moments = {}
    try:
        with open(os.path.join(root, TABLE), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 4 or (fields[0], fields[1]) in moments.get(fields[3], {}):
            raise SystemExit(f"{TABLE}:{number}: not of the form 'algorithm, old id, new id or -, moment' between tabs, or there twice")
        moments.setdefault(fields[3], {})[fields[0], fields[1]] = fields[2]
    return sorted(moments.items())


def now(algorithm, name, date, root=ROOT):
    """The id of today of a version that was called `name` on `date` ("2026-11-20T13:17:20Z"); None where it is no rung any more."""
    for moment, names in table(root):
        if date < moment and name is not None:
            name = names.get((algorithm, name), name)
            name = None if name == "-" else name
    return name


def apply(document):
    """Brings the ids of a bench, search or profile up to date, in place; rows of what is no rung any more go. False where the
    whole document is about one of those."""
    if not isinstance(document, dict) or not {"algorithm", "date"} <= set(document):
        return True

    def update(item, key):
        if isinstance(item, dict) and isinstance(item.get(key), str):
            item[key] = now(str(document["algorithm"]), item[key], str(document["date"]))
            return item[key] is not None
        return True

    rows = document.get("versions")
    if isinstance(rows, list):
        document["versions"] = [row for row in rows if update(row, "id")]
    for row in [*(document.get("versions") or []), document.get("bench")]:
        for over in ("over_serial", "over_below"):
            if isinstance(row, dict) and not update(row.get(over), "version"):
                row[over] = None
    update(document, "expected_by")
    return update(document.get("bench"), "id") and update(document, "tuned_version")
