"""Semi-joins with domains of the input that can drop nothing vanish, all others stay; answers never change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.running import facts_of, timelines
from tests.engine.world import World, fields
from tests.oracle.programs import FAMILIES, LAST, Case
from tests.oracle.store import Fact

import eventide as ev
from eventide.algebra import nodes as n
from eventide.algebra.evidence import retroactive, without_needless_domains
from eventide.algebra.expressions import Column, Comparison, Constant
from eventide.algebra.sharing import Sharing
from eventide.algebra.text import to_text
from eventide.analysis import planning
from eventide.syntax.terms import Atom, Number

A = ("ann", "bob", "cid", "dot")
WORLD = World()
GO = WORLD.points("X Y", [("ann", "bob", 3), ("bob", "cid", 5), ("bob", "bob", 9)])
STOP = WORLD.points("X", [("cid", 4), ("ann", 12)])
CALL = WORLD.points("X", [(a, t) for t, a in enumerate(A)])
NEAR = WORLD.intervals("X Y V", [("ann", "bob", "yes", 2, 8), ("cid", "dot", "no", 4, 9), ("bob", "cid", "yes", 5, 20)])
BUSY = WORLD.intervals("X", [(a, 1, 30) for a in A])
KIND = WORLD.rows("X K", [("ann", "big"), ("cid", "big"), ("dot", "small")])
assert isinstance(GO, n.Events) and isinstance(NEAR, n.Fluent)
GO_NAME, NEAR_NAME = GO.name, NEAR.name
X = fields("X")


def go(names: str) -> n.Node:
    return n.Events(GO_NAME, fields(names))


def filled(node: n.Node, column: str = "X") -> n.Node:
    """The domain `dom/1` of all values of a column, as X."""
    rows = n.Timeless(n.Project(node, (column,))) if node.sort == "points" else n.Keys(n.Project(node, (column,)))
    return n.Rename(n.Rename(rows, fields("dom/1.0")), X)


GOERS = filled(go("P Q"), "P")
MOVERS = n.Rename(n.Union((filled(go("P Q"), "P"), filled(STOP))), X)


def planned(*definitions: tuple[str, n.Node] | n.Node, cyclic: bool = False) -> n.Plan:
    named = [d if isinstance(d, tuple) else ("it", d) for d in definitions]
    return Sharing().plan(n.Plan(tuple(
        n.Stratum(level, (n.Definition(*d),), cyclic) for level, d in enumerate(named, 1))))


def answers(plan: n.Plan) -> dict[str, list[tuple[object, ...]]]:
    executor = WORLD.executor()
    executor.run(plan)
    return {d.name: WORLD.shown(executor.results[d.name]) for s in plan.strata for d in s.definitions}


def rewritten(*definitions: tuple[str, n.Node] | n.Node) -> n.Node:
    """The last definition without needless domains; the answers are the same."""
    plan = planned(*definitions)
    shorter = without_needless_domains(plan)
    assert answers(shorter) == answers(plan)
    for old, new in zip(plan.strata, shorter.strata, strict=True):
        assert old.definitions[0].body.fields == new.definitions[0].body.fields
    return shorter.strata[-1].definitions[0].body


def inertia(name: str, *begin: n.Node, end: n.Node = CALL, initial: tuple[n.Node, ...] = (), delays: bool = False,
            domain: n.Node | None = None) -> n.Node:
    changes = [n.Change("initiated", points, Atom("true")) for points in begin]
    deadline = (n.Delay(Atom("true"), Atom("off"), None, 3, False),) if delays else ()
    return n.Inertia(name, fields("X V"), (*changes, n.Change("terminated", end, Atom("true"))), deadline, initial,
                     domain)


def x(node: n.Node) -> n.Node:
    return n.Project(node, ("X",))


ON = ("on", inertia("on", x(go("X Q"))))
EITHER = ("either", inertia("either", x(go("X Q")), STOP))
FLUENT_ON = n.Fluent("on", fields("X V"))
BIG = n.Equal(KIND, "K", Atom("big"))

NEEDLESS: dict[str, tuple[n.Node, n.Node, tuple[tuple[str, n.Node], ...]]] = {
    "the event itself": (go("X Q"), GOERS, ()),
    "one of several events": (STOP, MOVERS, ()),
    "a selection": (n.Select(go("X Q"), Comparison("==", Column("X"), Constant(Atom("bob")))), GOERS, ()),
    "a constant": (n.Equal(go("X Q"), "Q", Atom("bob")), GOERS, ()),
    "more columns": (n.Attach(go("X Q"), n.Field("V", "value"), Atom("v")), GOERS, ()),
    "a copy": (n.Copy(go("P Q"), n.Field("X", "thing"), "P"), GOERS, ()),
    "equal columns": (n.Same(go("Q X"), "Q", "X"), GOERS, ()),
    "other names": (n.Rename(go("P Q"), fields("X Z")), GOERS, ()),
    "a join, left": (n.Join(go("X Q"), BUSY), GOERS, ()),
    "a join, right": (n.Join(CALL, FLUENT_ON), GOERS, (ON,)),
    "without others": (n.Without(go("X Q"), STOP), GOERS, ()),
    "a union": (n.Union((x(go("X Q")), STOP)), MOVERS, ()),
    "counted": (x(n.Count(n.Number(go("X Q"), "N"), n.Number(go("X Q"), "N"), "N", n.Field("M", n.NUMBER))), GOERS, ()),
    "a fluent": (FLUENT_ON, GOERS, (ON,)),
    "a fluent of many": (n.Fluent("either", fields("X V")), MOVERS, (EITHER,)),
    "its starts": (n.Boundaries(FLUENT_ON, "start"), GOERS, (ON,)),
    "its ends": (n.Boundaries(FLUENT_ON, "end"), GOERS, (ON,)),
    "runs": (n.Runs(go("X Q")), GOERS, ()),
    "long ones": (n.Lasting(FLUENT_ON, "longer", Constant(Number(1))), GOERS, (ON,)),
    "cut ones": (n.Slice(n.Shifted(FLUENT_ON, "shift", 2, 2), 3, 9), GOERS, (ON,)),
    "related ones": (n.Allen("before", "union", n.Runs(x(go("X Q"))), n.Runs(STOP)), MOVERS, ()),
    "an input fluent": (n.Fluent(NEAR_NAME, fields("X Y V")), filled(n.Fluent(NEAR_NAME, fields("P Q W")), "P"), ()),
    "one value on both sides": (n.Equal(n.Fluent(NEAR_NAME, fields("X Y V")), "V", Atom("yes")),
                                filled(n.Equal(n.Fluent(NEAR_NAME, fields("P Q W")), "W", Atom("yes")), "P"), ()),
    "a value put back": (n.Attach(n.Project(n.Equal(go("P Q"), "P", Atom("bob")), ("Q",)), X[0], Atom("bob")),
                         GOERS, ()),
    "what its deadlines give": (n.Fired("slow", fields("X V")), GOERS,
                                (("slow", inertia("slow", x(go("X Q")), delays=True)),)),
    "rows of its own": (FLUENT_ON, n.Keys(n.Project(FLUENT_ON, ("X",))), (ON,)),
    "a domain of two": (n.Equal(go("X Q"), "Q", Atom("bob")), n.Join(GOERS, MOVERS), ()),
    "the same domain twice": (go("X Q"), n.Union((GOERS, GOERS)), ()),
    "a derived event": (n.Events("went", fields("X Q")), GOERS, (("went", go("A B")),)),
    "a derived domain": (n.Events("went", fields("X Q")), filled(n.Events("went", fields("P Q")), "P"),
                         (("went", n.Select(go("A B"), Comparison("==", Column("A"), Column("B")))),)),
}
NEEDED: dict[str, tuple[n.Node, n.Node, tuple[tuple[str, n.Node], ...]]] = {
    "another event": (CALL, GOERS, ()),
    "another position": (go("Q X"), GOERS, ()),
    "a copy of another column": (n.Copy(go("P Q"), n.Field("X", "thing"), "Q"), GOERS, ()),
    "a part of the domain": (n.Union((x(go("X Q")), STOP)), GOERS, ()),
    "a filter of what fills": (go("X Q"), filled(n.Equal(go("P Q"), "Q", Atom("bob")), "P"), ()),
    "another value": (n.Equal(go("X Q"), "Q", Atom("cid")), filled(n.Equal(go("P Q"), "Q", Atom("bob")), "P"), ()),
    "a wrong value put back": (n.Attach(n.Project(n.Equal(go("P Q"), "P", Atom("bob")), ("Q",)), X[0], Atom("dot")),
                               GOERS, ()),
    "two facts for one row": (n.Join(n.Runs(x(go("X Q"))), n.Rename(n.Runs(x(go("X Q"))), fields("Y"))),
                              n.Timeless(go("X Y")), ()),
    "more columns than the row has": (STOP, n.Timeless(go("X Y")), ()),
    "an initial value": (n.Fluent("born", fields("X V")), GOERS, (
        ("born", inertia("born", x(go("X Q")), initial=(n.Attach(x(KIND), n.Field("V", "value"), Atom("true")),))),)),
    "one event of two": (n.Fluent("either", fields("X V")), GOERS, (EITHER,)),
    "related ones": (n.Allen("before", "union", n.Runs(x(go("X Q"))), n.Runs(STOP)), GOERS, ()),
    "background": (n.Always(x(KIND)), GOERS, ()),
    "a static union": (CALL, n.Union((GOERS, x(KIND))), ()),
    "a number": (n.Events(GO_NAME, fields("X:number Q")), n.Timeless(n.Project(
        n.Events(GO_NAME, fields("X:number Q")), ("X",))), ()),
}


def reads_input(node: n.Node) -> bool:
    """Whether rows that the input fills are left in a plan."""
    return isinstance(node, n.Timeless | n.Keys) or any(map(reads_input, n.children_of(node)))


@pytest.mark.parametrize("case", NEEDLESS)
def test_needless(case: str) -> None:
    left, domain, below = NEEDLESS[case]
    assert rewritten(*below, n.Join(left, domain)) == left
    other = rewritten(*below, n.Join(domain, left))
    assert other == left or other == n.Project(left, n.names(n.Join(domain, left).fields))


@pytest.mark.parametrize("case", NEEDED)
def test_needed(case: str) -> None:
    left, domain, below = NEEDED[case]
    for node in (n.Join(left, domain), n.Join(domain, left)):
        plan = planned(*below, node)
        assert without_needless_domains(plan) == plan


def test_a_cycle_is_no_evidence() -> None:
    plan = planned(ON, cyclic=True)
    node = n.Join(FLUENT_ON, GOERS)
    plan = Sharing().plan(n.Plan((*plan.strata, n.Stratum(2, (n.Definition("it", node),)))))
    assert without_needless_domains(plan) == plan


def test_static_parts_stay() -> None:
    left = go("X Q")
    assert rewritten(n.Join(left, n.Join(GOERS, KIND))) == n.Join(left, n.Join(GOERS, KIND)), "it binds K"
    small = x(BIG)
    assert rewritten(n.Join(left, n.Join(GOERS, small))) == n.Join(left, small)
    assert rewritten(n.Join(left, x(n.Join(GOERS, BIG)))) == n.Join(left, x(BIG))
    product = x(n.Join(GOERS, n.Project(KIND, ("K",))))
    assert rewritten(n.Join(left, product)) == n.Join(left, n.Project(n.Project(KIND, ("K",)), ()))


def test_filters_of_the_domain_become_filters_of_the_row() -> None:
    left = go("X Q")
    bob = Comparison("==", Column("D"), Constant(Atom("bob")))
    people = n.Rename(GOERS, fields("D"))
    assert rewritten(n.Join(left, n.Rename(n.Select(people, bob), X))) == n.Select(
        left, Comparison("==", Column("X"), Constant(Atom("bob"))))
    assert rewritten(n.Join(left, n.Rename(n.Equal(people, "D", Atom("bob")), X))) == n.Equal(left, "X", Atom("bob"))
    small = n.Rename(x(BIG), fields("D"))
    found = rewritten(n.Join(left, n.Rename(n.Without(people, small), X)))
    assert isinstance(found, n.Without) and found.left == left and not reads_input(found)
    timed = n.Join(left, n.Without(GOERS, n.Equal(n.Fluent(NEAR_NAME, fields("X Y V")), "V", Atom("yes"))))
    assert rewritten(timed) == timed, "whether anything was ever near is no question about a time"
    kept = n.Rename(n.Select(n.Join(people, small), bob), X)
    assert rewritten(n.Join(left, kept)) == n.Join(left, n.Rename(n.Select(small, bob), X))
    mixed = n.Join(left, n.Join(n.Select(GOERS, Comparison("==", Column("X"), Column("X"))), filled(CALL)))
    assert rewritten(mixed) == mixed, "another domain is read anyway"


def test_everywhere_in_a_plan() -> None:
    join = n.Join(x(go("X Q")), GOERS)
    initial = n.Attach(GOERS, n.Field("V", "value"), Atom("true"))
    changes = (n.Change("initiated", join, Atom("true")), n.Change("terminated", n.Join(CALL, GOERS), Atom("true")))
    delay = n.Delay(Atom("true"), Atom("off"), n.Compute(n.Timeless(join), n.Field("D", n.NUMBER), Constant(Number(2))),
                    None, False)
    found = rewritten(n.Inertia("it", fields("X V"), changes, (delay,), (initial,), GOERS))
    assert isinstance(found, n.Inertia)
    assert found.changes == (n.Change("initiated", x(go("X Q")), Atom("true")), changes[1])
    assert found.delays[0].rows == n.Compute(n.Timeless(x(go("X Q"))), n.Field("D", n.NUMBER), Constant(Number(2)))
    assert (found.initial, found.domain) == ((initial,), GOERS)
    runs = n.Runs(join)
    for node in (n.Union((join, CALL)), n.Without(CALL, join), n.Allen("before", "source", runs, runs),
                 n.Lasting(runs, "longer", Column("K"), n.Join(KIND, n.Keys(runs))),
                 n.Count(n.Number(CALL, "N"), n.Join(n.Number(CALL, "N"), join), "N", n.Field("M", n.NUMBER))):
        assert "dom/1" not in to_text(without_needless_domains(planned(node)))


# -- which pasts may change ------------------------------------------------------------------------------------------


def reason(node: n.Node, *below: tuple[str, n.Node]) -> str | None:
    return retroactive(planned(*below, node)).get("it")


def test_retroactive() -> None:
    value = n.Field("V", "value")
    born = n.Attach(GOERS, value, Atom("true"))
    static = n.Attach(x(KIND), value, Atom("true"))
    begin = x(go("X Q"))
    assert reason(go("X Q")) is None
    assert reason(n.Join(go("X Q"), KIND)) is None
    other = "entities of dom/1, filled by other facts than those it is about"
    assert reason(n.Join(CALL, GOERS)) == f"it is only for {other}"
    assert reason(n.Runs(x(n.Join(GOERS, CALL)))) == f"it is only for {other}"
    assert reason(n.Without(CALL, GOERS)) == f"it leaves out {other}"
    assert reason(inertia("it", n.Join(CALL, GOERS))) == f"it is only for {other}"
    assert reason(inertia("it", begin, domain=GOERS)) is None
    initially = "its initial values are those of dom/1, which the input fills"
    assert reason(inertia("it", begin, initial=(born,))) == initially
    assert reason(inertia("it", begin, initial=(static,), domain=GOERS)) == initially
    assert reason(inertia("it", begin, initial=(static,))) is None
    assert reason(n.Always(GOERS)) == "it holds from the start for dom/1, which the input fills"
    assert reason(n.Always(x(KIND))) is None
    assert reason(n.Join(CALL, n.At(FLUENT_ON, 5)), ON) == (
        "it is only for entities of on, filled by other facts than those it is about")
    assert reason(n.Always(n.Table("t", X))) is None
    lasting = n.Lasting(BUSY, "longer", Constant(Number(1)), GOERS)
    assert reason(lasting) == "how long it must last goes by dom/1, which the input fills"
    amounts = n.Compute(GOERS, n.Field("D", n.NUMBER), Constant(Number(2)))
    delay = n.Delay(Atom("true"), Atom("off"), amounts, None, False)
    slow = n.Inertia("it", fields("X V"), (n.Change("initiated", begin, Atom("true")),), (delay,))
    assert reason(slow) == "its delays go by dom/1, which the input fills"


def test_what_ends_only_what_began_is_not_retroactive() -> None:
    begin = x(go("X Q"))
    begun = n.Timeless(begin)
    assert reason(inertia("it", begin, end=n.Join(CALL, GOERS))) is None
    assert reason(inertia("it", begin, end=n.Rename(n.Project(n.Join(n.Rename(CALL, fields("Z")), n.Rename(
        begun, fields("Z"))), ("Z",)), X))) is None
    joined = n.Join(begin, STOP)
    assert reason(inertia("it", joined, end=n.Join(CALL, n.Timeless(joined)))) is None
    late_end = "it ends only for entities of dom/1, filled by other facts than those it is about"
    assert reason(inertia("it", begin, CALL, end=n.Join(CALL, GOERS))) == late_end
    assert reason(inertia("it", begin, end=n.Join(CALL, filled(STOP)))) == late_end
    elsewhere = n.Project(n.Join(go("Q X"), n.Rename(GOERS, fields("Q"))), ("X",))
    assert reason(inertia("it", begin, end=elsewhere)) == late_end, "it is about another column"


# -- whole programs --------------------------------------------------------------------------------------------------

PROGRAMS = (
    """
    initiatedAt(on(X)=true, T) :- happensAt(e(X), T).
    initiatedAt(on(X)=true, T) :- happensAt(f(X,_), T).
    terminatedAt(on(X)=true, T) :- happensAt(g(X), T).
    initiatedAt(pair(X,Y)=V, T) :- happensAt(f(X,Y), T), value(V), holdsAt(on(X)=true, T).
    terminatedAt(pair(X,Y)=big, T) :- happensAt(g(X), T).
    holdsFor(both(X)=true, I) :- holdsFor(on(X)=true, I1), holdsFor(in(X)=true, I2), union_all([I1,I2], I).
    happensAt(seen(X), T) :- happensAt(start(both(X)=true), T).
    grounding(on(X)=true) :- dom(X).
    grounding(pair(X,Y)=V) :- dom(X), dom(Y), value(V).
    grounding(both(X)=true) :- dom(X), small(X).
    grounding(seen(X)) :- dom(X), \\+ small(X).
    """,
    """
    initially(on(a)=true).
    initiatedAt(on(X)=true, T) :- happensAt(e(X), T), dom(X), small(X).
    initiatedAt(on(X)=off, T) :- happensAt(g(X), T).
    fi(on(X)=true, on(X)=off, 4).
    initiatedAt(pair(X,Y)=V, T) :- happensAt(g(X), T), holdsAt(on(Y)=V, T), X \\= Y.
    terminatedAt(pair(X,_)=_, T) :- happensAt(e(X), T).
    holdsFor(both(X)=true, I) :- holdsFor(in(X)=true, I1), holdsFor(on(X)=off, I2), intersect_all([I1,I2], I).
    grounding(on(X)=true) :- dom(X).
    grounding(on(X)=off) :- dom(X).
    grounding(pair(X,Y)=V) :- dom(X), dom(Y), value(V).
    grounding(both(X)=true) :- dom(X).
    """,
)
FILLED = {"e(X)": "dom(X)", "f(X,Y)": "dom(X), dom(Y)", "f(X,_)": "dom(X)", "g(X)": "dom(X)", "in(X)=true": "dom(X)"}
VALUES = "value(big). value(true). value(off). small(a). small(c)."


def check_same(text: str, facts: list[Fact], **options: int) -> None:
    """The answer with needless domains and the answer without them."""
    given = facts_of((fact, None) for fact in facts)
    short = timelines(ev.parse(text), given, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "without_needless_domains", lambda plan: plan)
        assert timelines(ev.parse(text), given, **options) == short


@st.composite
def inputs(draw: st.DrawFn) -> list[Fact]:
    who, when = st.sampled_from("abc"), st.integers(0, 30)
    event = st.one_of(st.tuples(st.just("event"), st.sampled_from("eg"), st.tuples(who), when),
                      st.tuples(st.just("event"), st.just("f"), st.tuples(who, who), when))
    interval = st.tuples(st.just("interval"), st.just("in"), st.tuples(who), st.just("true"), when, st.integers(31, 40))
    return draw(st.lists(st.one_of(event, interval), min_size=1, max_size=20))


@pytest.mark.parametrize("rules", PROGRAMS)
@given(data=st.data())
def test_same_answers_with_dynamic_domains(rules: str, data: st.DataObject) -> None:
    filling = data.draw(st.lists(st.sampled_from(sorted(FILLED)), min_size=1, max_size=3, unique=True))
    declared = "".join(f"grounding({fact}) :- {FILLED[fact]}.\n" for fact in filling)
    text = f"dynamicDomain(dom(_)).\ncollectIntervals(in(_)=true).\n{declared}{rules}{VALUES}"
    check_same(text, data.draw(inputs()), end=LAST)


@pytest.mark.parametrize("rules", PROGRAMS)
def test_the_programs_have_needless_domains(rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"dynamicDomain(dom(_)).\ngrounding(e(X)) :- dom(X).\ngrounding(g(X)) :- dom(X).\n{rules}{VALUES}"
    short = ev.parse(text).explain_plan()
    monkeypatch.setattr(planning, "without_needless_domains", lambda plan: plan)
    assert short.count("join") < ev.parse(text).explain_plan().count("join")


@pytest.mark.parametrize("family", sorted(FAMILIES))
@given(data=st.data())
def test_same_answers(family: str, data: st.DataObject) -> None:
    case: Case = data.draw(FAMILIES[family])
    check_same(f"{case.text}\n{case.background}", case.facts, start=case.start, end=LAST, tick=case.tick)


def test_what_an_allen_relation_gives_has_a_pair() -> None:
    """Where one mode of a relation gives something, the others that show every pair do too."""
    program = ev.parse("""
        collectIntervals(a(_)=true).
        collectIntervals(b(_)=true).
        holdsFor(c(X)=true,I) :- holdsFor(a(X)=true,A), holdsFor(b(X)=true,B), allen(meets,A,B,source,S), S \\= [],
            allen(meets,A,B,union,I).
        holdsFor(d(X)=true,I) :- holdsFor(a(X)=true,A), holdsFor(b(X)=true,B), allen(meets,A,B,complement,S), S \\= [],
            allen(meets,A,B,union,I).
    """)
    assert list(retroactive(program.model.plan)) == ["d(_)=true"]
