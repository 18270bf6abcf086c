"""The words of the three languages for an editor: how each is written, what it says, and a snippet to begin with.

In a snippet `${1:name}` is a place to fill in, as editors know it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from eventide.editor.checking import Language

Where = Literal["head", "condition", "boundary", "anywhere"]


class Keyword(NamedTuple):
    """A word: where it may stand, its form, what it says, and what is inserted for it."""

    word: str
    where: Where
    form: str
    says: str
    snippet: str


_FLUENT = "${1:fluent}(${2:X})=${3:true}"

EVENT_CALCULUS = (
    Keyword("initiatedAt", "head", "initiatedAt(F=V, T)",
            "The fluent F gets the value V because of what happens at T; it holds from the next time-point on.",
            f"initiatedAt({_FLUENT}, T) :-\n    happensAt(${{4:event}}(${{2:X}}), T)${{0}}."),
    Keyword("terminatedAt", "head", "terminatedAt(F=V, T)", "The fluent F loses the value V by what happens at T.",
            f"terminatedAt({_FLUENT}, T) :-\n    happensAt(${{4:event}}(${{2:X}}), T)${{0}}."),
    Keyword("holdsFor", "head", "holdsFor(F=V, I)",
            "I are the maximal intervals of F=V. As a head it defines F by interval operations.",
            f"holdsFor({_FLUENT}, I) :-\n    holdsFor(${{4:other}}(${{2:X}})=true, I1),\n    "
            "${5:union_all}([I1], I)${0}."),
    Keyword("happensAt", "head", "happensAt(Event, T)", "The event happens at T. As a head it derives events.",
            "happensAt(${1:event}(${2:X}), T) :-\n    happensAt(${3:other}(${2:X}), T)${0}."),
    Keyword("initially", "head", "initially(F=V)", "F has the value V from the beginning, for those of its grounding.",
            f"initially({_FLUENT})${{0}}."),
    Keyword("fi", "head", "fi(F=V, F=W, Delay)", "V becomes W if nothing changes it for Delay time-points.",
            "fi(${1:fluent}(${2:X})=${3:true}, ${1:fluent}(${2:X})=${4:false}, ${5:10})${0}."),
    Keyword("p", "head", "p(F=V)", "Initiating F=V again postpones its delayed effect.", f"p({_FLUENT})${{0}}."),
    Keyword("grounding", "head", "grounding(F=V) :- conditions", "For which arguments and values it is meant.",
            f"grounding({_FLUENT}) :- ${{4:domain}}(${{2:X}})${{0}}."),
    Keyword("collectIntervals", "head", "collectIntervals(F=V)", "F is an input whose intervals are given.",
            "collectIntervals(${1:fluent}(_)=true)${0}."),
    Keyword("buildFromPoints", "head", "buildFromPoints(F=V)",
            "F is an input given at time-points; neighbouring ones become intervals.",
            "buildFromPoints(${1:fluent}(_)=true)${0}."),
    Keyword("dynamicDomain", "head", "dynamicDomain(Domain)", "The input fills this background predicate.",
            "dynamicDomain(${1:domain}(_))${0}."),
    Keyword("happensAt", "condition", "happensAt(Event, T)", "The event happens at T.",
            "happensAt(${1:event}(${2:X}), T)"),
    Keyword("holdsAt", "condition", "holdsAt(F=V, T)", "F has the value V at T.", f"holdsAt({_FLUENT}, T)"),
    Keyword("holdsFor", "condition", "holdsFor(F=V, I)", "I are the maximal intervals of F=V; in rules with holdsFor.",
            f"holdsFor({_FLUENT}, I${{4:1}})"),
    Keyword("initiatedAt", "condition", "initiatedAt(F=V, T)", "A rule initiates F=V at T.",
            f"initiatedAt({_FLUENT}, T)"),
    Keyword("terminatedAt", "condition", "terminatedAt(F=V, T)", "A rule terminates F=V at T.",
            f"terminatedAt({_FLUENT}, T)"),
    Keyword("union_all", "condition", "union_all([I1, I2], I)", "The times that are in one of the lists.",
            "union_all([${1:I1}, ${2:I2}], ${3:I})"),
    Keyword("intersect_all", "condition", "intersect_all([I1, I2], I)", "The times that are in all the lists.",
            "intersect_all([${1:I1}, ${2:I2}], ${3:I})"),
    Keyword("relative_complement_all", "condition", "relative_complement_all(I0, [I1, I2], I)",
            "The times of I0 that are in none of the lists.", "relative_complement_all(${1:I0}, [${2:I1}], ${3:I})"),
    Keyword("complement_all", "condition", "complement_all([I1, I2], I)", "The times that are in none of the lists.",
            "complement_all([${1:I1}], ${2:I})"),
    Keyword("intDurGreater", "condition", "intDurGreater(I0, Amount, I)", "The intervals that last longer than Amount.",
            "intDurGreater(${1:I0}, ${2:60}, ${3:I})"),
    Keyword("intDurLess", "condition", "intDurLess(I0, Amount, I)", "The intervals that are shorter than Amount.",
            "intDurLess(${1:I0}, ${2:60}, ${3:I})"),
    Keyword("allen", "condition", "allen(Relation, S, T, Mode, I)",
            "The intervals of S and T that stand in a relation of Allen, such as before or during.",
            "allen(${1|before,meets,starts,finishes,during,overlaps,equal|}, ${2:S}, ${3:T}, "
            "${4|source,target,union,intersection|}, ${5:I})"),
    Keyword("findall", "condition", "findall(Template, Goals, List)", "All answers; with length, their number.",
            "findall(${1:X}, ${2:goal}, ${3:L}), length(${3:L}, ${4:N})"),
    Keyword("length", "condition", "length(List, Amount)", "How many answers a findall has.", "length(${1:L}, ${2:N})"),
    Keyword("\\+", "condition", "\\+ condition", "The condition does not hold.", "\\\\+ ${1:condition}"),
    Keyword("start", "boundary", "start(F=V)", "The time-point at which F=V begins.", f"start({_FLUENT})"),
    Keyword("end", "boundary", "end(F=V)", "The time-point at which F=V ends.", f"end({_FLUENT})"),
    Keyword("startI", "boundary", "startI(F=V)", "The time-points at which F=V is initiated.", f"startI({_FLUENT})"),
)
METRIC = (
    Keyword("<>-", "condition", "<>-[a,b] P(X)", "P held at some time between a and b ago.", "<>-[${1:0},${2:5}] ${0}"),
    Keyword("[]-", "condition", "[]-[a,b] P(X)", "P held at all times between a and b ago.", "[]-[${1:0},${2:5}] ${0}"),
    Keyword("since", "anywhere", "P(X) since[a,b] Q(X)", "Q held between a and b ago, and P ever since.",
            "since[${1:0},${2:5}] ${0}"),
    Keyword("not", "condition", "not P(X)", "P does not hold now.", "not ${0}"),
    Keyword("[]+", "head", "[]+[a,b] P(X) :- conditions", "P holds at all times from a to b after the conditions.",
            "[]+[${1:0},${2:5}] ${3:P}(${4:X}) :- ${0}."),
    Keyword("rule", "head", "P(X) :- conditions", "P holds whenever all conditions do.", "${1:P}(${2:X}) :- ${0}."),
    Keyword("inf", "anywhere", "[a,inf)", "A range without end.", "inf"),
)
LARS = (
    Keyword("always", "anywhere", "a always [n]", "a held at all time-points of the window.", "always [${1:10}]"),
    Keyword("sometime", "anywhere", "a sometime", "a held at some time-point of the stream.", "sometime"),
    Keyword("at", "anywhere", "a at T [n]", "a held at T, within the window.", "at ${1:T} [${2:10}]"),
    Keyword("in", "anywhere", "a in [n]", "a held at some time-point of the window, like `a [n]`.", "in [${1:10}]"),
    Keyword("by", "anywhere", "a(X) [n # by X]", "The window counts the tuples of each X alone.", "by ${1:X}"),
    Keyword("not", "condition", "not a [n]", "a is not known.", "not ${0}"),
    Keyword("rule", "head", "h :- a [n].", "h is concluded whenever the body is true.",
            "${1:head}(${2:X}) :- ${3:atom}(${2:X}) [${4:10}]${0}."),
    Keyword("contradiction", "head", ":- a, b.", "a and b cannot both be true.", ":- ${1:a}, ${2:b}${0}."),
)
KEYWORDS: dict[Language, tuple[Keyword, ...]] = {"ec": EVENT_CALCULUS, "mtl": METRIC, "lars": LARS}


def keyword(language: Language, word: str) -> Keyword | None:
    """The keyword of a language, where the word is one.

    >>> keyword("ec", "holdsAt").form
    'holdsAt(F=V, T)'
    """
    return next((each for each in KEYWORDS[language] if each.word == word), None)
