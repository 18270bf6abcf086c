"""Rule coverage: which clauses fired in tests, which conditions were ever true or false. Counts, and shows nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from eventide.engine.executor import Executor
from eventide.engine.recognition import Settings
from eventide.program import Program
from eventide.rule_tests.model import RuleTest
from eventide.rule_tests.probes import COVERED, Probes
from eventide.rule_tests.reading import settings_of
from eventide.rule_tests.running import Counted, counted_facts
from eventide.rule_tests.subjects import EventCalculusLines
from eventide.syntax.diagnostics import Span


@dataclass
class ConditionCoverage:
    """How often a condition was true and false where it was tried; `can_fail` is not set for those that only bind."""

    span: Span
    text: str
    true: int = 0
    false: int = 0
    can_fail: bool = False

    @property
    def gap(self) -> str | None:
        """What the tests never tried of it."""
        if not self.true:
            return "was never true" if self.false or not self.can_fail else "was never tried"
        return "was never false" if self.can_fail and not self.false else None

    @property
    def outcomes(self) -> tuple[int, int]:
        """How many of its outcomes were seen, and how many it has."""
        return (self.true > 0) + (self.can_fail and self.false > 0), 1 + self.can_fail


@dataclass
class RuleCoverage:
    """A rule as it is written, which may be several clauses: how often each fired, and its conditions."""

    span: Span
    title: str
    fired: dict[int, int] = field(default_factory=dict)
    conditions: dict[Span, ConditionCoverage] = field(default_factory=dict)

    @property
    def times(self) -> int:
        """How many rows all its clauses gave."""
        return sum(self.fired.values())

    @property
    def gap(self) -> str | None:
        """What the tests never tried of the rule itself."""
        if not self.times:
            return "never fired"
        idle = sum(not times for times in self.fired.values())
        return f"{idle} of its {len(self.fired)} alternatives never fired" if idle else None


class Coverage:
    """The coverage of one program, added up over tests; also of several that differ in their background only."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.texts = dict(program.texts)
        """The rules by source, also those of the background."""
        self._probes = Probes(program.model)
        self.rules: dict[Span, RuleCoverage] = {}
        for clause in program.model.of_kind(*COVERED):  # type: ignore[arg-type]
            if clause.span is not None:
                rule = self.rules.setdefault(clause.span, RuleCoverage(clause.span, f"{clause.kind} {clause.template}"))
                rule.fired[clause.number] = 0
                for trial in self._probes.trials[clause.number]:
                    span = trial.condition.span
                    if span is not None:
                        one = rule.conditions.setdefault(span, ConditionCoverage(span, self._text(span)))
                        one.can_fail |= trial.false is not None

    @property
    def source(self) -> str:
        """Where the rules stand."""
        return next(iter(self.texts))

    def _text(self, span: Span) -> str:
        """What stands at a place of the rules, on one line."""
        rows = self.program.texts[span.source].splitlines()[span.line - 1:span.end_line]
        rows[-1] = rows[-1][:span.end_column - 1]
        rows[0] = rows[0][span.column - 1:]
        return " ".join(" ".join(rows).split())

    def add(self, test: RuleTest) -> None:
        """Count what a test tries, at all of its query times."""
        lines = EventCalculusLines(self.program)
        for counted in counted_facts(lines, test):
            self.count(executor_of(lines, test, counted))

    def count(self, executor: Executor) -> None:
        """Count what a run tried."""
        for number, times in self._probes.fired(executor).items():
            span = self.program.model.clauses[number].span
            if span is not None:
                self.rules[span].fired[number] += times
        for number in self._probes.trials:
            span = self.program.model.clauses[number].span
            for condition, true, false in self._probes.outcomes(executor, number) if span is not None else ():
                if condition.span is not None:
                    one = self.rules[span].conditions[condition.span]  # type: ignore[index]
                    one.true += true
                    one.false += false or 0

    def unite(self, other: Coverage) -> None:
        """Add what was counted of another program, which has the same rules; nothing more is counted then."""
        known = {Path(source).resolve(): source for source in self.texts}

        def here(span: Span) -> Span:
            return replace(span, source=known.setdefault(Path(span.source).resolve(), span.source))

        for rule in other.rules.values():
            mine = self.rules.setdefault(here(rule.span), RuleCoverage(here(rule.span), rule.title))
            both = zip_longest(mine.fired.values(), rule.fired.values(), fillvalue=0)
            mine.fired = {place: one + more for place, (one, more) in enumerate(both)}
            for each in rule.conditions.values():
                one = mine.conditions.setdefault(here(each.span), ConditionCoverage(here(each.span), each.text))
                one.true, one.false, one.can_fail = (
                    one.true + each.true, one.false + each.false, one.can_fail or each.can_fail)
        self.texts |= {source: text for source, text in other.texts.items() if source in known.values()}

    def gaps(self) -> Iterator[tuple[Span, str]]:
        """What the tests never tried: rules that never fired, conditions without one of their outcomes."""
        for rule in self.rules.values():
            if rule.gap is not None:
                yield rule.span, f"{rule.title} {rule.gap}"
            for condition in rule.conditions.values():
                if condition.gap is not None and (rule.times or condition.gap == "was never true"):
                    own = rule.span.source == condition.span.source and \
                        rule.span.line <= condition.span.line <= rule.span.end_line
                    place = "" if own else f", used by the rule in line {rule.span.line},"
                    yield condition.span, f"{condition.text}{place} {condition.gap}"

    @property
    def totals(self) -> dict[str, int]:
        """Clauses and outcomes: how many there are, and how many were seen."""
        clauses = [times for rule in self.rules.values() for times in rule.fired.values()]
        outcomes = [one.outcomes for rule in self.rules.values() for one in rule.conditions.values()]
        return {"clauses": len(clauses), "clauses_fired": sum(times > 0 for times in clauses),
                "outcomes": sum(total for _, total in outcomes), "outcomes_seen": sum(seen for seen, _ in outcomes)}

    def as_dict(self) -> dict[str, object]:
        """The coverage as plain data."""
        return {**self.totals, "rules": [{
            "rule": rule.title, **_place(rule.span), "fired": rule.times, "clauses": len(rule.fired),
            "clauses_fired": sum(times > 0 for times in rule.fired.values()),
            "conditions": [{"condition": one.text, **_place(one.span), "true": one.true,
                            "false": one.false if one.can_fail else None} for one in rule.conditions.values()],
        } for rule in self.rules.values()]}


def executor_of(lines: EventCalculusLines, test: RuleTest, counted: Counted) -> Executor:
    """A run over all that a test's session knows at a query time, as one window: the results of every level."""
    settings = {name: value for name, value in settings_of(test).items() if name not in ("window", "start")}
    known = Settings(start=counted.start, end=counted.query, **settings)  # type: ignore[arg-type]
    return lines.program.recognition(lines.facts(counted.facts), known).run()


def _place(span: Span) -> dict[str, object]:
    return {"file": span.source, "line": span.line, "column": span.column}
