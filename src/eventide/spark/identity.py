"""Which stream a checkpoint belongs to: rules, tables and settings, remembered so that a change is noticed and told."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from eventide.algebra.nodes import UNUSED, Inertia
from eventide.algebra.text import to_text
from eventide.spark.failures import ServiceError
from eventide.spark.flow import Flow

FILE = "stream.json"
SPARK = "spark"
_FORMAT = 2


def identity_of(flow: Flow, source: Mapping[str, object]) -> dict[str, Any]:
    """What must stay the same as long as a checkpoint is used."""
    return {
        "format": _FORMAT,
        "rules": _rules(flow),
        "background": _tables(flow),
        "settings": {
            "window": flow.window, "step": flow.step, "delay": flow.delay, "tick": flow.tick, "start": flow.start,
            "horizon": flow.horizon, "emit": flow.emit, "buckets": flow.buckets,
            "fluents": None if flow.fluents is None else sorted(flow.fluents),
            "probabilistic": None if flow.uncertainty is None else True,
            "threshold": None if flow.uncertainty is None or flow.uncertainty.threshold is None
            else str(flow.uncertainty.threshold), "memory": flow.memory,
            "durations": None if flow.durations is None else list(flow.durations), **source},
    }


def _rules(flow: Flow) -> dict[str, str]:
    found = {}
    for stratum in flow.program.model.plan.strata:
        for definition in stratum.definitions:
            body = definition.body
            shown = [str(value) for value in body.reported or ()] if isinstance(body, Inertia) else []
            found[definition.name] = _digest(to_text(body), str([(f.name, f.type) for f in body.fields]), str(shown))
    return found


def _tables(flow: Flow) -> dict[str, str]:
    store = flow.program.background_store()
    found = {}
    for name, rows in sorted(store.tables.items()):
        parts: list[str | bytes] = [str(rows.length)]
        for field in rows.fields:
            if field.type != UNUSED:
                parts.append(np.ascontiguousarray(rows.column(field.name)).tobytes())
                parts.append("\n".join(store.domains[field.type].texts) if field.type in store.domains else "")
        found[name] = _digest(*parts)
    return found


def _digest(*parts: str | bytes) -> str:
    found = blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()


def known_stream(folder: Path) -> str | None:
    """The name of the stream that a checkpoint belongs to; None where there is none yet."""
    known = _known(folder)
    return None if known is None else str(known["stream"])


def check_identity(folder: Path, identity: Mapping[str, Any]) -> str | None:
    """The name of the stream, if the checkpoint has one; ServiceError if it belongs to other rules or settings."""
    known = _known(folder)
    if known is None:
        return None
    if known.get("format") != _FORMAT:
        raise ServiceError(f"the checkpoint {folder} is of another version of Eventide; begin with a new one")
    changed = list(_changes(known, identity))
    if changed:
        raise ServiceError(
            f"the checkpoint {folder} belongs to another program or other settings: {'; '.join(changed)}. Take these "
            "back to go on where the stream was; or begin anew: another checkpoint, and other folders for the sinks")
    return str(known["stream"])


def claim(folder: Path, identity: Mapping[str, Any]) -> str:
    """The name of the stream, made and written if the checkpoint is new."""
    name = check_identity(folder, identity)
    if name is not None:
        return name
    name = uuid4().hex
    new = folder / f".{FILE}.new"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with new.open("w", encoding="utf-8") as file:
            json.dump({"stream": name, **identity}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        new.replace(folder / FILE)
    except OSError as error:
        raise ServiceError(f"cannot write the checkpoint {folder}: {error.strerror or error}") from error
    return name


def _known(folder: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        if (folder / SPARK).exists():
            raise broken_checkpoint(folder, f"it has no {FILE}") from None
        return None
    except NotADirectoryError:
        raise ServiceError(f"the checkpoint {folder} is no folder") from None
    except OSError as error:
        raise ServiceError(f"cannot read the checkpoint {folder}: {error.strerror or error}") from error
    except ValueError as error:
        raise broken_checkpoint(folder, f"{FILE} is damaged") from error
    if not isinstance(found, dict) or "stream" not in found:
        raise broken_checkpoint(folder, f"{FILE} is damaged")
    return found


def broken_checkpoint(folder: Path, reason: str) -> ServiceError:
    """What to say of a checkpoint that cannot be used."""
    return ServiceError(f"the checkpoint {folder} is broken: {reason}. Put it back from a copy to go on where the "
                        "stream was; or begin anew: delete it, or name another one, with other folders for the sinks")


def _changes(known: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What is different, in words."""
    for part, one in ("rules", "the rules of "), ("background", "the table "):
        before, after = known.get(part, {}), now[part]
        for name in sorted({*before, *after}):
            if before.get(name) != after.get(name):
                verb = "are new" if name not in before else "are gone" if name not in after else "have changed"
                yield f"{one}{name} {verb if part == 'rules' else verb.replace('are', 'is').replace('have', 'has')}"
    before, after = known.get("settings", {}), now["settings"]
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield f"{name} was {_shown(before.get(name))} and is {_shown(after.get(name))}"


def _shown(value: object) -> str:
    return "not given" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
