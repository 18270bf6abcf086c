"""Plans as text: one line per node, its operands below it."""

from __future__ import annotations

import pytest
from tests.engine.world import fields

import eventide as ev
from eventide.algebra import nodes as n
from eventide.algebra.expressions import Column, Comparison, Constant
from eventide.algebra.text import label, to_text
from eventide.syntax.terms import Atom, Number

RULES = """
initiatedAt(light(X)=red, T) :- happensAt(stop(X, S), T), S < 3.
terminatedAt(light(X)=_, T) :- happensAt(fail(X), T).
fi(light(X)=red, light(X)=green, 10).
p(light(X)=red).
holdsFor(busy(X)=true, I) :- holdsFor(light(X)=red, I1), holdsFor(light(X)=green, I2), union_all([I1, I2], I).
"""
TEXT = """\
level 1
  light(_) :=
    inertia light(_)(X)=value
      initiated red:
        keep X
          where S < 3
            event stop(_,_)(X, S)
      terminated every value:
        event fail(_)(X)
      red becomes green after 10, postponable
level 2
  busy(_)=true :=
    union
      keep X
        where $1 = red
          fluent light(_)(X)=$1
      keep X
        where $1 = green
          fluent light(_)(X)=$1"""


def test_a_plan_reads_like_the_rules() -> None:
    assert ev.parse(RULES).explain_plan() == TEXT


ROWS, POINTS, SPANS = n.Table("size", fields("X N")), n.Events("go", fields("X")), n.Fluent("on", fields("X V"))


@pytest.mark.parametrize("node, text", [
    (ROWS, "table size(X, N)"), (n.Unit(), "one empty row"), (POINTS, "event go(X)"), (SPANS, "fluent on(X)=V"),
    (n.Fluent("in", fields("X"), valued=False), "fluent in(X)"), (n.Fluent("alarm", fields("V")), "fluent alarm=V"),
    (n.Fired("on", fields("X V")), "deadlines of on(X)=V"),
    (n.Equal(ROWS, "X", Atom("ann")), "where X = ann"), (n.Same(ROWS, "X", "N"), "where X = N"),
    (n.Select(ROWS, Comparison("<", Column("N"), Constant(Number(3)))), "where N < 3"),
    (n.Compute(ROWS, n.Field("M", "number"), Column("N")), "let M = N"),
    (n.Attach(ROWS, n.Field("V", "value"), Atom("red")), "let V = red"),
    (n.Copy(ROWS, n.Field("Y", "thing"), "X"), "let Y = X"),
    (n.Rename(POINTS, fields("Y")), "call X as Y"), (n.Rename(POINTS, fields("X")), "the same"),
    (n.Project(ROWS, ("N",)), "keep N"), (n.Project(ROWS, ()), "keep no column"),
    (n.Join(POINTS, ROWS), "join on X"), (n.Join(POINTS, SPANS), "during on X"),
    (n.Join(POINTS, POINTS), "at the same time on X"), (n.Join(SPANS, SPANS), "intersect on X, V"),
    (n.Without(POINTS, n.Unit()), "without"), (n.Without(POINTS, SPANS), "without on X"),
    (n.Union((POINTS, POINTS)), "union"), (n.Number(ROWS, "#"), "number the rows as #"),
    (n.Count(ROWS, ROWS, "#", n.Field("C", "number")), "let C = how many per #"),
    (n.Boundaries(SPANS, "start"), "start of each interval"), (n.Runs(POINTS), "runs"),
    (n.At(SPANS, 7), "holding at 7"), (n.Keys(SPANS), "keys"),
    (n.Lasting(SPANS, "longer", Constant(Number(3))), "longer than 3"),
    (n.Spans(SPANS, "S", "E", Comparison("<", Column("S"), Column("E"))), "intervals [S, E) where S < E"),
    (n.Allen("before", "inverse_complement", SPANS, SPANS), "before, giving inverse complement"),
    (n.Shifted(SPANS, "shift", 3, 3), "shift by 3"), (n.Shifted(SPANS, "dilate", 0, 3), "dilate by [0, 3]"),
    (n.Shifted(SPANS, "erode", 2, None, low_open=True, dense=True), "erode by (2, inf)"),
    (n.Since(SPANS, SPANS, 0, 4, high_open=True), "since [0, 4) on X, V"),
    (n.Slice(SPANS, 0, 9), "cut to [0, 9)"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_labels(node: n.Node, text: str) -> None:
    assert label(node) == text


def test_a_tree_is_indented() -> None:
    node = n.Project(n.Join(POINTS, n.Equal(SPANS, "V", Atom("red"))), ("X",))
    assert to_text(node) == """\
keep X
  during on X
    event go(X)
    where V = red
      fluent on(X)=V"""


def test_a_whole_plan() -> None:
    state = n.State(Atom("red"), False)
    fluent = n.Inertia(
        "light", fields("X V"),
        (n.Change("initiated", POINTS, Atom("red"), states=(state,)), n.Change("terminated", POINTS, None, every=True),
         n.Change("initiated", n.Events("show", fields("X V")), None)),
        (n.Delay(Atom("red"), Atom("green"), None, 10, True), n.Delay(Atom("green"), Atom("red"), ROWS, None, False)),
        initial=(n.Table("first", fields("X V")),), domain=n.Table("lights", fields("X")))
    plan = n.Plan((n.Stratum(1, (n.Definition("light", fluent),), cyclic=True),))
    assert to_text(plan) == """\
level 1 (cycle: repeated until nothing changes)
  light :=
    inertia light(X)=V
      initiated red if not =red:
        event go(X)
      terminated every value:
        event go(X)
      initiated its value:
        event show(X, V)
      red becomes green after 10, postponable
      green becomes red after a delay per row
        table size(X, N)
      initially:
        table first(X, V)
      for:
        table lights(X)"""
    assert sorted(set(n.references_of(fluent))) == ["go", "show"]
