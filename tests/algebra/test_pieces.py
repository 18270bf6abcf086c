"""A plan cut into pieces: which pieces, by which columns they split, and that together they answer as the plan does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.engine.running import facts_of, timelines
from tests.engine.session_cases import SESSION_FAMILIES
from tests.engine.world import fields
from tests.oracle.programs import LAST

import eventide as ev
from eventide.algebra import nodes as n
from eventide.algebra.expressions import Column, Comparison, Constant
from eventide.algebra.pieces import leaves_of, nonlocal_in, partition_of, pieces_of
from eventide.engine import recognition
from eventide.engine.executor import Executor, PlanIndex
from eventide.syntax.terms import Atom, Number

INPUTS = "collectIntervals(in(_)=true). collectIntervals(on(_)=true)."
FILLED = "dynamicDomain(dom(_)). grounding(e(X)) :- dom(X). grounding(s(X)=true) :- dom(X)."
BOTH = "holdsFor(s(X)=true, I) :- holdsFor(in(X)=true, I1), holdsFor(on(X)=true, I2), "


def kinds(rules: str) -> list[tuple[str, str]]:
    """The pieces of a program: what they stand for (the operator of parts without a name), and their kinds."""
    program = ev.parse(rules)
    program.require_sound()
    pieces = pieces_of(program.model.plan)
    return [(type(p.body).__name__ if p.name.startswith("#") else p.name, p.kind) for p in pieces]


CUT: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "intervals are local": (f"{INPUTS} {BOTH} union_all([I1,I2], I).", [("s(_)=true", "local")]),
    "a duration is taken of whole intervals": (
        f"{INPUTS} {BOTH} union_all([I1,I2], J), intDurGreater(J, 5, I).",
        [("Union", "local"), ("Lasting", "whole"), ("s(_)=true", "local")]),
    "so is an Allen relation": (
        f"{INPUTS} {BOTH} allen(meets, I1, I2, source, I).",
        [("Project", "local"), ("Project", "local"), ("Allen", "whole"), ("s(_)=true", "local")]),
    "a complement has no end": (
        "collectIntervals(in(_)=true). dom(a). grounding(s(X)=true) :- dom(X). "
        "holdsFor(s(X)=true, I) :- holdsFor(in(X)=true, I1), complement_all([I1], I).",
        [("Always", "always"), ("s(_)=true", "local")]),
    "over what the input fills": (
        f"collectIntervals(in(_)=true). {FILLED} happensAt(o(X), T) :- happensAt(e(X), T). "
        "holdsFor(s(X)=true, I) :- holdsFor(in(X)=true, I1), complement_all([I1], I).",
        [("Timeless", "rows"), ("Always", "always"), ("s(_)=true", "local"), ("o(_)", "points")]),
    "initial values of what the input fills": (
        f"{FILLED} initially(s(_)=true). terminatedAt(s(X)=true, T) :- happensAt(e(X), T).",
        [("Timeless", "rows"), ("s(_)", "inertia")]),
    "points are runs": (
        "happensAt(o(X), T) :- happensAt(e(X), T). buildFromPoints(b(X)=true, o(X)).",
        [("o(_)", "points"), ("Runs", "runs"), ("b(_)=true", "local")]),
    "fluents by inertia": (
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T). initiatedAt(g(X)=true, T) :- happensAt(start(f(X)=true), T).",
        [("f(_)", "inertia"), ("g(_)", "inertia")]),
    "a cycle is one": (
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), \\+ holdsAt(g(X)=true, T). "
        "initiatedAt(g(X)=true, T) :- happensAt(h(X), T), \\+ holdsAt(f(X)=true, T).",
        [("f(_)", "cycle")]),
}


@pytest.mark.parametrize("case", CUT)
def test_which_pieces(case: str) -> None:
    rules, expected = CUT[case]
    assert kinds(rules) == expected


# Nodes by hand

GO, STOP = n.Events("go", fields("X Y")), n.Events("stop", fields("X"))
ON, NEAR = n.Fluent("on", fields("X")), n.Fluent("near", fields("X Y"))
KIND = n.Table("kind", fields("X K"))
LONG = Constant(Number(3))


def cut(*definitions: tuple[str, n.Node], cyclic: bool = False) -> list[tuple[str, n.Node]]:
    """The kinds and bodies of the pieces of a plan with one stratum."""
    plan = n.Plan((n.Stratum(1, tuple(n.Definition(*d) for d in definitions), cyclic),))
    return [(piece.kind, d.body) for piece in pieces_of(plan) for d in piece.definitions]


def part(name: str, text: str = "X") -> n.Fluent:
    return n.Fluent(name, fields(text), valued=False)


def test_operands_of_whole_interval_operators_are_results_of_their_own() -> None:
    both = n.Join(ON, NEAR)
    assert cut(("it", n.Lasting(both, "longer", LONG))) == [
        ("local", both), ("whole", n.Lasting(part("#0 join", "X Y"), "longer", LONG)),
        ("local", part("#1 lasting", "X Y"))]
    for node in (n.Spans(ON, "S", "E", Comparison("<", Column("S"), Column("E"))), n.Shifted(ON, "dilate", 0, 3)):
        assert [kind for kind, _ in cut(("it", node))] == ["whole", "local"], "a fluent is a result already"


def test_an_allen_relation_reads_two_results() -> None:
    found = cut(("it", n.Allen("before", "target", n.Join(ON, KIND), n.Project(NEAR, ("X",)))))
    assert [kind for kind, _ in found] == ["local", "local", "whole", "local"]
    assert found[2][1] == n.Allen("before", "target", part("#0 join", "X K"), part("#1 project"))


def test_since_reads_two_results() -> None:
    found = cut(("it", n.Since(n.Project(NEAR, ("X",)), ON, 0, 3)))
    assert [kind for kind, _ in found] == ["local", "whole", "local"]
    assert found[1][1] == n.Since(part("#0 project"), ON, 0, 3)


def test_rows_that_the_input_fills_are_tables() -> None:
    for rows in (n.Timeless(STOP), n.Keys(ON), n.At(ON, 7)):
        name = f"#0 {type(rows).__name__.lower()}"
        assert cut(("it", n.Join(GO, rows))) == [("rows", rows), ("points", n.Join(GO, n.Table(name, fields("X"))))]
    always = n.Always(n.Project(KIND, ("X",)))
    assert cut(("it", n.Without(always, ON))) == [("always", always), ("local", n.Without(part("#0 always"), ON))]


def test_what_stands_twice_is_one_piece() -> None:
    long = n.Lasting(ON, "longer", LONG)
    assert [kind for kind, _ in cut(("it", n.Union((long, n.Slice(long, 2, 9)))))] == ["whole", "local"]


def test_what_is_local_stays_as_it_is() -> None:
    for node in (n.Union((ON, n.Project(NEAR, ("X",)))), n.Without(ON, n.Slice(ON, 3, 9)), n.Join(GO, KIND),
                 n.Count(n.Number(GO, "N"), n.Join(n.Number(GO, "N"), STOP), "N", n.Field("M", n.NUMBER)),
                 n.Boundaries(ON, "start"), n.Fired("slow", fields("X V"))):
        (kind, body), = cut(("it", node))
        assert body is node and kind == ("points" if node.sort == "points" else "local")


def inertia(points: n.Node, **more: Any) -> n.Inertia:
    return n.Inertia("it", fields("X V"), (n.Change("initiated", points, Atom("true")),), **more)


def test_a_simple_fluent_reads_pieces() -> None:
    amounts = n.Compute(n.Keys(ON), n.Field("D", n.NUMBER), LONG)
    value = n.Field("V", "value")
    delay = n.Delay(Atom("true"), Atom("off"), amounts, None, False)
    initial = n.Attach(n.Timeless(STOP), value, Atom("true"))
    node = inertia(n.Join(STOP, n.Runs(STOP)), delays=(delay,), initial=(initial,), domain=n.Timeless(STOP))
    found = cut(("it", node))
    assert [kind for kind, _ in found] == ["runs", "rows", "rows", "rows", "inertia"]
    assert not nonlocal_in(found[-1][1])
    assert {leaf.name for leaf in leaves_of(found[-1][1])} == {  # type: ignore[union-attr]
        "stop", "#0 runs", "#1 timeless", "#2 keys", "#3 timeless"}


def test_a_domain_counts_only_for_initial_values() -> None:
    (_, body), = cut(("it", inertia(STOP, domain=n.Timeless(STOP))))
    assert body == inertia(STOP)


def test_reported_values_that_are_all_there_can_be_need_no_looking_at() -> None:
    delay = n.Delay(Atom("true"), Atom("off"), None, 3, False)
    for values, left in (("true off", False), ("true", True), ("off", True), ("true off on", False)):
        reported = tuple(Atom(value) for value in values.split())
        (_, body), = cut(("it", inertia(STOP, delays=(delay,), reported=reported)))
        assert isinstance(body, n.Inertia) and (body.reported is not None) == left
    initial = (n.Attach(n.Project(KIND, ("X",)), n.Field("V", "value"), Atom("on")),)
    (_, body), = cut(("it", inertia(STOP, initial=initial, reported=(Atom("true"),))))
    assert isinstance(body, n.Inertia) and body.reported is not None


def test_a_cycle_stays_whole_but_for_what_is_outside_of_it() -> None:
    inside = n.Lasting(part("it"), "longer", LONG)
    outside = n.Lasting(ON, "shorter", LONG)
    found = cut(("it", n.Union((inside, outside))), ("other", n.Allen("meets", "union", part("it"), ON)), cyclic=True)
    assert found == [("whole", outside), ("cycle", n.Union((inside, part("#0 lasting")))),
                     ("cycle", n.Allen("meets", "union", part("it"), ON))]
    assert [nonlocal_in(body) for _, body in found[1:]] == [True, True]
    assert not nonlocal_in(n.Union((ON, part("it"))))


# By which columns a body splits

X, XY = fields("X"), fields("X Y")
OTHER_GO = n.Rename(n.Events("go", fields("A B")), fields("Y X"))
NUMBERED = n.Number(STOP, "N")
SPLITS: dict[str, tuple[n.Node, str, dict[str, int]]] = {
    "an event": (GO, "Y", {"go": 1}),
    "a fluent": (ON, "X", {"on": 0}),
    "deadlines": (n.Fired("slow", fields("X V")), "X", {"slow": 0}),
    "a join": (n.Join(GO, ON), "X", {"go": 0, "on": 0}),
    "background beside it": (n.Join(GO, KIND), "Y", {"go": 1}),
    "negation about the same": (n.Without(GO, STOP), "X", {"go": 0, "stop": 0}),
    "negation of background": (n.Without(GO, KIND), "X", {"go": 0}),
    "a union": (n.Union((STOP, n.Project(GO, ("X",)))), "X", {"stop": 0, "go": 0}),
    "other names": (OTHER_GO, "X", {"go": 1}),
    "other names under a join": (n.Join(OTHER_GO, STOP), "X", {"go": 1, "stop": 0}),
    "a copy": (n.Copy(GO, n.Field("Z", "thing"), "Y"), "Z", {"go": 1}),
    "beside a copy": (n.Copy(GO, n.Field("Z", "thing"), "Y"), "X", {"go": 0}),
    "beside a constant": (n.Attach(GO, n.Field("V", "value"), Atom("on")), "X", {"go": 0}),
    "beside a number": (n.Compute(GO, n.Field("M", n.NUMBER), LONG), "X", {"go": 0}),
    "beside a function": (n.Function(GO, "f", (Column("X"),), fields("Z")), "X", {"go": 0}),
    "tests": (n.Same(n.Equal(n.Select(GO, Comparison("<", Column("X"), LONG)), "Y", Atom("a")), "X", "Y"), "X",
              {"go": 0}),
    "boundaries": (n.Boundaries(ON, "start"), "X", {"on": 0}),
    "a count of its own": (n.Count(NUMBERED, n.Join(NUMBERED, GO), "N", n.Field("M", n.NUMBER)), "X",
                           {"stop": 0, "go": 0}),
    "a simple fluent": (inertia(n.Project(GO, ("X",))), "X", {"go": 0}),
    "background alone": (n.Join(KIND, n.Unit()), "K", {}),
}
MIXED: dict[str, tuple[n.Node, str]] = {
    "a column it does not have": (STOP, "Y"),
    "negation over other entities": (n.Without(STOP, n.Project(GO, ("Y",))), "X"),
    "negation over all": (n.Without(STOP, n.Project(ON, ())), "X"),
    "a join without the column": (n.Join(GO, n.Rename(STOP, fields("Z"))), "X"),
    "a union of two columns": (n.Union((STOP, n.Rename(n.Project(GO, ("Y",)), X))), "Y"),
    "a constant": (n.Attach(STOP, n.Field("V", "value"), Atom("on")), "V"),
    "a computed value": (n.Compute(STOP, n.Field("M", n.NUMBER), LONG), "M"),
    "what a function gives": (n.Function(GO, "f", (Column("X"),), fields("Z")), "Z"),
    "a count over all": (n.Count(NUMBERED, n.Join(n.Number(n.Project(STOP, ()), "N"), n.Project(GO, ())), "N",
                                 n.Field("M", n.NUMBER)), "X"),
    "whole intervals": (n.Allen("before", "union", ON, ON), "X"),
    "the value of a fluent": (inertia(STOP), "V"),
    "one leaf by two columns": (n.Join(GO, n.Rename(GO, fields("Y X"))), "X"),
}


def leaves(node: n.Node) -> dict[int, str]:
    return {id(leaf): leaf.name for leaf in leaves_of(node)}  # type: ignore[union-attr]


@pytest.mark.parametrize("case", SPLITS)
def test_a_body_splits(case: str) -> None:
    node, column, expected = SPLITS[case]
    found = partition_of(node, column)
    assert found is not None
    assert {leaves(node)[leaf]: position for leaf, position in found.items()} == expected


@pytest.mark.parametrize("case", MIXED)
def test_a_body_mixes(case: str) -> None:
    assert partition_of(*MIXED[case]) is None


# Whole programs


class InPieces(Executor):
    """Evaluates the pieces of a plan, one after the other; rows that the input fills become tables."""

    def run(self, plan: n.Plan, progress: Callable[[n.Stratum], None] | None = None,
            index: PlanIndex | None = None) -> None:
        self.tables = dict(self.tables)
        for piece in pieces_of(plan):
            super().run(n.Plan((n.Stratum(0, piece.definitions, piece.kind == "cycle"),)))
            if piece.kind == "rows":
                self.tables[piece.name] = self.results.pop(piece.name)


@pytest.mark.parametrize("family", sorted(SESSION_FAMILIES))
@examples(1 / 2)
@given(data=st.data())
def test_the_pieces_answer_as_the_plan(family: str, data: st.DataObject) -> None:
    case = data.draw(SESSION_FAMILIES[family])
    program = ev.parse(f"{case.text}\n{case.background}")
    facts = facts_of((fact, None) for fact in case.facts)
    options = {"start": case.start, "tick": case.tick, "end": LAST + 20}
    expected = timelines(program, facts, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recognition, "Executor", InPieces)
        assert timelines(program, facts, **options) == expected
