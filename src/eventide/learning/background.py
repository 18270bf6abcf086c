"""Background knowledge for learning: what follows from it and the facts of each stream becomes facts too.

Rules of an Event Calculus program (`.ec`, `.prolog`, `.pl`) or relations (`NAME=FILE`) are run by the engine, those of
Answer Set Programming (`.lp`, `.asp`) by clingo. Learning then sees the shapes that the modes name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import clingo
import numpy as np

from eventide.errors import EventideError, ProgramError
from eventide.formats.expected import TimeUnit
from eventide.formats.facts import Facts, FactTable, Kind, chosen, column_of, merged
from eventide.formats.files import rule_text
from eventide.formats.problems import input_error
from eventide.learning.examples import Table
from eventide.learning.modes import Mode, Modes
from eventide.learning.reading import (
    ASP,
    FOREVER,
    Observations,
    Part,
    Shape,
    add_atom,
    as_array,
    plain_value,
    read_examples,
    shapes_of,
    targets_of,
)
from eventide.program import Program, parse
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable

_NOW = "learning_now"
_PLAIN_NAME = re.compile(r"_*[a-z][A-Za-z0-9_']*\Z")
_ASP_PIECE = re.compile(r"""(?P<known>"(?:[^"\\\n]|\\.)*"|%\*(?s:.*?)\*%|%[^\n]*|\#script(?s:.*?)\#end\b)"""
                        r"|(?P<other>[^\x00-\x7f])")


def observations_of(modes: Modes, sources: object, background: Iterable[object] = (), *,
                    wanted: Sequence[str] | None = None, labelled: bool = True,
                    time_unit: TimeUnit | None = None) -> Observations:
    """What files and tables say together with background knowledge.

    The fluents that are `wanted` (None: all of the modes) must have labels, if examples are `labelled` at all.

    >>> import pyarrow as pa
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(initiatedAt(fast(+car),+time))\\nmodeb(happensAt(races(+car),+time))")
    >>> from eventide.formats.background import Clauses
    >>> rules = Clauses("rules.ec", "happensAt(races(X), T) :- happensAt(speed(X, V), T), V > 90.")
    >>> speeds = pa.table({"time": [1, 2], "car": ["a", "a"], "kmh": [100, 80]})
    >>> labels = pa.table({"time": [2], "car": ["a"]})
    >>> found = observations_of(modes, {"speed": speeds, "fast": labels}, [rules])
    >>> found.examples("fast").facts[0].points.tolist()
    [0]
    """
    given = [background] if isinstance(background, str | os.PathLike | Mapping) else list(background)
    asp = [os.fspath(each) for each in given if is_asp(each)]  # type: ignore[call-overload]
    rest = [each for each in given if not is_asp(each)]
    needed = tuple(targets_of(modes) if wanted is None else wanted) if labelled else ()
    if not rest:
        found = read_examples(modes, sources, needed, time_unit=time_unit)
        return _with_asp(found, asp) if asp else found
    if asp:
        raise EventideError("background knowledge is of the Event Calculus or of Answer Set Programming, not of both")
    program, timeless = _program(modes, rest)
    reads: dict[str, tuple[Kind, Sequence[int]]] = {}
    for (name, _), template in program.input_names.items():
        if name != _NOW:
            arities = [arity for other, arity in program.input_names if other == name]
            reads[name] = (program.model.inputs[template], arities)
    return _with_program(read_examples(modes, sources, needed, reads, time_unit), program, timeless)


def is_asp(given: object) -> bool:
    """Whether background knowledge is a file of Answer Set Programming."""
    return isinstance(given, str | os.PathLike) and os.fspath(given).endswith(ASP)


# -- Event Calculus ----------------------------------------------------------------------------------------------------


