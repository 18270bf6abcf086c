"""How tests drive a maintained session: streams as text in, answers as the oracles give them out."""

from __future__ import annotations

from tests.oracle import lars
from tests.oracle.lars import AnswerStream, Stream

from eventide.lars.grounding import Atom
from eventide.lars.maintained import Fact, MaintainedSession
from eventide.lars.values import ground_atom, ground_text
from eventide.syntax.lars_trees import LarsTree
from eventide.syntax.terms import functor_of


def atoms(texts: list[str] | tuple[str, ...]) -> list[Atom]:
    """Facts as a session takes them."""
    return [ground_atom(fact) for text in texts for fact in lars.program(f"{text}.").facts]


def fact(text: str) -> Fact:
    """`p(a)@3`."""
    atom, _, time = text.rpartition("@")
    ((name, row),) = atoms([atom])
    return Fact(int(time), name, row)


def answers(session: MaintainedSession, stream: Stream) -> list[AnswerStream]:
    """The answers now, as the oracles show them: with the input facts of derived predicates, however old."""
    old = {(text, time) for time, facts in stream for text in facts if time < session.time
           and functor_of(lars.program(f"{text}.").facts[0]) in session.heads}
    return [frozenset({(ground_text(name, row), time) for name, row, time in answer} | old)
            for answer in session.answers()]


def session_at(tree: LarsTree, stream: Stream, times: list[int]) -> MaintainedSession:
    """A session that has gone through some times; times of the stream among them bring its facts."""
    session = MaintainedSession(tree)
    facts = dict(stream)
    for time in times:
        session.advance(time, atoms(list(facts.get(time, ()))))
    return session
