"""The dependency graph of a DatalogMTL program: what each predicate is derived from, by level."""

from __future__ import annotations

from eventide.analysis.mtl.model import MtlModel
from eventide.analysis.patterns import leaf_count
from eventide.report.graph import Box, Graph, signature


def mtl_graph(model: MtlModel) -> Graph:
    """Boxes for predicates, arrows from what rules read.

    >>> import eventide as ev
    >>> graph = mtl_graph(ev.parse("P(X) :- <>-[1,1] P(X), Q(X).", language="mtl").model)
    >>> [(box.label, box.level, box.cycle) for box in graph.boxes], graph.arrows
    ([('Q(x)', 0, None), ('P(x)', 1, 1)], (('P(_)', 'P(_)'), ('Q(_)', 'P(_)')))
    """
    cycles = {name: number for number, cycle in enumerate(model.cycles, 1) for name in cycle}
    boxes = [Box(template, signature_of(model, template), "conclusion" if template in model.defined else
                 "input fluent", model.levels.get(template, 0), cycles.get(template)) for template in model.predicates]
    arrows = sorted((source, target) for target, sources in model.reads.items() for source in sources)
    return Graph(tuple(sorted(boxes, key=lambda box: (box.level, box.label))), tuple(arrows))


def signature_of(model: MtlModel, template: str) -> str:
    """A predicate with the domains of its arguments."""
    return signature(template, [model.types[template, place] for place in range(leaf_count(template))])
