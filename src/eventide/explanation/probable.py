"""The most probable explanation of a fluent at a time over uncertain facts, and its probability.

An explanation is a set of facts that are so, and of facts that are not, from which the claim follows whatever else is
so: an implicant of the claim's formula. Its probability is the product of theirs (facts are independent); the most
probable one is what ProbLog calls the most probable proof (De Raedt, Kimmig, Toivonen 2007). Over the claim's decision
diagram, the best implicant either leaves a variable open, and is one of both branches, or decides it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eventide.algebra.nodes import NUMBER, STAMP, UNUSED
from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.domains import text_of
from eventide.engine.loading import Stream
from eventide.engine.recognition import Recognition, Settings
from eventide.engine.relation import Rows
from eventide.errors import EventideError, InputError
from eventide.explanation.asking import Explainer, number_in, parsed_question
from eventide.explanation.proof import AppliedRule, Fact, Proof, Reason
from eventide.explanation.proving import head_text
from eventide.explanation.worlds import cell, numbered
from eventide.formats.facts import Facts, chosen
from eventide.kernels.formulas import FALSE, TRUE
from eventide.probability.circuits import NO, YES, Diagram, reachable
from eventide.probability.events import UncertainExecutor
from eventide.probability.recognition import UncertainRecognition, Uncertainty
from eventide.probability.segments import Segments, literals
from eventide.program import Program
from eventide.syntax.terms import Variable

MOST_STEPS = 200_000


@dataclass(frozen=True)
class Implicant:
    """Variables with the values that they must have, and the probability of that."""

    probability: float
    values: tuple[tuple[int, bool], ...] = ()

    def better(self, other: Implicant | None) -> bool:
        """Whether it is more probable than another one, or as probable and shorter."""
        if other is None or self.probability != other.probability:
            return other is None or self.probability > other.probability
        return len(self.values) < len(other.values)


def best_implicant(diagram: Diagram, reference: int, chances: Sequence[float]) -> Implicant | None:
    """The most probable implicant of a function; None if it is false. OverflowError if there is too much to compare.

    >>> diagram = Diagram()
    >>> a, b = diagram.variable(0), diagram.variable(1)
    >>> best_implicant(diagram, diagram.both(a ^ 1, b ^ 1) ^ 1, [0.3, 0.6])
    Implicant(probability=0.6, values=((1, True),))
    """
    known: dict[int, Implicant | None] = {YES: Implicant(1.0), NO: None}
    todo = [reference]
    while todo:
        if len(known) > MOST_STEPS:
            raise OverflowError
        at = todo[-1]
        if at in known:
            todo.pop()
            continue
        variable = diagram.variables[at >> 1]
        high, low = (side ^ (at & 1) for side in (diagram.highs[at >> 1], diagram.lows[at >> 1]))
        open_ = diagram.both(high, low)
        missing = [below for below in (open_, high, low) if below not in known]
        if missing:
            todo += missing
            continue
        best = known[open_]
        for below, value, chance in ((high, True, chances[variable]), (low, False, 1.0 - chances[variable])):
            found = known[below]
            if found is not None:
                longer = Implicant(found.probability * chance, ((variable, value), *found.values))
                best = longer if longer.better(best) else best
        known[at] = best
        todo.pop()
    return known[reference]


def explain_probability(program: Program, events: object, fluent: str, at: int, *, start: int | None = None,
                        end: int | None = None, tick: int = 1, initially_at: int = 0, **options: Any) -> Proof:
    """How probable a fluent is at a time, and the most probable explanation; an event may be asked for too.

    The past counts exactly (`history="exact"`), so that facts that a claim owes to twice are one.

    >>> import eventide as ev
    >>> import pyarrow as pa
    >>> rules = ("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T). "
    ...          "terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).")
    >>> program = ev.parse(rules, source="rules.ec")
    >>> events = pa.table({"time": [3, 4, 5], "event": ["win", "win", "lose"], "who": ["ann"] * 3,
    ...                    "probability": [0.5, 0.8, 0.3]})
    >>> proof = explain_probability(program, events, "rich(ann)=true", at=7)
    >>> print(proof)
    rich(ann)=true can hold at 7  (probability 0.63)
    └─ the most probable explanation  (probability 0.56)
       ├─ win(ann) at 4  [<Table>, row 2]  (probability 0.8)
       ├─ not lose(ann) at 5  [<Table>, row 3]  (probability 0.7)
       └─ rich(ann)=true holds at 7, from 5 on
          └─ rich(ann)=true is initiated at 4
             └─ by rule rules.ec:1 initiatedAt(rich(X)=true, T) with X=ann, T=4
                └─ win(ann) happens at 4  [<Table>, row 2]
    <BLANKLINE>
    probability 0.63
    1 fact of the input
    """
    template, texts = parsed_question(program, fluent)
    facts = events if isinstance(events, Facts) else program.read(events, **options)
    settings = Settings(None, None, start, end, tick, initially_at, "initiation")
    return _Probable(program, facts, settings, template, texts).proof(at)


class _Probable:
    """A run over uncertain facts, and the chances in it by fact."""

    def __init__(self, program: Program, facts: Facts, settings: Settings, template: str, texts: list[str]) -> None:
        self.program, self.facts, self.settings, self.template, self.texts = program, facts, settings, template, texts
        self.text = _shown(template, texts)
        self.is_input = template in program.model.inputs
        needed = [] if self.is_input else [name_of(template)]  # other rules may have no probabilities yet
        base = program.uncertain_recognition(facts, settings, Uncertainty("exact"), fluents=needed)
        self.run = _Noted(base.plan, base.wanted, base.store, base.built, base.open_types, settings)
        self.run.uncertainty = base.uncertainty
        self.run.asked = template if self.is_input else None
        places = program.uncertain_recognition(numbered(facts), settings, Uncertainty("exact"), fluents=needed)
        self._rows = {name: stream.probability for name, stream in Recognition.accepted(places).items()}
        executor = self.run.run()
        assert isinstance(executor, UncertainExecutor)
        self.executor = executor
        self._rules = {abs(chance): (rule, rows, place) for rule, chances, rows in executor.applied or ()
                       for place, chance in enumerate(chances.tolist())}

    def proof(self, at: int) -> Proof:
        """The probability and the best explanation at a time."""
        literal = self._literal(at)
        run = {"start": self.run.start, "end": self.run.end, "tick": self.settings.tick,
               "initially_at": self.settings.initially_at, "ties": "initiation", "history": "exact"}
        if literal == FALSE:
            claim = f"{self.text} cannot {'hold' if '=' in self.text else 'happen'} at {at}: no facts make it possible"
            possible = self._proof({(name, place) for name, stream in self.run.accepted().items()
                                    for place in self._places(stream, 0.0)}, at)
            why = () if possible is None or possible.holds else possible.reason.reasons
            return Proof(self.text, at, False, Reason("holds", claim, why, False, at), run=run, probability=0.0)
        try:
            probability, found = self._best(literal)
        except OverflowError:
            raise InputError(f"{self.text} at {at} depends on so many uncertain facts in so many ways that the most "
                             "probable explanation was not found; ask for an earlier time") from None
        reasons, world = self._reasons(found)
        outweighed = any(not is_so and number in self._rules for number, is_so in found.values)
        derived = None if outweighed else self._derived(world, at)
        chain = () if derived is None else (derived.reason,)
        best = Reason("choice", "the most probable explanation", (*reasons, *chain), probability=found.probability)
        claim = f"{self.text} can {'hold' if '=' in self.text else 'happen'} at {at}"
        positive = [reason.fact for reason in reasons if reason.fact is not None and reason.kind == "fact"]
        places = {(fact.source, fact.row) for fact in positive}
        certain = [] if derived is None else [f for f in derived.facts if (f.source, f.row) not in places]
        return Proof(self.text, at, True, Reason("holds", claim, (best,), time=at, probability=probability),
                     (*positive, *certain), run=run, probability=probability)

    def _literal(self, at: int) -> int:
        """The formula of the claim at a time."""
        if self.is_input:
            return self._in_result(self.template, self.texts, at)
        for output in self.program.wanted(None):
            if output.template == self.template and (output.value is None or str(output.value) == self.texts[-1]):
                wanted = self.texts if output.kind == "event" or output.value is None else self.texts[:-1]
                found = self._in_result(output.definition, wanted, at)
                if found != FALSE:
                    return found
        return FALSE

    def _in_result(self, name: str, wanted: Sequence[str], at: int) -> int:
        result = self.executor.results.get(name)
        space = self.executor.space
        offset, last = space.timeline.inside(at), space.timeline.mask
        if isinstance(result, Segments):
            ends = result.ends & last
            mask = (result.starts & last <= offset) & ((offset < ends) | (ends == last))
            columns, found = result.codes, result.literal
        elif isinstance(result, Rows):
            mask, columns, found = result.time == offset, result.column, literals(result)
        else:
            return FALSE
        for field, text in zip(result.fields, wanted, strict=True):
            if field.type == UNUSED:
                raise InputError(f"no rule reads argument {result.fields.index(field) + 1} of {self.template}, so the "
                                 "run knows nothing of it")
            if field.type in (NUMBER, STAMP):
                mask = mask & (columns(field.name) == number_in(text, self.template))
                continue
            values = space.domains[field.type].values
            mask = mask & (columns(field.name) == next((c for c, v in enumerate(values) if text_of(v) == text), -1))
        rows = np.flatnonzero(mask)
        return int(found[rows[0]]) if rows.shape[0] else FALSE

    def _best(self, literal: int) -> tuple[float, Implicant]:
        """The probability of a formula, and its best implicant; variables are the numbers of chances."""
        if literal == TRUE:
            return 1.0, Implicant(1.0)
        formulas = self.executor.formulas
        nodes = formulas.nodes()
        needed = reachable(nodes, [literal])
        leaves = {abs(c) for node in needed for c in nodes.children[nodes.first[node]:nodes.first[node + 1]].tolist()}
        leaves = (leaves | {abs(literal)}) - set(needed) - {TRUE}
        order = sorted(leaves, key=lambda leaf: (int(formulas.when[leaf]), leaf))
        chances = [float(nodes.chance[leaf]) for leaf in order]
        diagram = Diagram(chances)
        known = {TRUE: YES} | {leaf: diagram.variable(rank) for rank, leaf in enumerate(order)}
        for node in needed:
            diagram.add(nodes, node, known)
        reference = known[abs(literal)] ^ (literal < 0)
        probability = diagram.value(reference)
        found = best_implicant(diagram, reference, chances)
        assert found is not None
        return probability, Implicant(found.probability, tuple((order[rank], value) for rank, value in found.values))

    def _reasons(self, found: Implicant) -> tuple[list[Reason], set[tuple[str, int]]]:
        """The facts of an explanation, and those that are so."""
        reasons: list[Reason] = []
        world: set[tuple[str, int]] = set()
        chance = self.executor.formulas.nodes().chance
        for number, is_so in found.values:
            probability = float(chance[number])
            noted = self.run.noted.get(number)
            if noted is None:
                reasons.append(self._applied(number, is_so, probability if is_so else 1 - probability))
                continue
            fact = self._fact(*noted)
            if is_so:
                world.add(noted)
                reasons.append(Reason("fact", f"{fact} at {fact.time}", time=fact.time, fact=fact,
                                      probability=probability))
            else:
                reasons.append(Reason("absence", f"not {fact} at {fact.time}", time=fact.time, fact=fact,
                                      probability=1 - probability))
        return reasons, world

    def _applied(self, number: int, is_so: bool, probability: float) -> Reason:
        """A rule with a probability that applies to some values, or does not."""
        rule, rows, place = self._rules[number]
        clause = next(clause for clause in self.program.model.clauses if clause.number == rule)
        space = self.executor.space
        applied = AppliedRule(head_text(self.program.texts, clause.span), clause.span)
        values: dict[str, str] = {}
        for field in rows.fields:
            if field.type != UNUSED and not field.name.startswith(("#", "$", "&", "_")):
                code = rows.column(field.name)[place].item()
                value = code if field.type in (NUMBER, STAMP) else space.domains[field.type].values[code]
                values[field.name.partition("#")[0]] = text_of(value)
        if isinstance(clause.time, Variable) and rows.timed:
            values[clause.time.name] = str(int(rows.time[place]) + space.timeline.origin)
        if is_so:
            return Reason("rule", "a rule with a probability applies", rule=applied, bindings=values,
                          probability=probability)
        told = ", ".join(f"{name}={value}" for name, value in values.items())
        return Reason("absence", f"rule {applied.place} {applied.text} does not apply{f' with {told}' if told else ''}",
                      probability=probability)

    def _row(self, name: str, place: int) -> int:
        rows = self._rows[name]
        assert rows is not None
        return int(rows[place])

    def _fact(self, name: str, place: int) -> Fact:
        table = self.facts.tables[name_of(name), leaf_count(name)]
        row = self._row(name, place)
        source, number = table.place(row)
        value = None if table.value is None else cell(table.value, row)
        probability = None if table.probability is None else float(table.probability[row])
        return Fact(table.name, tuple(cell(column, row) for column in table.args), value, int(table.time[row]),
                    None if table.end is None else int(table.end[row]), source, number, probability)

    @staticmethod
    def _places(stream: Stream, above: float) -> Sequence[int]:
        """The places of the facts of an input that are more probable than so."""
        if stream.probability is None:
            return range(len(stream))
        found: list[int] = np.flatnonzero(stream.probability > above).tolist()
        return found

    def _derived(self, world: set[tuple[str, int]], at: int) -> Proof | None:
        """The proof in the world of the explanation: its facts and those that are certain, as certain ones."""
        certain = {(name, place) for name, stream in self.run.accepted().items()
                   for place in self._places(stream, np.nextafter(1.0, 0.0))}
        proof = self._proof(world | certain, at)
        return proof if proof is not None and proof.holds else None

    def _proof(self, world: set[tuple[str, int]], at: int) -> Proof | None:
        """Why or why not in a world: some facts as certain ones, and all rules. None where nothing can be told."""
        rows: dict[tuple[str, int], list[int]] = {}
        for name, place in world:
            rows.setdefault((name_of(name), leaf_count(name)), []).append(self._row(name, place))
        rows = {key: sorted(found) for key, found in rows.items()}
        tables = {key: replace(chosen(self.facts.tables[key], np.array(found, np.int64)), probability=None, op=None,
                               arrival=None) for key, found in rows.items() if found and key in self.facts.tables}
        try:
            explainer = Explainer(
                self.program.with_certain_rules(), Facts(tables), start=self.run.start, end=self.run.end,
                tick=self.settings.tick, initially_at=self.settings.initially_at, ties="initiation")
            return explainer.why(self.text, at)
        except EventideError:  # no facts at all, say
            return None


class _Noted(UncertainRecognition):
    """A run that notes which chance is that of which fact, by input and place there."""

    noted: dict[int, tuple[str, int]]
    asked: str | None = None
    """An input that is asked for itself."""

    def executor_over(self, space: Any, streams: Any) -> UncertainExecutor:
        """An executor over facts whose chances are noted: those of an input come one after the other."""
        if self.asked is not None:
            self._read = {self.asked}
        found = super().executor_over(space, streams)
        assert isinstance(found, UncertainExecutor)
        self.noted = {}
        found.applied = []
        number = TRUE + 1
        for name, stream in streams.items():
            if name not in self._read or stream.probability is None:
                continue
            timeline = space.timeline
            first = timeline.start // timeline.tick * timeline.tick + timeline.tick
            last = stream.time if stream.end is None else np.maximum(stream.end - 1, stream.time)
            inside = (last >= (timeline.start + 1 if stream.end is None else first)) & (stream.time <= timeline.until)
            places = np.flatnonzero(inside & (stream.probability > 0) & (stream.probability < 1))
            nodes = found.formulas.nodes()
            for place in places.tolist():
                while nodes.first[number] < nodes.first[number + 1]:
                    number += 1  # a formula over chances that came before
                self.noted[number] = (name, place)
                number += 1
        return found


def _shown(template: str, texts: Sequence[str]) -> str:
    name, number = name_of(template), leaf_count(template)
    args = f"({','.join(texts[:number])})" if number else ""
    return f"{name}{args}" + (f"={texts[number]}" if len(texts) > number else "")
