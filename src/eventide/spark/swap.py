"""Other rules for a stream: whether its buckets can go on with them, and the flow that follows another one.

Buckets hold facts and results by the entities that own them. So what both flows have must be at the same stage, with
the same owner; a bucket then goes on by itself (`CertainBucket.successor`), and tells later stages of what they lack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from eventide.algebra.nodes import NUMBER, UNUSED
from eventide.engine.retained import Retained
from eventide.spark.failures import ServiceError
from eventide.spark.flow import Flow
from eventide.spark.partitioning import OWNED, READING, Send, Stage

_HINT = "take the rules back, or begin anew: another checkpoint, and other folders for the sinks"


def following(old: Flow, new: Flow) -> Flow:
    """The new flow as the one that goes on after the old one; ServiceError with the reasons if it cannot.

    >>> import eventide as ev
    >>> from eventide.spark.flow import flow_of
    >>> rules = "initiatedAt({}(X)=true, T) :- happensAt(win(X), T)."
    >>> old, new = (flow_of(ev.parse(rules.format(name)), buckets=2, window=9) for name in ("rich", "lucky"))
    >>> following(old, new).epoch
    1
    """
    stages = list(new.partitioning.stages)
    while len(stages) <= old.last:  # a stage that has nothing to do lets everything pass
        stages.append(Stage(len(stages)))
    padded = replace(new, partitioning=replace(new.partitioning, stages=tuple(stages)), previous=old,
                     epoch=old.epoch + 1)
    problems: list[str] = []
    before: Flow | None = old
    while before is not None:  # a bucket may be found as any of them left it
        problems += _problems(before, padded)
        before = before.previous
    if problems:
        raise ServiceError(f"the stream cannot go on with these rules: {'; '.join(dict.fromkeys(problems))}. Its facts "
                           f"and results are kept in buckets by the old ones; {_HINT}")
    return padded


def _problems(old: Flow, new: Flow) -> Iterator[str]:
    """Why buckets of one flow cannot go on with another one's rules."""
    if old.uncertainty is not None or new.uncertainty is not None:
        yield "facts are uncertain, and what is known of them belongs to the rules"
        return
    if new.buckets != old.buckets:
        yield f"they are spread over {new.buckets} buckets, and not {old.buckets}"
        return
    if new.last > old.last:
        yield f"they need {new.last} stages, one after the other, and there are {old.last}"
        return
    for before, after in zip(old.partitioning.stages, new.partitioning.stages, strict=True):
        sent = [_sent(stage.sends) for stage in (before, after)]
        for (name, to), how in sorted(sent[1].items()):
            known = sent[0].get((name, to))
            if known != how and (known is not None or (before.number == READING and name in _inputs(old))):
                yield f"{name} is needed by other entities than before"
    yield from _moved(old, new)
    for name, was in _inputs(old).items():
        yield from _unlike(was, _inputs(new).get(name))


def _moved(old: Flow, new: Flow) -> Iterator[str]:
    """Results that would have to go to other buckets."""
    places = _places(old)
    named: dict[str, str] = {}
    for name in places:
        named.setdefault(old.meanings.get(name, name), name)
    for name, place in _places(new).items():
        before = name if name in places else named.get(new.meanings.get(name, ""))
        if before is not None and places[before] != place:
            shown = name.removeprefix(OWNED)
            yield f"{shown} is spread by another entity than before, or evaluated at another stage"


def _places(flow: Flow) -> dict[str, tuple[int, int | None]]:
    """The stage and the owner of every result."""
    return {name: (stage.number, owner) for stage in flow.partitioning.stages for name, owner in stage.owners.items()}


def _inputs(flow: Flow) -> Mapping[str, Retained]:
    return flow.program.session(window=flow.window, start=flow.start).inputs


def _unlike(was: Retained, now: Retained | None) -> Iterator[str]:
    """What the new rules read of an input and the old ones did not keep."""
    if now is None:
        return
    if was.kind != now.kind:
        yield f"{was.name} is declared otherwise than before"
    for place, (old, new) in enumerate(zip(was.fields, now.fields, strict=False)):
        if new.type != UNUSED and _sort(old.type) != _sort(new.type):
            which = "the value" if was.kind != "event" and place == len(was.fields) - 1 else f"argument {place + 1}"
            yield (f"they read {which} of {was.name}, which no rule has read so far" if old.type == UNUSED else
                   f"they compute with {which} of {was.name}, or no longer only compute with it")


def _sort(type_: str) -> str:
    return type_ if type_ in (NUMBER, UNUSED) else "coded"


def _sent(sends: tuple[Send, ...]) -> dict[tuple[str, int], set[tuple[str, int]]]:
    """How relations are sent, by the stage they go to."""
    found: dict[tuple[str, int], set[tuple[str, int]]] = {}
    for send in sends:
        found.setdefault((send.relation, send.to), set()).add((send.how, send.column))
    return found
