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


# ---------------------------------------------------------------------------------------------- Markdown of a story

_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|!\[[^\]]*\]\([^)]*\)|\[(?P<text>[^\]]+)\]\((?P<target>[^)]+)\)"
    r"|\*\*(?P<bold>\S(?:.*?\S)?)\*\*|\*(?P<slanted>\S(?:.*?\S)?)\*|\\(?P<plain>[^\w\s])"
)


def _linked(text, target, names):
    """A link to another ladder's page leads to its section; of one that leads out of the page its target is named."""
    name = target.removesuffix(".md")
    if name in names:
        return f'<a href="#{esc(name)}">{_inline(text, names)}</a>'
    path = target.removeprefix("../").partition("#")[0]
    if text in (path, path.rsplit("/", 1)[-1]):
        return code(path)
    return f"{_inline(text, names)} ({code(path)})"


def _inline(text, names):
    parts, place = [], 0
    for match in _INLINE.finditer(text):
        parts.append(esc(text[place : match.start()]))
        place = match.end()
        if match["code"]:
            parts.append(code(match["code"]))
        elif match["text"]:
            parts.append(_linked(match["text"], match["target"], names))
        elif match["bold"]:
            parts.append(f"<strong>{_inline(match['bold'], names)}</strong>")
        elif match["slanted"]:
            parts.append(f"<em>{_inline(match['slanted'], names)}</em>")
        elif match["plain"]:
            parts.append(esc(match["plain"]))
    return "".join(parts) + esc(text[place:])


def markdown_html(text, names):
    """What a ladder's story is written in: paragraphs, lists, headings, code blocks; `names` are those of all ladders.
    Pictures are left out, for the report has its own."""
    blocks = []
    for block in filter(str.strip, re.split(r"\n\s*\n", text.strip("\n"))):
        lines = block.splitlines()
        if all(line.startswith("    ") for line in lines):
            body = "\n".join(line[4:] for line in lines)
            blocks.append(f'<pre class="scroll" tabindex="0">{esc(body)}</pre>')
        elif re.match(r"#+ ", block):
            blocks.append(f"<h4>{_inline(block.lstrip('# '), names)}</h4>")
        elif re.match(r"[-*] ", block):
            items = re.split(r"^[-*] +", block, flags=re.MULTILINE)[1:]
            bodies = (_inline(" ".join(item.split()), names) for item in items)
            blocks.append("<ul>" + "".join(f"<li>{body}</li>" for body in bodies) + "</ul>")
        else:
            body = _inline(" ".join(block.split()), names)
            blocks.append(f"<p>{body}</p>" if body else "")
    return "\n".join(filter(None, blocks))
