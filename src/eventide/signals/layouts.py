"""How providers write position reports as tables: which column means what, in which units. Reads no reports."""

from __future__ import annotations

import csv
import io
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from eventide.errors import InputError
from eventide.formats.files import missing
from eventide.formats.problems import diagnostic, input_error, suggestion

NEEDED = ("vessel", "time", "lon", "lat")
COLUMNS = (*NEEDED, "speed", "course", "heading", "type", "draught", "name")
SPEED_UNITS = {"knots": 1.0, "tenths": 0.1, "m/s": 3600 / 1852, "km/h": 1 / 1.852}
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
TIME_FORMATS = ("s", "ms", "us", "iso")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The names of the columns of a table, and how its values are written. None: found out from the table.

    separator, decimal: between fields, and in numbers (`.` or `,`).
    time_format: `s`, `ms`, `us` since 1970, `iso`, or a pattern as `%d/%m/%Y %H:%M:%S`; times are UTC.
    speed_unit: `knots`, `tenths` of a knot, `m/s` or `km/h`.
    """

    vessel: str | None = None
    time: str | None = None
    lon: str | None = None
    lat: str | None = None
    speed: str | None = None
    course: str | None = None
    heading: str | None = None
    type: str | None = None
    draught: str | None = None
    name: str | None = None
    separator: str | None = None
    decimal: str | None = None
    time_format: str | None = None
    speed_unit: str = "knots"

    def __post_init__(self) -> None:
        for key in (field.name for field in fields(self)):
            value = getattr(self, key)
            if value is not None and not (isinstance(value, str) and value):
                raise InputError(f"{key} of a layout is {value!r}; expected text")
        if self.speed_unit not in SPEED_UNITS:
            raise InputError(f"speed_unit is {self.speed_unit!r}; known are {', '.join(SPEED_UNITS)}")
        if self.decimal not in (None, ".", ","):
            raise InputError(f"decimal is {self.decimal!r}; expected . or ,")
        if self.separator is not None and len(self.separator) != 1:
            raise InputError(f"separator is {self.separator!r}; expected one character")
        if self.time_format is not None and self.time_format not in TIME_FORMATS and "%" not in self.time_format:
            known = ", ".join(TIME_FORMATS)
            raise InputError(f"time_format is {self.time_format!r}; known are {known}, or a pattern with %")

    def columns(self) -> dict[str, str]:
        """The columns that have a name, by what they mean."""
        return {key: name for key in COLUMNS if (name := getattr(self, key)) is not None}


PRESETS = {
    "marinecadastre": Layout(vessel="MMSI", time="BaseDateTime", lon="LON", lat="LAT", speed="SOG", course="COG",
                             heading="Heading", type="VesselType", draught="Draft", name="VesselName", separator=",",
                             time_format="iso"),
    "dma": Layout(vessel="MMSI", time="# Timestamp", lon="Longitude", lat="Latitude", speed="SOG", course="COG",
                  heading="Heading", type="Ship type", draught="Draught", name="Name", separator=",",
                  time_format="%d/%m/%Y %H:%M:%S"),
    "ais": Layout(vessel="mmsi", time="time", lon="lon", lat="lat", speed="sog", course="cog", heading="heading",
                  type="ship_type", draught="draught", separator=","),
    "eventide": Layout(vessel="vessel", time="time", lon="lon", lat="lat", speed="speed", course="course",
                       heading="heading", type="type", draught="draught", name="name"),
}
# Names that other providers give the columns, in lower case and without anything but letters and digits.
_ALIASES = {
    "vessel": ("mmsi", "vessel", "sourcemmsi", "usermmsi", "vesselid", "shipmmsi", "shipid"),
    "time": ("time", "timestamp", "basedatetime", "t", "datetime", "ts", "timestamputc", "datetimeutc", "dtposutc",
             "postime", "received", "receivedat", "timeutc", "utc", "epoch", "date"),
    "lon": ("lon", "longitude", "long", "x", "lng", "decimallongitude"),
    "lat": ("lat", "latitude", "y", "decimallatitude"),
    "speed": ("sog", "speed", "speedoverground", "speedknots"),
    "course": ("cog", "course", "courseoverground"),
    "heading": ("heading", "trueheading", "hdg", "trueheadingdeg"),
    "type": ("shiptype", "vesseltype", "type", "shipandcargotype", "vesseltypecode", "typecode", "shiptypecode"),
    "draught": ("draught", "draft", "currentdraught"),
    "name": ("name", "vesselname", "shipname"),
}


def layout_of(preset: str | None = None, mapping: Mapping[str, str] | str | os.PathLike[str] | None = None,
              ) -> Layout | None:
    """The layout that is asked for: a preset by name, changed by a mapping (a dict or a TOML file); None if neither.

    >>> layout_of("ais", {"speed_unit": "tenths"}).speed_unit
    'tenths'
    """
    if preset is None and mapping is None:
        return None
    if preset is not None and preset not in PRESETS:
        hint = suggestion(preset, PRESETS) or "or give a mapping"
        raise InputError(f"there is no preset {preset!r}; known are {', '.join(PRESETS)}; {hint}")
    given = mapping if isinstance(mapping, Mapping) else {} if mapping is None else _from_toml(os.fspath(mapping))
    known = [field.name for field in fields(Layout)]
    for key in given:
        if key not in known:
            source = "<mapping>" if isinstance(mapping, Mapping) else str(mapping)
            hint = suggestion(key, known) or f"known are {', '.join(known)}"
            raise input_error("unknown-key", f"a mapping has no {key!r}", source, hint=hint)
    return replace(PRESETS[preset] if preset else Layout(), **given)


def _from_toml(path: str) -> Mapping[str, str]:
    try:
        text = Path(path).read_text(encoding="utf-8")
        return tomllib.loads(text)
    except OSError as error:
        raise missing(path, error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        hint = 'expected lines such as vessel = "MMSI"'
        raise input_error("bad-mapping", f"no TOML: {error}", path, hint=hint) from error


def settled(layout: Layout | None, line: str, source: str, above: int = 0) -> tuple[Layout, list[str], str]:
    """The layout of a table with this header, the header, and what it was recognised by.

    Columns that a layout does not name are found by the names that providers give them. InputError if one is missing.
    """
    separator = (layout.separator if layout else None) or _separator(line)
    header = split(line, separator)
    names = list(header)
    if layout is None:
        for preset, known in PRESETS.items():
            wanted = [name for key, name in known.columns().items() if key in NEEDED]
            if known.separator in (None, separator) and all(name in names for name in wanted):
                found: dict[str, Any] = {k: name if name in names else None for k, name in known.columns().items()}
                return replace(known, separator=separator, **found), header, preset
    chosen = layout or Layout()
    by_plain = {_plain(name): name for name in reversed(names)}
    given = chosen.columns()
    taken: dict[str, Any] = {}
    for key in COLUMNS:
        name = given.get(key)
        if name is not None and name in names:
            taken[key] = name
            continue
        other = next((by_plain[alias] for alias in _ALIASES[key] if alias in by_plain), None)
        if name is None:
            taken[key] = other if other not in given.values() else None
        elif key in NEEDED or _plain(name) not in _ALIASES[key]:  # what a preset names besides may be absent
            raise _no_column(key, name, names, line, separator, source, above, chosen)
        else:
            taken[key] = None
        if key in NEEDED and taken[key] is None:
            raise _no_column(key, None, names, line, separator, source, above, chosen)
    return replace(chosen, separator=separator, **taken), header, "names of columns" if layout is None else "mapping"


def split(line: str, separator: str) -> list[str]:
    """The fields of one line."""
    try:
        return [field.strip() for field in next(csv.reader(io.StringIO(line, newline=""), delimiter=separator), [])]
    except csv.Error:
        return [field.strip() for field in line.split(separator)]


def _separator(line: str) -> str:
    """The one that gives most columns with a known name, then most columns."""
    known = {alias for aliases in _ALIASES.values() for alias in aliases}

    def columns(mark: str) -> tuple[int, int]:
        found = split(line, mark)
        return sum(_plain(name) in known for name in found), len(found)

    return max(SEPARATORS, key=columns)


def _plain(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


def _no_column(key: str, name: str | None, names: Sequence[str], line: str, separator: str, source: str, above: int,
               layout: Layout) -> InputError:
    other = _separator(line)
    if len(names) < 2 or (other != separator and len(split(line, other)) > len(names)):
        if len(split(line, other)) > 1:
            message = f"the fields are separated by {SEPARATORS[other]}, not by {SEPARATORS.get(separator, separator)}"
            hint = f"write separator = {other!r} in the mapping, or leave it out"
        else:
            message = "the first line is one field; expected a header with several columns"
            hint = 'if another character separates the fields, write separator = "…" in a mapping'
        return input_error("wrong-separator", message, source, above + 1, hint=hint)
    wanted = name or key
    shown = ", ".join(names)
    message = f"no column {wanted}" + (f" for {key}" if name and name != key else "") + f"; the columns are {shown}"
    hint = suggestion(wanted, names) or _near(key, names) or f'name it in a mapping: {key} = "…"'
    problem = diagnostic("missing-column", message, source, above + 1, 1, len(line), hint)
    return InputError(problem.render(), [problem])


def _near(key: str, names: Sequence[str]) -> str | None:
    for alias in _ALIASES[key]:
        close = next((n for n in names if len(alias) > 1 and (alias in _plain(n) or suggestion(alias, [_plain(n)]))),
                     None)
        if close is not None:
            return f'is it {close}? then write {key} = "{close}" in a mapping'
    return None
