"""`eventide check x.mtl`: what the rules read and derive, level by level, and what a stream must hold of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from eventide.cli.check import levels_and_cycles

if TYPE_CHECKING:
    from eventide.mtl.program import MtlProgram


def summary(program: MtlProgram) -> dict[str, Any]:
    """Inputs, results by level, cycles, and the memory of streams (window, granularity, Theorems 8 and 10)."""
    from eventide.report.mtl_graph import signature_of

    model = program.model
    memory = program.memory
    return {
        "inputs": sorted(signature_of(model, t) for t in model.predicates if t not in model.defined),
        "results": [{"name": signature_of(model, t), "level": level, "rules": len(model.defined[t])}
                    for t, level in sorted(model.levels.items(), key=lambda pair: (pair[1], pair[0]))],
        "cycles": [[signature_of(model, t) for t in cycle] for cycle in model.cycles],
        "memory": {"window": str(memory.window), "variant": memory.variant, "history": list(memory.history),
                   "granularity": None if memory.granularity is None else str(memory.granularity)},
        "streams": memory.lines(),
    }


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The summary as people read it."""
    if not found:
        return
    yield "inputs"
    for name in found["inputs"]:
        yield f"  {name}"
    yield from levels_and_cycles(found, lambda row: str(row["name"]))
    yield "streams"
    for line in found["streams"]:
        yield f"  {line}"
