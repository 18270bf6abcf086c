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
    changed = list(_changes(known, identity))
    if changed:
        only_rules = known.get("settings") == identity["settings"]
        raise ServiceError(
            f"the checkpoint {folder} belongs to another program or other settings: {'; '.join(changed)}. Take these "
            "back to go on where the stream was; or begin anew: another checkpoint, and other folders for the sinks"
            f"{'; or go on with the changed rules: --reload' if only_rules else ''}")
    return str(known["stream"])


def has_other_rules(folder: Path, identity: Mapping[str, Any]) -> bool:
    """Whether a checkpoint has other rules or tables, and only these."""
    known = _known(folder)
    return known is not None and known.get("settings") == identity["settings"] and any(_changes(known, identity))


def times_changed(folder: Path) -> tuple[int, int]:
    """How often the rules have been changed, and after which batch the last time."""
    known = _known(folder) or {}
    return int(known.get("epoch", 0)), int(known.get("after", -1))


def claim(folder: Path, identity: Mapping[str, Any]) -> str:
    """The name of the stream, made and written if the checkpoint is new."""
    name = check_identity(folder, identity)
    if name is not None:
        return name
    name = uuid4().hex
    write_whole(folder / FILE, json.dumps({"stream": name, **identity}, indent=1).encode())
    return name


def change_rules(folder: Path, identity: Mapping[str, Any], epoch: int, after: int) -> None:
    """From now on the checkpoint belongs to other rules; `after` is the last batch of the old ones."""
    known = {"stream": known_stream(folder), **identity, "epoch": epoch, "after": after}
    write_whole(folder / FILE, json.dumps(known, indent=1).encode())


def write_whole(path: Path, data: bytes) -> None:
    """Write a file of a checkpoint, whole or not at all."""
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise ServiceError(f"cannot write the checkpoint {path.parent}: {error.strerror or error}") from error


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
    if found.get("format") != _FORMAT:
        raise ServiceError(f"the checkpoint {folder} is of another version of Eventide; begin with a new one")
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
