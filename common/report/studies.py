"""Committed studies: results/<machine>/<algo>/study_<name>/, which common/study writes. Read for the page, for
`study.py list RESULTS`, and for other pages: committed(results)."""

import glob
import os

import plots
import results as rungs
from markup import code, esc, table

SCHEMA, VERSION = "rungs-study", 2

def is_study(path):
    """Whether a file lies in a study's folder, results/<machine>/<algo>/study_<name>/."""
    return os.path.basename(os.path.dirname(os.path.abspath(path))).startswith("study_")


def load(folder):
    """The document of a study's folder, with "folder" and, by name, the paths of its plots as "svg"."""
    path = os.path.join(folder, "results.json")
    document = rungs.read(path)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or document.get("version") != VERSION:
        raise rungs.ResultsError(f'{path}: its "schema" is not "{SCHEMA}", version {VERSION}')
    rungs.require(path, document, "study")
    if not document["points"]:
        raise rungs.ResultsError(f"{path}: no points")
    for plot in document["plots"]:
        if not os.path.isfile(os.path.join(folder, f"{plot['name']}.svg")):
            raise rungs.ResultsError(f"{path}: its plot {plot['name']}.svg is missing")
    return document | {"folder": folder, "svg": {p["name"]: os.path.join(folder, f"{p['name']}.svg") for p in document["plots"]}}


def committed(results):
    """The studies below results/, in the order of their paths: load()'s documents with "machine", the folder's name."""
    found = []
    for path in sorted(glob.glob(os.path.join(glob.escape(results), "*", "*", "study_*", "results.json"))):
        machine = os.path.relpath(path, results).split(os.sep)[0]
        found.append(load(os.path.dirname(path)) | {"machine": machine})
    return found


def _figures(study, numbers):
    """The committed plots, in the colours of the page. numbers() gives each a number of its own."""
    lines = []
    for plot in study["plots"]:
        path = study["svg"][plot["name"]]
        try:
            with open(path, encoding="utf-8") as file:
                picture = plots.themed(file.read(), f"p{numbers()}-", plot["title"])
        except (OSError, ValueError, plots.ElementTree.ParseError) as error:
            raise rungs.ResultsError(f"{path}: {error}") from None
        caption = f"<strong>{esc(plot['title'])}.</strong> {esc(plot['caption'])}"
        lines.append(f"<figure>{picture}<figcaption>{caption}</figcaption></figure>")
    return f'<div class="plots">{"".join(lines)}</div>' if lines else ""


def html(study, numbers):
    """A section: question, what was found, plots, tables, and what could not be measured."""
    lines = [f"<h4>Study: {esc(study['title'])}</h4>"]
    if study["question"]:
        lines.append(f"<p>{esc(study['question'])}</p>")
    lines += [f"<p>{esc(text)}</p>" for text in study["paragraphs"]]
    lines.append(_figures(study, numbers))
    for one in study["tables"]:
        if one["rows"]:
            body = [[esc(cell) for cell in row] for row in one["rows"]]
            lines.append(f'<p class="small">{esc(one["title"])}:</p>' + table(one["title"], one["head"], body, 1))
    for kind, title in (("wrong", "Wrong"), ("left_out", "Could not be measured"), ("skipped", "Did not run here"),
                        ("emulated", "Verified without times")):  # fmt: skip
        if study[kind]:
            items = "".join(f"<li>{esc(line)}</li>" for line in study[kind])
            lines.append(f'<div class="small">{title}:<ul>{items}</ul></div>')
    source = study.get("source")
    words = [f"Source: {source['authors']}, {source['title']}, {source['year']}."] if source else []
    words.append(f"{rungs.count(len(study['points']), 'point')}, the {study['level']} form.")
    lines.append(f'<p class="small">{esc(" ".join(words))} Made by {code("make study-" + study["name"])}.</p>')
    return "\n".join(lines)
