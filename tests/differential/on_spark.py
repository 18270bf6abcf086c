"""Paths through Spark itself: many cases in one job, and in one stream."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.executors import BUCKETS, OnSpark, Run
from tests.oracle.sessions import Operation
from tests.spark.configured import Configured

from eventide.spark.batch import partitioning_of

from .cases import Case, jsonl_of
from .paths import Held, Said, common, once, once_facts, parsed, path_of_many, rows_of
from .programs import with_names
from .reference import Question


@lru_cache(maxsize=1)
def spark() -> Any:
    """The Spark session of this process."""
    from eventide.spark.start import start

    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path.cwd()), os.environ.get("PYTHONPATH")]))
    return start("local[2]", name="eventide-differential", buckets=BUCKETS)


def stop() -> None:
    """End the Spark session, if there is one."""
    if spark.cache_info().currsize:
        spark().stop()
        spark.cache_clear()


@path_of_many("ec")
def spark_batch(cases: Sequence[Case]) -> list[list[Said]]:
    """Batch runs over everything, in one job."""
    with tempfile.TemporaryDirectory() as folder:
        runs = {}
        for number, case in enumerate(cases):
            file = Path(folder) / f"{number}.jsonl"
            file.write_text(jsonl_of(Operation(fact, fact[3] if fact[0] == "event" else fact[4], 1)  # type: ignore[arg-type]
                                     for fact in once_facts(case)), encoding="utf-8")
            runs[number] = Run(parsed(case.text), [file], {"end": case.options.end, **common(case)})
        found = OnSpark(spark()).answers(runs)
        return [[Said(once(case), rows_of(found[number]))] for number, case in enumerate(cases)]


# -- a stream ----------------------------------------------------------------------------------------------------------


@path_of_many("ec")
def spark_stream(cases: Sequence[Case]) -> list[list[Said]]:
    """A stream from files over several batches and a restart: the cases, with other names, are one program. Those that
    need one bucket are apart, and those with other ticks. A stream has no options for ties and initial values."""
    said: list[list[Said]] = [[] for _ in cases]
    groups: dict[object, list[int]] = {}
    for number, case in enumerate(cases):
        if case.options.start is None or not case.operations or case.options.initially_at:
            continue
        alone = any(d.code == "one-bucket" for d in partitioning_of(parsed(case.text), windows=True).diagnostics)
        groups.setdefault((alone, case.options.tick), []).append(number)
    for numbers in groups.values():
        for number, found in zip(numbers, streamed_together([cases[n] for n in numbers]), strict=True):
            said[number] = found
    return said


def streamed_together(cases: Sequence[Case]) -> Iterator[list[Said]]:
    """What one stream says of all these cases, with the window, the step and the start of the first."""
    options = cases[0].options
    operations, texts = [], []
    for number, case in enumerate(cases):
        texts.append(with_names(case.text, lambda name, number=number: f"k{number}_{name}"))  # type: ignore[misc]
        operations += [o._replace(fact=(o.fact[0], f"k{number}_{o.fact[1]}", *o.fact[2:]))  # type: ignore[arg-type]
                       for o in case.operations]
    operations.sort(key=lambda o: o.arrival)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream = Configured(Path(folder) / "stream", "".join(texts), files=2, window=options.window, step=options.step)
        config = stream.config.read_text()
        stream.config.write_text(config.replace("start = 0", f"start = {options.start}\ntick = {options.tick}"))
        spark()
        third = len(operations) // 3
        for part in (operations[:third], operations[third:2 * third], operations[2 * third:]):
            if part:
                stream.feed(jsonl_of(part), ".jsonl")
            if part is not operations[third:2 * third]:
                with contextlib.redirect_stderr(io.StringIO()) as told:
                    status = stream.run()
                if status:
                    raise RuntimeError(told.getvalue())
        rows = [dict(zip(("query_time", "change", "fluent", "args", "value", "start", "end"), row, strict=True))
                for row in stream.out()]
    queries, query = [], (options.start or 0) + options.step
    while query < operations[-1].arrival:
        queries.append(query)
        query += options.step
    for number, _ in enumerate(cases):
        own, prefix = [row for row in rows if str(row["fluent"]).startswith(f"k{number}_")], f"k{number}_"
        own = [{**row, "fluent": str(row["fluent"]).removeprefix(prefix)} for row in own]
        held = Held()
        for query in queries:
            now = [row for row in own if row["query_time"] == query]
            held.apply(*(rows_of(row for row in now if row["change"] == sign) for sign in "-+"))
        question = Question(options.window, tuple(queries), queries[-1] if queries else 0, options.start)
        yield [Said(question, held.answer)] if queries else []
