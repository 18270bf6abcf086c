"""The values of one session in the codes of another: columns of results, and the facts of inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from eventide.algebra.nodes import NUMBER, UNUSED, Field
from eventide.engine.domains import Domain
from eventide.engine.loading import Store, encode
from eventide.engine.relation import Values
from eventide.engine.retained import Batch, Retained, exact_part, unread_digest
from eventide.errors import InputError
from eventide.formats.facts import Coded, Column
from eventide.kernels.arrays import Array


class Codes:
    """The codes of values in the domains of another session; values that it does not know are added to them."""

    def __init__(self, domains: Mapping[str, Domain], store: Store) -> None:
        self._domains, self._store = domains, store
        self._known: dict[tuple[str, str], dict[int, int]] = {}

    def all_of(self, old: str, new: str, codes: Iterable[int]) -> dict[int, int]:
        """The new codes of old ones."""
        known = self._known.setdefault((old, new), {})
        missing = [code for code in dict.fromkeys(codes) if code not in known]
        if missing:
            values = self._domains[old].values
            found = self._store.domain(new).codes([values[code] for code in missing])
            known.update(zip(missing, found.tolist(), strict=True))
        return known

    def moved(self, column: Values, old: str, new: str) -> Array:
        """A column of codes in the other session's."""
        if old in (NUMBER, UNUSED):
            return column
        used, places = np.unique(column, return_inverse=True)
        known = self.all_of(old, new, used.tolist())
        return np.array([known[code] for code in used.tolist()], np.int64)[places]


def moved_input(known: Retained, domains: Mapping[str, Domain], wanted: Retained, store: Store) -> Retained:
    """The facts of an input as another session holds them; InputError if they do not have what it reads."""
    batches = [known.facts, *([known.recent] if known.recent is not None else []), *known.waiting]
    if not any(len(batch) for batch in batches):
        return wanted
    if known.kind != wanted.kind:
        raise InputError(f"the facts of {known.name} are {_KINDS[known.kind]}, and the new rules declare "
                         f"{_KINDS[wanted.kind]} of that name{_HINT.format(name=_name(known))}")
    moving = _Columns(known, domains, wanted, store)
    merged = known.merged()
    facts = wanted.in_order(moving.batch(merged.facts))
    found = Retained(wanted.name, wanted.kind, wanted.fields, facts, wanted.counted, size=merged.size)
    if wanted.counted and not known.counted:
        found = replace(found, facts=found.once())
    for batch in known.waiting:
        found.hand_in(moving.batch(batch))
    return found


_KINDS = {"event": "events", "interval": "intervals", "point": "values at points"}
_HINT = ("; name it among the inputs to forget (forget=[\"{name}\"]): then only facts of it count that come from now "
         "on; or begin a new session")


def _name(known: Retained) -> str:
    return known.name.partition("(")[0]


class _Columns:
    """Columns of facts, from the types of one session to those of another."""

    def __init__(self, known: Retained, domains: Mapping[str, Domain], wanted: Retained, store: Store) -> None:
        self._known, self._domains, self._wanted, self._store = known, domains, wanted, store
        self._codes = Codes(domains, store)
        for place, (old, new) in enumerate(zip(known.fields, wanted.fields, strict=True)):
            if old.type == UNUSED and new.type != UNUSED:
                raise self._refused(place, "no rule has read it so far, so that it was not kept")

    def _refused(self, place: int, reason: str) -> InputError:
        number = len(self._known.fields) - (self._known.kind != "event")
        which = f"argument {place + 1}" if place < number else "the value"
        return InputError(f"the new rules read {which} of {self._known.name}, of which facts are held: {reason}"
                          f"{_HINT.format(name=_name(self._known))}")

    def batch(self, batch: Batch) -> Batch:
        """A batch in the new types; what tells facts apart besides their columns follows."""
        columns: dict[str, Values] = {}
        was: list[tuple[int, Column]] = []
        now: list[tuple[int, Column]] = []
        for place, (old, new) in enumerate(zip(self._known.fields, self._wanted.fields, strict=True)):
            if old.type == UNUSED:
                continue
            values = batch.columns[old.name]
            if new.type not in (NUMBER, UNUSED) and old.type != NUMBER:
                columns[new.name] = self._codes.moved(values, old.type, new.type)
                continue
            if old.type == new.type == NUMBER:
                columns[new.name] = values
                continue
            if old.type == NUMBER and new.type != UNUSED and self._is_doubtful(values):
                raise self._refused(place, "it was only computed with so far, so that whole numbers and others were "
                                    "not kept apart")
            plain = self._plain(values, old)
            if not isinstance(plain, Coded) and plain.dtype.kind == "i":
                was.append((place, exact_part(plain)))
            if new.type == UNUSED:
                now.append((place, plain))
            else:
                columns[new.name] = self._encoded(plain, new, place)
                if new.type == NUMBER:
                    now.append((place, exact_part(plain)))
        unread = batch.unread
        for parts in (was, now):
            more = unread_digest(parts, len(batch))
            unread = unread if more is None else more if unread is None else unread ^ more
        arrays: dict[str, Any] = {name: getattr(batch, name) for name in
                                  ("time", "end", "named", "named_end", "arrival", "retracts", "copies")}
        return Batch(columns, unread=unread, **arrays)

    @staticmethod
    def _is_doubtful(values: Values) -> bool:
        """Whether a column of numbers may have been one of whole numbers, other numbers and words."""
        return values.dtype.kind == "f" and bool((np.isnan(values) | (values == np.floor(values))).any())

    def _plain(self, values: Values, old: Field) -> Column:
        """A column of facts as it was read; words among numbers are told apart already, and are 0 here."""
        if old.type != NUMBER:
            used, places = np.unique(values, return_inverse=True)
            domain = self._domains[old.type].values
            return Coded(places.astype(np.int32), tuple(domain[code] for code in used.tolist()))  # type: ignore[arg-type]
        return np.where(np.isnan(values), 0, values) if values.dtype.kind == "f" else values

    def _encoded(self, plain: Column, new: Field, place: int) -> Values:
        if new.type == NUMBER and isinstance(plain, Coded):
            for value in plain.values:
                if not isinstance(value, int | float):
                    raise self._refused(place, f"they compute with it, and {value} is no number")
        found = encode(plain, new.type, self._store)
        assert found is not None
        return found
