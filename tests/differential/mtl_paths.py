"""Every way to run a DatalogMTL program, as entries of the table of paths."""

from __future__ import annotations

import contextlib
import csv
import io
import random
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.executors import BUCKETS
from tests.mtl.test_spark import in_buckets
from tests.oracle.mtl import Fact, Span

import eventide as ev
from eventide.cli.main import main
from eventide.mtl.facts import facts_in
from eventide.mtl.program import MtlProgram
from eventide.spark.mtl import Seen, planned, times_in

from .cases import Case
from .mtl_cases import VARIANTS
from .mtl_reference import MtlQuestion, MtlRow, batches, net_facts, ordered
from .paths import SAMPLED, Held, Said, path, path_of_many

SHIFTS = ("7", "-50", "1/3", "-22/7", "1000000", "5/2")
IRRELEVANT = """NoiseP(X) :- <>-[0,2] NoiseA(X), not NoiseB(X).
[]+[3/7,1] NoiseQ(X) :- NoiseP(X) since[1/7,2) NoiseA(X).
NoiseP(X) :- <>-[1,1] NoiseQ(X), NoiseB(X).
"""


@lru_cache(maxsize=4)
def parsed(text: str) -> MtlProgram:
    """A program, which several paths use."""
    return program_of(text)


def program_of(text: str) -> MtlProgram:
    """A program of its text."""
    program: MtlProgram = ev.parse(text, language="mtl")
    return program


def text_of(facts: Iterable[Fact]) -> str:
    """Facts as text."""
    return "".join(f"{fact}\n" for fact in facts)


def rows_of(table: Iterable[dict[str, Any]]) -> tuple[MtlRow, ...]:
    """Rows of the interface."""
    return ordered((f"{row['fluent']}({row['args'].replace('|', ',')})" if row["args"] else str(row["fluent"]),
                    row["start"], row["end"] or None, row["left"], row["right"]) for row in table)


def once(case: Case) -> MtlQuestion:
    """The answer over all facts up to the horizon."""
    return MtlQuestion(case.options.end)


def over_all(case: Case, program: MtlProgram, facts: str) -> Said:
    """A run over some facts, which say the same as those of the case."""
    return Said(once(case), rows_of(program.run(facts_in(facts), horizon=case.options.end).to_arrow().to_pylist()))


@path("mtl")
def one(case: Case) -> Iterator[Said]:
    """Materialisation: everything at once."""
    yield over_all(case, parsed(case.text), text_of(net_facts(case)))


@path("mtl")
def steps(case: Case) -> Iterator[Said]:
    """A stream in steps, in each variant."""
    options, facts = case.options, facts_in(text_of(net_facts(case)))
    for variant in VARIANTS:
        stream = parsed(case.text).stream(facts, step=options.step, points=options.points, horizon=options.end,
                                          variant=variant)  # type: ignore[arg-type]
        yield Said(once(case), rows_of(stream.table().to_pylist()))


@path("mtl")
def shown(case: Case) -> Iterator[Said]:
    """A stream that is asked about some times only."""
    options = case.options
    result = parsed(case.text).run(facts_in(text_of(net_facts(case))), step=options.step, at=options.at,
                                   horizon=options.end, variant=options.variant)
    yield Said(once(case)._replace(shown="moments"), rows_of(result.to_arrow().to_pylist()))


@path("mtl")
def session(case: Case) -> Iterator[Said]:
    """A session, saved and restored; its changes must add up."""
    options = case.options
    current = parsed(case.text).session(delay=options.delay, variant=options.variant)
    held, rng = Held(), random.Random(case.seed)
    last = len(options.queries) - 1
    asked = {*rng.sample(range(last), min(SAMPLED, last)), last}
    for place, query in enumerate(options.queries):
        for sign, facts in batches(case, place):
            (current.insert if sign > 0 else current.retract)(facts_in(text_of(facts)))
        if place in options.saves:
            current = program_of(case.text).restore(current.save())
        changes = current.advance(to=query)
        held.apply(rows_of(changes.removed.to_pylist()), rows_of(changes.added.to_pylist()))  # type: ignore[arg-type]
        if place in asked:
            yield Said(MtlQuestion(query, place, "open"), ordered(held.rows), current.counts.too_late)


# -- the command line --------------------------------------------------------------------------------------------------


def commanded(case: Case, *arguments: str) -> list[dict[str, str]]:
    """The rows that `eventide run` writes."""
    with tempfile.TemporaryDirectory() as folder:
        rules, facts, out = (Path(folder) / name for name in ("rules.mtl", "in.facts", "out.csv"))
        rules.write_text(case.text, encoding="utf-8")
        facts.write_text(text_of(net_facts(case)), encoding="utf-8")
        with contextlib.redirect_stderr(io.StringIO()) as told:
            status = main(["run", str(rules), "--events", str(facts), "--horizon", case.options.end, *arguments,
                           "-o", str(out)])
        if status:
            raise RuntimeError(told.getvalue())
        with out.open(newline="", encoding="utf-8") as lines:
            return list(csv.DictReader(lines))


