"""The page of benchmarks: what was measured, kept as data, and shown as tables and pictures."""

from __future__ import annotations

import json
import math
import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from _claims import Claim
from eventide.formats.results import whole_file
from eventide.report.glyphs import width_of
from eventide.report.shapes import LINE, SOFT, Box, Picture, Stroke, Words
from eventide.report.svg import to_svg

REACHED, MISSED = "#009e73", "#d55e00"
ROW, EDGE, WIDTH, HEAD = 18.0, 20.0, 420.0, 62.0
LEAST, MOST = -1.0, 2.0  # powers of ten; what is beyond them is cut, with its figure beside it

START = """# Benchmarks

Every claim about speed, and some about answers, with the figure that was measured, the target, and whom it is compared
with. One command measures everything anew, at the sizes of the claims, and writes this page and its pictures:

```sh
./eventide bench --page docs/benchmarks.md
```

`eventide bench NAME --page docs/benchmarks.md` measures one benchmark and leaves the others. The page is written after
each, so what was measured stays if one fails, or if it is stopped. Options behind `NAME` go to the benchmark
(`eventide bench NAME -- --help` lists them); then its figures are of that size. Figures vary from run to run, and with
what else the machine does; ratios vary less. A claim without a target is there for comparison.

Some claims need data that are not in the checkout: the CAVIAR videos, traffic of Aarhus, MeTeoR's workloads. They are
looked for where the tests look for them (`EVENTIDE_SHARED`). Where they are absent generated data take their place, as
the claim says; claims about the labels of CAVIAR are left out.

## Whom we compare with

| rival | where its figures come from |
|---|---|
| RTEC | recorded on a machine of this kind under SWI-Prolog 9, facts per CPU second, reasoning alone |
| PIEC, oPIEC, Prob-EC | the published programs, recorded on a machine of this kind, CPU time; Prob-EC on ProbLog |
| MeTeoR | its semi-naive materialisation, and its script for streams, recorded on a machine of this kind, CPU time |
| Ticker, Laser | their own scenarios, recorded on a machine of this kind, CPU time without starting up |
| WOLED | the times and scores that its paper prints; another machine, other folds |
| hand-written rules, exhaustive learner | their recorded scores on the same folds of CAVIAR |
| A, B | recomputation from scratch, and on sorted facts: our own engine, in the same run |
| reading, sorting | what this machine needs for the same bytes, in the same run |

The recordings were made once and are not repeated here: a ratio to them compares two machines of one kind. Such
machines differ: one took three to four times as long as another for the same work, and missed limits in seconds, and
targets against recordings, that the other reached. Ratios to reading, to sorting, and to our own other ways are
measured side by side.
"""


def claimed(name: str, pictures: str) -> list[str]:
    """The options with which a benchmark measures what is claimed, where its usual size is another one.

    >>> claimed("spark", "."), claimed("kernels", ".")
    (['--full'], [])
    """
    return {"spark": ["--full"], "probability": ["--plots", pictures]}.get(name, [])


def machine() -> str:
    """What the figures were measured on.

    >>> "Python" in machine()
    True
    """
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass  # no Linux
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"


