"""DatalogMTL on Spark gives the rows of a run on one machine; programs are spread by the arguments that own their rows.

Most of it is shown without Spark: the tasks of a job are called one after the other, a bucket each.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.mtl_programs import Case, Kind, cases

import eventide as ev
from eventide.applications.network import RULES
from eventide.applications.network.generator import generate, write_facts
from eventide.cli.main import main
from eventide.errors import InputError
from eventide.mtl.facts import facts_in
from eventide.spark.flow import flow_of
from eventide.spark.mtl import MtlJob, Seen, planned, times_in
from eventide.spark.parts import packed

BUCKETS = 3
WEATHER = """
Heat(X) :- <>-[0,1] Above30(X), []-[0,1] Above24(X).
HotState(S) :- Heat(X), In(X,S).
Ever(S) :- <>-[0,inf) Heat(X), In(X,S).
Calm(X) :- Above24(X), not Wind(X).
"""
DAYS = """
Above24(x)@(0,9]\nAbove30(x)@(2,3]\nAbove24(y)@(1,5]\nAbove30(y)@4\nWind(y)@(2,3)\nWind(x)@8.5
In(x,ohio)@[0,20]\nIn(y,ohio)@[0,3]\nIn(y,iowa)@(3,20]\nIn(z,iowa)@[0,20]\nAbove24(z)@[1/3,7]
"""
REACH = "Reaches(X,Y) :- Link(X,Y).\nReaches(X,Z) :- Reaches(X,Y), Link(Y,Z).\nLoop(X) :- Reaches(X,X)."
LINKS = "Link(a,b)@[0,5]\nLink(b,c)@[3,9]\nLink(c,a)@4\nLink(d,a)@[1,8)\nLink(b,d)@(3,4.5)"


def job_of(program: Any, facts: Any, **options: Any) -> MtlJob:
    return planned(program, Seen.of(times_in(program, facts)), BUCKETS, **options)


def in_buckets(job: MtlJob, facts: Any) -> list[tuple[Any, ...]]:
    """The rows of a job, each bucket a task."""
    rows = list(job.reading(iter([facts]), lambda batch: batch))
    rows += [packed(stage, bucket, b"") for stage in range(1, job.last + 1) for bucket in range(job.buckets)]

    def of_bucket(bucket: int) -> Any:
        return iter([row for row in rows if row["bucket"][0].as_py() == bucket])

    for stage in range(1, job.last):
        rows = [row for bucket in range(job.buckets) for row in job.staging(of_bucket(bucket), stage)]
    found = [batch for bucket in range(job.buckets) for batch in job.finishing(of_bucket(bucket))]
    return sorted((tuple(row.values()) for batch in found for row in batch.to_pylist()), key=repr)


def plain(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


@pytest.mark.parametrize(("rules", "facts"), [(WEATHER, DAYS), (REACH, LINKS)])
def test_every_bucket_has_what_it_needs(rules: str, facts: str) -> None:
    program, given_ = ev.parse(rules, language="mtl"), facts_in(facts)
    job = job_of(program, given_)
    assert not job.partitioning.one_bucket and not job.partitioning.diagnostics
    assert in_buckets(job, given_) == plain(program.run(given_).to_arrow())


def test_the_network_is_spread_by_its_signals(tmp_path: Path) -> None:
    write_facts(generate(nodes=6, signals=7, units=30, seed=2), tmp_path / "network.facts")
    program = ev.load(RULES)
    facts = program.read(tmp_path / "network.facts")
    job = job_of(program, facts)
    assert {name: owner for stage in job.partitioning.stages for name, owner in stage.owners.items()} == {
        "recent(_)": 0, "steady(_)": 0, "flags(_,_)": 1, "monitors(_,_)": 1}
    assert in_buckets(job, facts) == plain(program.run(facts).to_arrow())
    only = job_of(program, facts, fluents=["flags"])
    assert in_buckets(only, facts) == plain(program.run(facts, fluents=["flags"]).to_arrow())


@settings(max_examples=30)
@given(cases(Kind()), st.booleans())
def test_random_programs(case: Case, whole: bool) -> None:
    program, facts = ev.parse(case.text, language="mtl"), facts_in(case.fact_text)
    horizon = None if whole else case.horizon
    job = job_of(program, facts, horizon=horizon)
    assert in_buckets(job, facts) == plain(program.run(facts, horizon=horizon).to_arrow())


def test_what_may_go_on_for_ever_runs_in_one_bucket_unless_there_is_a_horizon() -> None:
    program, facts = ev.parse("P(X) :- <>-[1,1] P(X).", language="mtl"), facts_in("P(a)@0\nP(b)@1/2")
    job = job_of(program, facts)
    assert job.partitioning.one_bucket
    assert "P(_) may go on for ever" in job.partitioning.diagnostics[0].message
    assert in_buckets(job, facts) == plain(program.run(facts).to_arrow())
    spread = job_of(program, facts, horizon=5)
    assert not spread.partitioning.one_bucket
    assert in_buckets(spread, facts) == plain(program.run(facts, horizon=5).to_arrow())


def test_what_is_not_spread_is_told_with_the_reason() -> None:
    program, facts = ev.parse("Any :- P(X).", language="mtl"), facts_in("P(a)@0\nP(b)@1")
    job = job_of(program, facts)
    assert "no argument of it names an entity" in job.partitioning.diagnostics[0].message
    assert in_buckets(job, facts) == plain(program.run(facts).to_arrow())


def test_streams_on_spark_are_refused_at_once() -> None:
    program: Any = ev.parse(REACH, language="mtl")
    with pytest.raises(InputError, match=r"streams on Spark are for the Event Calculus.*program\.session"):
        flow_of(program, buckets=2, window=5)


# -- on Spark itself ---------------------------------------------------------------------------------------------------


@pytest.mark.spark
def test_the_same_rows_from_files_and_data_frames(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "a.facts").write_text(DAYS)
    (tmp_path / "b.facts").write_text("Above30(z)@[2/7,3/7]\n")
    paths = [str(tmp_path / "a.facts"), str(tmp_path / "b.facts")]
    program = ev.parse(WEATHER, language="mtl")
    local = plain(program.run(paths).to_arrow())
    assert plain(ev.spark.run(program, paths, spark=spark).toArrow()) == local
    rows = [("0", "5", "closed", "a", "b"), ("3", "9", "closed", "b", "c"), ("4", "4", "closed", "c", "a")]
    columns = "start string, end string, right string, x string, y string"
    links = spark.createDataFrame(rows, columns).repartition(3)
    reach = ev.parse(REACH, language="mtl")
    frame = ev.spark.run(reach, {"Link": links}, spark=spark)
    assert plain(frame.toArrow()) == plain(reach.run({"Link": links.toArrow()}).to_arrow())


@pytest.mark.spark
def test_wrong_input_is_told_as_on_one_machine(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "x.facts").write_text("Link(a,b)@[0,5]\nLink(a,b)@[5,0]\n")
    program = ev.parse(REACH, language="mtl")
    with pytest.raises(InputError, match=r"x\.facts:2:11: error: no time lies in \[5,0\]"):
        ev.spark.run(program, str(tmp_path / "x.facts"), spark=spark)
    with pytest.raises(InputError, match="leave out window"):
        ev.spark.run(program, str(tmp_path / "x.facts"), window=5, spark=spark)
    with pytest.raises(InputError, match="no rule derives Link"):
        ev.spark.run(program, str(tmp_path / "x.facts"), fluents=["Link"], spark=spark)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.slow
def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "reach.mtl").write_text(REACH)
    (tmp_path / "links.facts").write_text(f"{LINKS}\nLink(a\n")
    written, bad = [], []
    for engine in ("local", "spark"):
        out = tmp_path / f"{engine}.csv"
        assert main(["run", str(tmp_path / "reach.mtl"), "--events", str(tmp_path / "links.facts"), "--engine", engine,
                     "-o", str(out), "--bad-rows", "skip", "-q"]) == 0
        written.append(out.read_text())
        bad.append((tmp_path / f"{engine}.csv.bad.csv").read_text())
    assert written[0] == written[1] and "Reaches,a|c,,3,5,closed,closed" in written[0]
    assert bad[0] == bad[1] and 'links.facts,6,7,"expected' in bad[0]


@pytest.mark.spark
def test_one_bucket_is_a_warning(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "x.facts").write_text("P(a)@0\n")
    program = ev.parse("Any :- P(X).", language="mtl")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ev.spark.run(program, str(tmp_path / "x.facts"), spark=spark)
    assert any("runs in one bucket" in str(warning.message) for warning in caught)
