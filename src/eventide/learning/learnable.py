"""Whether rules can be learnt with some mode declarations. How declarations are written is `modes`'s business."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eventide.learning.modes import Mode, Modes, Place
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.terms import Atom, Compound, Term, Variable, functor_of
from eventide.syntax.vocabulary import did_you_mean

CHANGES = ("initiatedAt", "terminatedAt")
_TIMED = ("happensAt", "holdsAt")


def unlearnable(modes: Modes) -> list[Diagnostic]:
    """What is wrong with declarations that rules are to be learnt with.

    >>> from eventide.learning.modes import read_modes
    >>> text = "modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),-time))"
    >>> print(unlearnable(read_modes(text, "rich.modes")[0])[0].render(text))
    rich.modes:2:30: error: -time in a condition: all conditions of a rule are at its own time [bad-time]
        modeb(happensAt(win(+person),-time))
                                     ^^^^^
        hint: write +time
    """
    found = [problem for mode in modes.heads for problem in _head(mode, CHANGES)]
    found += [problem for mode in modes.examples for problem in _head(mode, ("holdsAt",))]
    patterns = (*modes.heads, *modes.examples)
    if found or not patterns:
        return found
    time = patterns[0].places[-1].type
    found += _patterns(patterns, time)
    for mode in (*modes.bodies, *modes.inputs, *(each.mode for each in modes.comparisons)):
        found += _timed(mode, time, mode in modes.bodies)
    found += _overlapping(modes)
    found += _compared(modes)
    return [*found, *_idle(modes)]


def fluent_of(mode: Mode) -> Term:
    """What a head or a state is about, with the types of its places: the same for `rich(+p)` and `rich(+p)=true`.

    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person)=true,+time))")
    >>> print(fluent_of(modes.heads[0]))
    rich(person)
    """
    atom = shape_of(mode)
    fluent = atom.args[0] if isinstance(atom, Compound) else atom
    if isinstance(fluent, Compound) and functor_of(fluent) == ("=", 2) and fluent.args[1] == Atom("true"):
        return fluent.args[0]
    return fluent


def shape_of(mode: Mode) -> Term:
    """What modes share that differ in the kinds of their places only."""
    return mode.filled([Variable(place.type) for place in mode.places])


def asks_about(mode: Mode, pattern: Mode) -> bool:
    """Whether a condition is the state that a pattern is about."""
    return functor_of(mode.atom) == ("holdsAt", 2) and fluent_of(mode) == fluent_of(pattern)


def _error(code: str, message: str, mode: Mode | Place, hint: str) -> Diagnostic:
    return Diagnostic("error", code, message, mode.span, hint)


def _compared(modes: Modes) -> Iterator[Diagnostic]:
    """Comparisons of the same facts in two ways, of which only one could count."""
    known: dict[Term, tuple[str, int]] = {}
    for each in modes.comparisons:
        first = known.setdefault(shape_of(each.mode), (each.direction, each.place))
        if first != (each.direction, each.place):
            yield _error("compared-twice", f"{each.mode} is compared in two ways", each.mode,
                         "keep one of them; for the other let background knowledge derive facts of another name")


def _head(mode: Mode, names: tuple[str, ...]) -> Iterator[Diagnostic]:
    """What is wrong with a head, or with an example pattern, by itself."""
    name, arity = functor_of(mode.atom)
    if name not in names or arity != 2 or not mode.places or mode.places[-1].path != (2,):
        known = f"write {names[0]}(moving(+person,+person),+time)"
        yield _error("bad-head", f"{mode} is not {' or '.join(names)} of a fluent at a time", mode,
                     known if name in names else did_you_mean(name, names, known))
        return
    *places, time = mode.places
    for place in mode.places:
        if place.kind != "+":
            yield _error("bad-head-place", f"{place} in {mode}: rules are about all things of a type", place,
                         f"write +{place.type}" + (", or the constant itself" if place.kind == "#" else ""))
    for place in places:
        if place.type == time.type:
            yield _error("bad-time", f"{place} is of the type of the time", place, "give the time a type of its own")


def _patterns(patterns: Sequence[Mode], time: str) -> Iterator[Diagnostic]:
    """What does not go together among heads and example patterns."""
    first: dict[str, Mode] = {}
    for mode in patterns:
        if mode.places[-1].type != time:
            yield _error("bad-time", f"the time is a '{mode.places[-1].type}' here and a '{time}' elsewhere",
                         mode.places[-1], f"write +{time}")
        known = first.setdefault(mode.subject, mode)
        if fluent_of(known) != fluent_of(mode):
            yield _error("different-fluents", f"{mode} is about another fluent than {known}", mode,
                         "give both the same arguments and the same value; each value is learnt with modes of its own")


def _timed(mode: Mode, time: str, is_condition: bool) -> Iterator[Diagnostic]:
    """What is wrong with the time of a condition or an input."""
    own = [place for place in mode.places if place.type == time]
    for place in own[1:]:
        yield _error("bad-time", f"{place} is a second time in {mode}", place, "give it a type of its own")
    if functor_of(mode.atom)[0] in _TIMED and (functor_of(mode.atom)[1] != 2 or not own or own[0].path != (2,)):
        yield _error("missing-time", f"{mode} has no time", mode, f"write +{time} as the second argument")
    if is_condition and own and own[0].kind != "+":
        yield _error("bad-time", f"{own[0]} in a condition: all conditions of a rule are at its own time", own[0],
                     f"write +{time}")


def _overlapping(modes: Modes) -> Iterator[Diagnostic]:
    """Conditions that are the same facts as those of a comparison, so that a number would mean two things."""
    for comparison in modes.comparisons:
        compared = comparison.mode
        for mode in modes.bodies:
            if compared.constants(mode.atom) is not None and shape_of(mode) != shape_of(compared):
                yield _error("overlapping-modes", f"{mode} has facts of {compared}, whose numbers are compared", mode,
                             "write its places as there, or give the facts under another name too")


def _idle(modes: Modes) -> Iterator[Diagnostic]:
    """Warnings about declarations that lead to nothing."""
    fluents = dict.fromkeys(mode.subject for mode in modes.examples or modes.heads)
    for name in fluents:
        heads = [head for head in modes.heads if head.subject == name]
        if heads and all(functor_of(head.atom)[0] != CHANGES[0] for head in heads):
            yield Diagnostic("warning", "never-initiated", f"no modeh initiates {name}, so no rule makes it hold",
                             heads[0].span, f"write modeh({_initiated(heads[0])}) too")
    for head in modes.heads:
        if head.subject not in fluents:
            yield Diagnostic("warning", "unlabelled-head", f"no examplePattern is about {head.subject}, so it is not "
                             "learnt", head.span, "write an examplePattern for it too, or none at all")
    if len(fluents) == 1:
        for mode in modes.bodies:
            if any(asks_about(mode, pattern) for pattern in modes.examples or modes.heads):
                yield Diagnostic("warning", "own-state", "rules do not ask about the state that they change, so this "
                                 "condition is left out", mode.span, "remove the modeb")


def _initiated(head: Mode) -> str:
    """The initiation that goes with a termination, as a mode file has it."""
    return str(head).replace(CHANGES[1], CHANGES[0], 1)
