"""Deadlines against a simulation that remembers every attempt, and RTEC's own micro cases by their tags."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.kernels import state_oracles as oracle

from eventide.errors import ArrayError
from eventide.kernels.deadlines import AutomatonResult, automaton
from eventide.kernels.inertia import inertia_values

SHIFT = 5
MASK = (1 << SHIFT) - 1
HIGHEST = (2**63 - 1) >> SHIFT


def ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


@st.composite
def programs(draw: st.DrawFn, max_values: int = 3) -> dict:
    """Tables that may depend on the state, rules with chains and cycles, and a stream over several keys."""
    tick = draw(st.integers(1, 2))
    n_values, n_codes = draw(st.integers(1, max_values)), draw(st.integers(1, 4))
    table = st.lists(
        st.lists(st.integers(0, 2**n_values - 1), min_size=n_codes, max_size=n_codes),
        min_size=n_values + 1,
        max_size=n_values + 1,
    ).map(ints)
    values = st.integers(0, n_values - 1)
    rules = (
        draw(st.lists(st.tuples(values, values, st.booleans()).filter(lambda r: r[0] != r[1]), max_size=4))
        if n_values > 1
        else []
    )
    keys = draw(st.lists(st.one_of(st.integers(0, 3), st.just(HIGHEST)), unique=True, min_size=1, max_size=3))
    cells = st.tuples(st.sampled_from(keys), st.integers(1, (MASK - 3) // tick - 1).map(lambda k: k * tick))
    rows = sorted(
        draw(st.lists(st.tuples(cells, st.integers(0, n_codes - 1)), max_size=14, unique_by=lambda row: row[0]))
    )
    points, codes = [(key << SHIFT) + time for (key, time), _ in rows], [code for _, code in rows]
    last = max((point & MASK for point in points), default=0)
    delay = st.one_of(st.integers(1, 6), st.integers(20, 40)).map(lambda k: k * tick)
    per_key = draw(st.booleans())
    everywhere = {key: [draw(delay) for _ in rules] for key in [*range(5), HIGHEST]}
    if per_key:
        everywhere = {key: [draw(st.one_of(delay, st.just(-1))) for _ in rules] for key in everywhere}
    else:
        everywhere = dict.fromkeys(everywhere, everywhere[0])
    return {
        "points": points,
        "codes": codes,
        "initiates": draw(table),
        "terminates": draw(table),
        "shift": SHIFT,
        "tick": tick,
        "until": draw(st.one_of(st.integers(last, MASK + 5), st.just(10**9))),
        "rules": [
            oracle.Rule(source, target, postponable, lambda key, k=k: everywhere[key][k])
            for k, (source, target, postponable) in enumerate(rules)
        ],
        "per_key": per_key,
    }


def compute(program: dict, carried=(), pending=(), ties: str = "termination", values: int | None = None,
            ) -> AutomatonResult:
    rules = program["rules"]
    if program["per_key"]:
        keys = sorted({point >> SHIFT for point in [*program["points"], *(point for point, _ in pending)]}) or [0]
    else:
        keys = [0]
    return automaton(
        ints(program["points"]),
        ints(program["codes"]),
        program["initiates"],
        program["terminates"],
        SHIFT,
        program["tick"],
        program["until"],
        [rule.source for rule in rules],
        [rule.target for rule in rules],
        ints([[rule.delay(key) for key in keys] for rule in rules]).reshape(len(rules), len(keys)),
        [rule.postponable for rule in rules],
        (ints([p for p, _ in carried]), ints([v for _, v in carried])),
        (ints([p for p, _ in pending]), ints([r for _, r in pending])),
        ties=ties,
        values=values,
    )


def run(found: AutomatonResult) -> oracle.Run:
    """The arrays as lists of rows."""
    return oracle.Run(
        list(zip(found.starts.tolist(), found.ends.tolist(), found.values.tolist(), strict=True)),
        list(zip(found.fired_points.tolist(), found.fired_values.tolist(), strict=True)),
        list(zip(found.pending_points.tolist(), found.pending_rules.tolist(), strict=True)),
    )


def simulate(program: dict, *state, ties: str = "termination") -> oracle.Run:
    arguments = {name: value for name, value in program.items() if name != "per_key"}
    try:
        return oracle.automaton(**arguments, carried=state[0], pending=state[1], ties=ties)
    except oracle.Ambiguous:
        assume(False)
        raise


# ------------------------------------------------------------------------------------------------ laws


@given(st.data(), programs(), st.sampled_from(["termination", "initiation"]))
def test_automaton_is_the_simulation(data, program, ties):
    n_values, n_rules = len(program["initiates"]) - 1, len(program["rules"])
    carried, pending = [], []
    if n_rules:
        for key in data.draw(st.lists(st.sampled_from([0, 1, 4, HIGHEST]), unique=True)):
            for rule in data.draw(st.lists(st.integers(0, n_rules - 1), unique=True)):
                delay = min(program["rules"][rule].delay(key), MASK)  # armed before time 0, so due before `delay`
                if delay > 0:
                    time = program["tick"] * data.draw(st.integers(0, (delay - 1) // program["tick"]))
                    pending.append(((key << SHIFT) + time, rule))
    known = [*program["points"], *(point for point, _ in pending)]
    for key in data.draw(st.lists(st.sampled_from([0, 1, 4, HIGHEST]), unique=True)):
        first = min((point & MASK for point in known if point >> SHIFT == key), default=MASK - 4)
        count = n_values if ties == "initiation" else 1
        for value in data.draw(st.lists(st.integers(0, n_values - 1), unique=True, min_size=1, max_size=count)):
            carried.append(((key << SHIFT) + data.draw(st.integers(0, first)), value))
    carried, pending = sorted(carried), sorted(pending)
    assert run(compute(program, carried, pending, ties)) == simulate(program, carried, pending, ties=ties)


@given(programs(), st.integers(0, MASK))
def test_a_run_may_be_cut_anywhere(program, cut):
    whole = run(compute(program))
    cut = min(cut, program["until"])
    early = [k for k, point in enumerate(program["points"]) if point & MASK <= cut]
    late = [k for k, point in enumerate(program["points"]) if point & MASK > cut]
    halves = [
        program | {name: [program[name][k] for k in half] for name in ("points", "codes")} for half in (early, late)
    ]
    first = run(compute(halves[0] | {"until": cut}))
    still_open = [(start, value) for start, end, value in first.intervals if end & MASK == MASK]
    second = run(compute(halves[1], still_open, first.pending))
    closed = [row for row in first.intervals if row[1] & MASK != MASK]
    assert sorted(closed + second.intervals) == whole.intervals
    assert sorted(first.fired + second.fired) == whole.fired
    assert second.pending == whole.pending


@given(programs())
def test_without_deadlines_and_states_it_is_inertia(program):
    program["rules"] = []
    for table in ("initiates", "terminates"):
        program[table][1:] = program[table][0]
    rows = []
    for point, code in zip(program["points"], program["codes"], strict=True):
        for value in range(len(program["initiates"]) - 1):
            if program["initiates"][0, code] >> value & 1:
                rows.append((point, 2 * value))
            if program["terminates"][0, code] >> value & 1:
                rows.append((point, 2 * value + 1))
    expected = inertia_values(ints([p for p, _ in rows]), ints([c for _, c in rows]), SHIFT, program["tick"])
    found = compute(program | {"until": MASK})
    assert run(found).intervals == list(zip(*(part.tolist() for part in expected), strict=True))


# ------------------------------------------------------------------------------------------------ RTEC's micro cases

TRUE, FALSE, DEAD = 0, 1, 2
WIDE = 10
INF = (1 << WIDE) - 1
UP, DOWN, BOTH, IDLE = range(4)


def toggle(up, down, rules, *, tick=1, until=INF, carried=None, pending=None, delays=None) -> AutomatonResult:
    """One key: true is initiated at the times `up` and terminated at the times `down`."""
    times = sorted({*up, *down})
    codes = [UP if time not in down else BOTH if time in up else DOWN for time in times]
    initiates, terminates = ints([[1, 0, 1, 0]] * 4), ints([[0, 1, 1, 0]] * 4)
    return automaton(
        ints(times),
        ints(codes),
        initiates,
        terminates,
        WIDE,
        tick,
        until,
        [source for source, *_ in rules],
        [target for _, target, *_ in rules],
        ints([[delay] for _, _, delay, _ in rules]) if delays is None else delays,
        [postponable for *_, postponable in rules],
        carried,
        pending,
    )


def split(found: AutomatonResult) -> dict[int, list[tuple[int, int]]]:
    rows: dict[int, list[tuple[int, int]]] = {}
    for start, end, value in run(found).intervals:
        rows.setdefault(value, []).append((start, end))
    return rows


PLAIN, MOVED = [(TRUE, FALSE, 4, False)], [(TRUE, FALSE, 4, True)]

TAGS = {
    "I01": ([5], [], PLAIN, {TRUE: [(6, 10)], FALSE: [(10, INF)]}),
    "I01 with p": ([5], [], MOVED, {TRUE: [(6, 10)], FALSE: [(10, INF)]}),
    "I02": ([5, 7], [], PLAIN, {TRUE: [(6, 10)], FALSE: [(10, INF)]}),
    "I03": ([5, 7], [], MOVED, {TRUE: [(6, 12)], FALSE: [(12, INF)]}),
    "I02b": ([5, 9], [], PLAIN, {TRUE: [(6, 10)], FALSE: [(14, INF)]}),
    "I03b": ([5, 9], [], MOVED, {TRUE: [(6, 14)], FALSE: [(14, INF)]}),
    "I02c": ([5, 10], [], PLAIN, {TRUE: [(6, 10), (11, 15)], FALSE: [(10, 11), (15, INF)]}),
    "I03c": ([5, 10], [], MOVED, {TRUE: [(6, 10), (11, 15)], FALSE: [(10, 11), (15, INF)]}),
    "I04": ([5], [7], PLAIN, {TRUE: [(6, 8)]}),
    "I04c": ([5], [7], MOVED, {TRUE: [(6, 8)]}),
    "I04b": ([5], [9], PLAIN, {TRUE: [(6, 10)], FALSE: [(10, INF)]}),
    "I04d": ([5, 8], [7], PLAIN, {TRUE: [(6, 8), (9, 13)], FALSE: [(13, INF)]}),
    "I10": ([5], [], [*PLAIN, (FALSE, DEAD, 3, False)], {TRUE: [(6, 10)], FALSE: [(10, 13)], DEAD: [(13, INF)]}),
    "initiated and ended at once still arms": ([5], [5], PLAIN, {FALSE: [(10, INF)]}),
    "two rules of one source, the shorter wins": (
        [5], [], [(TRUE, DEAD, 6, False), (TRUE, FALSE, 4, False)], {TRUE: [(6, 10)], FALSE: [(10, INF)]},
    ),
    "two rules due together: neither value": (
        [5], [], [(TRUE, DEAD, 4, False), (TRUE, FALSE, 4, False)], {TRUE: [(6, 10)]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TAGS)
def test_rtec_case(name):
    up, down, rules, expected = TAGS[name]
    assert split(toggle(up, down, rules)) == expected


def test_i12_a_cycle_of_deadlines():
    found = toggle([5], [], [(TRUE, FALSE, 4, False), (FALSE, TRUE, 3, False)], until=20)
    assert split(found) == {TRUE: [(6, 10), (13, 17), (20, INF)], FALSE: [(10, 13), (17, 20)]}
    assert found.fired_points.tolist() == [9, 12, 16, 19]
    assert (found.pending_points.tolist(), found.pending_rules.tolist()) == ([23], [0])


def test_a_long_cycle_outgrows_the_first_buffers():
    found = toggle([5], [], [(TRUE, FALSE, 1, False), (FALSE, TRUE, 1, False)], until=900)
    assert len(found.fired_points) == 895 and len(found.starts) == 896
    assert (found.ends[:-1] == found.starts[1:]).all()


def test_i13_ticks_of_forty():
    found = toggle([80], [], [(TRUE, FALSE, 160, False)], tick=40, until=400)
    assert split(found) == {TRUE: [(120, 280)], FALSE: [(280, INF)]}


def test_i11_a_delay_per_key():
    points = ints([(0 << WIDE) + 5, (1 << WIDE) + 5, (2 << WIDE) + 5])
    up, none = ints([[1], [1], [1]]), ints([[0], [0], [0]])
    delays = ints([[4, 7, -1]])
    found = automaton(points, ints([0, 0, 0]), up, none, WIDE, 1, 500, [TRUE], [FALSE], delays, [False])
    assert (found.fired_points & INF).tolist() == [9, 12]


def test_i05_a_deadline_across_windows():
    first = toggle([8], [], PLAIN, until=10)
    assert split(first) == {TRUE: [(9, INF)]}
    assert (first.pending_points.tolist(), first.pending_rules.tolist()) == ([12], [0])
    second = toggle([], [], PLAIN, until=20, carried=(ints([9]), ints([TRUE])), pending=(ints([12]), ints([0])))
    assert split(second) == {TRUE: [(9, 13)], FALSE: [(13, INF)]}


@pytest.mark.parametrize(("name", "up", "query"), [("I06", 6, 10), ("I06b", 10, 10)])
def test_a_deadline_or_an_initiation_exactly_at_the_query(name, up, query):
    first = toggle([up], [], PLAIN, until=query)
    running = [(start, value) for start, end, value in run(first).intervals if end == INF]
    state = [ints(column) for column in zip(*running, strict=True)]
    second = toggle([], [], PLAIN, until=30, carried=tuple(state), pending=(first.pending_points, first.pending_rules))
    assert split(second).get(FALSE, split(first).get(FALSE)) == [(up + 5, INF)]


def test_i08_what_holds_on_entry_arms_nothing():
    found = toggle([], [], PLAIN, carried=(ints([0]), ints([TRUE])))
    assert split(found) == {TRUE: [(0, INF)]} and len(found.fired_points) == 0


def test_a_deadline_beyond_the_times_stays_pending():
    found = toggle([5], [], [(TRUE, FALSE, 2**62, False)])
    assert found.pending_points.tolist() == [INF]


def test_a_deadline_that_initiates_the_source_of_another_postpones_it():
    # a and b are initiated together; at 9 rule 1 initiates a, so rule 0 moves on to 13 whatever the order of the rules
    both, none = ints([[0b011]] * 4), ints([[0]] * 4)
    for rules in ([(0, 2, 4, True), (1, 0, 4, True)], [(1, 0, 4, True), (0, 2, 4, True)]):
        sources, targets, delays, postponable = zip(*rules, strict=True)
        found = automaton(
            ints([5]), ints([0]), both, none, WIDE, 1, 100, sources, targets, ints(delays)[:, None], postponable
        )
        assert run(found).fired == [(9, 0), (13, 2)]
        assert run(found).intervals == [(10, 14, 0), (14, INF, 2)]


def test_c01_rules_that_look_at_the_value():
    """Voting's status: null -> proposed -> voting -> null, each event works in one state only."""
    null, proposed, voting = 0, 1, 2
    initiates = ints([[0, 0, 0], [1 << proposed, 0, 0], [0, 1 << voting, 0], [0, 0, 1 << null]])
    times, codes = ints([2, 3, 4, 5, 6]), ints([1, 0, 0, 1, 2])
    found = automaton(
        times, codes, initiates, initiates * 0, WIDE, 1, 100, [], [], np.empty((0, 1), np.int64), [],
        carried=(ints([0]), ints([null])),
    )  # fmt: skip
    assert run(found).intervals == [(0, 4, null), (4, 6, proposed), (6, 7, voting), (7, INF, null)]