def record(page: Path, name: str, claims: Sequence[Claim], about: str, options: Sequence[str] = (),
           pictures: Path | None = None) -> None:
    """Add what was measured to the data beside the page, and write the page and its pictures anew.

    `about` is what the benchmark says of itself; `options` are those it was given; `pictures` is a folder with those
    that it drew.
    """
    data, images = page.with_suffix(".json"), page.parent / "images"
    known: dict[str, Any] = json.loads(data.read_text(encoding="utf-8")) if data.is_file() else {}
    drawn = {} if pictures is None else {path.name: path.read_text(encoding="utf-8") for path in pictures.glob("*.svg")}
    known[name] = {"about": about, "on": machine(), "day": date.today().isoformat(), "options": list(options),
                   "pictures": {file: _title(text) for file, text in sorted(drawn.items())}, "claims": list(claims)}
    for other, each in known.items():
        picture = margins(each["claims"], f"{other}: how far from the targets")
        if picture is not None:
            drawn[f"benchmark-{other}.svg"] = to_svg(picture)
    images.mkdir(parents=True, exist_ok=True)
    for file, content in drawn.items():
        _write(images / file, content)
    _write(data, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    _write(page, text(known))


def _write(path: Path, content: str) -> None:
    with whole_file(path) as file:
        file.write(content.encode())


def _title(svg: str) -> str:
    found = re.search(r"<title>(.*?)</title>", svg, re.DOTALL)
    return found[1].strip() if found else "a picture"


def text(known: Mapping[str, Any]) -> str:
    """The page, from what was measured."""
    claims = [claim for each in known.values() for claim in _judged(each)]
    missed = [claim for claim in claims if not claim["holds"]]
    parts = [START, f"## Targets\n\n{len(claims) - len(missed)} of {len(claims)} are reached."
             + ("" if not missed else " Missed:\n\n" + "\n".join(f"- {_cell(claim['claim'])}" for claim in missed)),
             _overview(known)]
    for name in sorted(known):
        each = known[name]
        first, _, rest = each["about"].partition("\n")
        parts += [f"## {name}", f"{first}\n{rest}".rstrip(),
                  f"Measured on {each['day']}: {each['on']}"
                  + (f"; with `{' '.join(each['options'])}`" if each["options"] else "") + "."]
        if margins(each["claims"], name) is not None:
            parts.append(f"![How far the figures of {name} are from their targets](images/benchmark-{name}.svg)")
        parts.append(_table(each["claims"]))
        parts += [f"![{title}](images/{file})" for file, title in each.get("pictures", {}).items()]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _overview(known: Mapping[str, Any]) -> str:
    rows = ["| benchmark | what it measures | targets reached | measured on |", "|---|---|---|---|"]
    for name in sorted(known):
        each, judged = known[name], _judged(known[name])
        first = each["about"].partition("\n")[0]
        rows.append(f"| [{name}](#{name}) | {_cell(first)} | {sum(c['holds'] for c in judged)} of {len(judged)} | "
                    f"{each['day']} |")
    return "\n".join(rows)


def _judged(each: Mapping[str, Any]) -> list[Claim]:
    """The claims that hold or do not."""
    return [claim for claim in each["claims"] if claim["holds"] is not None]


def margin(claim: Claim) -> float | None:
    """How many times better than its target a figure is; below 1 it is missed. None where that says nothing.

    >>> margin({"value": 20, "target": 10, "holds": True}), margin({"value": 20, "target": 10, "holds": False})
    (2.0, 0.5)
    """
    value, target = claim["value"], claim["target"]
    if target is None or claim["holds"] is None or not value > 0 or not target > 0:
        return None
    more = value / target
    return more if (more >= 1) == claim["holds"] else 1 / more


def margins(claims: Sequence[Claim], title: str) -> Picture | None:
    """Every claim with a target as a bar: to the right of the line the target is reached."""
    rows = [(claim["claim"], found) for claim in claims if (found := margin(claim)) is not None]
    if not rows:
        return None
    left = EDGE + max(width_of(name) for name, _ in rows) + 12
    picture = Picture(left + WIDTH + 70, HEAD + len(rows) * ROW + EDGE, title)
    picture.shapes.append(Words(EDGE, 20, title, face="title"))

    def at(times: float) -> float:
        power = min(max(math.log10(times), LEAST), MOST)
        return left + (power - LEAST) / (MOST - LEAST) * WIDTH

    bottom = HEAD + len(rows) * ROW
    for power in range(int(LEAST), int(MOST) + 1):
        x = at(10.0**power)
        picture.shapes += [Stroke(((x, HEAD - 6), (x, bottom)), SOFT if power == 0 else LINE),
                           Words(x, HEAD - 16, "target" if power == 0 else f"{10.0**power:g} x", SOFT, anchor="middle")]
    for number, (name, times) in enumerate(rows):
        y = HEAD + number * ROW
        low, high = sorted((at(1), at(times)))
        picture.shapes += [Words(left - 8, y + ROW / 2, name, anchor="end"),
                           Box(low, y + 3, max(high - low, 1.5), ROW - 6, REACHED if times >= 1 else MISSED),
                           Words(high + 6, y + ROW / 2, f"{times:.3g} x", SOFT)]
    return picture


def _table(claims: Sequence[Claim]) -> str:
    rows = ["| claim | figure | target | | compared with | ratio |", "|---|---|---|---|---|---|"]
    for claim in claims:
        verdict = {None: "", True: "holds", False: "**missed**"}[claim["holds"]]
        target = "" if claim["target"] is None else f"{claim['target']:,}"
        ratio = "" if claim["ratio"] is None else f"{claim['ratio']:,g}"
        rows.append(f"| {_cell(claim['claim'])} | {claim['value']:,} {_cell(claim['unit'])} | {target} | {verdict} | "
                    f"{_cell(claim['rival'])} | {ratio} |")
    return "\n".join(rows)


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("[", "\\[").replace("*", "\\*")
