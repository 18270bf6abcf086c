"""One run of a LARS program: by columns what has one answer, by answer sets what is above it, together as rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import pyarrow as pa

from eventide.analysis.lars import analyse
from eventide.engine.answers import SCHEMA
from eventide.errors import InputError
from eventide.formats import column_values
from eventide.formats.facts import Facts
from eventide.lars import streams
from eventide.lars.answer_sets import Answer, Interval, Point, answers
from eventide.lars.arguments import reported_variables
from eventide.lars.columnar import Compiled, compile_tree
from eventide.lars.evaluation import Answers, Evaluation, ranked
from eventide.lars.results import (
    FLAG,
    Collected,
    NoAnswer,
    known_table,
    merged_gaps,
    now_table,
    with_models,
    without_gaps,
)
from eventide.lars.splitting import Split, split
from eventide.lars.stable_models import MOST_MODELS, Models, TooManyModels
from eventide.lars.values import python_value, term_of
from eventide.syntax.lars_trees import Head, LarsTree, Predicate, Rule, argument_text
from eventide.syntax.terms import Atom, Compound

Contradictions = Literal["discard", "flag"]


@dataclass
class Run:
    """One evaluation: what the columnar part says, and the answers above it."""

    tree: LarsTree
    inputs: Collection[Predicate]
    """The predicates that facts may have; those of the facts at hand among them."""
    facts: Facts
    end: int
    models: Models = "first"
    at: bool = False
    several: list[tuple[int, int, int]] = field(default_factory=list)
    """Stretches of time-points with the number of their answer streams, once there is a table."""
    gaps: list[NoAnswer] = field(default_factory=list)

    @cached_property
    def parts(self) -> Split:
        """The program split above what has one answer."""
        return split(self.tree, analyse(self.tree).several, list(self.facts.tables))

    @cached_property
    def compiled(self) -> Compiled:
        """The plan of the lower part."""
        return compile_tree(self.parts.lower, self.inputs)

    @cached_property
    def lower(self) -> Answers:
        """What the lower part says."""
        evaluation = Evaluation(self.compiled)
        if not self.compiled.counts_tuples:
            return evaluation.run(self.facts.tables, self.end)
        tables, arrivals = ranked(self.facts.tables, streams.arrival_numbers(self.facts))
        return evaluation.run(tables, self.end, arrivals=arrivals)

    def table(self, wanted: Sequence[Predicate]) -> pa.Table:
        """The rows of all predicates that are wanted."""
        wanted = [*wanted, *flags_of(self.tree)]
        upper = self.parts.predicates
        gaps: list[NoAnswer] = []
        tables = [SCHEMA.empty_table()]
        for predicate in wanted:
            if predicate not in upper:
                tables.append(now_table(self.lower.now(predicate), predicate))
                if self.at and not predicate[0].startswith(FLAG):
                    tables.append(known_table(self.lower.at(predicate), predicate))
        found = pa.concat_tables(tables).unify_dictionaries()
        if upper:
            collected = Collected(self.end, self.at, frozenset(wanted))
            collected.earlier.update(self._earlier(wanted) if self.at else ())
            for answer in self.above():
                collected.add(answer)
                if answer.count == 0:
                    rules = tuple(str(self.parts.origin[number]) for number in answer.reasons)
                    gaps.append(NoAnswer(answer.start, answer.end, rules or ("a loop through negation",)))
            self.several = collected.several
            found = pa.concat_tables([with_models(found), collected.table()]).unify_dictionaries()
        gaps.extend(self.violations())
        self.gaps = merged_gaps(gaps)
        return named(without_gaps(found, self.gaps, self.end), self.tree)

    def above(self) -> Iterator[Answer]:
        """The answers of the upper rules."""
        rows: dict[Predicate, list[Interval]] = {}
        for predicate in self.compiled.derived:
            if predicate[0].startswith("$"):
                rows[predicate] = [(tuple(map(python_value, row)), start, stop)
                                   for row, start, stop in self.lower.rows(self.lower.now(predicate))]
        facts = ((time, name, tuple(map(python_value, row))) for time, name, row in streams.in_order(self.facts))
        try:
            yield from answers(self.parts, rows, self.end, self.models, facts if self.parts.counts_tuples else ())
        except TooManyModels:
            raise InputError(f"there are more than {MOST_MODELS} answer streams at one time-point; ask for the first, "
                             "or for what all (cautious) or some (brave) have in common") from None

    def _earlier(self, wanted: Sequence[Predicate]) -> Iterator[tuple[Point, None]]:
        """What the input says of upper predicates, each for its time-point."""
        for name, arity in wanted:
            table = self.facts.tables.get((name, arity)) if (name, arity) in self.parts.predicates else None
            if table is not None:
                columns = [column_values(column) for column in table.args]
                rows = list(zip(*columns, strict=True)) if columns else [()] * len(table)
                for row, time in zip(rows, table.time.tolist(), strict=True):
                    yield Point(name, tuple(map(python_value, row)), time), None

    def violations(self) -> Iterator[NoAnswer]:
        """Where a contradiction of the lower part holds."""
        for name, rule in self.compiled.contradictions.items():
            names = [variable.name for variable in reported_variables(rule)]
            for row, start, stop in self.lower.rows(self.lower.contradictions(name)):
                values = [argument_text(term_of(python_value(value))) for value in row]
                bound = ", ".join(f"{key} = {value}" for key, value in zip(names, values, strict=True))
                reason = f"{rule} with {bound}" if bound else str(rule)
                yield NoAnswer(start, self.end + 1 if stop is None else stop, (reason,))


def flagged(tree: LarsTree) -> LarsTree:
    """The program with contradictions that conclude `⊥1`, `⊥2`, … instead of leaving no answer.

    >>> from eventide.syntax.lars import parse
    >>> print(flagged(parse("a :- b. :- a, c(X).").tree))
    a :- b.
    ⊥1(X) :- a, c(X).
    """
    rules = []
    for number, rule in enumerate(tree.rules):
        if rule.head is None:
            names = reported_variables(rule)
            name = f"{FLAG}{number}"
            rule = Rule(Head(Compound(name, names) if names else Atom(name)), rule.body, rule.span)
        rules.append(rule)
    return LarsTree(tree.facts, tuple(rules), tree.source, tree.text)


def flags_of(tree: LarsTree) -> list[Predicate]:
    """The predicates of flagged contradictions."""
    return [rule.head.predicate for rule in tree.rules
            if rule.head is not None and rule.head.predicate[0].startswith(FLAG)]


def named(table: pa.Table, tree: LarsTree) -> pa.Table:
    """Contradictions under one name, with their rule as the value."""
    names = table["fluent"].cast(pa.string()).to_pylist() if flags_of(tree) else []
    if not any(name.startswith(FLAG) for name in names):
        return table
    texts = {rule.head.predicate[0]: str(Rule(None, rule.body)) for rule in tree.rules if rule.head is not None}
    values = [texts[name] if name.startswith(FLAG) else value
              for name, value in zip(names, table["value"].to_pylist(), strict=True)]
    shown = pa.array([FLAG if name.startswith(FLAG) else name for name in names]).dictionary_encode()
    return table.set_column(0, "fluent", shown.cast(SCHEMA.field(0).type)).set_column(2, "value", pa.array(values))