def test_netbill_worked_example():
    """suspended(4, merchant): initiated at 9 and 11, postponable, 3 -> true [10,15), false [15,inf)."""
    assert split(toggle([9, 11], [], [(TRUE, FALSE, 3, True)])) == {TRUE: [(10, 15)], FALSE: [(15, INF)]}


def test_sixty_two_values():
    n = 62
    initiates = ints([[1 << v for v in range(n)]] * (n + 1))
    points = ints(range(1, n + 1))
    found = automaton(
        points, ints(range(n)), initiates, initiates * 0, WIDE, 1, 500, [n - 1], [0], ints([[5]]), [False]
    )
    assert run(found).intervals == [(v + 2, v + 3, v) for v in range(n - 1)] + [(n + 1, n + 6, n - 1), (n + 6, INF, 0)]


# ------------------------------------------------------------------------------------------------ bad arrays


def test_bad_arguments_name_the_argument_and_the_place():
    good = {
        "points": ints([5, 6]), "codes": ints([0, 0]), "initiates": ints([[1], [1], [1]]),
        "terminates": ints([[0], [0], [0]]), "shift": WIDE, "tick": 1, "until": 50, "sources": [0],
        "targets": [1], "delays": ints([[4]]), "postponable": [False],
    }  # fmt: skip
    automaton(**good)
    cases = [
        ({"points": ints([6, 6])}, "points", 1),
        ({"points": ints([6, 60])}, "points", 1),
        ({"codes": ints([0, 1])}, "codes", 1),
        ({"codes": ints([0])}, "codes", 1),
        ({"codes": np.array([0.0, 1.0])}, "codes", None),
        ({"shift": 63}, "shift", None),
        ({"tick": 0}, "tick", None),
        ({"initiates": [[1]]}, "initiates", None),
        ({"initiates": ints([[1], [4], [0]])}, "initiates", 1),
        ({"initiates": ints([[0]]), "terminates": ints([[0]])}, "initiates", None),
        ({"terminates": ints([[0], [0]])}, "terminates", None),
        ({"terminates": ints([[0], [0], [-1]])}, "terminates", 2),
        ({"sources": [2]}, "sources", 0),
        ({"targets": [0]}, "targets", 0),
        ({"targets": [1, 1]}, "targets", 1),
        ({"postponable": []}, "postponable", 0),
        ({"delays": ints([4])}, "delays", None),
        ({"delays": ints([[4], [4]])}, "delays", None),
        ({"delays": ints([[0]])}, "delays", 0),
        ({"delays": ints([[4, 4]])}, "delays", None),
        ({"delays": ints([[3]]), "tick": 2}, "delays", 0),
        ({"carried": (ints([7]), ints([0]))}, "carried", 0),
        ({"carried": (ints([4]), ints([0])), "pending": (ints([3]), ints([0]))}, "carried", 0),
        ({"carried": (ints([1]), ints([2]))}, "carried values", 0),
        ({"carried": (ints([1]), ints([]))}, "carried", 0),
        ({"pending": (ints([9, 7]), ints([0, 0]))}, "pending", 1),
        ({"pending": (ints([9]), ints([1]))}, "pending rules", 0),
    ]
    for change, argument, index in cases:
        with pytest.raises(ArrayError) as error:
            automaton(**(good | change))
        assert (error.value.argument, error.value.index) == (argument, index), change


@given(programs())
def test_a_row_for_each_set_of_values_may_say_what_the_rows_of_its_values_say(program: dict) -> None:
    n_values = len(program["initiates"]) - 1
    sets = [[v + 1 for v in range(n_values) if (bits >> v) & 1] or [0] for bits in range(1 << n_values)]
    united = {name: ints([np.bitwise_or.reduce(program[name][rows], axis=0) for rows in sets])
              for name in ("initiates", "terminates")}
    found = run(compute(program | united, ties="initiation", values=n_values))
    assert found == run(compute(program, ties="initiation"))


def test_what_does_not_hold_is_asked_of_all_values_at_once() -> None:
    # values on (0) and off (1) begin together; code 1 initiates off where on does not hold
    initiates = ints([[3, 2], [3, 0], [3, 2], [3, 0]])
    none = np.zeros((0, 1), np.int64)
    found = automaton(ints([5, 9]), ints([0, 1]), initiates, 0 * initiates, 8, 1, 30, [], [], none, [],
                      ties="initiation", values=2)
    assert sorted(zip(found.values.tolist(), found.starts.tolist(), found.ends.tolist(), strict=True)) == [
        (0, 6, 255), (1, 6, 255)]
