"""Checks the page of `make report`: check_page.py PAGE ROOT [RESULTS-FILE...]

Well-formed, below 16 MB (each results file adds a table, a search or profile a picture), loads nothing, every link has its target,
every picture a text, every version of every ladder and every measured row is there. Prints what is wrong; exit status 1 then.
"""

import glob
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "common", "report"))
import renames  # noqa: E402
import sources  # noqa: E402

page, root, *files = sys.argv[1:]
wrong = []
with open(page, encoding="utf-8") as file:
    text = file.read()
tree = ElementTree.fromstring(text)
ids, links = [], []

if os.path.getsize(page) > 16e6:
    wrong.append("over 16 MB")
for pattern in (r"<script", r"<link", r"<iframe", r"<object", r"@import", r"url\((?!#)"):
    found = re.search(pattern, text)
    if found:
        wrong.append(f"{pattern}: {text[found.start() : found.start() + 60]}")
for element in tree.iter():
    for name, value in element.attrib.items():
        if name == "id":
            ids.append(value)
        elif name.startswith("on"):
            wrong.append(f"<{element.tag} {name}=...> runs a script")
        elif name in ("src", "href", "srcset", "data", "action"):
            if value.startswith("#"):
                links.append(value[1:])
            elif not value.startswith("data:image/"):
                wrong.append(f"<{element.tag} {name}={value[:60]}> is not inside the page")
    if element.tag == "img" and not element.get("alt"):
        wrong.append("a picture without alt")
    if element.tag == "svg" and not element.get("aria-label"):
        wrong.append("a plot without a label")
wrong += [f"id {name} twice" for name in set(ids) if ids.count(name) > 1]
wrong += [f"no target for #{name}" for name in set(links) - set(ids)]

for algorithm in sources.algorithms(root):
    for version in sources.versions(root, algorithm):
        rung = f"{algorithm}-{version.id.replace('/', '-')}"
        if rung not in ids:
            wrong.append(f"no rung {rung}")
for path in glob.glob(f"{root}/common/algo/*.c"):
    if os.path.basename(path)[:-2] not in ids:
        wrong.append(f"no ladder {os.path.basename(path)[:-2]}")
words = "".join(tree.itertext())
for path in files:
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    if not renames.apply(results):
        continue
    kind = results.get("kind", "bench")
    section = tree.find(f".//section[@id='{results['algorithm']}']")
    rows = {row.text for row in section.iterfind(".//tbody/tr/th/code")}
    measured = {"bench": results.get("versions"), "profile": [results.get("bench")]}.get(kind, [])
    wrong += [f"{path}: no row {row['id']}" for row in measured if row.get("end_to_end") and row["id"] not in rows]
    if kind == "tune":
        cells = [cell.text for cell in section.iterfind(".//svg[@class='heat']/g/title")]
        wrong += [f"{path}: {len(cells)} cells"] * (len(cells) < len(results["points"]))
    if kind == "profile":
        names = {entry["name"] for entry in results["profile"]["gpu_activities"] + results["profile"]["api_calls"]}
        wrong += [f"{path}: no {name}" for name in names - rows]
    wrong += [f"{path}: no {name} of it" for name in ("date", "commit", "command") if results[name][:10] not in words]
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
