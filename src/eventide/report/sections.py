"""The parts of the page that are plain HTML: the first lines, summary tables, run statistics, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from eventide.report.situations import Situations
from eventide.report.summary import Total, by_entity, by_fluent
from eventide.report.times import Unit, duration_text, number_text, time_text
from eventide.syntax.diagnostics import Diagnostic

BUSIEST = 25


@dataclass(frozen=True)
class Shown:
    """What the page shows: the situations, the period, how times are written, and what vessels are called."""

    found: Situations
    first: float
    last: float
    unit: Unit
    names: Mapping[str, tuple[str, str]]
    vessels: Sequence[str] = ()


def number(value: float) -> str:
    """A number with thousands apart.

    >>> number(1234567)
    '1,234,567'
    """
    return f"{value:,}" if float(value).is_integer() else f"{value:,.2f}"


def lead(shown: Shown, positions: int) -> str:
    """One line: how much there is, and of what period."""
    found = shown.found
    if not len(found):
        return "Nothing was recognised."
    totals = by_entity(found, shown.first, shown.last, shown.vessels)
    parts = [_many(len(found), "interval"), _many(len(found.fluent.names), "situation"),
             _many(len(totals), "entity", "entities")]
    if positions:
        parts.append(f"{_many(positions, 'position')} of {_many(len(shown.vessels), 'vessel')}")
    first, last = (time_text(t, found.origin, shown.unit) for t in (shown.first, shown.last))
    if first.partition(" ")[0] == last.partition(" ")[0] and " " in last:
        last = last.partition(" ")[2]
    zone = "" if shown.unit == "number" else " UTC"
    return f"{escape(' · '.join(parts))} · <span class=\"period\">{first} to {last}{zone}</span>"


def fluent_table(shown: Shown) -> str:
    """The table of fluents."""
    totals = by_fluent(shown.found, shown.first, shown.last)
    head = ("Situation", "Intervals", "Arguments", "Total time", "Mean", "Longest", "Open")
    rows = [[_name(total.name), _count(total.intervals), _count(total.others), *_lengths(total, shown.unit),
             _count(total.still_open)] for total in totals]
    caption = "Situations, with the time they hold in the period that is shown"
    return _table("fluents", caption, head, rows, [total.name for total in totals])


def entity_table(shown: Shown) -> str:
    """The table of the entities with the longest total time."""
    totals = by_entity(shown.found, shown.first, shown.last, shown.vessels)
    head = ("Entity", "Intervals", "Situations", "Total time", "Mean", "Longest", "Open")
    rows = []
    for total in totals[:BUSIEST]:
        name, kind = shown.names.get(total.name, ("", ""))
        told = " · ".join(part for part in (name, kind) if part)
        note = f' <span class="note">{escape(told)}</span>' if told else ""
        rows.append([_name(total.name, note), _count(total.intervals), _count(total.others),
                     *_lengths(total, shown.unit), _count(total.still_open)])
    more = f", the first {BUSIEST} of {number(len(totals))}" if len(totals) > BUSIEST else ""
    return _table("entities", f"Entities by total time{more}", head, rows, [total.name for total in totals[:BUSIEST]])


def facts_of_run(statistics: Mapping[str, object]) -> str:
    """Named figures as a list; figures that are tables follow it."""
    plain = {name: value for name, value in statistics.items() if not _is_table(value)}
    parts, tables = [], []
    if plain:
        items = "".join(f"<div><dt>{escape(name)}</dt><dd>{_figure(value)}</dd></div>" for name, value in plain.items())
        parts.append(f'<dl class="figures">{items}</dl>')
    for at, (name, value) in enumerate(statistics.items()):
        if _is_table(value):
            rows: list[Mapping[str, object]] = list(value)  # type: ignore[call-overload]
            head = list(dict.fromkeys(key for row in rows for key in row))
            cells = [[_cell(row.get(key)) for key in head] for row in rows]
            tables.append(_table(f"run{at}", name, head, cells, None))
    if tables:
        parts.append(f'<div class="tables">{"".join(tables)}</div>')
    return "".join(parts) or '<p class="empty">No statistics were given.</p>'


def proof_list(proofs: Mapping[tuple[str, str, str, int], str]) -> str:
    """Why intervals hold: one closed part for each, in the order in which they are numbered."""
    if not proofs:
        return ""
    parts = []
    for place, ((fluent, args, value, start), proof) in enumerate(proofs.items()):
        head = f"{fluent}({args.replace('|', ', ')})" if args else fluent
        said = f"{head}{f' = {value}' if value else ''}, from {start}"
        parts.append(f'<details id="why-{place}"><summary>{escape(said)}</summary><div class="proof">{proof}</div>'
                     '</details>')
    return '<section id="proofs" aria-labelledby="proofs-title"><h3 id="proofs-title">Why</h3>' + "".join(parts) + \
        "</section>"


def warning_list(warnings: Iterable[object]) -> str:
    """Warnings, each with its place and hint where it has them."""
    items = []
    for each in warnings:
        if isinstance(each, Diagnostic):
            place = f"<code>{escape(str(each.span))}</code> " if each.span else ""
            hint = f' <span class="note">{escape(each.hint)}</span>' if each.hint else ""
            items.append(f"<li>{place}{escape(each.message)}{hint}</li>")
        else:
            items.append(f"<li>{escape(str(each))}</li>")
    return f'<ul class="warnings">{"".join(items)}</ul>' if items else '<p class="empty">No warnings.</p>'


def _many(count: int, one: str, several: str | None = None) -> str:
    return f"{number(count)} {one if count == 1 else several or one + 's'}"


def _name(text: str, note: str = "") -> tuple[str, str]:
    return escape(text) + note, escape(text, quote=True)


def _count(value: int) -> tuple[str, str]:
    return number(value), str(value)


def _lengths(total: Total, unit: Unit) -> list[tuple[str, str]]:
    mean = total.duration / total.intervals
    return [(duration_text(value, unit), repr(value)) for value in (total.duration, mean, total.longest)]


def _is_table(value: object) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _figure(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return number(value)
    return escape(number_text(round(value, 3)) if isinstance(value, float) else str(value))


def _cell(value: object) -> tuple[str, str]:
    key = repr(value) if isinstance(value, (int, float)) else str(value or "")
    return _figure(value) if value is not None else "", escape(key, quote=True)


def _table(name: str, caption: str, head: Sequence[str], rows: list[list[tuple[str, str]]],
           keys: Sequence[str] | None) -> str:
    """A table that can be sorted: each cell has what is shown and what it is sorted by; keys make rows buttons."""
    if not rows:
        return f'<p class="empty">{escape(caption)}: none.</p>'
    numeric = [at > 0 and all(_is_number(row[at][1]) for row in rows) for at in range(len(head))]
    titles = "".join(f'<th scope="col"{" class=number" if right else ""}>{escape(title)}</th>'
                     for title, right in zip(head, numeric, strict=True))
    body = []
    for at, row in enumerate(rows):
        key = f' data-key="{escape(keys[at], quote=True)}"' if keys else ""
        cells = "".join(
            f'<{tag} data-sort="{sort}"{" class=number" if right else ""}>{shown}</{tag.partition(" ")[0]}>'
            for (shown, sort), right, tag in zip(row, numeric, ['th scope="row"', *["td"] * len(head)], strict=False))
        body.append(f"<tr{key}>{cells}</tr>")
    return (f'<div class="scroll-x"><table class="sortable" id="table-{name}"><caption>{escape(caption)}</caption>'
            f"<thead><tr>{titles}</tr></thead><tbody>{''.join(body)}</tbody></table></div>")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