@path("mtl")
def command(case: Case) -> Iterator[Said]:
    """`eventide run`: everything at once, and in steps."""
    yield Said(once(case), rows_of(commanded(case)))
    options = case.options
    yield Said(once(case), rows_of(commanded(case, "--step", options.step, "--variant", options.variant)))


@path("mtl")
def followed(case: Case) -> Iterator[Said]:
    """`eventide run --emit changes`: what is told at the query times must add up."""
    told, held = commanded(case, "--step", case.options.step, "--emit", "changes"), Held()
    for query in sorted({row["query_time"] for row in told}, key=Fraction):
        now = [row for row in told if row["query_time"] == query]
        held.apply(*(rows_of(row for row in now if row["change"] == sign) for sign in "-+"))  # type: ignore[arg-type]
    yield Said(once(case)._replace(shown="open"), ordered(held.rows))


# -- Spark -------------------------------------------------------------------------------------------------------------


@path("mtl")
def buckets(case: Case) -> Iterator[Said]:
    """The stages of a batch on Spark, in this process."""
    program, facts = parsed(case.text), facts_in(text_of(net_facts(case)))
    job = planned(program, Seen.of(times_in(program, facts)), case.options.buckets, horizon=case.options.end)
    names = ("fluent", "args", "value", "start", "end", "left", "right")
    yield Said(once(case), rows_of(dict(zip(names, row, strict=True)) for row in in_buckets(job, facts)))


@path_of_many("mtl")
def spark_batch(cases: Sequence[Case]) -> list[list[Said]]:
    """Batch runs over everything, one after the other."""
    from .on_spark import spark

    found = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what runs in one bucket is told
        for number, case in enumerate(cases):
            file = Path(folder) / f"{number}.facts"
            file.write_text(text_of(net_facts(case)), encoding="utf-8")
            program: Any = parsed(case.text)
            frame = ev.spark.run(program, [str(file)], spark=spark(), horizon=case.options.end,
                                 buckets=BUCKETS)
            found.append([Said(once(case), rows_of(frame.toArrow().to_pylist()))])
    return found


# -- the same in other words -------------------------------------------------------------------------------------------


@path("mtl")
def permuted(case: Case) -> Iterator[Said]:
    """Facts and rules in another order, some facts twice."""
    rng, clauses, facts = random.Random(case.seed), list(case.clauses), net_facts(case)
    facts += [fact for fact in facts if rng.random() < 0.2]
    rng.shuffle(clauses)
    rng.shuffle(facts)
    yield over_all(case, program_of("".join(f"{clause}\n" for clause in clauses)), text_of(facts))


@path("mtl")
def shifted(case: Case) -> Iterator[Said]:
    """Everything at another time."""
    by = Fraction(random.Random(case.seed).choice(SHIFTS))
    facts = [replace(fact, span=moved(fact.span, by)) for fact in net_facts(case)]
    result = parsed(case.text).run(facts_in(text_of(facts)), horizon=Fraction(case.options.end) + by)
    rows = [{**row, "start": row["start"] if row["start"] == "-inf" else str(Fraction(row["start"]) - by),
             "end": row["end"] and str(Fraction(row["end"]) - by)} for row in result.to_arrow().to_pylist()]
    yield Said(once(case), rows_of(rows))


def moved(span: Span, by: Fraction) -> Span:
    """An interval at another time."""
    return replace(span, low=None if span.low is None else span.low + by,
                   high=None if span.high is None else span.high + by)


@path("mtl")
def renamed(case: Case) -> Iterator[Said]:
    """Predicates and constants have other names, which come elsewhere in the order of names."""
    rows = program_of(with_names(case.text, other_name)).run(
        facts_in(with_names(text_of(net_facts(case)), other_name)), horizon=case.options.end).to_arrow().to_pylist()
    names = sorted(set(re.findall(r"[A-Za-z]\w*", case.text + text_of(net_facts(case)))))
    first = {other_name(name): name for name in names}
    yield Said(once(case), rows_of({**row, "fluent": first[row["fluent"]], "args": "|".join(
        first.get(arg, arg) for arg in row["args"].split("|"))} for row in rows))


def with_names(text: str, change: Callable[[str], str]) -> str:
    """A program or facts with other names."""
    return re.sub(r"[A-Za-z]\w*", lambda found: change(found[0]), text)


def other_name(name: str) -> str:
    """Another name for a predicate or a constant; variables and words of the language stay."""
    if name in ("X", "Y", "N", "since", "not", "inf"):
        return name
    mirrored = "".join(chr(219 - ord(sign)) if sign.islower() else chr(155 - ord(sign)) for sign in name)
    return f"{mirrored}_{name}"


@path("mtl")
def among_others(case: Case) -> Iterator[Said]:
    """Rules and facts that have nothing to do with it are there too, on a finer grid, about the same entities."""
    rng = random.Random(case.seed)
    noise = [f"{rng.choice(('NoiseA', 'NoiseB'))}({rng.choice('ab')})@{Fraction(rng.randrange(-40, 90), 7)}\n"
             for _ in range(8)]
    result = program_of(case.text + IRRELEVANT).run(facts_in(text_of(net_facts(case)) + "".join(noise)),
                                                    horizon=case.options.end)
    yield Said(once(case), rows_of(row for row in result.to_arrow().to_pylist() if "Noise" not in row["fluent"]))
