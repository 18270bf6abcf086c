"""θ-subsumption: the golden pairs, and the same answer as trying every substitution."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from eventide.analysis.patterns import rename
from eventide.learning.clauses import Clause, Literal, clause_of, read_clauses
from eventide.learning.subsumption import are_equivalent, compressed, subsumes, subsumption
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable, variables_of

VARIABLES = [Variable(name) for name in "XYZ"]
leaves: st.SearchStrategy[Term] = st.sampled_from([*VARIABLES, *VARIABLES, Atom("a"), Number(1)])
arguments = st.one_of(leaves, leaves, st.builds(lambda x: Compound("f", (x,)), leaves), st.builds(
    ListTerm, st.lists(leaves, min_size=1, max_size=2).map(tuple), st.sampled_from([None, *VARIABLES])))
heads = st.builds(lambda x: Compound("h", (x,)), arguments)
literals = st.builds(Literal, st.builds(Compound, st.sampled_from("ppq"), st.lists(arguments, min_size=2, max_size=2)
                                        .map(tuple)), st.sampled_from([True, True, False]))
clauses = st.builds(Clause, heads, st.lists(literals, max_size=3).map(tuple))


def substituted(clause: Clause, values: dict[str, Term]) -> Clause:
    """The clause with its variables replaced, all at once."""
    def replaced(term: Compound) -> Compound:
        return rename(term, values)  # type: ignore[arg-type]

    head = clause.head if isinstance(clause.head, Atom) else _flat(replaced(clause.head))
    return Clause(head, tuple(  # type: ignore[arg-type]
        Literal(_flat(replaced(each.atom)), each.positive) for each in clause.body))  # type: ignore[arg-type]


def _flat(term: Term) -> Term:
    """`[a | [b]]` is `[a, b]`."""
    if isinstance(term, Compound):
        return Compound(term.functor, tuple(map(_flat, term.args)))
    if not isinstance(term, ListTerm):
        return term
    items, tail = tuple(map(_flat, term.items)), None if term.tail is None else _flat(term.tail)
    return ListTerm(items + tail.items, tail.tail) if isinstance(tail, ListTerm) else ListTerm(items, tail)


def parts(term: Term) -> Iterator[Term]:
    """Everything that a variable could stand for inside a term."""
    yield term
    if isinstance(term, Compound):
        for each in term.args:
            yield from parts(each)
    elif isinstance(term, ListTerm):
        for each in term.items:
            yield from parts(each)
        for i in range(1, len(term.items)):
            yield ListTerm(term.items[i:], term.tail)
        yield ListTerm(()) if term.tail is None else term.tail


def is_part(c: Clause, d: Clause) -> bool:
    return c.head == d.head and set(c.body) <= set(d.body)


def subsumes_slowly(c: Clause, d: Clause) -> bool:
    """Whether any substitution of all variables of `c` by parts of `d` makes `c` a part of `d`."""
    names = sorted({v.name for term in (c.head, *(each.atom for each in c.body)) for v in variables_of(term)})
    values = list(dict.fromkeys(part for term in (d.head, *(each.atom for each in d.body)) for part in parts(term)))
    return any(is_part(substituted(c, dict(zip(names, chosen, strict=True))), d)
               for chosen in product(values, repeat=len(names)))


@given(clauses, clauses)
def test_as_trying_every_substitution(c: Clause, d: Clause) -> None:
    found = subsumption(c, d)
    assert (found is not None) == subsumes_slowly(c, d)
    assert found is None or is_part(substituted(c, found), d)


def graphs(names: str, size: int) -> st.SearchStrategy[Clause]:
    """Clauses of one relation between a few variables: most choices lead nowhere, and are taken back."""
    ends = st.sampled_from([Variable(name) for name in names])
    edges = st.builds(lambda x, y: Literal(Compound("p", (x, y))), ends, ends)
    return st.builds(Clause, st.just(Atom("h")), st.lists(edges, min_size=2, max_size=size).map(tuple))


@given(graphs("ABCD", 6), graphs("XYZ", 5))
@example(*read_clauses("h :- p(A,B), p(B,C), p(C,A). h :- p(X,Y), p(Y,X), p(X,Z), p(Z,W), p(W,X).")[0])
def test_choices_are_taken_back(c: Clause, d: Clause) -> None:
    found = subsumption(c, d)
    assert (found is not None) == subsumes_slowly(c, d)
    assert found is None or is_part(substituted(c, found), d)


@given(clauses, st.lists(leaves, min_size=3, max_size=3), st.lists(literals, max_size=3))
def test_an_instance_with_more_literals_is_subsumed(c: Clause, to: list[Term], more: list[Literal]) -> None:
    instance = substituted(c, dict(zip("XYZ", to, strict=True)))
    d = Clause(instance.head, (*more, *reversed(instance.body)))
    found = subsumption(c, d)
    assert found is not None and is_part(substituted(c, found), d)


@given(st.lists(clauses, max_size=6))
def test_one_of_each_class_is_kept(found: list[Clause]) -> None:
    kept = compressed(found)
    assert kept == [c for i, c in enumerate(found) if not any(
        subsumes(c, d) and subsumes(d, c) for d in found[:i])]


def test_golden_pairs(shared_data: Callable[[str], Path]) -> None:
    cases = json.loads(shared_data("golden/learning/theta_subsumption.json").read_text())["cases"]
    assert len(cases) == 20
    for case in cases:
        c, d = clause_of(case["c"] + "."), clause_of(case["d"] + ".")
        found = subsumption(c, d)
        shown = None if found is None else {name: str(term) for name, term in found.items()}
        assert shown == case["substitution"], case["name"]
        answers = subsumes(c, d), subsumes(d, c), are_equivalent(c, d)
        assert answers == (case["c_subsumes_d"], case["d_subsumes_c"], case["equivalent"]), case["name"]


def test_worked_cases() -> None:
    """Each line: c, d, whether c subsumes d."""
    for c, d, answer in [
        ("p(X) :- q(X, Y).", "p(X) :- q(X, X), r(X, Z).", True),
        ("p(X) :- q(X, Y), q(Y, Z), q(Z, W).", "p(X) :- q(X, X).", True),
        ("p(X) :- q(X, X).", "p(X) :- q(X, Y), q(Y, Z).", False),
        ("p(X, X) :- q(X).", "p(X, Y) :- q(X), q(Y).", False),
        ("p(Y, X) :- q(X).", "p(X, Y) :- q(Y).", True),
        ("p :- q(1).", "p :- q(1.0).", False),
        ("p :- \\+ q(X).", "p :- q(a).", False),
        ("p :- q([X | Y]).", "p :- q([a, b, c]).", True),
        ("p :- q([X, Y]).", "p :- q([a | Z]).", False),
        ("p :- q(_, _).", "p :- q(a, b).", True),
    ]:
        assert subsumes(clause_of(c), clause_of(d)) == answer, (c, d)


def test_many_literals_apart_are_searched_apart() -> None:
    """Thirty literals with thirty choices each: 30 to the power of 30 ways, were they tried with those that fail."""
    many = ", ".join(f"q(X, A{i}, c)" for i in range(30))
    others = ", ".join(f"r(X, b{i}), s(c{i})" for i in range(40))
    d = clause_of(f"p(X) :- {many}, {others}.")
    assert not subsumes(clause_of(f"p(X) :- {many}, r(X, B), s(B)."), d)
    assert subsumes(clause_of(f"p(X) :- {many}, r(X, B), s(C)."), d)


def test_equivalent_ones_keep_the_first() -> None:
    found, _ = read_clauses("p(X) :- q(X,Y). p(A) :- q(A,B), q(A,C). p(X) :- \\+ q(X,Y). h(X) :- q(X,Y).")
    assert compressed(found) == [found[0], found[2], found[3]]
