"""Checks that the links of Markdown files lead somewhere: check_links.py FILE.md...

A link or picture to a file must find it, seen from the folder of the Markdown file, and one to a heading (#name) must
find that heading. Links into the web are not followed. Prints each broken link; exit status 1 then, and 2 when no link
was found at all.
"""

import os
import re
import sys
import urllib.parse


def without_code(text):
    """Code blocks and code spans hold no links."""
    text = re.sub(r"^(`{3,}).*?^\1`*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(?:(?<=\n\n)|\A)(?: {4}.*\n)+", "\n", text)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "code", text)


def anchors(path):
    """The names that GitHub gives to the headings of a file."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^(`{3,}).*?^\1`*$", "", file.read(), flags=re.DOTALL | re.MULTILINE)
    names = set()
    for title in re.findall(r"^#{1,6} +(.*?)\s*$", text, re.MULTILINE):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        names.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return names


def main():
    broken, links = 0, 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            text = without_code(file.read())
        for target in re.findall(r"(?<!\\)\]\(([^)\s]+)\)", text) + re.findall(r"(?:src|href)=\"([^\"]+)\"", text):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            name, _, heading = target.partition("#")
            found = os.path.join(os.path.dirname(path), urllib.parse.unquote(name)) if name else path
            if not os.path.exists(found):
                print(f"{path}: {target}: there is no such file")
                broken += 1
            elif heading and heading not in anchors(found):
                print(f"{path}: {target}: there is no such heading")
                broken += 1
    print(f"{links} links, {broken} broken")
    return 1 if broken else 0 if links else 2


if __name__ == "__main__":
    sys.exit(main())
