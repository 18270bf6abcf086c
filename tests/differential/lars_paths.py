"""Every way to run a LARS program, as entries of the table of paths."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import random
import re
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.executors import BUCKETS
from tests.lars.test_spark import rows_in_buckets

import eventide as ev
from eventide.cli.main import main
from eventide.lars.program import LarsProgram
from eventide.lars.running import Run
from eventide.lars.splitting import split as split_program
from eventide.lars.streams import read
from eventide.spark.lars import planned
from eventide.syntax import lars_trees
from eventide.syntax.terms import Atom, Compound, Number

from .cases import Case
from .lars_reference import Facts, LarsQuestion, batches, by_time, given_facts, in_time
from .paths import SAMPLED, Held, Said, path, path_of_many
from .reference import Rows, in_order

IRRELEVANT = """
noise(X) at T :- other(X) at T [4], not noise2(X).
noise2(X) :- other(X) always [1].
noise3(X,Y) :- noise(X), other(Y) [2 # by Y], X != Y.
"""
WORDS_ELSE = {"a": '"z, \\"z\\""', "b": "a1", "c": '"Ünï ✓"'}
FLAG = "⊥"


@lru_cache(maxsize=4)
def parsed(text: str) -> LarsProgram:
    """A program, which several paths use."""
    return program_of(text)


def program_of(text: str) -> LarsProgram:
    """A program of its text."""
    program: LarsProgram = ev.parse(text, language="lars")
    return program


def how(case: Case) -> dict[str, Any]:
    """Which answers are asked for."""
    models = case.options.models
    if models == "first" and parsed(case.text).model.several:
        models = "brave"
    return {"models": models, "contradictions": case.options.contradictions}


def once(case: Case) -> LarsQuestion:
    """The answer over all facts."""
    return LarsQuestion(case.options.end, **how(case))


def rows_of(table: Iterable[dict[str, Any]]) -> Rows:
    """Rows of the interface as atoms with start and end, `p(a)=3` for what is known of 3; without contradictions."""
    return in_order((f"{atom_of(row)}={row['value']}" if row["value"] else atom_of(row), int(row["start"]),
                     int(row["end"]) if row["end"] not in (None, "") else None)
                    for row in table if not str(row["fluent"]).startswith(FLAG))


def atom_of(row: dict[str, Any]) -> str:
    """The atom of a row as rules write it."""
    name, args = str(row["fluent"]), tuple(map(term_of, row["args"].split("|"))) if row["args"] else ()
    return lars_trees.atom_text(Compound(name, args) if args else Atom(name))


def term_of(text: str) -> Atom | Number:
    """An argument of a row."""
    try:
        return Number(int(text))
    except ValueError:
        return Atom(text)


def ran(case: Case, facts: Facts, program: LarsProgram | None = None, **options: Any) -> Rows:
    """The rows of a run over some facts."""
    program = program or parsed(case.text)
    result = program.run(by_time(facts), **{"end": case.options.end, **how(case), **options})
    return rows_of(result.to_arrow().to_pylist())


@path("lars")
def one(case: Case) -> Iterator[Said]:
    """A run over all facts: by columns, and by answer sets where there may be several answers."""
    yield Said(once(case), ran(case, given_facts(case)))


@path("lars")
def earlier(case: Case) -> Iterator[Said]:
    """The same with what is known of earlier time-points."""
    yield Said(once(case)._replace(earlier=True), ran(case, given_facts(case), earlier=True))


@path("lars")
def moments(case: Case) -> Iterator[Said]:
    """Runs that end earlier or begin later."""
    rng, options = random.Random(case.seed), case.options
    for end in rng.sample(range(options.end), min(SAMPLED, options.end)):
        yield Said(once(case)._replace(at=end), ran(case, given_facts(case), end=end))
    yield Said(once(case)._replace(start=options.start), ran(case, given_facts(case), start=options.start))


@path("lars")
def maintained(case: Case) -> Iterator[Said]:
    """Truth maintenance."""
    yield Said(once(case), ran(case, given_facts(case), maintain=True))


@path("lars")
def answer_sets(case: Case) -> Iterator[Said]:
    """Answer sets for all rules, though the program has one answer."""
    program = parsed(case.text)
    if program.model.several or case.options.contradictions == "flag":
        return
    facts = read(by_time(given_facts(case)))
    run = Run(program.tree, [*facts.tables, *program.model.inputs], facts, case.options.end)
    run.parts = split_program(program.tree, program.model.derived, list(facts.tables))
    yield Said(once(case), rows_of(run.table(program.wanted(None)).to_pylist()))


@path("lars")
def session(case: Case) -> Iterator[Said]:
    """A session, saved and restored; its changes must add up."""
    options = case.options
    program, held, late = parsed(case.text), Held(), 0
    current = program.session(**how(case))
    rng, earlier = random.Random(case.seed), sorted({query for query in options.queries[:-1]})
    asked = {*rng.sample(earlier, min(SAMPLED, len(earlier))), options.queries[-1]}
    for place, (query, batch) in enumerate(batches(case)):
        current.insert(by_time(in_time(batch)))
        if query in options.saves:
            current = program_of(case.text).restore(current.save())
        changes = current.advance(to=query)
        late += changes.late.num_rows
        held.apply(rows_of(changes.removed.to_pylist()), rows_of(changes.added.to_pylist()))
        if query in asked and query not in options.queries[place + 1:]:
            yield Said(once(case)._replace(at=query, session=True), held.answer, late)


@path("lars")
def steps(case: Case) -> Iterator[Said]:
    """A session point by point, saved and restored at each; no fact is late."""
    program, held, facts = parsed(case.text), Held(), given_facts(case)
    current = program.session(**how(case))
    for t in range(case.options.end + 1):
        current.insert(by_time(tuple(fact for fact in facts if fact[1] == t)))
        changes = current.advance(to=t)
        held.apply(rows_of(changes.removed.to_pylist()), rows_of(changes.added.to_pylist()))
        current = program.restore(current.save())
    yield Said(once(case), held.answer)


# -- the command line --------------------------------------------------------------------------------------------------


def commanded(case: Case, *arguments: str) -> list[dict[str, str]]:
    """The rows that `eventide run` writes."""
    asked = [f"--{name}={value}" for name, value in how(case).items()]
    with tempfile.TemporaryDirectory() as folder:
        rules, facts, out = (Path(folder) / name for name in ("rules.lars", "in.jsonl", "out.csv"))
        rules.write_text(case.text, encoding="utf-8")
        facts.write_text(jsonl_of(given_facts(case)), encoding="utf-8")
        with contextlib.redirect_stderr(io.StringIO()) as told:
            status = main(["run", str(rules), "--events", str(facts), "--end", str(case.options.end), *asked,
                           *arguments, "-o", str(out)])
        if status:
            raise RuntimeError(told.getvalue())
        with out.open(newline="", encoding="utf-8") as lines:
            return list(csv.DictReader(lines))


def jsonl_of(facts: Facts) -> str:
    """Facts as a file has them."""
    return "".join(f"{json.dumps({'time': time, 'facts': found})}\n" for time, found in by_time(facts))


@path("lars")
def command(case: Case) -> Iterator[Said]:
    """`eventide run`, and with `--maintain`."""
    yield Said(once(case), rows_of(commanded(case)))
    yield Said(once(case), rows_of(commanded(case, "--maintain")))


@path("lars")
def followed(case: Case) -> Iterator[Said]:
    """`eventide run --emit changes`: what is told at the query times must add up."""
    facts, step, held = given_facts(case), case.options.step, Held()
    told = commanded(case, "--emit", "changes", "--step", str(step))
    query = min((time for _, time in facts), default=0) - 1
    while query < case.options.end:
        query += step
        now = [row for row in told if int(row["query_time"]) == query]
        held.apply(*(rows_of(row for row in now if row["change"] == sign) for sign in "-+"))
    yield Said(once(case)._replace(at=query), held.answer)


# -- Spark -------------------------------------------------------------------------------------------------------------


@path("lars")
def buckets(case: Case) -> Iterator[Said]:
    """The buckets of a batch on Spark, in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what runs in one bucket is told
        job = planned(parsed(case.text), case.options.buckets, {}, **how(case))
    names = job.schema.names
    rows = rows_in_buckets(job, [by_time(given_facts(case))], case.options.end)
    yield Said(once(case), rows_of(dict(zip(names, row, strict=True)) for row in rows))


@path_of_many("lars")
def spark_batch(cases: Sequence[Case]) -> list[list[Said]]:
    """Batch runs over everything, one after the other."""
    from .on_spark import spark

    found = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, case in enumerate(cases):
            file = Path(folder) / f"{number}.jsonl"
            file.write_text(jsonl_of(given_facts(case)), encoding="utf-8")
            program: Any = parsed(case.text)
            frame = ev.spark.run(program, [str(file)], spark=spark(), end=case.options.end,
                                 buckets=BUCKETS, **how(case))
            found.append([Said(once(case), rows_of(frame.toArrow().to_pylist()))])
    return found


# -- the same in other words -------------------------------------------------------------------------------------------


@path("lars")
def permuted(case: Case) -> Iterator[Said]:
    """Rules in another order, and facts: all of them if no window counts them, otherwise those of other time-points."""
    rng, clauses, facts = random.Random(case.seed), list(case.clauses), list(given_facts(case))
    rng.shuffle(clauses)
    rng.shuffle(facts)
    stream = by_time(tuple(facts))
    if "#" in case.text:
        stream = by_time(given_facts(case))
        rng.shuffle(stream)
    result = program_of("\n".join(clauses)).run(stream, end=case.options.end, **how(case))
    yield Said(once(case), rows_of(result.to_arrow().to_pylist()))


@path("lars")
def shifted(case: Case) -> Iterator[Said]:
    """Everything later, where the rules do not see that time begins at 0."""
    text = case.text
    if re.search(r"always|#|[TU]-1|\+1", text) or (" at " in text and "g(" in text):
        return
    by = random.Random(case.seed).choice((1, 5, 1000, 1_700_000_000))
    rows = ran(case, tuple((fact, time + by) for fact, time in given_facts(case)), end=case.options.end + by,
               start=by - 1)
    yield Said(once(case), in_order((name, start - by, None if end is None else end - by) for name, start, end in rows))


@path("lars")
def renamed(case: Case) -> Iterator[Said]:
    """Predicates and words have other names, which come elsewhere in the order of names."""
    facts = tuple((other_names(fact), time) for fact, time in given_facts(case))
    rows = ran(case, facts, program_of(other_names(case.text)))
    yield Said(once(case), in_order((first_names(name), start, end) for name, start, end in rows))


def other_names(text: str) -> str:
    """A program or a fact with other names."""
    text = re.sub(r"\b([abc])\b(?!\()", lambda found: f"<{found[1]}>", text)
    text = re.sub(r"\b(p|e|v|s|g|b|c|k|d\d)\b(?!>)", lambda found: f"q{ord('z') - ord(found[1][0])}_{found[1]}", text)
    return re.sub(r"<([abc])>", lambda found: WORDS_ELSE[found[1]], text)


def first_names(atom: str) -> str:
    """The atom that became this one."""
    for word, other in WORDS_ELSE.items():
        atom = atom.replace(other, word)
    return re.sub(r"^q\d+_", "", atom)


@path("lars")
def among_others(case: Case) -> Iterator[Said]:
    """Rules and facts that have nothing to do with it are there too; windows that count all facts would see them."""
    if "#]" in case.text or "# ]" in case.text:
        return
    rng = random.Random(case.seed)
    noise = [(f"other({rng.choice('abc')})", rng.randrange(case.options.end + 1)) for _ in range(8)]
    rows = ran(case, in_time([*noise, *given_facts(case)]), program_of(case.text + IRRELEVANT))
    yield Said(once(case), tuple(row for row in rows if not row[0].startswith("noise")))
