"""A text to what an editor shows of it: the problems that `eventide check` finds, and where every name stands.

Whatever the text, there is an answer: clauses that cannot be read are left out of the names.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os.path import normpath
from pathlib import Path
from typing import Any, Literal

from eventide.analysis.inline import Inlined
from eventide.analysis.passes import CHECKS
from eventide.editor.background import Found, Library, named_in
from eventide.editor.names import Names, Occurrence, event_calculus, metric, windowed
from eventide.errors import EventideError
from eventide.formats import column_values
from eventide.formats.background import Relation
from eventide.lars.program import LarsProgram
from eventide.lars.values import python_value, term_of
from eventide.mtl.program import MtlProgram
from eventide.program import RULE_ENDINGS, Program
from eventide.syntax.diagnostics import Diagnostic, Span, errors_first
from eventide.syntax.event_calculus import ParsedProgram, Recent
from eventide.syntax.event_calculus import parse as parse_rules
from eventide.syntax.lars import Parsed as ParsedLars
from eventide.syntax.lars import parse as parse_lars
from eventide.syntax.lars_trees import LarsTree
from eventide.syntax.mtl import parse as parse_mtl
from eventide.syntax.terms import Atom, Compound
from eventide.syntax.trees import BackgroundClause, Declaration

Language = Literal["ec", "mtl", "lars"]
LANGUAGES: dict[str, Language] = {**dict.fromkeys(RULE_ENDINGS, "ec"), ".mtl": "mtl", ".lars": "lars"}
_MOST_FACTS = 200
"""So many facts of a background predicate are remembered with their places; more would only slow the editor down."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checked:
    """A text, its problems (those of its own lines) and all names, those of its background included."""

    source: str
    text: str
    language: Language
    problems: list[Diagnostic]
    names: Names
    texts: dict[str, str]
    """The texts of the program and of its background, by path."""


class Checker:
    """Checks texts of all languages; `open_texts` gives the text of a file that is open in the editor."""

    def __init__(self, open_texts: Callable[[str], str | None] = lambda path: None) -> None:
        self._rules = Library(RULE_ENDINGS, parse_rules, _is_background, open_texts)
        self._recent, self._inlined = Recent(), Inlined()
        self._lars = Library((".lars",), parse_lars, _is_facts, open_texts)

    def check(self, source: str, text: str, language: Language) -> Checked:
        """The problems and names of a text; `source` is its path, or another name if it has none."""
        checks = {"ec": self._event_calculus, "mtl": self._metric, "lars": self._windowed}
        try:
            return checks[language](source, text)
        except EventideError as error:
            problems = list(error.diagnostics) or [Diagnostic("error", "unreadable", str(error), None)]
        except Exception as error:  # a defect of ours must not silence the editor
            _log.exception("checking %s", source)
            problems = [Diagnostic("error", "internal", f"internal error: {type(error).__name__}: {error}", None,
                                   "a defect of Eventide; please report it")]
        return Checked(source, text, language, _own(problems, source), Names([]), {source: text})

    def reads(self, checked: Checked, path: str) -> bool:
        """Whether a text was checked with a file as its background, or would be now."""
        if path in checked.texts:
            return path != checked.source
        library: Library[Any] = self._rules if checked.language == "ec" else self._lars
        return checked.language != "mtl" and path in _background(library, checked.source, checked.text)[0].parsed

    def _event_calculus(self, source: str, text: str) -> Checked:
        parsed = parse_rules(text, source, self._recent)
        occurrences = list(event_calculus(parsed.rules))
        found, path = _background(self._rules, source, text)
        for other in found.parsed.values():
            occurrences += _few(event_calculus(other.rules))
        if named_in(text, source) is None and path is not None:
            defined = {each.template for each in occurrences if each.role != "use"}
            asked = {each.word for each in occurrences if each.kind == "predicate" and each.template not in defined}
            found.tables += self._rules.tables_of(path.parent, sorted(asked))
        parts = [parsed, *found.parsed.values()]
        program = Program([rule for part in parts for rule in part.rules],
                          [problem for part in parts for problem in part.diagnostics], {}, found.tables, passes=CHECKS,
                          inlined=self._inlined)
        problems = [*found.problems, *_elsewhere(program.check(), found.parsed, source)]
        return Checked(source, text, "ec", [_softened(problem) for problem in problems], Names(occurrences),
                       {source: text, **{name: other.text for name, other in found.parsed.items()}})

    def _metric(self, source: str, text: str) -> Checked:
        program = MtlProgram({source: text})
        return Checked(source, text, "mtl", _own(program.check(), source), Names(list(metric(parse_mtl(
            text, source).rules))), {source: text})

    def _windowed(self, source: str, text: str) -> Checked:
        parsed = parse_lars(text, source)
        found, _ = _background(self._lars, source, text)
        parts = [parsed, *found.parsed.values()]
        tree = LarsTree(tuple(chain(*(part.tree.facts for part in parts), *map(_facts, found.tables))),
                        tuple(chain(*(part.tree.rules for part in parts))), source, text)
        program = LarsProgram(tree, [problem for part in parts for problem in part.diagnostics], {}, parsed.dialect)
        occurrences = [*windowed(parsed.tree),
                       *(each for part in found.parsed.values() for each in _few(windowed(part.tree)))]
        problems = [*found.problems, *_elsewhere(program.check(), found.parsed, source)]
        return Checked(source, text, "lars", problems, Names(occurrences),
                       {source: text, **{name: other.tree.text for name, other in found.parsed.items()}})


