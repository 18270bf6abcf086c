"""DatalogMTL on Spark: facts go to the buckets that need them, and every bucket is a run of its own over these.

Which facts a bucket needs is told by the plan, as for the Event Calculus: an argument that stays the same through the
rules of a predicate owns its rows, and a bucket reports those of its own entities. All times must be on one grid, so
they are looked at first.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from eventide.algebra.nodes import Plan
from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.recognition import Settings
from eventide.engine.relation import Relation
from eventide.errors import InputError, RuleError
from eventide.formats.facts import Facts
from eventide.mtl.cells import MOST, NEVER, DenseFacts
from eventide.mtl.grid import FOREVER, Extent, extents
from eventide.mtl.program import Horizon, MtlProgram, result_of
from eventide.mtl.results import SCHEMA
from eventide.spark.batch import Table, inputs_of, session_of, spread_over
from eventide.spark.copies import apart
from eventide.spark.failures import carrying, clear_failures
from eventide.spark.partitioning import OWNED, READING, Partitioning, Send, Stage, to_text
from eventide.spark.parts import Content, bare, buckets_of_values
from eventide.spark.start import start as start_spark
from eventide.spark.tally import Tally, new_run
from eventide.spark.tasks import Batches, Evaluated, Job, Source
from eventide.syntax.diagnostics import Diagnostic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TEXTS = pa.schema([(name, pa.string()) for name in SCHEMA.names])
_SEEN = "name string, denominator string, last string, endless boolean"


def run(program: MtlProgram, events: object, *, horizon: Horizon | None = None, fluents: Sequence[str] | None = None,
        buckets: int | None = None, spark: SparkSession | None = None, tally: Tally | None = None,
        **options: Any) -> DataFrame:
    """The rows of `program.run`, as a DataFrame that is computed when it is used.

    `events`, `buckets` and `tally` are as for the Event Calculus; tables are those of `eventide.mtl.fact_tables`.
    """
    program.require_sound()
    given = [name_of(template) for template in program.wanted(fluents) if template not in program.model.defined]
    if given:
        raise InputError(f"no rule derives {', '.join(given)}; on Spark only what is derived can be asked for")
    session = spark or session_of(events) or start_spark()
    number = buckets or int(session.conf.get("spark.sql.shuffle.partitions") or 1)
    with clear_failures():
        inputs = inputs_of(session, events, program, options)
        seen = Seen.of(_looked_at(program, inputs, options))
    job = planned(program, seen, number, horizon=horizon, fluents=fluents, tally=tally, **options)
    for problem in job.partitioning.diagnostics:
        warnings.warn(problem.message, stacklevel=2)
    return spread_over(session, job, inputs)


def planned(program: MtlProgram, seen: Seen, buckets: int, *, horizon: Horizon | None = None,
            fluents: Sequence[str] | None = None, tally: Tally | None = None, **options: Any) -> MtlJob:
    """What the tasks of a run do, for facts with these times."""
    grid = program.compiled.on_grid(program.compiled.denominator(seen.denominator))
    spread = _partitioning(program, grid.plan, {} if horizon is not None else seen.extents(grid.denominator))
    return MtlJob(_bare(program), spread, buckets, Settings(), options=tuple(options.items()), tally=tally,  # type: ignore[arg-type]
                  fluents=None if fluents is None else tuple(fluents), run=new_run(), denominator=seen.denominator,
                  until=horizon)


def explained(program: MtlProgram) -> str:
    """How a program is spread, as text."""
    plan = program.compiled.on_grid(program.compiled.denominator()).plan
    return to_text(_partitioning(program, plan, {}))


def _bare(program: MtlProgram) -> MtlProgram:
    """The program without its plans: they know their nodes by where these are in memory."""
    bare_ = copy.copy(program)
    bare_.__dict__.pop("compiled", None)
    return bare_


# -- times -------------------------------------------------------------------------------------------------------------


def _looked_at(program: MtlProgram, inputs: Sequence[tuple[DataFrame, Table]],
               options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What there is to know about the times of all inputs, in one job."""
    found = [frame.mapInArrow(_Times(program, source, options), _SEEN) for frame, source in inputs]
    rows: list[dict[str, Any]] = reduce(lambda a, b: a.unionByName(b), found).toArrow().to_pylist() if found else []
    return rows


class _Times:
    """For each batch and predicate: the denominator, the last finite cell, and whether a fact never ends."""

    def __init__(self, program: MtlProgram, source: Source, options: Mapping[str, Any]) -> None:
        self._program, self._source, self._options = _bare(program), source, dict(options)

    def __call__(self, batches: Batches) -> Batches:
        return carrying(self._rows(batches))

    def _rows(self, batches: Batches) -> Batches:
        for batch in batches:
            found = list(times_in(self._program, self._program.read(self._source(batch), **self._options)))
            if found:
                yield from pa.Table.from_pylist(found).to_batches()


