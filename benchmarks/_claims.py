"""What all benchmarks share: a claim with its figure and target, and how claims are printed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

Claim = dict[str, Any]


def claim(name: str, value: float, unit: str, target: float | None, rival: str, ratio: float | None,
          holds: bool | None) -> Claim:
    """One line of the result."""
    return {"claim": name, "value": value, "unit": unit, "target": target, "rival": rival, "ratio": ratio,
            "holds": holds}


def at_most(name: str, value: float, unit: str, target: float) -> Claim:
    """A figure that must not be above a limit of ours."""
    return claim(name, round(value, 2), unit, target, "our limit", round(value / target, 2), value <= target)


def table(claims: Sequence[Claim]) -> str:
    """The claims as text."""
    width = max(len(c["claim"]) for c in claims)
    lines = []
    for c in claims:
        verdict = {None: "", True: "holds", False: "FAILS"}[c["holds"]]
        target = "" if c["target"] is None else f"{c['target']:,}"
        ratio = "" if c["ratio"] is None else f"{c['ratio']:g} x"
        lines.append(f"{c['claim']:{width}}  {c['value']:>14,} {c['unit']:22} {target:>12}  {verdict:5}  {ratio:>9} "
                     f"{c['rival']}")
    return "\n".join(lines)


def show(groups: Iterable[Sequence[Claim]], *, as_json: bool) -> int:
    """Print groups of claims as they are found, or all of them as JSON at the end; the exit code."""
    claims: list[Claim] = []
    for found in groups:
        claims += found
        if found and not as_json:
            print(table(found), flush=True)
    if as_json:
        print(json.dumps(claims, indent=2))
    return 0
