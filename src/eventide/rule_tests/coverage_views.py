"""Rule coverage beside the rules: as text, and as a page that opens offline. Counts nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from eventide.report.page import ASSETS
from eventide.rule_tests.coverage import ConditionCoverage, Coverage, RuleCoverage

_STYLE = """
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; font: .85rem/1.5 ui-monospace, monospace; }
td { padding: 0 .6rem; white-space: pre; vertical-align: top; }
td.n, td.m { text-align: right; opacity: .7; }
tr.gap td.m { color: #c0392b; font-weight: bold; opacity: 1; }
tr.gap td.t { background: color-mix(in srgb, #c0392b 14%, transparent); }
tr.fine td.t { background: color-mix(in srgb, #27ae60 12%, transparent); }
"""


def summary(coverage: Coverage) -> str:
    """One line: how much of the rules was tried."""
    totals = coverage.totals
    return (f"{totals['clauses_fired']} of {totals['clauses']} clauses fired; conditions had {totals['outcomes_seen']} "
            f"of their {totals['outcomes']} outcomes")


def listing(coverage: Coverage) -> Iterator[str]:
    """The rules with a margin: how often each fired, and for each condition whether it was true (T) and false (F).

    A dot stands for what was never seen.
    """
    for source, lines in _by_source(coverage).items():
        yield source
        for number, text, mark, is_gap in lines:
            yield f"{'!' if is_gap else ' '} {mark:>10} |{number:>5} | {text}".rstrip()


def page(coverages: Sequence[Coverage]) -> str:
    """The same as one HTML file."""
    style = (ASSETS / "theme.css").read_text(encoding="utf-8") + _STYLE
    body = "\n".join(map(_section, coverages))
    return (f"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>Rule coverage</title><style>{style}"
            "</style></head>\n<body><h1>Rule coverage</h1>\n<p>Beside a rule stands how often it fired; beside a "
            "condition whether it was true (T) and false (F) where those before it were true; a dot is what was never "
            f"seen.</p>\n{body}\n</body></html>\n")


def _section(coverage: Coverage) -> str:
    parts = [f"<p><b>{escape(summary(coverage))}</b></p>"]
    for source, lines in _by_source(coverage).items():
        rows = "".join(
            f"<tr class='{'gap' if is_gap else 'fine' if mark else ''}'><td class=m>{escape(mark)}</td>"
            f"<td class=n>{number}</td><td class=t>{escape(text)}</td></tr>\n" for number, text, mark, is_gap in lines)
        parts.append(f"<h2>{escape(source)}</h2>\n<table>\n{rows}</table>")
    gaps = "".join(f"<li>{escape(f'{span}: {what}')}</li>\n" for span, what in coverage.gaps())
    return "\n".join([*parts, f"<h2>Never tried</h2>\n<ul>{gaps}</ul>" if gaps else ""])


def _by_source(coverage: Coverage) -> dict[str, list[tuple[int, str, str, bool]]]:
    """The lines of every source that has rules: number, text, what stands beside it, whether something is missing."""
    marks: dict[tuple[str, int], list[str]] = {}
    gaps: set[tuple[str, int]] = set()
    for rule in coverage.rules.values():
        place = (rule.span.source, rule.span.line)
        marks.setdefault(place, []).insert(0, f"{rule.times}x" if rule.times else "never")
        if rule.gap:
            gaps.add(place)
    for (source, line), ones in _conditions(coverage.rules.values()).items():
        marks.setdefault((source, line), []).extend(map(_mark, ones))
        if any(one.gap for one in ones):
            gaps.add((source, line))
    shown: dict[str, list[tuple[int, str, str, bool]]] = {}
    for source in dict.fromkeys(source for source, _ in marks):
        rows = coverage.texts[source].splitlines()
        shown[source] = [(number, text, " ".join(marks.get((source, number), ())), (source, number) in gaps)
                         for number, text in enumerate(rows, 1)]
    return shown


def _conditions(rules: Iterable[RuleCoverage]) -> dict[tuple[str, int], list[ConditionCoverage]]:
    """The conditions by line; one that several rules use counts with what it came to in all of them."""
    found: dict[tuple[str, int], dict[int, ConditionCoverage]] = {}
    for rule in rules:
        for span, one in rule.conditions.items():
            line = found.setdefault((span.source, span.line), {})
            whole = line.setdefault(span.column, ConditionCoverage(span, one.text))
            whole.true, whole.false = whole.true + one.true, whole.false + one.false
            whole.can_fail |= one.can_fail
    return {place: [line[column] for column in sorted(line)] for place, line in found.items()}


def _mark(one: ConditionCoverage) -> str:
    return ("T" if one.true else "·") + (("F" if one.false else "·") if one.can_fail else "")