def _program(modes: Modes, background: Sequence[object]) -> tuple[Program, dict[str, Shape]]:
    """The rules, with an event for each shape without time that they define, so that they can be asked for it."""
    known = parse("", background=background)
    defined = {*known.model.knowledge.facts, *known.model.knowledge.clauses, *known.model.tables.items()}
    shapes: dict[str, Shape] = {}
    probes: list[str] = []
    for shape in shapes_of(modes)[0].values():
        arity = len(shape.parts[0])
        if shape.time is None and (shape.mode.subject, arity) in defined:
            name, names = f"learning_probe_{len(shapes)}", ", ".join(f"X{i}" for i in range(arity))
            atom = f"{_quoted(shape.mode.subject)}({names})" if arity else _quoted(shape.mode.subject)
            probes.append(f"happensAt({name}({names}), T) :- happensAt({_NOW}, T), {atom}.")
            shapes[name] = shape
    program = parse("\n".join(probes), background=background, source="<what learning asks of it>")
    program.require_certain()
    return program, shapes


def _with_program(found: Observations, program: Program, timeless: Mapping[str, Shape]) -> Observations:
    """The observations with what the rules derive in each stream."""
    inputs = {shape.mode.subject: shape for shape in shapes_of(found.modes)[0].values() if shape.time is not None}
    derived = [name for name in program.fluents if name in inputs]
    found.derived |= set(derived)
    several = found.streams() != (0,)
    for number, stream in enumerate(found.streams()):
        facts = _of_stream(found, program, stream)
        now = min((int(each.time.min()) for each in facts.tables.values() if len(each)), default=0)
        if timeless and number == 0:
            facts.tables[_NOW, 0] = FactTable(_NOW, "event", np.array([now]))
        wanted = [*derived, *(timeless if number == 0 else ())]
        for each in program.derived(facts, wanted, FOREVER) if wanted else ():
            if each.name in timeless:
                found.timeless[timeless[each.name].mode.subject, len(each.args)] = tuple(map(as_array, each.args))
            else:
                found.parts.append(Part(each, np.full(len(each), stream) if several else None))
    return found


def _of_stream(found: Observations, program: Program, stream: str | int) -> Facts:
    """The facts of one stream that the rules read."""
    parts = [part.facts if part.streams is None else chosen(part.facts, np.flatnonzero(part.streams == stream))
             for part in found.parts if program.reads(part.facts.name)]
    parts = [part if part.end is None else replace(part, end=np.where(
        part.end >= FOREVER, found.ending(stream), part.end)) for part in parts]
    parts += _of_atoms(found, program, stream)
    return merged([Facts({(each.name, len(each.args)): each}) for each in parts if len(each)], exact=True)


def _of_atoms(found: Observations, program: Program, stream: str | int) -> Iterator[FactTable]:
    """The facts of a stream that came as atoms, as tables."""
    for shape in shapes_of(found.modes)[0].values():
        arguments, value = shape.parts
        template = program.input_names.get((shape.mode.subject, len(arguments)))
        own = [[plain_value(term) for term in values] for values, owner in found.rows.get(shape.text, ())
               if owner in (None, stream)]
        if template is None or shape.time is None or not own:
            continue
        kind = program.model.inputs[template]
        if kind == "interval":
            raise EventideError(f"the background knowledge reads intervals of {shape.mode.subject}, but the examples "
                                "have it at time-points; give it as a table with the columns start and end")
        leaves = [*arguments, *([] if value is None else [value])]
        columns = [column_of([row[int(leaf.name)] if isinstance(leaf, Variable) else plain_value(leaf) for row in own])
                   for leaf in leaves]
        times = np.array([row[shape.time] for row in own])
        yield FactTable(shape.mode.subject, kind, times, tuple(columns[: len(arguments)]),
                        value=None if value is None else columns[-1])


# -- Answer Set Programming --------------------------------------------------------------------------------------------


def _with_asp(found: Observations, files: Sequence[str]) -> Observations:
    """The observations with the atoms of the answer set in the place of the facts, stream by stream."""
    inputs, labels = shapes_of(found.modes)
    texts = {path: rule_text(path) for path in files}
    for path, text in texts.items():
        _check_letters(path, text)
    points = found.observed(list(inputs.values()))
    tables = [found.table(shape, points) for shape in inputs.values()]
    new = Observations(found.modes, [part for part in found.parts if part.facts.name in labels], {},
                       {shape.text: found.rows[shape.text] for shape in labels.values() if shape.text in found.rows})
    streams = found.streams()
    for stream in streams:
        facts = "".join(f"{atom}.\n" for each in tables for atom in _atoms(each, stream))
        for atom in _answer(texts, facts):
            add_atom(new, list(inputs.values()), atom, None if streams == (0,) else stream)
    for shape in inputs.values():  # facts without time follow in every stream
        if shape.time is None and shape.text in new.rows:
            new.rows[shape.text] = list(dict.fromkeys(new.rows[shape.text]))
    return new


