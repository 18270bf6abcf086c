"""What a saved session must say of its rules, so that it can go on with others when these rules are no longer there."""

from __future__ import annotations

from typing import Any

from eventide.algebra.nodes import Output
from eventide.engine.checkpoint import Reader, term_from
from eventide.engine.loading import Store
from eventide.engine.swap import Former
from eventide.syntax.terms import Term


def described(former: Former) -> dict[str, Any]:
    """What is saved of the rules besides the state: what results mean, what inputs are, what is reported."""
    return {
        "meanings": dict(former.meanings),
        "inputs": {name: [kept.kind, kept.counted, [(f.name, f.type) for f in kept.fields]]
                   for name, kept in former.state.inputs.items()},
        "outputs": [[o.definition, o.template, o.kind, o.value, o.values] for o in former.outputs],
        "listed": {name: list(values) for name, values in former.listed.items()}}


def former_of(saved: Reader) -> Former:
    """A saved session whose rules are not needed; InputError if it does not say enough of them."""
    store = Store()
    known = saved.foreign(store)
    told = known.described
    outputs = tuple(
        Output(definition, template, kind, None if value is None else term_from(value),
               None if values is None else _terms(values))
        for definition, template, kind, value, values in told["outputs"] if template in known.wanted)
    return Former(store.domains, known.timeline, known.state, told["meanings"], outputs,
                  {name: _terms(values) for name, values in told["listed"].items()}, known.pending, known.start,
                  known.query_time, known.counts, known.spare)


def _terms(values: list[Any]) -> tuple[Term, ...]:
    return tuple(map(term_from, values))
