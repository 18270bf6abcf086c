"""The page in a real browser: it needs nothing else, answers to people, and says what the result says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.report.browser import Browser, Page, browser
from tests.report.samples import HOURS, MIDNIGHT, Row, Sample, sample, table_of

from eventide.report import write_report
from eventide.report.times import duration_text, time_text

Open = Callable[..., Page]
EVIL = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>"
CHANGE = "e.dispatchEvent(new Event('input', {bubbles: true}))"


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with browser() as found:
        yield found


@pytest.fixture
def opened(running: Browser, tmp_path: Path) -> Iterator[Open]:
    """Writes a report and opens it; in the end nothing may have gone wrong, and nothing may have been fetched."""
    pages: list[tuple[Page, Path]] = []

    def open_(results: Any, **options: Any) -> Page:
        file = tmp_path / "report.html"
        write_report(file, results, **options)
        page = running.page()
        pages.append((page, file))
        page.open(file)
        page.wait_for("document.documentElement.dataset.ready")
        return page

    yield open_
    for page, file in pages:
        assert page.problems() == []
        assert page.requests() == [file.as_uri()]


@pytest.fixture(scope="module")
def ships() -> Sample:
    """Vessels with situations."""
    return sample()


def show(opened: Open, ships: Sample, **options: Any) -> Page:
    return opened(ships.table, positions=ships.positions, vessels=ships.names, **options)


def text(page: Page, selector: str) -> str:
    return str(page.run(f"document.querySelector({json.dumps(selector)}).textContent"))


def count(page: Page) -> int:
    """How many intervals pass the filters, as the page says."""
    page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return int(text(page, "#count").split(" ")[0].replace(",", ""))


def settle(page: Page) -> None:
    page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def type_into(page: Page, selector: str, value: str) -> None:
    page.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)}; "
             f"{CHANGE}; }})()")


def press(page: Page, selector: str) -> None:
    page.run(f"document.querySelector({json.dumps(selector)}).click()")


def shown_period(page: Page) -> tuple[str, str]:
    settle(page)
    first, last = text(page, "#range").removesuffix(" UTC").split(" to ")
    return first, last


def pixels(page: Page, canvas: str) -> str:
    settle(page)
    return str(page.run(f"document.getElementById('{canvas}').toDataURL()"))


def set_time(page: Page, time: int) -> None:
    type_into(page, "#cursor", str((time - MIDNIGHT) / HOURS * 1000))
    settle(page)


def holding(page: Page) -> dict[str, int]:
    """What the page says about the time under the cursor: how many intervals of each fluent."""
    return dict(page.run("""[...document.querySelectorAll("#now-list .card")].map(card =>
        [card.querySelector("h4 span").textContent, Number(card.querySelector("h4 small").textContent)])"""))


def expected_holding(rows: list[Row], time: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for fluent, _, _, start, end in rows:
        if start <= time and (end is None or time < end):
            found[fluent] = found.get(fluent, 0) + 1
    return found


def test_the_numbers_are_those_of_the_result(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    assert count(page) == len(ships.rows)
    table = page.run("""[...document.querySelectorAll("#table-fluents tbody tr")].map(row =>
        [...row.cells].map(cell => cell.textContent))""")
    last = max(end or start for _, _, _, start, end in ships.rows)
    last = max(last, MIDNIGHT + HOURS)
    expected = []
    for name in sorted({row[0] for row in ships.rows}):
        rows = [row for row in ships.rows if row[0] == name]
        lengths = [(last if end is None else end) - start for *_, start, end in rows]
        expected.append([name, str(len(rows)), str(len({row[1] for row in rows})), duration_text(sum(lengths), "s"),
                         duration_text(sum(lengths) / len(rows), "s"), duration_text(max(lengths), "s"),
                         str(sum(row[4] is None for row in rows))])
    assert table == expected


def test_the_table_holds_every_interval(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    press(page, "#listing summary")
    page.wait_for("document.querySelector('#listing-rows tr')")
    found: list[list[str]] = []
    while True:
        found += page.run("""[...document.querySelectorAll("#listing-rows tr")].map(row =>
            [...row.cells].map(cell => cell.textContent))""")
        if page.run("document.getElementById('page-after').disabled"):
            break
        press(page, "#page-after")
    shown = [(name, args, value, start, end) for name, args, value, start, end, _ in found]
    expected = [(name, ", ".join(ships.names[int(part)]["name"] for part in args.split("|")), value,
                 time_text(start, 0, "s"), "open" if end is None else time_text(end, 0, "s"))
                for name, args, value, start, end in ships.rows]
    assert sorted(shown) == sorted(expected)


def test_the_most_at_once(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    page.run("""window.drawn = []; const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
            window.drawn.push(text); write.call(this, text, ...rest); }""")
    press(page, "#zoom-in")
    settle(page)
    most = max(sum(expected_holding(ships.rows, row[3]).values()) for row in ships.rows)
    assert f"at most {most} at once" in page.run("window.drawn")


def test_zoom_by_buttons_keys_wheel_and_drag(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    everything, before = shown_period(page), pixels(page, "chart")
    press(page, "#zoom-in")
    closer = shown_period(page)
    assert everything[0] < closer[0] < closer[1] < everything[1]
    assert pixels(page, "chart") != before
    press(page, "#zoom-out")
    assert shown_period(page) == everything
    page.run("document.getElementById('rows').focus()")
    page.key("+")
    by_key = shown_period(page)
    assert everything[0] < by_key[0] < by_key[1] < everything[1]
    page.key("ArrowRight", shift=True)
    assert shown_period(page)[0] > by_key[0]
    page.key("0")
    assert shown_period(page) == everything
    x, y = page.centre("#chart")
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300, modifiers=2)
    by_wheel = shown_period(page)
    assert everything[0] < by_wheel[0] < by_wheel[1] < everything[1]
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.mouse("mouseMoved", x - 80, y, button="left", buttons=1)
    page.mouse("mouseReleased", x - 80, y, button="left", clickCount=1)
    assert shown_period(page)[0] > by_wheel[0]
    press(page, "#zoom-fit")
    assert shown_period(page) == everything


def test_filters(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    rows = ships.rows
    type_into(page, "#text", "rendez")
    assert count(page) == sum(row[0] == "rendezVous" for row in rows)
    type_into(page, "#text", "nearport 2270")
    assert count(page) == sum(row[2] == "nearPort" for row in rows)
    type_into(page, "#text", "no such thing")
    assert count(page) == 0
    press(page, "#filters button[type=reset]")
    page.wait_for("document.getElementById('text').value === ''")
    settle(page)
    assert count(page) == len(rows)
    someone = rows[0][1].split("|")[0]
    type_into(page, "#entity", someone)
    assert count(page) == sum(someone in row[1].split("|") for row in rows)
    type_into(page, "#entity", ships.names[int(someone)]["name"])
    assert count(page) == sum(someone in row[1].split("|") for row in rows)
    type_into(page, "#entity", "")
    type_into(page, "#value", "nearPort")
    assert count(page) == sum(row[2] == "nearPort" for row in rows)
    type_into(page, "#value", "")
    press(page, "#legend .chip")
    assert count(page) == sum(row[0] != "anchored" for row in rows)
    assert page.run("document.querySelector('#legend .chip').getAttribute('aria-pressed')") == "false"
    before = pixels(page, "chart")
    type_into(page, "#group", "entity")
    assert count(page) == sum(row[0] != "anchored" for row in rows)
    assert pixels(page, "chart") != before


def test_the_cursor_says_what_holds_and_moves_the_map(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    seen = set()
    for time in (MIDNIGHT + 2 * 3600, MIDNIGHT + 5 * 3600):
        set_time(page, time)
        assert holding(page) == expected_holding(ships.rows, time)
        assert text(page, "#time") == time_text(time, 0, "s")
        assert text(page, "#live").startswith(time_text(time, 0, "s"))
        seen.add(pixels(page, "sea"))
    assert len(seen) == 2


def test_pointing_at_the_timeline_and_clicking_it(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    before = text(page, "#now-time")
    x, y = page.centre("#chart")
    page.mouse("mouseMoved", x + 200, y)
    settle(page)
    pointed = text(page, "#now-time")
    assert pointed > before
    page.mouse("mouseMoved", 5, 5)
    settle(page)
    assert text(page, "#now-time") == before
    page.click(x + 200, y)
    page.mouse("mouseMoved", 5, 5)
    settle(page)
    assert text(page, "#now-time") == pointed


def test_hover_shows_interval_and_value(opened: Open) -> None:
    page = opened(table_of([("stopped", "a", "nearPort", 100, 900), ("stopped", "b", "farFromPorts", 0, None)]))
    box = page.run("(() => { const b = document.getElementById('chart').getBoundingClientRect(); "
                   "return [b.x, b.y, b.width]; })()")
    page.mouse("mouseMoved", box[0] + box[2] * 0.6, box[1] + 26 + 24 + 12)
    page.wait_for("!document.getElementById('tip').hidden")
    assert text(page, "#tip") == "stopped(a) = nearPort100 to 900800"
    page.mouse("mouseMoved", box[0] + box[2] * 0.6, box[1] + 26 + 48 + 12)
    settle(page)
    assert text(page, "#tip") == "stopped(b) = farFromPorts0 to open900 so far"


def test_map_zooms_pans_and_selects(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    start, where = pixels(page, "sea"), text(page, "#scale")
    page.run("document.getElementById('sea').focus()")
    page.key("ArrowRight")
    settle(page)
    assert text(page, "#scale") != where
    page.key("0")
    assert pixels(page, "sea") == start
    x, y = page.centre("#sea")
    page.mouse("mouseWheel", x + 50, y, deltaX=0, deltaY=-240)
    settle(page)
    assert text(page, "#scale") != where
    press(page, "#map-fit")
    assert pixels(page, "sea") == start
    press(page, "#map-in")
    assert pixels(page, "sea") != start
    press(page, "#map-fit")
    settle(page)
    place = page.run("""(() => { const sea = document.getElementById("sea"), box = sea.getBoundingClientRect();
        for (let y = 20; y < box.height; y += 4) for (let x = 20; x < box.width; x += 4) {
            const at = {clientX: box.x + x, clientY: box.y + y, pointerId: 1, bubbles: true};
            sea.dispatchEvent(new PointerEvent("pointermove", at));
            if (!document.getElementById("tip").hidden) return [at.clientX, at.clientY];
        } })()""")
    page.click(*place)
    settle(page)
    chosen = str(page.run("document.getElementById('entity').value"))
    assert chosen.startswith("2270")
    assert count(page) == sum(chosen in row[1].split("|") for row in ships.rows)


def test_keys_walk_through_rows_and_intervals(opened: Open) -> None:
    page = opened(table_of([("f", "a", "true", 0, 10), ("f", "a", "true", 20, None), ("g", "b", "true", 5, 6)]))
    type_into(page, "#group", "fluent")
    settle(page)
    page.run("document.getElementById('rows').focus()")
    page.key("ArrowDown")
    assert text(page, "#live") == "f(a), 2 intervals"
    page.key("ArrowRight")
    assert text(page, "#live") == "f(a) = true, 0 to 10, 10"
    page.key("ArrowRight")
    assert text(page, "#live") == "f(a) = true, 20 to open, 0 so far"
    page.key("ArrowRight")
    assert text(page, "#live") == "No later interval"
    settle(page)
    assert text(page, "#time") == "20"
    page.key("End")
    assert text(page, "#live") == "g(b), 1 interval"
    page.key("ArrowUp")
    page.key("Enter")  # folds the group
    settle(page)
    page.key("End")
    assert text(page, "#live") == "g, 1 row, 1 interval"
    type_into(page, "#group", "rarest")
    settle(page)
    page.key("Home")
    assert text(page, "#live") == "g, 1 row, 1 interval"


def test_tables_sort(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    column = "[...document.querySelectorAll('#table-fluents tbody tr')].map(row => Number(row.cells[1].dataset.sort))"
    button = "#table-fluents thead th:nth-child(2) button"
    press(page, button)
    assert page.run(column) == sorted(page.run(column), reverse=True)
    press(page, button)
    assert page.run(column) == sorted(page.run(column))
    assert page.run("document.querySelector('#table-fluents th:nth-child(2)').getAttribute('aria-sort')") == "ascending"
    press(page, "#table-fluents tbody tr .link")
    chosen = text(page, "#table-fluents tbody tr th")
    assert count(page) == sum(row[0] == chosen for row in ships.rows)


def test_names_are_text(opened: Open, ships: Sample) -> None:
    names = {who: {"name": EVIL, "type": EVIL} for who in ships.names}
    rows: list[Row] = [*ships.rows, (EVIL, f"{EVIL}|x", EVIL, MIDNIGHT, None)]
    areas = {EVIL: {"type": "Polygon", "coordinates": [[[-5, 48], [-4, 48], [-4, 49], [-5, 48]]]}}
    page = opened(table_of(rows), positions=ships.positions, vessels=names, title=EVIL, warnings=[EVIL], areas=areas,
                  statistics={EVIL: EVIL, "table": [{EVIL: EVIL}]})
    press(page, "#listing summary")
    page.wait_for("document.querySelector('#listing-rows tr')")
    assert page.run("window.broken ?? 'whole'") == "whole"
    assert page.run("document.querySelectorAll('img, main script').length") == 0
    assert text(page, "h1") == EVIL == text(page, ".warnings li") == str(page.run("document.title"))
    assert EVIL in page.run("[...document.querySelectorAll('#legend .chip span')].map(e => e.textContent)")
    assert EVIL in page.run("[...document.querySelectorAll('#value option')].map(e => e.value)")


def test_without_positions_there_is_no_map(opened: Open, ships: Sample) -> None:
    page = opened(ships.table)
    assert page.run("document.getElementById('map')") is None
    assert count(page) == len(ships.rows)


def test_nothing_recognised(opened: Open) -> None:
    page = opened(table_of([]), title="Nothing")
    assert text(page, ".lead") == "Nothing was recognised."
    assert count(page) == 0
    for selector in ("#zoom-in", "#zoom-out", "#zoom-fit", "#play", "#play"):
        press(page, selector)
    settle(page)


@pytest.mark.parametrize("columns", [
    {"start": [5], "end": [None]}, {"start": [MIDNIGHT], "end": [None]}, {"start": [-7], "end": [-3]},
    {"start": ["1/3"], "end": ["7/3"]}, {"start": ["-inf"], "end": ["inf"]}, {"start": [0], "end": [2**61]},
])
def test_strange_times(opened: Open, columns: dict[str, list[Any]]) -> None:
    table = pa.table({"fluent": ["f"], "args": [""], "value": [""], "start": columns["start"],
                      "end": pa.array(columns["end"], pa.int64() if columns["end"] == [None] else None)})
    page = opened(table)
    assert count(page) == 1
    for selector in ("#zoom-in", "#zoom-out", "#zoom-out", "#zoom-fit", "#listing summary"):
        press(page, selector)
        settle(page)
    page.run("document.getElementById('rows').focus()")
    for key in ("ArrowDown", "ArrowRight", "+", "Enter", "0"):
        page.key(key)
    settle(page)
    assert text(page, "#live").startswith("f")
    assert page.run("document.querySelectorAll('#listing-rows tr').length") == 1


def test_times_as_numbers(opened: Open) -> None:
    large = 9_007_199_254_740_993  # no float has this value
    page = opened(table_of([("f", "a", "true", large, large + 4)]), times="number")
    press(page, "#listing summary")
    page.wait_for("document.querySelector('#listing-rows tr')")
    cells = page.run("[...document.querySelectorAll('#listing-rows td')].map(e => e.textContent)")
    assert cells == ["f", "a", "true", str(large), str(large + 4), "4"]


def test_light_dark_and_print(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    ground = "getComputedStyle(document.body).backgroundColor"
    light, picture = page.run(ground), pixels(page, "chart")
    page.prefer("dark")
    dark = page.run(ground)
    assert dark != light
    page.wait_for(f"document.getElementById('chart').toDataURL() !== {json.dumps(picture)}")
    press(page, "#theme")
    assert page.run(ground) == light
    press(page, "#theme")
    assert page.run(ground) == dark
    page.send("Emulation.setEmulatedMedia", media="print", features=[])
    assert page.run(ground) == "rgb(255, 255, 255)"
    hidden = "['nav', '#filters', '.transport', '.hint'].map(e => getComputedStyle(document.querySelector(e)).display)"
    assert page.run(hidden) == ["none"] * 4
    assert page.run("document.getElementById('table-fluents').getBoundingClientRect().height") > 100
    page.send("Emulation.setEmulatedMedia", media="", features=[])
    assert page.print().startswith(b"%PDF")
    settle(page)


def test_printing_shows_the_rows_that_do_not_fit_the_screen(opened: Open) -> None:
    page = opened(table_of([("f", f"a{at:02}", "true", at, at + 5) for at in range(35)]))
    tall = "document.getElementById('chart').height"
    on_screen = page.run(tall)
    page.prefer("dark")
    scheme = "getComputedStyle(document.documentElement).getPropertyValue('--scheme')"
    assert page.run(scheme) == "dark"
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    assert page.run(scheme) == "light"
    assert page.run(tall) >= 36 * 24 > on_screen
    page.run("window.dispatchEvent(new Event('afterprint'))")
    assert page.run(scheme) == "dark"
    assert page.run(tall) == on_screen


def test_everything_that_can_be_used_has_a_name(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    page.send("Accessibility.enable")
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    roles = {node["role"]["value"] for node in nodes if not node["ignored"]}
    assert {"main", "banner", "navigation", "search", "slider", "table", "application", "contentinfo"} <= roles
    usable = ("button", "slider", "searchbox", "textbox", "combobox", "application", "link", "table", "region")
    nameless = [node["role"]["value"] for node in nodes if not node["ignored"] and node["role"]["value"] in usable
                and not node.get("name", {}).get("value")]
    assert nameless == []
    assert page.run("document.querySelectorAll('h1').length") == 1
    assert page.run("document.documentElement.lang") == "en"


def test_small_screens_have_no_sideways_scrolling(opened: Open, ships: Sample) -> None:
    page = show(opened, ships)
    page.resize(390, 800)
    settle(page)
    assert page.run("document.documentElement.scrollWidth") <= 390


def test_time_to_open(opened: Open, record_property: Callable[[str, object], None]) -> None:
    """Ten thousand intervals and two hundred thousand positions; the time is told, not judged."""
    large = sample(vessels=400, situations=10_500, reports=500, seed=2)
    page = show(opened, large)
    assert count(page) == len(large.rows)
    ready = int(page.run("document.documentElement.dataset.ready"))
    record_property("opened in ms", ready)
    print(f"{len(large.rows)} intervals and {large.positions.num_rows} positions open in {ready} ms")


def test_intervals_lead_to_their_proofs(opened: Open) -> None:
    rows = table_of([("f", "a", "true", 100, 110), ("f", "a", "true", 120, 130)])
    page = opened(rows, proofs={("f", "a", "true", 120): "<p>because of <b>e(a)</b></p>"})
    type_into(page, "#group", "fluent")
    settle(page)
    page.run("document.getElementById('rows').focus()")
    page.key("ArrowDown")
    page.key("ArrowRight")
    page.key("w")
    assert not page.run("document.getElementById('why-0').open")  # the first interval has no proof
    page.key("ArrowRight")
    page.key("w")
    assert page.run("document.getElementById('why-0').open")
    page.run("document.getElementById('why-0').open = false")
    box = page.run("(() => { const b = document.getElementById('rows').getBoundingClientRect(); "
                   "return [b.x, b.y, b.width, b.height]; })()")
    page.mouse("mouseMoved", box[0] + box[2] * 0.95, box[1] + 26 + 24 + 12)
    settle(page)
    assert text(page, "#tip").endswith("Click to see why")
    page.click(box[0] + box[2] * 0.95, box[1] + 26 + 24 + 12)
    settle(page)
    assert page.run("document.getElementById('why-0').open")