def _atoms(table: Table, stream: str | int) -> Iterator[str]:
    """The facts of a table in one stream, as Answer Set Programming writes them."""
    rows = range(table.columns[0].shape[0]) if table.streams is None else np.flatnonzero(table.streams == stream)
    columns = [column.tolist() for column in table.columns]
    for row in rows:
        yield _text(table.mode.filled([_term(column[row], table.mode) for column in columns]))


def _term(value: object, mode: Mode) -> Term:
    if isinstance(value, float):
        raise EventideError(f"{mode} has {value}; Answer Set Programming knows whole numbers only: give a smaller "
                            "unit, or write the background as rules of the Event Calculus")
    if isinstance(value, int) and abs(value) >= 1 << 31:
        raise EventideError(f"{mode} has {value}; the numbers of Answer Set Programming have 32 bits: give a larger "
                            "unit or a later origin, or write the background as rules of the Event Calculus")
    return Number(value) if isinstance(value, int) else Atom(str(value))


def _text(term: Term) -> str:
    if isinstance(term, Compound) and term.functor == "=":
        return _text(term.args[0]) if term.args[1] == Atom("true") else f"eq({', '.join(map(_text, term.args))})"
    if isinstance(term, Compound):
        if not _PLAIN_NAME.match(term.functor):
            raise EventideError(f"Answer Set Programming has no name {term.functor}: names have letters from a to z, "
                                "digits and _, and begin with a small letter")
        return f"{term.functor}({','.join(map(_text, term.args))})"
    return str(term) if isinstance(term, Number) else _quoted(str(term), '"')


def _quoted(name: str, mark: str = "'") -> str:
    if _PLAIN_NAME.match(name) and name != "not":
        return name
    return mark + name.replace("\\", "\\\\").replace(mark, f"\\{mark}").replace("\n", "\\n") + mark


def _check_letters(path: str, text: str) -> None:
    """Refuse letters that clingo does not know: it would cut its message amid one, which ends the whole process."""
    for piece in _ASP_PIECE.finditer(text):
        if piece.lastgroup == "other":
            raise input_error("unknown-letter", f"the letter '{piece.group()}' outside of a text", path,
                              text.count("\n", 0, piece.start()) + 1,
                              hint=f'clingo knows names of letters from a to z; write texts as "{piece.group()}"')


def _answer(texts: Mapping[str, str], facts: str) -> list[Term]:
    """The atoms of the one answer set of a program with facts."""
    said: list[str] = []
    control = clingo.Control(["--models=2", "--warn=none"], logger=lambda _, message: said.append(message.strip()))
    try:
        for path in texts:
            control.load(path)
        control.add("base", [], facts)
        control.ground([("base", [])])
    except RuntimeError as error:
        raise ProgramError("\n".join([f"clingo cannot read {', '.join(texts)}", *said])) from error
    answers: list[list[clingo.Symbol]] = []
    with control.solve(yield_=True) as models:
        answers.extend(list(model.symbols(atoms=True)) for model in models)
    if len(answers) != 1:
        number = "no answer set" if not answers else "several answer sets"
        raise ProgramError(f"{', '.join(texts)} has {number} with the facts of a stream; background knowledge has one")
    return [_of_symbol(symbol) for symbol in sorted(answers[0])]


def _of_symbol(symbol: clingo.Symbol) -> Term:
    if symbol.type == clingo.SymbolType.Number:
        return Number(symbol.number)
    if symbol.type == clingo.SymbolType.Function and symbol.arguments:
        return Compound(symbol.name, tuple(map(_of_symbol, symbol.arguments)))
    return Atom(symbol.string if symbol.type == clingo.SymbolType.String else str(symbol))
