"""`eventide test-rules`: tests of rules from `.ectest` files, with coverage of the rules and a view level by level."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.account import by_name, count_of
from eventide.cli.messages import messages

if TYPE_CHECKING:
    from eventide.rule_tests.coverage import Coverage
    from eventide.rule_tests.running import Outcome, Tests

__test__: dict[str, str] = {}  # the name of the command, not a test of it; doctest wants a dict


def test_rules(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.ectest…", help="Files of tests, or folders with some.")],
    only: Annotated[str | None, typer.Option(
        "--only", "-k", metavar="WORDS", help="Run only the tests whose names have these words.")] = None,
    coverage: Annotated[bool, typer.Option(
        "--coverage", help="Show beside the rules which fired, and which conditions were ever true or false.")] = False,
    coverage_html: Annotated[Path | None, typer.Option(
        metavar="FILE.html", help="Write the coverage as a page.")] = None,
    least: Annotated[float | None, typer.Option(
        "--least-coverage", metavar="PERCENT", help="Fail if fewer outcomes of conditions were seen.", min=0,
        max=100)] = None,
    step_levels: Annotated[bool, typer.Option(
        "--step-levels", help="Show the facts of each test, then level by level which rules fire and which intervals "
        "follow.")] = False,
) -> None:
    """Run tests of rules: given these facts, at these query times, then these intervals.

    Example:

    ```
    echo "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T)." > rules.ec
    echo 'program rules.ec'              > rules.ectest
    echo 'test "winners are rich"'      >> rules.ectest
    echo 'given'                        >> rules.ectest
    echo '    3  win(ann)'              >> rules.ectest
    echo 'then'                         >> rules.ectest
    echo '    rich(ann)=true  [4, inf)' >> rules.ectest
    eventide test-rules rules.ectest --coverage
    ```
    """
    from eventide.formats.results import whole_file
    from eventide.rule_tests.coverage_views import page
    from eventide.rule_tests.running import Tests

    if coverage_html is not None and coverage_html.suffix not in (".html", ".htm"):
        raise typer.BadParameter(f"{coverage_html}: the page is an .html file", param_hint="--coverage-html")
    read = [Tests(file) for file in _files(files)]
    found = [(tests, tests.run(lambda name: only is None or only.lower() in name.lower())) for tests in read]
    if not any(outcomes for _, outcomes in found):
        raise typer.BadParameter(f"no test has {only!r} in its name", param_hint="--only")
    counted = _coverages(found) if coverage or coverage_html is not None or least is not None else []
    if least is not None and not counted:
        raise typer.BadParameter("none of the programs has coverage", param_hint="--least-coverage")
    if coverage_html is not None:
        with whole_file(coverage_html) as out:
            out.write(page(counted).encode())
    shown = _steps(found) if step_levels else {}
    failed = sum(not outcome.passed for _, outcomes in found for outcome in outcomes)
    messages.result(_data(found, counted, shown), "\n".join(_lines(found, counted if coverage else [], shown)))
    lacking = [one for one in counted if least is not None and _share(one) < least]
    for one in lacking:
        messages.problem(f"{one.source}: {_share(one):.1f} % of the outcomes of conditions were seen, fewer than "
                         f"{least:g} %",
                         "--coverage shows those that are missing")
    if failed or lacking:
        raise typer.Exit(1)


def _files(paths: list[Path]) -> Iterator[Any]:
    """The files of tests, also those in folders; every one is read before any is run."""
    from eventide.formats.problems import input_error
    from eventide.rule_tests.reading import read_tests

    chosen: list[Path] = []
    for path in paths:
        inside = sorted(path.rglob("*.ectest")) if path.is_dir() else [path]
        if not inside:
            raise input_error("no-tests", "the folder has no .ectest file", str(path),
                              hint="files of tests end in .ectest")
        chosen += inside
    return iter([read_tests(path) for path in dict.fromkeys(chosen)])


def _coverages(found: list[tuple[Tests, list[Outcome]]]) -> list[Coverage]:
    """The coverage of every program, over all files that test it, whatever background they add."""
    from eventide.rule_tests.coverage import Coverage

    counted: dict[tuple[Path, object], Coverage] = {}
    for tests, outcomes in found:
        if not hasattr(tests.program.model, "clauses"):
            messages.say(f"{tests.file.program}: coverage is of Event Calculus programs")
            continue
        key = ((Path(tests.file.source).parent / tests.file.program).resolve(),
               (tests.file.background, tests.file.facts))  # with another one a program may have other clauses
        coverage = counted.get(key) or counted.setdefault(key, Coverage(tests.program))
        for outcome in outcomes:
            coverage.add(outcome.test)
    united: dict[Path, Coverage] = {}
    for (path, _), coverage in counted.items():
        if united.setdefault(path, coverage) is not coverage:
            united[path].unite(coverage)
    return list(united.values())


def _share(coverage: Coverage) -> float:
    totals = coverage.totals
    return 100 * totals["outcomes_seen"] / max(totals["outcomes"], 1)


def _steps(found: list[tuple[Tests, list[Outcome]]]) -> dict[int, list[dict[str, Any]]]:
    """The query times of each test with their levels."""
    from eventide.rule_tests.levels import steps

    shown: dict[int, list[dict[str, Any]]] = {}
    for tests, outcomes in found:
        if hasattr(tests.program.model, "clauses"):
            shown |= {id(outcome): list(steps(tests.program, outcome.test)) for outcome in outcomes}
        elif outcomes:
            messages.say(f"{tests.file.program}: levels are shown of Event Calculus programs")
    return shown


def _lines(found: list[tuple[Tests, list[Outcome]]], counted: list[Coverage],
           shown: dict[int, list[dict[str, Any]]]) -> Iterator[str]:
    from eventide.rule_tests.coverage_views import listing, summary
    from eventide.rule_tests.levels import text

    for tests, outcomes in found:
        if outcomes:
            yield tests.file.source
        for outcome in outcomes:
            yield f"  {'ok    ' if outcome.passed else 'FAILED'} {outcome.test.name}"
            for step in shown.get(id(outcome), ()):
                yield from (f"      {line}" for line in text(step))
            for difference in outcome.differences:
                yield from (f"      {line}" for line in difference.lines())
            if outcome.late and not outcome.passed:
                yield f"      left out as too late for the window: {by_name(outcome.late)}"
    total = sum(len(outcomes) for _, outcomes in found)
    failed = sum(not outcome.passed for _, outcomes in found for outcome in outcomes)
    yield f"{count_of(total, 'test')}, {failed} failed" if failed else f"{count_of(total, 'test')} passed"
    for coverage in counted:
        yield ""
        yield from listing(coverage)
        yield ""
        yield summary(coverage)
        yield from (f"  {span}: {what}" for span, what in coverage.gaps())


def _data(found: list[tuple[Tests, list[Outcome]]], counted: list[Coverage],
          shown: dict[int, list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "tests": [{
            "file": tests.file.source, "name": outcome.test.name, "line": outcome.test.span.line,
            "passed": outcome.passed, "differences": [difference.as_dict() for difference in outcome.differences],
            "too_late": outcome.late, **({"steps": shown[id(outcome)]} if id(outcome) in shown else {}),
        } for tests, outcomes in found for outcome in outcomes],
        "failed": sum(not outcome.passed for _, outcomes in found for outcome in outcomes),
        **({"coverage": [coverage.as_dict() for coverage in counted]} if counted else {}),
    }
