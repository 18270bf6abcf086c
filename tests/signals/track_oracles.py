"""Cleaning and critical points report by report, slow and obvious, to compare the kernels with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from eventide.signals.cleaning import Cleaning
from eventide.signals.critical import Thresholds

KNOT = 1852 / 3600


@dataclass(frozen=True)
class Report:
    """One report; the order of a list of them is that of the file."""

    vessel: int
    time: int
    lon: float
    lat: float
    speed: float = math.nan
    course: float = math.nan
    heading: float = 511.0


def distance(a: Report, b: Report) -> float:
    """Metres between two places, by the law of cosines in the form that is exact for small angles."""
    x1, y1, x2, y2 = map(math.radians, (a.lon, a.lat, b.lon, b.lat))
    half = math.sin((y2 - y1) / 2) ** 2 + math.cos(y1) * math.cos(y2) * math.sin((x2 - x1) / 2) ** 2
    return 2 * 6_371_008.8 * math.asin(min(1.0, math.sqrt(half)))


def longest(reports: list[int], leads: list[list[bool]]) -> list[int]:
    """Of reports in order, the longest chain of those that lead from one to the next; of equals the first to end."""
    chains: list[list[int]] = []
    for at, report in enumerate(reports):
        before: list[int] = []
        for other in range(at - 1, -1, -1):
            if len(chains[other]) > len(before) and leads[reports[other]][report]:
                before = chains[other]
        chains.append([*before, report])
    return max(chains, key=len, default=[])


def cleaned(reports: list[Report], settings: Cleaning, latest: int) -> tuple[list[int], dict[int, str]]:
    """The good reports by vessel and time, as their numbers, and the reasons of the others."""
    reasons: dict[int, str] = {}
    for number, report in enumerate(reports):
        reason = single(report, settings, latest)
        if reason is not None:
            reasons[number] = reason
    good: list[int] = []
    for vessel in sorted({report.vessel for report in reports}):
        own = [n for n, report in enumerate(reports) if report.vessel == vessel and n not in reasons]
        if settings.disorder is not None:
            in_order = [[b.time >= a.time - settings.disorder for b in reports] for a in reports]
            kept = longest(own, in_order)
            if len(kept) >= 0.9 * len(own):
                reasons |= {n: "time" for n in own if n not in kept}
                own = kept
        own = sorted(own, key=lambda n: reports[n].time)
        once: list[int] = []
        for n in own:
            if once and reports[once[-1]].time == reports[n].time:
                reasons[n] = "duplicate"
            else:
                once.append(n)
        reach = [[distance(a, b) <= settings.max_speed * KNOT * abs(b.time - a.time) + settings.slack for b in reports]
                 for a in reports]
        kept = longest(once, reach)
        reasons |= {n: "jump" for n in once if n not in kept}
        good += kept
    return good, reasons


def single(report: Report, settings: Cleaning, latest: int) -> str | None:
    """What is wrong with a report by itself."""
    digits = f"{report.vessel:09d}"
    if settings.any_vessel:
        if report.vessel <= 0:
            return "vessel"
    elif len(set(digits)) == 1 or digits in ("123456789", "987654321") or report.vessel < 0 or len(digits) > 9:
        return "vessel"
    elif not ("201" <= digits[:3] <= "775" or (digits[:2] == "98" and "201" <= digits[2:5] <= "775")):
        ashore = digits[:2] == "00" and "201" <= digits[2:5] <= "775"
        group = digits[0] == "0" and "201" <= digits[1:4] <= "775"
        other = digits[:3] == "111" or digits[:2] in ("97", "99") or ashore or group
        return "station" if other else "vessel"
    if not settings.earliest <= report.time <= latest:
        return "time"
    if math.isnan(report.lon) or math.isnan(report.lat) or report.lon == 181 or report.lat == 91:
        return "no_place"
    if abs(report.lon) > 180 or abs(report.lat) > 90 or (abs(report.lon) < 1e-4 and abs(report.lat) < 1e-4):
        return "place"
    if report.speed < 102.25 and not 0 <= report.speed <= settings.max_speed:
        return "speed"
    return None


Event = tuple[str, int, int]


def events(reports: list[Report], settings: Thresholds, until: int) -> list[Event]:
    """The critical points of reports whose speeds and courses are known: name, time, vessel; sorted."""
    found: list[Event] = []
    for vessel in sorted({report.vessel for report in reports}):
        own = [report for report in reports if report.vessel == vessel]
        stretches = [own[:1]]
        for before, after in pairwise(own):
            if after.time - before.time > settings.gap:
                found += [("gap_start", before.time, vessel), ("gap_end", after.time, vessel)]
                stretches.append([])
            stretches[-1].append(after)
        silent = until - own[-1].time > settings.gap
        if silent:
            found.append(("gap_start", own[-1].time, vessel))
        for number, stretch in enumerate(stretches):
            closed = silent or number < len(stretches) - 1
            found += [(name, time, vessel) for name, time in _stretch(stretch, settings, closed)]
    return sorted(found)


def _stretch(reports: list[Report], settings: Thresholds, closed: bool) -> Iterable[tuple[str, int]]:
    """What happens in reports without a gap between them, one kind of event after the other."""
    end = reports[-1].time
    stops = _states([r.speed for r in reports], settings.stop_speed, settings.stop_leave)
    yield from _periods("stop", [r.time for r in reports], stops, end if closed else None)
    slow, before = [], False
    for report, stopped in zip(reports, stops, strict=True):
        before = not stopped and report.speed <= (settings.slow_leave if before else settings.slow_speed)
        slow.append(before)
    yield from _periods("slow_motion", [r.time for r in reports], slow, end if closed else None)
    changes, mean, changing = [], reports[0].speed, False
    for last, report in zip([None, *reports], reports, strict=False):
        if last is not None:
            away = abs(report.speed - mean)
            if changing:
                changing = away > max(settings.speed_ratio * mean, settings.speed_step) / 2
            else:
                changing = away > settings.speed_ratio * mean and away > settings.speed_step
            share = 1 - math.exp(-(report.time - last.time) / settings.speed_memory)
            mean += share * (report.speed - mean)
        changes.append(changing)
    yield from _periods("change_in_speed", [r.time for r in reports], changes, end if closed else None)
    ahead = None
    for report in reports:
        if report.speed >= settings.turn_speed:
            if ahead is None:
                ahead = report.course
            apart = abs(report.course - ahead) % 360
            if min(apart, 360 - apart) > settings.turn:
                ahead = report.course
                yield "change_in_heading", report.time


def _states(speeds: list[float], enter: float, leave: float) -> list[bool]:
    found, inside = [], False
    for speed in speeds:
        inside = speed <= (leave if inside else enter)
        found.append(inside)
    return found


def _periods(name: str, times: list[int], states: list[bool], end: int | None) -> Iterable[tuple[str, int]]:
    for time, before, now in zip(times, [False, *states], states, strict=False):
        if before != now:
            yield f"{name}_{'start' if now else 'end'}", time
    if states[-1] and end is not None:
        yield f"{name}_end", end