def _background(library: Library[Any], source: str, text: str) -> tuple[Found[Any], Path | None]:
    """The background of a program, and the program's path if it has one."""
    path = Path(source)
    if not path.is_absolute():
        return Found(), None
    named = named_in(text, source)
    if named is None:
        return library.beside(path), path
    return library.named(path.parent, [each for each in named if normpath(path.parent / each.name) != source]), path


def _is_background(parsed: ParsedProgram) -> bool:
    rules = [rule for rule in parsed.rules if not isinstance(rule, Declaration)]
    return bool(rules) and not parsed.errors and all(isinstance(rule, BackgroundClause) for rule in rules)


def _is_facts(parsed: ParsedLars) -> bool:
    return bool(parsed.tree.facts) and not parsed.tree.rules and not parsed.diagnostics


def _facts(relation: Relation) -> Iterable[Atom | Compound]:
    columns = [[term_of(python_value(value)) for value in column_values(column)] for column in relation.columns]
    return (Compound(relation.name, row) for row in zip(*columns, strict=True))


def _few(occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    counts: dict[str, int] = {}
    kept = []
    for each in occurrences:
        counts[each.template] = counts.get(each.template, 0) + 1
        if counts[each.template] <= _MOST_FACTS:
            kept.append(each)
    return kept


def _own(problems: Iterable[Diagnostic], source: str) -> list[Diagnostic]:
    return [problem for problem in problems if problem.span is None or problem.span.source == source]


def _elsewhere(problems: Sequence[Diagnostic], background: Iterable[str], source: str) -> list[Diagnostic]:
    """The program's own problems; errors of a background file are told in one line at the top of the program."""
    found = _own(problems, source)
    for name in background:
        errors = [p for p in problems if p.span is not None and p.span.source == name and p.severity == "error"]
        if errors:
            first = errors[0]
            assert first.span is not None
            found.append(Diagnostic("error", first.code, f"{Path(name).name}:{first.span.line}: {first.message}",
                                    Span(source, 1, 1, 1, 1), first.hint))
    return errors_first(found)


def _softened(problem: Diagnostic) -> Diagnostic:
    """Background may be given on the command line: what nothing beside the program defines is no error yet."""
    if problem.code != "missing-background":
        return problem
    hint = f"{problem.hint}; or name its file in a comment: % background: FILE"
    return replace(problem, severity="warning", hint=hint)
