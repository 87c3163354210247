"""The page's part about committed studies: results/<machine>/<algo>/study_<name>/, which common/study writes and reads."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "study"))

# pylint: disable=wrong-import-position
import plots  # noqa: E402
import publishing  # noqa: E402
import results as rungs  # noqa: E402
from markup import code, esc, table  # noqa: E402

committed, is_study = publishing.committed, publishing.is_study


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
