"""Bottom rules: the golden seeds, and the same literals as trying every term in every place."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import clingo
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import EventideError
from eventide.learning.bottom import Facts, bottom_rule, domains_of
from eventide.learning.clauses import Clause, Literal, clause_of, read_clauses
from eventide.learning.modes import Modes, read_modes
from eventide.learning.subsumption import are_equivalent
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable

MODES = """modeh(h(+p,+p,+t))
modeb(walks(+p,+t))
modeb(not walks(+p,+t))
modeb(near(+p,+p,#d,+t))
modeb(not near(+p,+p,#d,+t))
modeb(in(+p,-z))
modeb(next(+z,-z))
modeb(kind(+z,#k))
modeb(kind(+z,x))
comparisonPredicate(near(+p,+p,#d,+t), lessThan, comparison_term_position(3))
"""


def read(text: str) -> Modes:
    modes, problems = read_modes(text)
    assert not [problem for problem in problems if problem.severity == "error"]
    return modes


def facts_of(text: str) -> Facts:
    found, problems = read_clauses(text)
    assert not problems and not any(clause.body for clause in found)
    return Facts(clause.head for clause in found)


def atom(text: str) -> Term:
    return clause_of(f"{text}.").head


def answer_of(program: str) -> Facts:
    """What an ASP program without choices says is true."""
    control = clingo.Control(["--warn=none"])
    control.add("base", [], program)
    control.ground([("base", [])])
    with control.solve(yield_=True) as models:
        [model] = models
        return facts_of(" ".join(f"{symbol}." for symbol in model.symbols(atoms=True)))


def rule_as_written(head: str, body: list[str]) -> Clause:
    return clause_of(f"{head} :- {', '.join(body)}." if body else f"{head}.")


def test_golden_seeds(shared_data: Callable[[str], Path]) -> None:
    cases: list[dict[str, Any]] = json.loads(shared_data("golden/learning/bottom_rules.json").read_text())["cases"]
    assert len(cases) == 12
    for case in cases:
        modes = read("\n".join([*case["modes"], *(f"irreflexive({name})" for name in case["irreflexive"])]))
        facts = answer_of(case["program"])
        known = domains_of(modes, facts)
        for name, terms in (case["domains"] or {}).items():
            assert [str(term) for term in known[name]] == terms, case["name"]
        whole = bottom_rule(atom(case["seed"]), modes, facts, depth=case["variable_depth"])
        tight = bottom_rule(atom(case["seed"]), modes, facts, depth=case["variable_depth"], simplify=True)
        wanted = clause_of(case["expected_bottom_rule"])
        assert tight.head == whole.head == wanted.head, case["name"]
        assert set(tight.body) == set(wanted.body), case["name"]
        for rule, body in ((tight, case["expected_body"]), (whole, case["unsimplified_body"])):
            assert len(rule.body) == len(set(rule.body)) == len(body), case["name"]
            assert set(rule.body) == set(rule_as_written("h", body).body), case["name"]


PEOPLE: list[Term] = [Atom("a"), Atom("b"), Atom("c")]
ZONES: list[Term] = [Atom("y"), Atom("z"), Atom("a"), Number(1)]  # some look like people, some like times
DISTANCES: list[Term] = [Number(9), Number(10), Number(2.5)]
TIMES: list[Term] = [Number(1), Number(2)]
KINDS: list[Term] = [Atom("x"), Atom("w")]


def atoms(name: str, *terms: list[Term]) -> st.SearchStrategy[Term]:
    return st.builds(lambda *args: Compound(name, args), *map(st.sampled_from, terms))


worlds = st.lists(st.one_of(
    atoms("walks", PEOPLE, TIMES), atoms("near", PEOPLE, PEOPLE, DISTANCES, TIMES), atoms("in", PEOPLE, ZONES),
    atoms("next", ZONES, ZONES), atoms("kind", ZONES, KINDS), atoms("d", DISTANCES)), max_size=25)
seeds = atoms("h", PEOPLE, PEOPLE, TIMES)


def rule_slowly(seed: Compound, world: list[Term], depth: int) -> Clause:
    """All literals by trying every term in every place, as the definition says; a variable is its type and term."""
    domain = {"p": PEOPLE, "t": TIMES, "z": ZONES, "k": KINDS,
              "d": [fact.args[0] for fact in world if isinstance(fact, Compound) and fact.functor == "d"]}
    shapes = [("walks", True, "+p +t"), ("walks", False, "+p +t"), ("near", True, "+p +p #d +t"),
              ("near", False, "+p +p #d +t"), ("in", True, "+p -z"), ("next", True, "+z -z"), ("kind", True, "+z #k")]

    def named(name: str, places: list[str], terms: tuple[Term, ...]) -> Compound:
        return Compound(name, tuple(term if place[0] == "#" else Variable(f"{place[1]}_{term}")
                                    for place, term in zip(places, terms, strict=True)))

    known = set(zip("ppt", seed.args, strict=True))
    found: set[Literal] = set()
    for _ in range(depth + 1):
        new: set[tuple[str, Term]] = set()
        for name, positive, shape in shapes:
            places = shape.split()
            for terms in product(*(DISTANCES if place == "#d" and positive else domain[place[1]] for place in places)):
                pairs = [(place[0], (place[1], term)) for place, term in zip(places, terms, strict=True)]
                if (Compound(name, terms) in world) == positive and all(
                        pair in known for kind, pair in pairs if kind == "+"):
                    found.add(Literal(named(name, places, terms), positive))
                    new |= {pair for kind, pair in pairs if kind == "-"}
        known |= new
    return Clause(named("h", ["+p", "+p", "+t"], seed.args), tuple(found))


@given(seeds, worlds, st.integers(0, 3))
def test_as_trying_every_term(seed: Compound, world: list[Term], depth: int) -> None:
    """The rule is the slow one, with other names for its variables; `kind(+z,x)` adds nothing to `kind(+z,#k)`."""
    rule, slow = bottom_rule(seed, read(MODES), Facts(world), depth=depth), rule_slowly(seed, world, depth)
    assert len(rule.body) == len(set(rule.body)) == len(slow.body)
    assert are_equivalent(rule, slow)


@given(seeds, worlds)
def test_thresholds_that_say_less_are_left_out(seed: Compound, world: list[Term]) -> None:
    whole, tight = (bottom_rule(seed, read(MODES), Facts(world), simplify=simple) for simple in (False, True))
    assert set(tight.body) <= set(whole.body)

    def limits(rule: Clause) -> dict[tuple[Term, ...], list[float]]:
        found: dict[tuple[Term, ...], list[float]] = {}
        for each in rule.body:
            if isinstance(each.atom, Compound) and each.atom.functor == "near" and each.positive:
                x, y, limit, time = each.atom.args
                assert isinstance(limit, Number)
                found.setdefault((x, y, time), []).append(limit.value)
        return found

    assert limits(tight) == {things: [min(values)] for things, values in limits(whole).items()}
    others = len(whole.body) - sum(map(len, limits(whole).values()))
    assert len(tight.body) == others + len(limits(tight))


@given(seeds, worlds)
def test_the_order_of_facts_does_not_matter(seed: Compound, world: list[Term]) -> None:
    """The same to the letter, so that equal examples give equal rules."""
    modes = read(MODES)
    assert bottom_rule(seed, modes, Facts(world)) == bottom_rule(seed, modes, Facts(reversed(world)))


def test_what_two_modes_allow_is_there_once() -> None:
    modes = read("modeh(h(+x))\nmodeb(kind(+x,#k))\nmodeb(kind(+x,red))\nmodeb(kind(+x,-k))")
    rule = bottom_rule(atom("h(a)"), modes, facts_of("kind(a,red). kind(a,blue)."))
    assert str(rule) == "h(X0) :- kind(X0, blue), kind(X0, red), kind(X0, X1), kind(X0, X2)."


@given(seeds, worlds)
def test_irreflexive_predicates(seed: Compound, world: list[Term]) -> None:
    modes = read(MODES + "irreflexive(near)")
    whole, without = bottom_rule(seed, read(MODES), Facts(world)), bottom_rule(seed, modes, Facts(world))
    assert set(without.body) == {each for each in whole.body if not isinstance(each.atom, Compound)
                                 or each.atom.functor != "near" or each.atom.args[0] != each.atom.args[1]}


def test_events_and_fluents_can_be_irreflexive() -> None:
    text = "modeh(h(+p,+p,+t))\nmodeb(happensAt(meets(+p,+p),+t))\n"
    facts = facts_of("happensAt(meets(a,b),1). happensAt(meets(a,a),1).")
    assert len(bottom_rule(atom("h(a,b,1)"), read(text), facts).body) == 2
    assert len(bottom_rule(atom("h(a,b,1)"), read(text + "irreflexive(meets)"), facts).body) == 1


def test_types_from_input_predicates() -> None:
    modes = read("modeh(h(+p))\nmodeb(not likes(+p,#p))\ninputPredicate(at(+p,-place,#n))")
    facts = facts_of("at(bob,home,1). at(ann,shop,2). p(cid). likes(ann,bob). n(7).")
    assert {name: list(map(str, terms)) for name, terms in domains_of(modes, facts).items()} == {
        "p": ["ann", "bob", "cid"], "place": ["home", "shop"], "n": ["7"]}
    assert str(bottom_rule(atom("h(ann)"), modes, facts)) == "h(X0) :- \\+ likes(X0, ann), \\+ likes(X0, cid)."
    given = bottom_rule(atom("h(ann)"), modes, facts, domains={"p": [Atom("dora")]})
    assert str(given) == "h(X0) :- \\+ likes(X0, dora)."


def test_a_value_of_a_fluent_is_part_of_the_shape() -> None:
    modes = read("modeh(initiatedAt(f(+x)=true,+t))\nmodeb(holdsAt(g(+x)=#v,+t))\nmodeb(holdsAt(g(+x)=on,+t))")
    facts = facts_of("holdsAt(g(a)=off,3). holdsAt(g(b)=on,3).")
    rule = bottom_rule(atom("initiatedAt(f(a)=true,3)"), modes, facts)
    assert rule == clause_of("initiatedAt(f(X0)=true,X1) :- holdsAt(g(X0)=off,X1).")


@pytest.mark.parametrize(("seed", "depth", "message"), [
    ("h(a,b)", 1, "has the shape of no head: declared are h"), ("h(a,b,T)", 1, "has a variable"),
    ("h(a,b,1)", -1, "at least 0, not -1")])
def test_seeds_that_cannot_be(seed: str, depth: int, message: str) -> None:
    with pytest.raises(EventideError, match=message):
        bottom_rule(atom(seed), read(MODES), Facts([]), depth=depth)


def test_facts_have_no_variables() -> None:
    with pytest.raises(EventideError, match="not a fact"):
        Facts([atom("p(X)")])
    with pytest.raises(EventideError, match="not a fact"):
        Facts([Number(3)])
