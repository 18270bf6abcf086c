"""Saved sessions: they go on as they were, and no other bytes are taken for one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from hashlib import blake2b
from typing import Any

import pyarrow as pa
import pytest
from tests.engine.running import facts_of

import eventide as ev
from eventide.engine.checkpoint import MAGIC, VERSION
from eventide.engine.incremental import State
from eventide.engine.session import Session
from eventide.errors import InputError
from eventide.syntax.terms import Atom, Compound, Number

RULES = """
initiatedAt(alarm(X)=on, T) :- happensAt(ring(X, _), T).
terminatedAt(alarm(X)=on, T) :- happensAt(hush(X), T).
fi(alarm(X)=on, alarm(X)=off, 4).
collectIntervals(power(_)=true).
holdsFor(loud(X)=true, I) :- holdsFor(alarm(X)=on, I1), holdsFor(power(X)=true, I2), intersect_all([I1, I2], I).
holdsFor(long(X)=true, I) :- holdsFor(loud(X)=true, I1), intDurGreater(I1, 2, I).
happensAt(quiet(X), T) :- happensAt(end(loud(X)=true), T).
"""


def rings(*rows: tuple[int, object, object]) -> pa.Table:
    """Events `ring(X, loudness)`."""
    times, who, loudness = zip(*rows, strict=True)
    return pa.table({"time": times, "event": ["ring"] * len(rows), "who": who, "loudness": loudness})


def begun(**options: Any) -> Session:
    """A session with a deadline that is running, a fact that waits, and facts that came too late."""
    session = ev.parse(RULES).session(window=20, start=0, **options)
    session.insert(rings((3, "a", 1), (30, "b", 2)))
    session.insert(facts_of([(("interval", "power", ("a",), "true", 2, 40), None)]))
    session.advance(to=5)
    session.insert(rings((24, "a", 7), (60, "c", 1)))
    session.advance(to=26)
    session.insert(rings((4, "c", 1)))
    session.advance(to=27)
    return session


def rest_of(session: Session) -> list[object]:
    """All that a session says from then on."""
    session.retract(rings((24, "a", 8), (24, "a", 7)))
    session.insert(rings((25, "d", 1)))
    said: list[object] = []
    for query in (27, 28, 33, 70):
        changes = session.advance(to=query)
        said += [changes.added.to_pylist(), changes.removed.to_pylist(), changes.late.to_pylist(), changes.evaluation,
                 session.answer().to_pylist(), session.window_answer().to_pylist()]
    return [*said, session.counts]


def test_it_goes_on_as_it_was() -> None:
    session = begun()
    restored = ev.parse(RULES).restore(session.save())
    assert restored.counts.too_late == 1
    assert rest_of(restored) == rest_of(session)


def test_saved_again_it_is_the_same() -> None:
    for session in (ev.parse(RULES).session(), begun()):
        state = session.save()
        assert ev.parse(RULES).restore(state).save() == state == session.save()


def test_before_the_first_query_time_with_facts_that_wait() -> None:
    session = ev.parse(RULES).session()
    session.insert(rings((3, "a", 1)))
    session.retract(rings((3, "a", 2)))
    restored = ev.parse(RULES).restore(session.save())
    assert restored.advance(to=5).added.to_pylist() == session.advance(to=5).added.to_pylist()
    assert restored.counts == session.counts
    assert restored.counts.unmatched == 1


def test_after_a_move_to_another_layout() -> None:
    session = ev.parse(RULES).session()
    session.insert(rings(*((time, f"v{time}", 1) for time in range(1, 41))))
    session.advance(to=41)
    session.advance(to=10_000)
    session.insert(rings((10_001, "v1", 1)))
    session.advance(to=10_002)
    assert rest_after(ev.parse(RULES).restore(session.save())) == rest_after(session)


def rest_after(session: Session) -> list[dict[str, object]]:
    """What a session says a little later."""
    session.retract(rings((10_001, "v1", 1)))
    return [*session.advance(to=10_009).removed.to_pylist(), *session.answer().to_pylist()]


def test_the_settings_are_kept() -> None:
    session = ev.parse(RULES).session(window=7, start=-3, tick=2, initially_at=4, ties="initiation", horizon=50,
                                      fluents=["loud"], evaluation="keys")
    restored = ev.parse(RULES).restore(session.save())
    assert restored.settings == session.settings
    assert (restored.horizon, restored.evaluation, restored.wanted) == (50, "keys", session.wanted)
    assert [output.template for output in restored.wanted] == ["loud(_)"]


def test_values_keep_their_types() -> None:
    session = ev.parse(RULES).session()
    values = [1, 1.0, "1", -0.0, 2**80, float("inf"), "a\ud800|b\n", "Ärger", Compound("at", (Number(1.5), Atom("x"),
              Compound("of", (Number(2),))))]
    domain = session.store.domains["x"]
    domain.codes(values)
    found = ev.parse(RULES).restore(session.save()).store.domains["x"].values
    assert [(type(value), repr(value)) for value in found] == [(type(value), repr(value)) for value in domain.values]


def test_all_of_the_state_is_saved() -> None:
    saved = {"inputs", "relations", "points", "fired", "tables", "settled", "saved", "edges", "query", "sizes",
             "floors"}
    assert {f.name for f in fields(State)} == saved, "checkpoint.py must learn of it"


def test_another_process_restores_it() -> None:
    """Plans and their names do not depend on the order of sets."""
    code = f"import eventide as ev, sys; sys.stdout.buffer.write(ev.parse({RULES!r}).session().save())"
    for seed in ("1", "2"):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True,
                              env=os.environ | {"PYTHONHASHSEED": seed})
        assert ev.parse(RULES).restore(done.stdout).query_time is None


def test_other_rules_are_told() -> None:
    state = begun().save()
    with pytest.raises(InputError, match=r"saved with other rules or other background.*begin a new session"):
        ev.parse(RULES.replace("alarm(X)=off, 4", "alarm(X)=off, 5")).restore(state)
    with pytest.raises(InputError, match="other rules"):
        ev.parse("initiatedAt(f(X)=true, T) :- happensAt(e(X), T).").restore(state)


@pytest.mark.parametrize("kinds", [["tug", "tanker"], ["tug"], ["tanker", "tug"]])
def test_other_background_is_told(kinds: list[str]) -> None:
    def program(values: list[str]) -> ev.Program:
        table = pa.table({"who": [f"v{i}" for i in range(len(values))], "kind": values})
        return ev.parse("initiatedAt(f(X)=K, T) :- happensAt(e(X), T), kind(X, K).", background=[{"kind": table}])

    state = program(["tug", "tanker"]).session().save()
    if kinds == ["tug", "tanker"]:
        program(kinds).restore(state)
    else:
        with pytest.raises(InputError, match="saved with other"):
            program(kinds).restore(state)


# Bytes that are no saved session


@pytest.mark.parametrize("state", [b"", b"\n", b"nonsense", b"\x80\x04\x95.", b"ARROW1\0\0", b"eventide session ",
                                   b"eventide session x y\n", b"eventide session 1 abc\n", MAGIC * 100])
def test_foreign_bytes(state: bytes) -> None:
    with pytest.raises(InputError, match="no saved session that can be restored"):
        ev.parse(RULES).restore(state)


def test_something_else_than_bytes() -> None:
    with pytest.raises(InputError, match=r"bytes, as session\.save"):
        ev.parse(RULES).restore("eventide session")  # type: ignore[arg-type]


def test_truncated_bytes() -> None:
    state = begun().save()
    for length in [*range(0, len(state), 997), len(state) - 1]:
        with pytest.raises(InputError):
            ev.parse(RULES).restore(state[:length])


def test_damaged_bytes() -> None:
    state, program = begun().save(), ev.parse(RULES)
    for place in range(0, len(state), len(state) // 60):
        damaged = bytearray(state)
        damaged[place] ^= 0x10
        with pytest.raises(InputError):
            program.restore(bytes(damaged))


def test_a_newer_version() -> None:
    state = begun().save().replace(b" %d " % VERSION, b" %d " % (VERSION + 1), 1)
    with pytest.raises(InputError, match=f"version {VERSION + 1} of the format.*reads version {VERSION}"):
        ev.parse(RULES).restore(state)


def forged(change: Callable[[dict[str, Any]], None]) -> bytes:
    """A saved session with another header and the right digest."""
    body = begun().save().partition(b"\n")[2]
    batch = pa.ipc.open_stream(body).read_next_batch()
    header = json.loads(batch.schema.metadata[b"session"])
    change(header)
    batch = batch.replace_schema_metadata({"session": json.dumps(header)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    whole = sink.getvalue().to_pybytes()
    return b"%s %d %s\n" % (MAGIC, VERSION, blake2b(whole, digest_size=32).hexdigest().encode()) + whole


FORGERIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "no state": lambda h: h.pop("state"),
    "no settings": lambda h: h.pop("settings"),
    "an unknown setting": lambda h: h["settings"].update(more=1),
    "a window that is text": lambda h: h["settings"].update(window="20"),
    "an array that is not there": lambda h: h["state"]["inputs"]["hush(_)"]["facts"].update(time=10_000),
    "arrays of different lengths": lambda h: h["state"]["inputs"]["ring(_,_)"]["facts"]["columns"].update(
        {"ring(_,_).0": h["state"]["inputs"]["hush(_)"]["facts"]["time"]}),
    "values that are missing": lambda h: h["domains"]["x"]["values"].clear(),
    "a value twice": lambda h: h["domains"]["x"]["values"].append(h["domains"]["x"]["values"][0]),
    "a value that is none": lambda h: h["domains"]["x"]["values"].append({"a": 1}),
    "intervals in disorder": lambda h: h["state"]["relations"]["loud(_)=true"].update(
        starts=h["state"]["relations"]["loud(_)=true"]["ends"]),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_wrong_content(forgery: Callable[[dict[str, Any]], None]) -> None:
    with pytest.raises(InputError, match="saved"):
        ev.parse(RULES).restore(forged(forgery))


def test_a_forgery_that_changes_nothing_is_restored() -> None:
    assert ev.parse(RULES).restore(forged(lambda header: None)).query_time == 27