def times_in(program: MtlProgram, dense: DenseFacts) -> Iterator[Mapping[str, Any]]:
    """What `Seen` must know of facts; numbers as texts, since they may be long."""
    for name, table in _by_input(program, dense).items():
        assert table.end is not None
        finite = np.concatenate([table.time, table.end[table.end != NEVER]])
        yield {"name": name, "denominator": str(dense.denominator), "last": str(finite.max(initial=0)),
               "endless": bool((table.end == NEVER).any())}


@dataclass(frozen=True)
class Seen:
    """The least denominator of all times; of each input the last time in cells, and whether a fact of it never ends."""

    denominator: int
    last: Mapping[str, int]
    endless: frozenset[str]

    @staticmethod
    def of(rows: Iterable[Mapping[str, Any]]) -> Seen:
        """From what the tasks found."""
        found = list(rows)
        denominator = math.lcm(*(int(row["denominator"]) for row in found))
        if denominator >= MOST:
            raise InputError("the fractions of the times have no common denominator below 2**60; "
                             "use a coarser unit of time, or fewer digits")
        last: dict[str, int] = {}
        for row in found:
            finer = int(row["last"]) * (denominator // int(row["denominator"]))
            last[row["name"]] = max(finer, last.get(row["name"], finer))
        return Seen(denominator, last, frozenset(row["name"] for row in found if row["endless"]))

    def extents(self, denominator: int) -> dict[str, Extent]:
        """How far the facts of each input go, on a grid that has theirs."""
        last = {name: cell * (denominator // self.denominator) for name, cell in self.last.items()}
        return {name: Extent(FOREVER if name in self.endless else cell, cell) for name, cell in last.items()}


# -- planning ----------------------------------------------------------------------------------------------------------


def _partitioning(program: MtlProgram, plan: Plan, known: Mapping[str, Extent]) -> Partitioning:
    """The stages of a program. Where a cycle may go on for ever, where it stops depends on all facts together."""
    endless = extents(plan, known, None)[1] if known else []
    if not endless:
        return apart(plan, frozenset(program.model.open_types), "DatalogMTL")
    sends = tuple(Send(name, "one", -1, 1) for name in program.model.inputs.values())
    owners = {definition.name: None for stratum in plan.strata for definition in stratum.definitions}
    message = f"the program runs in one bucket: {', '.join(endless)} may go on for ever"
    problem = Diagnostic("warning", "one-bucket", message, None, "with a horizon it may be spread")
    return Partitioning((Stage(READING, sends=sends), Stage(1, plan.strata, owners)), (problem,))


# -- tasks -------------------------------------------------------------------------------------------------------------


def _by_input(program: MtlProgram, dense: DenseFacts) -> Content:
    """The facts that the rules read, by the name under which the plan reads them."""
    found = {name: dense.facts.tables.get((name_of(template), leaf_count(template)))
             for template, name in program.model.inputs.items()}
    return {name: table for name, table in found.items() if table is not None}


@dataclass(frozen=True)
class MtlJob(Job):
    """A DatalogMTL program, its stages and its grid: everything that the tasks share."""

    denominator: int = 1
    until: Horizon | None = None

    @property
    def columns(self) -> str:
        """The columns of the result."""
        return ", ".join(f"{name} string" for name in _TEXTS.names)

    def reading(self, batches: Batches, source: Source) -> Batches:
        """Batches of a table to packed rows in the buckets that need them."""
        program: MtlProgram = self.program  # type: ignore[assignment]
        facts = bad = 0
        for batch in batches:
            dense = program.read(source(batch), **dict(self.options)).on_grid(self.denominator)
            facts, bad = facts + len(dense), bad + dense.bad_count
            yield from self._sent(READING, {name: bare(table) for name, table in _by_input(program, dense).items()})
        if self.tally is not None:
            self.tally.put(self.run, {"facts": facts, "bad": bad})

    def _evaluated(self, number: int, owned: frozenset[int], content: Content) -> Evaluated:
        stage = self.partitioning.stages[number]
        if not stage.strata:
            return Evaluated(content, [])
        program: MtlProgram = self.program  # type: ignore[assignment]
        tables = {(name_of(template), leaf_count(template)): content[name]
                  for template, name in program.model.inputs.items() if name in content}
        run_ = program.materialisation(DenseFacts(Facts(tables), self.denominator), horizon=self.until)
        try:
            run_.run()
        except RuleError as error:
            raise program.placed(error) from error
        owners = {name.removeprefix(OWNED): owner for name, owner in stage.owners.items()}
        wanted = [template for template in program.wanted(self.fluents) if owners[template] is not None or 0 in owned]
        for template in wanted:
            run_.relations[template] = self._own(run_.relations[template], owners[template], owned)
        return Evaluated(content, [result_of(run_, wanted).to_arrow().cast(_TEXTS)])

    def _own(self, relation: Relation, owner: int | None, owned: frozenset[int]) -> Relation:
        """The rows whose entity lives in one of these buckets."""
        if owner is None:
            return relation
        column = relation.fields[owner]
        buckets = buckets_of_values(relation.space.domains[column.type].values, self.buckets)
        return relation.where(np.isin(buckets, list(owned))[relation.codes(column.name)])
