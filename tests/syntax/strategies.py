"""Random terms and rules in the form in which the parser gives them, for the round trip through text."""

from __future__ import annotations

from hypothesis import strategies as st

from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable
from eventide.syntax.trees import (
    Allen,
    BackgroundClause,
    Body,
    Boundary,
    Call,
    Changed,
    ChangeRule,
    Compare,
    Condition,
    Cut,
    DelayRule,
    EventRule,
    FindAll,
    FluentValue,
    Grounding,
    Guard,
    Happens,
    Holds,
    HoldsFor,
    InitialRule,
    IntervalOperation,
    Is,
    Length,
    Not,
    Or,
    Postponable,
    StaticRule,
)

NAMES = st.sampled_from(["x", "tug", "near_port", "y2", "Big Ship", "it's", "back\\slash", "", "ünï", "-", "is", "[]",
                         "new\nline"])
VARIABLES = st.sampled_from(["X", "Y", "_Z", "Long_Name1", "_9"]).map(Variable)
TIME = Variable("T")
ATOMS = NAMES.map(Atom)
NUMBERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)).map(Number)
OPERATORS = ["+", "-", "*", "/", "//", "mod", "**", "^", "=", "<", "is", ",", ";", ":", "->", "\\="]


def _compounds(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    return st.one_of(
        st.builds(Compound, NAMES, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Compound, st.sampled_from(OPERATORS), st.tuples(inner, inner)),
        st.builds(Compound, st.sampled_from(["-", "\\+", "not", "\\"]), st.tuples(inner)),
        st.builds(ListTerm, st.lists(inner, max_size=3).map(tuple)),
        st.builds(ListTerm, st.lists(inner, min_size=1, max_size=3).map(tuple), VARIABLES),
    )


TERMS: st.SearchStrategy[Term] = st.recursive(st.one_of(ATOMS, NUMBERS, VARIABLES), _compounds, max_leaves=8)
ENTITIES = st.one_of(st.sampled_from(["tug", "gap", "ünï", "A b"]).map(Atom), st.builds(
    Compound, st.sampled_from(["tug", "gap", "A b"]), st.lists(TERMS, min_size=1, max_size=3).map(tuple)))
EVENTS = ENTITIES.filter(lambda term: not any(
    isinstance(arg, Compound) and arg.functor in ("=", "==") for arg in getattr(term, "args", ())))
PAIRS = st.builds(FluentValue, ENTITIES, TERMS)
COMPARISONS = st.sampled_from(["<", "=<", ">", ">=", "=:=", "=\\=", "=", "\\=", "==", "\\==", "@<"])
MODES = st.sampled_from(["source", "target", "union", "intersection", "complement", "inverse_complement"])
STATIC: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Call, EVENTS),
    st.builds(Compare, COMPARISONS, TERMS, TERMS),
    st.builds(Is, VARIABLES, TERMS), st.builds(Length, TERMS, TERMS), st.just(Cut()),
)


def _nested(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    bodies: st.SearchStrategy[Body] = st.lists(inner, max_size=3).map(tuple)
    # Not in the parser's form: a disjunction that is the only condition of an alternative would be spread, and a cut in
    # an alternative is read as a denial in those behind it.
    alternatives = bodies.filter(lambda body: not (len(body) == 1 and isinstance(body[0], Or))
                                 and not any(isinstance(goal, Cut) for goal in body))
    return st.one_of(
        st.builds(Not, bodies), st.builds(FindAll, TERMS, bodies, VARIABLES),
        st.builds(Or, st.lists(alternatives, min_size=2, max_size=3).map(tuple)),
    )


STATIC_BODIES: st.SearchStrategy[Body] = st.lists(
    st.recursive(STATIC, _nested, max_leaves=4), max_size=4).map(tuple)
POINTS: st.SearchStrategy[Condition] = st.one_of(
    STATIC, st.builds(Happens, EVENTS, st.just(TIME)), st.builds(Holds, PAIRS, st.just(TIME)),
    st.builds(Boundary, st.sampled_from(["start", "startI", "end"]), PAIRS, st.just(TIME)),
    st.builds(Changed, st.sampled_from(["initiated", "terminated"]), PAIRS, st.just(TIME)),
)
POINT_BODIES: st.SearchStrategy[Body] = st.lists(st.recursive(POINTS, _nested, max_leaves=4), max_size=4).map(tuple)


@st.composite
def static_rules(draw: st.DrawFn) -> StaticRule:
    """A holdsFor rule: every operation uses intervals bound before it, the last one binds the head's."""
    body: list[Condition] = [HoldsFor(draw(PAIRS), Variable("I0"))]
    for step in range(1, draw(st.integers(1, 6)) + 1):
        bound = st.integers(0, step - 1).map(lambda number: Variable(f"I{number}"))
        lists = st.lists(bound, max_size=3).map(tuple)
        output, one = Variable(f"I{step}"), draw(bound)
        body.append(draw(st.one_of(
            st.builds(HoldsFor, PAIRS, st.just(output)),
            st.builds(IntervalOperation, st.sampled_from(["union", "intersect", "complement"]), st.none(), lists,
                      st.none(), st.just(output)),
            st.builds(IntervalOperation, st.just("relative_complement"), bound, lists, st.none(), st.just(output)),
            st.builds(IntervalOperation, st.sampled_from(["longer", "shorter"]), bound, st.just(()),
                      st.one_of(VARIABLES, st.integers(0, 99).map(Number)), st.just(output)),
            st.builds(IntervalOperation, st.just("same"), bound, st.just(()), st.none(), st.just(output)),
            st.builds(Allen, st.sampled_from(["before", "meets", "equal"]), bound, bound, MODES, st.just(output)))))
        tests = st.one_of(STATIC, st.builds(Guard, st.just(one), st.booleans()))
        body.extend(draw(st.lists(tests, max_size=1)))
    return StaticRule(draw(PAIRS), output, tuple(body))


RULES = st.one_of(
    st.builds(ChangeRule, st.sampled_from(["initiated", "terminated"]), PAIRS, st.just(TIME), POINT_BODIES,
              probability=st.none() | st.floats(0, 1)),
    st.builds(ChangeRule, st.sampled_from(["initiated", "terminated"]), PAIRS, st.just(TIME), POINT_BODIES,
              weight=st.floats(allow_nan=False, allow_infinity=False)),
    st.builds(EventRule, EVENTS, st.just(TIME), POINT_BODIES), static_rules(),
    st.builds(InitialRule, PAIRS, STATIC_BODIES), st.builds(Postponable, PAIRS, STATIC_BODIES),
    st.builds(DelayRule, PAIRS, PAIRS, st.one_of(VARIABLES, st.integers(1, 99).map(Number)), STATIC_BODIES),
    st.builds(Grounding, st.one_of(EVENTS, PAIRS), STATIC_BODIES), st.builds(BackgroundClause, EVENTS, STATIC_BODIES),
)
