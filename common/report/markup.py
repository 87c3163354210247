"""Pieces of HTML, well-formed as XML too, that the parts of the report share."""

import html
import re

import results as rungs


def esc(text):
    """As text or attribute of the page; what XML cannot hold is left out."""
    return html.escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", str(text)))


def prose(text):
    """Escaped, with `names between backquotes` as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", esc(text))


def code(text):
    return f"<code>{esc(text)}</code>"


def table(caption, head, rows, numbers_from, box="scroll"):
    """head: texts; rows: lists of HTML; columns from `numbers_from` on stand to the right. Scrolls inside a box."""
    lines = [
        f'<div class="{box}" tabindex="0" role="region" aria-label="{esc(caption)}"><table>',
        f'<caption class="unseen">{esc(caption)}</caption>',
        "<thead><tr>",
    ]
    for index, cell in enumerate(head):
        number = ' class="number"' if index >= numbers_from else ""
        lines.append(f'<th scope="col"{number}>{esc(cell).replace("× ", "×&#160;")}</th>')
    lines.append("</tr></thead><tbody>")
    for row in rows:
        lines.append(f'<tr><th scope="row">{row[0]}</th>')
        for index, cell in enumerate(row[1:], 1):
            number = ' class="number"' if index >= numbers_from else ""
            lines.append(f"<td{number}>{cell}</td>")
        lines.append("</tr>")
    return "\n".join(lines + ["</tbody></table></div>"])


def mark(row):
    """The version's name, coloured by its side."""
    return f'<code class="{esc(rungs.side(row))}">{esc(row["id"])}</code>'
