"""`eventide check x.lars`: its problems, what it reads and concludes, and how each part of it is evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eventide.lars.program import LarsProgram


def summary(program: LarsProgram) -> dict[str, Any]:
    """What a program reads and concludes, component by component, and how each is evaluated."""
    from eventide.syntax.terms import template_of

    model = program.model
    return {
        "inputs": sorted(template_of(*predicate) for predicate in model.inputs),
        "background": sorted(template_of(*predicate) for predicate in model.background),
        "components": [{"predicates": [template_of(*predicate) for predicate in component.predicates],
                        "evaluation": component.way, "recursive": component.recursive,
                        "loop": [template_of(*predicate) for predicate in component.loop]}
                       for component in model.components],
        "contradictions": [str(rule) for rule in model.tree.rules if rule.head is None],
    }


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The summary as people read it."""
    if not found:
        return
    for title in ("inputs", "background"):
        if found[title]:
            yield f"{title:12} {', '.join(found[title])}"
    for component in found["components"]:
        why = "recursive" if component["recursive"] else ""
        if component["loop"]:
            why = f"loop through negation: {' → '.join(component['loop'])}"
        elif component["evaluation"] != "columnar" and not why:
            why = "reads what has several answers"
        yield f"{component['evaluation']:12} {', '.join(component['predicates'])}{f'  ({why})' if why else ''}"
    for rule in found["contradictions"]:
        yield f"{'contradicts':12} {rule}"
