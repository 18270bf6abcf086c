"""The micro cases whose right answer is not RTEC's: what the design demands, per query time, and why.

Two kinds: cases marked `rtec_defect`, and those without the mark where the design decides otherwise. Answers are whole
(the one-window answer at the query time, not clipped); `None` is an open end. Where several query times have the same
answer they are listed together. Events are written `name(args)@time`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Fluents = dict[str, list[tuple[int, int | None]]]


@dataclass(frozen=True)
class Difference:
    """The demanded answer at each query time, and the reason."""

    fluents: dict[int, Fluents]
    reason: str
    events: dict[int, list[str]] = field(default_factory=dict)


def at(*times: int, **answers: Fluents) -> dict[int, Fluents]:
    """The same fluents at several query times."""
    return {time: answers["fluents"] for time in times}


TRANSPARENT = "window transparency: the one-window answer at the query time, clipped"

WITHOUT_MARK: dict[str, Difference] = {
    "I08b_fi_initially_neg": Difference(
        {
            10: {"f(a)=true": [(0, None)]},
            20: {"f(a)=true": [(0, 20)], "f(a)=false": [(20, None)]},
            30: {"f(a)=true": [(0, 20)], "f(a)=false": [(20, None)]},
        },
        "`initially` starts no deadline, whatever the window; the initiation at 15 does: its deadline is 19",
    ),
    "S11b_not_keyword": Difference(
        {20: {"f(a)=true": [(6, 11)], "ng(a)=true": [(13, None)]}},
        "`not Goal` is accepted as negation; RTEC loses the clause to a syntax error. f does not hold at 12",
    ),
    "V09_duplicate_events": Difference(
        {20: {"f(a)=true": [(6, None)]}},
        "output events from events alone are evaluated; two equal facts are one",
        {20: ["echo(a)@5"]},
    ),
}

MARKED: dict[str, Difference] = {
    "A02_mode_complement": Difference(
        {30: {"meets_(a)=true": [(2, 5)]}},
        "both families of mode names work: S' minus T'. meets: [2,6) minus [5,8); starts: nothing is left",
    ),
    "A02_mode_complement_inv": Difference(
        {30: {"meets_(a)=true": [(6, 8)], "starts_(a)=true": [(15, 20)]}},
        "both families of mode names work: T' minus S'. [5,8) minus [2,6) and [12,20) minus [12,15)",
    ),
    "A02_mode_intersect": Difference(
        {30: {"meets_(a)=true": [(5, 6)], "starts_(a)=true": [(12, 15)]}},
        "both families of mode names work: `intersect` is `intersection`",
    ),
    "A06_window_during": Difference(
        at(10, 20, 30, fluents={}),
        "both intervals arrive at 30, when the window (20,30] has left them behind: too late, reported, no effect",
    ),
    "A07_window_during": Difference(
        at(10, 20, 30, fluents={"during_(a)=true": [(8, 13)]}),
        "i=[8,13) is during j=[3,18) and nothing else; no pair appears because of a boundary",
    ),
    "A08_window_before_mem": Difference(
        {10: {}, 20: {"before_(a)=true": [(2, 5), (14, 17)]}, 30: {"before_(a)=true": [(2, 5), (14, 17)]}},
        "a pair does not disappear at a boundary: it is still there at 30, though outside the window",
    ),
    "A08b_window_before_mem0": Difference(
        {10: {}, 20: {"before_(a)=true": [(2, 5), (14, 17)]}, 30: {"before_(a)=true": [(2, 5), (14, 17)]}},
        "without a --horizon `before` looks back without limit; RTEC's allen_memory is no option of ours",
    ),
    "D02_overlapping_inputs": Difference(
        {
            20: {
                "u(a)=true": [(2, 10)],
                "n(a)=true": [(3, 6)],
                "d(a)=true": [(2, 3), (6, 10)],
                "c(a)=true": [(1, 2), (10, None)],
                "k(a)=true": [(2, 10)],
            }
        },
        "input intervals are maximal: [2,8) and [5,10) are one interval [2,10) everywhere",
    ),
    "D03_input_across_window_arr_end": Difference(
        {
            10: {"c(a)=true": [(1, None)]},
            20: {
                "u(a)=true": [(11, 13)],
                "d(a)=true": [(11, 13)],
                "k(a)=true": [(11, 13)],
                "c(a)=true": [(1, 11), (13, None)],
            },
            30: {
                "u(a)=true": [(11, 13)],
                "d(a)=true": [(11, 13)],
                "k(a)=true": [(11, 13)],
                "c(a)=true": [(1, 11), (13, None)],
            },
        },
        "[7,13) arrives at 13; the query at 20 is the first to see it and its window is (10,20]: a late interval that "
        "straddles the window counts with its part inside, [11,13)",
    ),
    "D06_complement_windows": Difference(
        at(10, 20, 30, fluents={
            "u(a)=true": [(2, 5)], "d(a)=true": [(2, 5)], "k(a)=true": [(2, 5)], "c(a)=true": [(1, 2), (5, None)],
        }),
        "the complement is taken within [start+tick, inf) at every query time, not within the window",
    ),
    "D07b_duration_windows": Difference(
        at(10, 20, 30, 40, fluents={"long(a)=true": [(7, 23)], "k(a)=true": [(7, 23)]}),
        "no duration is cut: [7,23) lasts 16 at every query time that knows it",
    ),
    "D08b_intdur_simple_windows": Difference(
        {
            10: {"f(a)=true": [(7, None)]},
            20: {"f(a)=true": [(7, None)], "long(a)=true": [(7, None)]},
            30: {"f(a)=true": [(7, 23)], "long(a)=true": [(7, 23)]},
            40: {"f(a)=true": [(7, 23)], "long(a)=true": [(7, 23)]},
        },
        "no duration is cut: open since 7 it lasts 3 at 10 and 13 at 20; closed at 23 it lasts 16",
    ),
    "D08c_intdur_simple_overlap": Difference(
        {
            5: {},
            10: {"f(a)=true": [(7, None)]},
            15: {"f(a)=true": [(7, None)]},
            20: {"f(a)=true": [(7, None)], "long(a)=true": [(7, None)]},
            **at(25, 30, 35, 40, 45, 50, fluents={"f(a)=true": [(7, 23)], "long(a)=true": [(7, 23)]}),
        },
        "no duration is cut: at 15 the open interval has lasted 8, which is not more than 8; from 20 on it is long",
    ),
    "D09_two_holdsFor": Difference(
        {20: {"f(a)=true": [(4, 6)], "g(a)=true": [(9, None)], "h(a)=true": [(4, 6), (9, None)]}},
        "several holdsFor rules of one fluent and value are united",
    ),
    "D11_guard_fails_loses": Difference(
        at(10, 20, 30, fluents={"f(a)=true": [(4, 11)], "h(a)=true": [(4, 11)]}),
        "the guard looks at the whole history, which does not become empty when the window moves on",
    ),
    "D13_sdf_start_end": Difference(
        at(10, 20, 30, 40, fluents={"k(a)=true": [(7, 23)]}),
        "no start fires twice, and nothing is reported before it happens: the ends at 22 are known from 30 on",
        {
            10: ["si(a)@6", "sk(a)@6"],
            20: ["si(a)@6", "sk(a)@6"],
            30: ["si(a)@6", "sk(a)@6", "ei(a)@22", "ek(a)@22"],
            40: ["si(a)@6", "sk(a)@6", "ei(a)@22", "ek(a)@22"],
        },
    ),
    "D13b_input_start_default": Difference(
        {
            10: {"g(a)=true": [(7, None)], "k(a)=true": [(7, 33)]},
            **at(20, 30, 40, fluents={"g(a)=true": [(7, 16)], "k(a)=true": [(7, 33)]}),
        },
        "no start fires twice: i starts at 6 only, so g, ended at 15, stays ended",
        {time: ["si(a)@6"] for time in (10, 20, 30, 40)},
    ),
    "D16_no_collect": Difference(
        {20: {"k(a)=true": [(6, 9)]}},
        "an input fluent without a declaration is one over intervals",
    ),
    "D17_points_no_points": Difference(
        {20: {"k(a)=true": [(3, 5)]}},
        "buildFromPoints says that the fluent arrives at points: 3 and 4 are a run, over at 5",
    ),
    "E07m_manual_toy": Difference(
        {
            30: {
                "rich(chris)=true": [(14, 20)],
                "location(chris)=work": [(10, 18)],
                "location(chris)=pub": [(18, 22)],
                "location(chris)=home": [(22, None)],
                "happy(chris)=true": [(14, 22)],
            }
        },
        "initiating one value ends the other, also where the grounding has a variable for the value",
    ),
    "E09c_initially_start100": Difference(
        at(110, 120, fluents={"f(a)=true": [(101, 108)]}),
        "a run that starts after 0 has its initial values from start+tick = 101",
    ),
    "E13_cycle_start_inside": Difference(
        {20: {"s(a)=b": [(4, 6)], "m(a)=true": [(4, None)]}},
        "s starts at 3, which initiates m at 3; at 6 m holds, so s is not initiated again",
    ),
    "G02_tick40_boundary": Difference(
        {400: {"f(a)=true": [(440, None)]}, 800: {"f(a)=true": [(440, 640)]}, 1200: {"f(a)=true": [(440, 640)]}},
        TRANSPARENT + ": the initiation at the query time 400 is not lost",
    ),
    "G06_tick40_term_at_boundary": Difference(
        at(400, 800, 1200, fluents={"f(a)=true": [(120, 440)]}),
        TRANSPARENT + ": the termination at the query time 400 is not forgotten",
    ),
    "H03_dyn_initially": Difference(
        {
            10: {"f(a)=true": [(0, 6)]},
            20: {"f(a)=true": [(0, 6)], "f(b)=true": [(0, 16)]},
            30: {"f(a)=true": [(0, 6)], "f(b)=true": [(0, 16)]},
        },
        "`initially` is for every entity of the domain; b belongs to it from the query that first sees it",
    ),
    "H06_dyn_complement": Difference(
        {
            10: {},
            **at(20, 30, 40, fluents={"s(a)=on": [(14, 16)], "s(a)=off": [(1, 14), (16, None)]}),
        },
        "complement_all is within [start+tick, inf) for every entity seen up to the query time",
    ),
    "H07_dyn_drop_closed": Difference(
        {
            **at(5, 10, fluents={"f(a)=true": [(4, None)]}),
            **at(15, 20, 25, 30, 35, fluents={"f(a)=true": [(4, 13)]}),
        },
        "an entity does not leave its domain; the rule for reset applies to every X of the domain of f",
    ),
    "I07_fi_no_target_grounding": Difference(
        {20: {"f(a)=true": [(6, 10)]}},
        "the grounding lists the value true only: false, which `fi` names, ends it at the deadline, and is not shown "
        "(RTEC loses the clause)",
    ),
    "I07b_fi_no_grounding_at_all": Difference(
        {20: {"f(a)=true": [(6, 10)], "f(a)=false": [(10, None)]}},
        "without a grounding the domain is what the rules bind: up at 5, deadline at 9",
    ),
    "I12_fi_loop": Difference(
        {
            30: {
                "f(a)=true": [(6, 10), (13, 17), (20, 24), (27, 31)],
                "f(a)=false": [(10, 13), (17, 20), (24, 27), (31, None)],
            }
        },
        "a cycle of fi oscillates: true at 5, 12, 19, 26; false at 9, 16, 23, 30",
    ),
    "O02_optneg_False": Difference(
        {20: {"f(a)=true": [(4, 13)], "g(a)=true": [(6, 9)], "h(a)=true": [(4, 6), (9, 13)]}},
        "h is f and not g: started with f at 3, ended by the start of g at 5, started by its end at 8, ended with f",
    ),
    "O02_optneg_True": Difference(
        {20: {"f(a)=true": [(4, 13)], "g(a)=true": [(6, 9)], "h(a)=true": [(4, 6), (9, 13)]}},
        "an optimisation does not change the answer: as O02_optneg_False",
    ),
    "S04_start_at_Q": Difference(
        {10: {"f(a)=true": [(11, None)]}, 20: {"f(a)=true": [(11, 14)]}},
        "the start at the query time 10 belongs to (0,10] and is reported there, once; startI at 11 is not yet past",
        {10: ["st(a)@10"], 20: ["st(a)@10", "sti(a)@11", "en(a)@13"]},
    ),
    "S08b_chain_initially_neg": Difference(
        at(10, 20, fluents={"f(a)=true": [(0, 8)], "f(b)=true": [(0, None)]}),
        "the start of [0,8) is at -1, which is not after the start of the run (0), so it starts no g; the answer does "
        "not depend on how far the window reaches back",
    ),
    "S11_not_keyword": Difference(
        {20: {"f(a)=true": [(6, 11)], "g(a)=true": [(8, None)]}},
        "`not Goal` is accepted as negation; f holds at 7, so ng is not initiated (and RTEC, which loses the clause, "
        "happens to agree)",
    ),
    "S14_neg_first": Difference(
        {20: {"f(a)=true": [(6, 11)], "g(a)=true": [(8, None)]}},
        "a negation first is about the same time-point as elsewhere: no down at 7",
    ),
    "S17_time_shift": Difference(
        {10: {}, 20: {"g(a)=true": [(13, None)]}, 30: {"g(a)=true": [(13, None)]}},
        "the head's time is 12, not yet past at 10; at 23 g is initiated again, without effect "
        "(a program may also be refused: arithmetic on time is no part of RTEC's language)",
    ),
    "S19b_initiatedAt_body_second": Difference(
        {20: {"f(a)=true": [(3, 11)], "g(a)=true": [(3, None)]}},
        "an initiation is a condition at any place of a body: f is initiated at 2",
    ),
    "V01_csv_types": Difference(
        {20: {"f(a)=3": [(2, None)]}},
        "003 is the number 3, the only value that the grounding lists; no rule names the others, which the variable of "
        "the head takes: they do not exist, and end nothing. Rows 8 and 9 lack an argument and row 10 has an "
        "unknown name: bad rows, here skipped (--bad-rows skip)",
        {
            20: ["echo(a,3)@1", "echo(a,1.5)@2", "echo(a,-7)@3", "echo(a,Foo)@4", "echo(a,hello world)@5",
                 "echo(a,1-2)@6", "echo(a,--)@7", "echo(a,1e5)@11", "echo(a,x,y)@12"]
        },
    ),
    "V02_csv_empty_mid": Difference(
        {20: {}},
        "a row with an empty field in the middle is a bad row, here skipped (--bad-rows skip)",
        {20: ["echo(a,y,z)@2"]},
    ),
    "V10b_outev_with_fluent": Difference(
        at(10, 20, 30, fluents={"k(a)=true": [(3, None)], "f(a)=true": [(6, None)]}),
        "two equal facts are one, and the fact stamped 17 waits for the query at 20",
        {10: ["echo(a)@5"], 20: ["echo(a)@5", "echo(a)@17"], 30: ["echo(a)@5", "echo(a)@17"]},
    ),
    "V10c_event_chain": Difference(
        {20: {"k(a)=true": [(6, None)], "f(a)=true": [(6, None)]}},
        "output events from events alone are evaluated: on at 5 starts k at 5, so e1, e2 and the initiation of f",
        {20: ["e1(a)@5", "e2(a)@5"]},
    ),
    "V12_event_at_neg": Difference(
        at(0, 10, 20, 30, fluents={"f(a)=true": [(1, None)]}),
        TRANSPARENT + ": what began at or before 0 is carried like everything else",
    ),
    "V13_holdsFor_in_simple": Difference(
        {20: {"k(a)=true": [(6, None)], "f(a)=true": [(4, None)]}},
        "the condition is about all periods of k known at the query time, and there is one "
        "(a program may also be refused: holdsFor is not among these conditions in RTEC's language)",
    ),
    "V15_exist_holdsFor": Difference(
        {20: {"k(a)=true": [(9, None)], "k(b)=true": [(6, None)], "anyk(c)=true": [(6, None)]}},
        "an unbound argument of holdsFor means the union over the instances",
    ),
    "V24_fluent_const_arg": Difference(
        {20: {"f(a,left)=true": [(6, None)], "f(a,right)=true": [(11, None)], "g(a)=true": [(9, None)]}},
        "constants in arguments are ordinary: both instances are computed; at 8 only left holds, so h is not initiated",
    ),
}

DIFFERENCES: dict[str, Difference] = {**WITHOUT_MARK, **MARKED}
