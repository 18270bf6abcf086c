"""The names of the Event Calculus: which predicates exist, how they are written, and which one was probably meant."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache, lru_cache

from eventide.syntax.terms import Compound, ListTerm, Term, Variable

DECLARATIONS: dict[str, tuple[str, ...]] = {
    "dynamicDomain": ("dynamicDomain(Domain)",),
    "collectIntervals": ("collectIntervals(F=V)",),
    "buildFromPoints": ("buildFromPoints(F=V)", "buildFromPoints(F=V, Event)"),
    "points": ("points(F=V)",),
    "index": ("index(Entity, Argument)",),
    "needsGrounding": ("needsGrounding(Event, Field, Domain)",),
    "cachingOrder": ("cachingOrder(Entity)",),
    "cachingOrder2": ("cachingOrder2(Entity)", "cachingOrder2(Index, Entity)"),
    "inputEntity": ("inputEntity(Entity)",),
    "outputEntity": ("outputEntity(Entity)",),
    "event": ("event(Event)",),
    "simpleFluent": ("simpleFluent(F=V)",),
    "sDFluent": ("sDFluent(F=V)",),
    "cyclic": ("cyclic(F=V)",),
}
HEADS: dict[str, tuple[str, ...]] = {
    "initiatedAt": ("initiatedAt(F=V, T)", "initiatedAt(F=V, T1, T, T2)"),
    "terminatedAt": ("terminatedAt(F=V, T)", "terminatedAt(F=V, T1, T, T2)"),
    "initiates": ("initiates(Event, F=V, T)",),
    "terminates": ("terminates(Event, F=V, T)",),
    "initially": ("initially(F=V)",),
    "holdsFor": ("holdsFor(F=V, I)",),
    "holdsAt": ("holdsAt(F=V, T)",),
    "happensAt": ("happensAt(Event, T)",),
    "fi": ("fi(F=V, F=W, Delay)",),
    "maxDuration": ("maxDuration(F=V, F=W, Delay)",),
    "maxDurationUE": ("maxDurationUE(F=V, F=W, Delay)",),
    "p": ("p(F=V)",),
    "grounding": ("grounding(Entity)",),
    "preProcessing": ("preProcessing(Q)",),
    **DECLARATIONS,
}
TEMPORAL: dict[str, tuple[str, ...]] = {
    name: HEADS[name] for name in ("happensAt", "holdsAt", "initiatedAt", "terminatedAt", "holdsFor")
}
OPERATIONS: dict[str, tuple[str, ...]] = {
    "union_all": ("union_all([I1, I2], I)",),
    "intersect_all": ("intersect_all([I1, I2], I)",),
    "complement_all": ("complement_all([I1, I2], I)",),
    "relative_complement_all": ("relative_complement_all(I0, [I1, I2], I)",),
    "intDurGreater": ("intDurGreater(I0, Amount, I)",),
    "intDurLess": ("intDurLess(I0, Amount, I)",),
    "allen": ("allen(Relation, S, T, Mode, I)",),
}
CONDITIONS: dict[str, tuple[str, ...]] = {
    **TEMPORAL, **OPERATIONS, "findall": ("findall(Template, Goals, List)",), "length": ("length(List, Amount)",),
}
ALLEN_RELATIONS = ("before", "meets", "starts", "finishes", "during", "overlaps", "equal")
ALLEN_MODES = {
    "source": "source", "lhs": "source", "target": "target", "rhs": "target", "union": "union",
    "intersection": "intersection", "intersect": "intersection",
    "relative_complement": "complement", "complement": "complement",
    "relative_complement_inverse": "inverse_complement", "complement_inv": "inverse_complement",
}
ORDINARY = frozenset({"p", "points", "index", "event", "length"})
"""Names so common that another number of arguments, or another kind of argument, means a predicate of the user."""


def arities(forms: tuple[str, ...]) -> tuple[int, ...]:
    """The numbers of arguments of written forms such as `holdsFor(F=V, I)`."""
    return tuple(_arity(form) for form in forms)


@cache
def _arity(form: str) -> int:
    depth, commas = 0, 0
    for character in form:
        depth += (character in "([") - (character in ")]")
        commas += character == "," and depth == 1
    return commas + 1


@lru_cache(maxsize=4096)
def closest(name: str, names: tuple[str, ...], cutoff: float = 0.75) -> str | None:
    """The known name nearest to a misspelt one, if any is near; capitals and underscores count little."""
    plain = {other.lower().replace("_", ""): other for other in reversed(names)}
    found = get_close_matches(name.lower().replace("_", ""), plain, 1, cutoff)
    return plain[found[0]] if found else None


def did_you_mean(name: str, names: tuple[str, ...], otherwise: str) -> str:
    """A hint that names the closest known name, or else says `otherwise`."""
    near = closest(name, names, 0.6)
    return f"did you mean '{near}'?" if near else otherwise


def has_pair(term: Term) -> bool:
    """Whether an argument of the term is written `F=V`."""
    return isinstance(term, Compound) and any(
        isinstance(arg, Compound) and arg.functor in ("=", "==") and len(arg.args) == 2 for arg in term.args)


def names_any(term: Term, names: set[str]) -> bool:
    """Whether an argument of the term is one of the named variables, or a list with one of them."""
    if not isinstance(term, Compound):
        return False
    flat = [item for arg in term.args for item in (arg.items if isinstance(arg, ListTerm) else (arg,))]
    return any(isinstance(item, Variable) and item.name in names for item in flat)
