"""LARS by clingo: the whole program at one time-point as an answer set program, for cases that are not tiny.

Every atom carries its time-point; what a window shows is an atom of its own. Words and whole numbers only.
"""

from __future__ import annotations

import clingo
from tests.oracle.lars import AnswerStream, Data, Stream

from eventide.syntax.lars_trees import Comparison, LarsTree, Literal, Rule, atom_text
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, arguments_of, functor_of


def answer_streams(tree: LarsTree, stream: Stream, t: int, *, constraints: bool = True,
                   limit: int = 0) -> set[AnswerStream]:
    """All answer streams at t, or at most `limit` of them."""
    control = clingo.Control([str(limit), "--warn=none"])
    control.add("base", [], encoded(tree, Data.upto(tree, stream, t), constraints))
    control.ground([("base", [])])
    heads = {rule.head.predicate for rule in tree.rules if rule.head is not None}
    found: set[AnswerStream] = set()
    with control.solve(yield_=True) as handle:
        for model in handle:
            found.add(frozenset(_read(symbol) for symbol in model.symbols(atoms=True)
                                if symbol.name.startswith("p_")
                                and (symbol.name[2:], len(symbol.arguments) - 1) in heads))
    return found


def _read(symbol: clingo.Symbol) -> tuple[str, int]:
    *args, time = symbol.arguments
    terms = tuple(Atom(a.string) if a.type == clingo.SymbolType.String else Number(a.number) for a in args)
    name = symbol.name[2:]
    return atom_text(Compound(name, terms) if terms else Atom(name)), time.number


def encoded(tree: LarsTree, data: Data, constraints: bool = True) -> str:
    """The program at t, with its data, as text for clingo."""
    lines = [f"time(0..{data.t})."]
    for (name, _), args, k in data.arrived:
        lines.append(_atom("in_" + name, args, str(k)) + ".")
    for (name, _), args in data.background:
        lines.append(f"{_atom('bg_' + name, args)}.")
    predicates = {(name, len(args)) for (name, _), args in data.background} | {p for p, _, _ in data.arrived}
    for rule in tree.rules:
        predicates |= {literal.predicate for literal in rule.literals}
        predicates |= {rule.head.predicate} if rule.head is not None else set()
    for name, arity in predicates:
        args = _variables(arity)
        lines.append(f"{_atom('p_' + name, args, 'K')} :- {_atom('in_' + name, args, 'K')}.")
        lines.append(f"{_atom('p_' + name, args, 'K')} :- {_atom('bg_' + name, args)}, time(K).")
        lines.append(f"{_atom('p_' + name, args, 'K')} :- {_atom('d_' + name, args, 'K')}.")
    for number, rule in enumerate(tree.rules):
        if rule.head is not None or constraints:
            lines += _rule(rule, number, data)
    return "\n".join(lines)


def _variables(arity: int) -> tuple[Term, ...]:
    return tuple(Variable(f"A{i}") for i in range(arity))


def _rule(rule: Rule, number: int, data: Data) -> list[str]:
    names = {v: f"V{i}" for i, v in enumerate(dict.fromkeys(
        v.name for e in (*rule.body, *([rule.head] if rule.head else [])) for v in e.variables()))}
    body, lines = [], []
    for place, element in enumerate(rule.body):
        if isinstance(element, Comparison):
            body.append(f"{_term(element.left, names)} {element.operator} {_term(element.right, names)}")
        else:
            text, more = _literal(element, f"{number}_{place}", names, data)
            body.append(text)
            lines += more
    head = ""
    if rule.head is not None:
        time = str(data.t) if rule.head.time is None else _term(rule.head.time, names)
        head = _atom("d_" + rule.head.predicate[0], arguments_of(rule.head.atom), time, names)
        body.append(f"time({time})")
    return [*lines, f"{head} :- {', '.join(body)}."]


def _literal(literal: Literal, key: str, names: dict[str, str], data: Data) -> tuple[str, list[str]]:
    """The literal over what its window shows, and the rules that say what that is."""
    name, arity = literal.predicate
    args, t = arguments_of(literal.atom), data.t
    sign = "not " if literal.negated else ""
    if literal.modality == "now":
        return sign + _atom("p_" + name, args, str(t), names), []
    general, window = _variables(arity), literal.window
    seen = _atom("seen" + key, general, "K")
    start = f"start{key}({', '.join(['L', *(f'A{place}' for place in window.by)])})" if window is not None else "L = 0"
    lines = _starts(literal, key, data)
    if window is None or window.kind == "time":
        lines.append(f"{seen} :- {_atom('p_' + name, general, 'K')}, {start}, K >= L.")
    else:
        lines += [_atom(f"seen{key}", a, str(k)) + "." for p, a, k in data.arrived
                  if p == literal.predicate and (p, a, k) in data.counted(window, (p, a, k))[-window.size:]]
        lines.append(f"{seen} :- {_atom('d_' + name, general, 'K')}, {start}, K >= L.")
        lines.append(f"{seen} :- {_atom('bg_' + name, general)}, {start}, K = L..{t}.")
    if literal.modality == "at":
        assert literal.time is not None
        return sign + _atom(f"seen{key}", args, _term(literal.time, names), names), lines
    whole = _atom("whole" + key, general)
    if literal.modality == "sometime":
        lines.append(f"{whole} :- {seen}.")
    else:
        now = _atom("seen" + key, general, str(t))
        lines.append(f"{whole} :- {now}, {start}, {seen} : K = L..{t}.")
    return sign + _atom("whole" + key, args, None, names), lines


def _starts(literal: Literal, key: str, data: Data) -> list[str]:
    """The first time-point of a window, for a partition by its key; 0 where no fact of it has come."""
    window, (name, arity) = literal.window, literal.predicate
    if window is None:
        return []
    if window.kind != "partition":
        return [f"start{key}({data.start(window, (literal.predicate, (), data.t))})."]
    by = ", ".join(f"A{place}" for place in window.by)
    known = {tuple(a[place] for place in window.by): data.start(window, (p, a, k))
             for p, a, k in data.arrived if p == literal.predicate}
    lines = [f"start{key}({', '.join([str(first), *map(_term, values)])})." for values, first in known.items()]
    lines += [f"known{key}({', '.join(map(_term, values))})." for values in known]
    for source, time in (("d_", "K"), ("bg_", None)):
        lines.append(f"start{key}(0, {by}) :- {_atom(source + name, _variables(arity), time)}, not known{key}({by}).")
    return lines


def _atom(name: str, args: tuple[Term, ...], time: str | None = None, names: dict[str, str] | None = None) -> str:
    parts = [_term(arg, names) for arg in args] + ([time] if time is not None else [])
    return f"{name}({', '.join(parts)})" if parts else name


def _term(term: Term, names: dict[str, str] | None = None) -> str:
    if isinstance(term, Variable):
        return term.name if names is None else names[term.name]
    if isinstance(term, Number):
        return f"({term})"
    if isinstance(term, Compound):
        operator = {"%": "\\", "^": "**"}.get(term.functor, term.functor)
        return f"({_term(term.args[0], names)} {operator} {_term(term.args[1], names)})"
    assert functor_of(term)[1] == 0
    return '"' + str(term).replace("\\", "\\\\").replace('"', '\\"') + '"'
