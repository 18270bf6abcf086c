"""LARS programs as users hold them: loaded, checked, run. The ways of evaluation meet here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from eventide.algebra.text import to_text
from eventide.analysis.lars import LarsModel, analyse
from eventide.engine.recognition import Counts
from eventide.errors import InputError, refuse_errors
from eventide.formats import column_values
from eventide.formats.background import rules_and_tables
from eventide.formats.facts import Facts, chosen
from eventide.formats.problems import refuse_text
from eventide.lars import streams
from eventide.lars.answer_session import AnswerSession
from eventide.lars.checkpoint import fingerprint, from_bytes
from eventide.lars.columnar import compile_tree
from eventide.lars.contexts import LIMIT, Contexts, at_time
from eventide.lars.maintained import MaintainedSession
from eventide.lars.maintained_run import ContextSession, MaintainedRun
from eventide.lars.results import LarsResult, NoAnswer, without_gaps
from eventide.lars.running import Contradictions, Run, flagged
from eventide.lars.session import LarsSession
from eventide.lars.splitting import split
from eventide.lars.stable_models import Models
from eventide.lars.values import python_value, term_of
from eventide.notebook import program_html
from eventide.syntax.diagnostics import Diagnostic, Diagnostics, errors_first
from eventide.syntax.lars import parse as read_rules
from eventide.syntax.lars_trees import LarsTree, Predicate
from eventide.syntax.terms import Atom, Compound, template_of


class LarsProgram:
    """A checked LARS program. Make one with `eventide.load`, or with `eventide.parse` and `language="lars"`.

    >>> import eventide as ev
    >>> program = ev.parse("busy(X) :- p(X) [3].", language="lars")
    >>> program.fluents, len(program.read([(1, ["p(u)"]), (2, ["p(v)", "q"])]))
    (['busy'], 3)
    """

    def __init__(self, tree: LarsTree, diagnostics: Sequence[Diagnostic] = (), texts: Mapping[str, str] | None = None,
                 dialect: str = "lars") -> None:
        self.tree = tree
        self.texts = dict(texts or {tree.source: tree.text})
        self.model: LarsModel = analyse(tree, diagnostics, dialect)

    # -- what it is ---------------------------------------------------------------------------------------------------

    def check(self) -> list[Diagnostic]:
        """Every problem found, errors first; an empty list means that nothing is wrong.

        >>> import eventide as ev
        >>> [d.code for d in ev.parse("h(X) :- a [5], not b(Y).", language="lars").check()]
        ['unsafe-variable', 'unsafe-variable']
        """
        return Diagnostics(errors_first(self.model.diagnostics), self.texts)

    def _repr_html_(self) -> str:
        model = self.model
        rows = [[template_of(*predicate), "input"] for predicate in model.inputs]
        rows += [[template_of(*predicate), "background"] for predicate in model.background]
        rows += [[template_of(*predicate), f"concluded ({component.way})"]
                 for component in model.components for predicate in component.predicates]
        return program_html("LARS program", ("name", "is"), rows,
                            Diagnostics(errors_first(model.diagnostics), self.texts)._repr_html_())

    def require_sound(self) -> None:
        """Raise ProgramError with every error found, if there is one."""
        refuse_errors(self.model.diagnostics, self.texts)

    @property
    def fluents(self) -> list[str]:
        """The names of the predicates that the program concludes."""
        return list(dict.fromkeys(name for name, _ in self.model.derived))

    def explain_plan(self) -> str:
        """The plan of what is evaluated by columns, and the rules that are left to answer sets.

        >>> import eventide as ev
        >>> program = ev.parse("b :- a [2], not c. c :- a [2], not b.", language="lars")
        >>> print(*program.explain_plan().splitlines()[-3:], sep="\\n")
        by answer sets
          b :- $0, not c.
          c :- $0, not b.
        """
        self.require_sound()
        parts = split(self.tree, self.model.several, ())
        plan = to_text(compile_tree(parts.lower, self._known([])).plan)
        return "\n".join([*([plan] if plan else []), *(["by answer sets"] if parts.upper else []),
                          *(f"  {rule}" for rule in parts.upper)])

    def wanted(self, fluents: Sequence[str] | None) -> list[Predicate]:
        """The predicates to report; InputError for names that the program does not conclude."""
        refuse_text("fluents", fluents)
        unknown = [name for name in fluents or () if name not in self.fluents]
        if unknown:
            raise InputError(f"the program does not conclude {', '.join(unknown)}; it concludes "
                             f"{', '.join(self.fluents) or 'nothing'}")
        return [predicate for predicate in self.model.derived if fluents is None or predicate[0] in fluents]

    # -- running ------------------------------------------------------------------------------------------------------

    def reads(self, name: str) -> bool:
        """Whether a rule asks about a predicate of this name."""
        return any(literal.predicate[0] == name for rule in self.tree.rules for literal in rule.literals)

    def read(self, events: object, **options: Any) -> Facts:
        """The facts of a stream: a path, tables, or a list of time-points with facts."""
        return streams.read(events, **options)

    def run(self, events: object, *, start: int | None = None, end: int | None = None, models: Models = "first",
            contradictions: Contradictions = "discard", earlier: bool = False, fluents: Sequence[str] | None = None,
            maintain: bool = False, **options: Any) -> LarsResult:
        """The answer streams at the time-points from 0, or after `start`, to `end` (default: the last fact).

        `models` says which of several answer streams: the first found, all, or what all (`cautious`) or some (`brave`)
        have in common. Time-points with a contradiction have no answer stream (`discard`), or it is reported as `⊥`
        (`flag`). With `earlier`, what is known of earlier time-points is reported too. With `maintain`, truth
        maintenance evaluates the program: slower, and it knows the facts behind every contradiction (`conflicts` of the
        result).

        >>> import eventide as ev
        >>> program = ev.parse("b at T :- a at T [5]. c :- b [3].", language="lars")
        >>> program.run([(1, ["a"])], end=9).timeline()
        {'b': [(1, 2)], 'c': [(1, 5)]}
        >>> program.run([(1, ["a"])], end=9, earlier=True)["b"].timeline()
        {'b': [(1, 2)], 'b=1': [(2, 7)]}
        """
        self.require_sound()
        for name, given, known in (("models", models, ("first", "all", "cautious", "brave")),
                                   ("contradictions", contradictions, ("discard", "flag"))):
            if given not in known:
                raise InputError(f"{name} is {given!r}; known are {', '.join(known)}")
        wanted = self.wanted(fluents)
        facts, end, counts = _within(self.read(events, **options), start, end)
        tree = self.tree if contradictions == "discard" else flagged(self.tree)
        run: Run | MaintainedRun = Run(tree, self._known(facts.tables), facts, end, models, earlier)
        if maintain:
            run = MaintainedRun(tree, streams.in_order(facts), end, models, earlier)
        table = run.table(wanted)
        if start is not None and start >= 0:
            table = without_gaps(table, [NoAnswer(0, start + 1, ())], end)
        gaps = [gap for gap in run.gaps if start is None or gap.end > start + 1]
        return LarsResult(table, counts, gaps, run.several, run.conflicts if isinstance(run, MaintainedRun) else ())

    def session(self, *, models: Models = "first", contradictions: Contradictions = "discard",
                fluents: Sequence[str] | None = None) -> LarsSession | AnswerSession:
        """A session: facts are inserted, `advance` says what changes from one query time to the next.

        >>> import eventide as ev
        >>> session = ev.parse("busy(X) :- p(X) [3].", language="lars").session()
        >>> session.insert([(2, ["p(u)"])])
        >>> session.advance(to=4).added.select(["fluent", "args", "start", "end"]).to_pylist()
        [{'fluent': 'busy', 'args': 'u', 'start': 2, 'end': None}]
        """
        self.require_sound()
        wanted = None if fluents is None else self.wanted(fluents)
        if self.model.several:
            return AnswerSession(self.tree, models, wanted, contradictions)
        return LarsSession(self.tree, wanted=wanted, contradictions=contradictions)

    def restore(self, state: bytes) -> LarsSession | AnswerSession:
        """The session that `session.save()` gave as bytes, to go on with; the program must be the same.

        >>> import eventide as ev
        >>> program = ev.parse("busy(X) :- p(X) [3].", language="lars")
        >>> session = program.session()
        >>> session.insert([(2, ["p(u)"])])
        >>> session.advance(to=4).added.num_rows
        1
        >>> program.restore(session.save()).advance(to=9).added.select(["start", "end"]).to_pylist()
        [{'start': 2, 'end': 6}]
        """
        saved = from_bytes(state)
        session = self.session(**saved.options)
        if saved.program != fingerprint(session.tree):
            raise InputError("the session was saved by another program")
        session.resume(saved)
        return session

    def contexts(self, events: object, *, at: int | None = None, limit: int = LIMIT, **options: Any) -> Contexts:
        """The conflicts among the facts that windows show at a time (default: of the last fact), and the contexts
        without any; at most `limit` of them.

        >>> import eventide as ev
        >>> program = ev.parse("free :- closed [9]. jam :- slow [9]. :- free, jam.", language="lars")
        >>> contexts = program.contexts([(1, ["closed"]), (2, ["slow"])])
        >>> [[str(fact) for fact in context.without] for context in contexts.maximal()]
        [['closed@1'], ['slow@2']]
        """
        self.require_sound()
        facts, end, _ = _within(self.read(events, **options), None, at)
        session = MaintainedSession(self.tree)
        at_time(session, streams.in_order(facts), end)
        return Contexts(session, limit)

    def context_session(self, *, limit: int = LIMIT) -> ContextSession:
        """A session that is asked for contexts: facts come in, time goes on.

        >>> import eventide as ev
        >>> session = ev.parse("free :- closed [9]. jam :- slow [9]. :- free, jam.", language="lars").context_session()
        >>> session.insert([(1, ["closed"]), (2, ["slow"])])
        >>> session.advance(to=2).is_consistent(), session.advance(to=11).is_consistent()
        (False, True)
        """
        self.require_sound()
        return ContextSession(self.tree, limit)

    def _known(self, present: Iterable[Predicate]) -> list[Predicate]:
        """The predicates that facts may have."""
        return list(dict.fromkeys([*present, *self.model.inputs]))


def _within(facts: Facts, start: int | None, end: int | None) -> tuple[Facts, int, Counts]:
    """The facts after `start` and up to `end`, the end, and what was left out."""
    last = max((int(table.time.max()) for table in facts if len(table)), default=0)
    end = max(last, 0) if end is None else end
    if end < 0:
        raise InputError(f"end is {end}; LARS begins at 0")
    counts = Counts(facts=len(facts), queries=1)
    if (start is None or start < 0) and last <= end:
        return facts, end, counts
    low = -1 if start is None else start
    tables = {}
    for key, table in facts.tables.items():
        counts.before_start += int(np.count_nonzero(table.time <= low))
        counts.after_end += int(np.count_nonzero(table.time > end))
        tables[key] = chosen(table, np.flatnonzero((table.time > low) & (table.time <= end)))
    return Facts(tables, facts.bad, facts.bad_count, facts.rows_read, facts.notes), end, counts


def program_of(texts: Mapping[str, str], background: Iterable[object] = ()) -> LarsProgram:
    """A program from texts by their names; `background` lists tables, and `.lars` files with more facts and rules.

    >>> program_of({"road.lars": "free :- closed [9]."}).fluents
    ['free']
    """
    more, tables = rules_and_tables(background, (".lars",))
    texts = {**texts, **dict(more)}
    facts: list[Atom | Compound] = []
    for relation in tables:
        columns = [[term_of(python_value(value)) for value in column_values(column)] for column in relation.columns]
        facts.extend(Compound(relation.name, row) for row in zip(*columns, strict=True))
    parsed = [read_rules(content, name) for name, content in texts.items()]
    first = parsed[0].tree
    tree = LarsTree(tuple(dict.fromkeys([*(fact for one in parsed for fact in one.tree.facts), *facts])),
                    tuple(rule for one in parsed for rule in one.tree.rules), first.source, first.text)
    return LarsProgram(tree, [d for one in parsed for d in one.diagnostics], texts, parsed[0].dialect)
