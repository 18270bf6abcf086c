"""Running DatalogMTL programs in tests: text in, intervals by atom out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from eventide.analysis.mtl.passes import analyse
from eventide.mtl.facts import facts_in
from eventide.mtl.materialisation import Compiled
from eventide.mtl.results import interval_text
from eventide.mtl.streaming import Streaming
from eventide.syntax.mtl import parse


def compiled(text: str) -> Compiled:
    """A program; the rules have no errors."""
    model = analyse(parse(text).rules)
    assert not model.failed, [str(d) for d in model.diagnostics]
    return Compiled(model)


def by_atom(table: pa.Table) -> dict[str, list[str]]:
    """The rows of a result: `{"Mon(n1,s)": ["[0,7]", "[10,14]"]}`, in the order of the atoms."""
    found: dict[str, list[str]] = {}
    for row in table.to_pylist():
        atom = f"{row['fluent']}({row['args'].replace('|', ',')})" if row["args"] else row["fluent"]
        found.setdefault(atom, []).append(interval_text(row["start"], row["end"], row["left"], row["right"]))
    return dict(sorted(found.items()))


def streaming(rules: str, facts: str, wanted: Sequence[str] | None = None, step: str | None = None,
              **options: Any) -> Streaming:
    """A program over a stream; everything that the rules name is reported unless something is wanted."""
    program = compiled(rules)
    end = options.pop("end", None)
    return Streaming(program, facts_in(facts), list(program.model.predicates) if wanted is None else wanted,
                     step=None if step is None else Fraction(step), end=None if end is None else Fraction(end),
                     **options)
