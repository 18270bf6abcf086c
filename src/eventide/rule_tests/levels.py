"""A test step by step: the facts, then level by level which rules fired when, and the intervals that came of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from eventide.algebra import nodes as n
from eventide.analysis.model import Clause
from eventide.analysis.origins import clause_nodes
from eventide.analysis.patterns import fill, name_of
from eventide.engine.answers import events_table, output_table
from eventide.engine.executor import Executor, PlanIndex
from eventide.engine.relation import Rows
from eventide.program import Program
from eventide.rule_tests.coverage import executor_of
from eventide.rule_tests.model import RuleTest
from eventide.rule_tests.running import answer_of, counted_facts
from eventide.rule_tests.stretches import text_of
from eventide.rule_tests.subjects import EventCalculusLines, Fact

_VERBS = {"initiated": "initiates", "terminated": "terminates", "event": "happens"}


def steps(program: Program, test: RuleTest) -> Iterator[dict[str, Any]]:
    """The query times of a test, each with its levels; each level with its rules that fired and its intervals."""
    lines = EventCalculusLines(program)
    for counted in counted_facts(lines, test):
        executor = executor_of(lines, test, counted)
        executor.use(PlanIndex(n.Plan(())))
        yield {"query": counted.query, "facts": list(map(_text, counted.facts)),
               "levels": list(_levels(program, executor))}


def _text(fact: Fact) -> str:
    when = fact.given.when
    return f"{when[0][0] if fact.given.is_point else text_of([when])} {fact.text}"


def _levels(program: Program, executor: Executor) -> Iterator[dict[str, Any]]:
    model = program.model
    bodies = {d.name: d.body for s in model.plan.strata for d in s.definitions}
    rules: dict[str, list[tuple[Clause, n.Node]]] = {}
    for name, clause, node in clause_nodes(model, bodies):
        rules.setdefault(name, []).append((clause, node))
    by_level: dict[int, list[n.Output]] = {}
    for output in model.outputs:
        by_level.setdefault(model.levels.get(output.definition, 1), []).append(output)
    for level, outputs in sorted(by_level.items()):
        shown = []
        for output in outputs:
            fired = [entry for clause, node in rules.get(output.definition, ())
                     if (entry := _fired(clause, node, executor)) is not None]
            result = executor.results.get(output.definition)
            answer = {} if result is None else answer_of(output_table(output, result, executor.space))
            title = output.template if output.value is None else f"{output.template}={output.value}"
            shown.append({"definition": title, "rules": fired, "intervals": {
                str(subject): text_of(stretches) for subject, stretches in sorted(
                    answer.items(), key=lambda item: str(item[0]))}})
        yield {"level": level, "definitions": shown}


def _fired(clause: Clause, node: n.Node, executor: Executor) -> dict[str, Any] | None:
    """When a rule about time-points fired, and for whom."""
    if clause.kind not in _VERBS:
        return None
    found = executor.evaluate(node)
    assert isinstance(found, Rows)
    template = clause.template
    if clause.kind != "event" and len(found.fields) == len(clause.leaves):  # the value is a column
        template = f"{name_of(template)}({','.join([*fill(template, ['_'] * len(clause.arguments)), '_'])})"
    table: pa.Table = events_table(executor.distinct_rows(found), template, executor.space)
    rows = sorted(zip(table["start"].to_pylist(), table["args"].to_pylist(), strict=True))
    return {"rule": str(clause.span), "does": _VERBS[clause.kind],
            "at": [{"time": time, "arguments": arguments.split("|") if arguments else []} for time, arguments in rows]}


def text(found: dict[str, Any]) -> Iterator[str]:
    """One query time as people read it."""
    yield f"at {found['query']}"
    yield "  facts"
    yield from (f"    {fact}" for fact in found["facts"] or ["none"])
    for level in found["levels"]:
        yield f"  level {level['level']}"
        for one in level["definitions"]:
            yield f"    {one['definition']}"
            for rule in one["rules"]:
                times = ", ".join(f"{at['time']} ({', '.join(at['arguments'])})" if at["arguments"] else str(at["time"])
                                  for at in rule["at"])
                what = f"{rule['does']} at {times}" if times else "does not fire"
                yield f"      {rule['rule']} {what}"
            width = max(map(len, one["intervals"]), default=0)
            yield from (f"      {subject:{width}}  {intervals}" for subject, intervals in one["intervals"].items())
            if not one["intervals"]:
                yield "      nothing"
