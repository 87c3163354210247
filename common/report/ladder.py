"""The report's section on one ladder: contract, measurements, story, and a card for each rung."""

import pages
import results as rungs
import sources
from markup import code, esc, markdown_html, prose
from material import ROOT
from pieces import contract_html, machine_html, pictures_html


def change(before, after, ratio):
    """One phase of two rungs: what became of it."""
    # Breaks before the arrow only.
    medians = " → ".join(rungs.time_and_spread(phase).replace(" ", "\u00a0") for phase in (before, after))
    if not ratio["differs"]:
        verdict = "not different"
    elif ratio["times"] >= 1:
        verdict = f"{rungs.number(ratio['times'])}\u00a0× as fast"
    else:
        verdict = f"{rungs.number(1 / ratio['times'])}\u00a0× as slow"
    return f"<strong>{verdict}</strong> <span>({medians})</span>"


def measured(results, version):
    """What one results file says of a version: its change from the rung below, or else from serial."""
    row = rungs.find(results, version.id)
    if row is None:
        return ""
    if row["outcome"] != "timed":
        why = f": {row['why']}" if row["why"] else ""
        return f"<li>{esc(rungs.verified(row) + why)}</li>"
    if row["reference"]:
        return f"<li>the reference: {rungs.time_and_spread(row['kernel'])}</li>"
    over = row["over_below"] or row["over_serial"]
    base = over and rungs.find(results, over["version"])
    if not base or base["outcome"] != "timed" or over["kernel"] is None or over["end_to_end"] is None:
        return f"<li>{rungs.time_and_spread(row['kernel'])}</li>"
    from_base = "" if version.below and over["version"] == version.below.id else f", from {code(over['version'])}"
    if not rungs.on_device(row):
        return f"<li>{change(base['kernel'], row['kernel'], over['kernel'])}{from_base}</li>"
    return (
        f"<li>kernel{from_base}: {change(base['kernel'], row['kernel'], over['kernel'])}</li>"
        f"<li>end to end{from_base}: {change(base['end_to_end'], row['end_to_end'], over['end_to_end'])}</li>"
    )


def diff_html(version):
    if version.below is None:
        lines = [("same", line) for line in version.lines]
        title = f"The code ({rungs.count(len(lines), 'line')})"
    else:
        lines = sources.diff(version.below, version)
        added, removed = (sum(kind == wanted for kind, _ in lines) for wanted in ("add", "remove"))
        title = f"What changed from {version.below.id}: {rungs.count(added, 'line')} added, {removed} removed"
    spans = "".join(
        f'<span class="{kind}">{esc(text) or " "}</span>' if kind != "skip" else '<span class="skip">⋯</span>'
        for kind, text in lines
    )
    return f'<details><summary>{esc(title)}</summary><pre class="scroll diff" tabindex="0">{spans}</pre></details>'


def rung_html(ladder, version):
    found = []
    for machine in ladder.places():
        for results in ladder.machines.get(machine, [])[:1]:
            text = measured(results, version)
            if text:
                found.append(f"<h5>Measured on {esc(machine)}, {esc(rungs.size(results))}</h5><ul>{text}</ul>")
    result = "".join(found) or "<h5>Measured</h5><p>Not yet.</p>"
    problem = f"<p><strong>Problem:</strong> {prose(version.problem)}</p>\n" if version.problem else ""
    said = f"<h5>Result</h5><p>{prose(version.result)}</p>" if version.result else ""
    return f"""<article class="rung {version.side}" id="{esc(ladder.name)}-{esc(version.id.replace('/', '-'))}">
<h4><code class="{version.side}">{esc(version.id)}</code> <span class="path">{esc(version.path)}</span></h4>
{problem}<p><strong>Idea:</strong> {prose(version.idea)}</p>
<div class="two"><div><h5>Expected</h5><p>{prose(version.expect)}</p></div><div>{said}{result}</div></div>
{diff_html(version)}
</article>"""


def story_html(name, names):
    """What people wrote about the ladder, from its page in docs/."""
    text = markdown_html(pages.story(ROOT, name), names)
    return f"<h3>What the rungs teach</h3>\n{text}" if text else ""


def ladder_html(ladder, names, drawer, maker):
    name = esc(ladder.name)
    machines = "\n".join(machine_html(ladder, machine, drawer) for machine in ladder.places())
    cards = "\n".join(rung_html(ladder, version) for version in ladder.versions)
    summary = ladder.contract.summary[:1].upper() + ladder.contract.summary[1:]
    return f"""<section id="{name}">
<h2>{name}</h2>
<p class="lead">{prose(summary)}. <code>make bench-{name}</code> measures it; its page is {code(f"docs/{ladder.name}.md")}.</p>
{pictures_html(maker, ladder)}
{contract_html(ladder.contract)}
{machines or '<p>Not measured yet.</p>'}
{story_html(ladder.name, names)}
<h3>Rung by rung</h3>
{cards}
</section>"""
