"""Learning on Spark: the streams decide what is learnt, not how their rows are spread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.learning.test_merging import tables_of

import eventide as ev
from eventide.applications.activity import labelled as activity
from eventide.errors import InputError

pytestmark = pytest.mark.spark


def spread(spark: Any, tables: Mapping[str, pa.Table], parts: int) -> list[Any]:
    """The facts of all streams in one DataFrame, those that are always true in others."""
    named = [table.add_column(0, "event", pa.repeat(name, len(table))) for name, table in tables.items()]
    timed = pa.concat_tables([table for table in named if "time" in table.column_names], promote_options="default")
    always = {name: spark.createDataFrame(table) for name, table in tables.items() if "time" not in table.column_names}
    return [spark.createDataFrame(timed).repartition(parts), always]


@pytest.mark.slow
def test_streams_are_learnt_from_apart(spark: Any) -> None:
    data = activity.generate(4, 200, 3, seed=1)
    tables = tables_of(data)
    local = ev.learn(activity.MODES, tables, batch=50)
    frames = spread(spark, tables, 1)
    learnt = ev.learn(activity.MODES, frames, batch=50)
    assert learnt.text == local.text
    assert learnt.curve.num_rows == local.curve.num_rows == 12
    assert learnt.predict(frames).to_pylist() == local.predict().to_pylist()
    # However the rows are spread, and if a stream comes later, it is the same.
    third = pc.field("stream") == "scene2"
    early = {name: table.filter(~third) if "time" in table.column_names else table for name, table in tables.items()}
    late = {name: table.filter(third) if "time" in table.column_names else table for name, table in tables.items()}
    again = ev.learn(activity.MODES, spread(spark, early, 3), batch=50).partial_fit(spread(spark, late, 2), batch=50)
    assert again.text == learnt.text
    for wrong in (again.predict, again.fit):
        with pytest.raises(InputError, match="the examples are on Spark, and are not kept"):
            wrong()


@pytest.mark.slow
def test_times_may_be_frames_of_videos(spark: Any) -> None:
    modes = "modeh(initiatedAt(rich(+p),+time))\nmodeh(terminatedAt(rich(+p),+time))\nmodeb(happensAt(win(+p),+time))"
    wins = spark.createDataFrame([("a", 1, "ann"), ("b", 4, "bob")], "video string, frame bigint, who string")
    days = spark.createDataFrame([("a", 1, "zoe"), ("a", 2, "ann"), ("b", 5, "bob")],
                                 "video string, time bigint, who string")
    frames = {"win": wins, "rich": days}
    learnt = ev.learn(modes + "\ninputPredicate(happensAt(day(+p),+time))", frames | {"day": days},
                      mistakes_allowed=0, literal_cost=0)
    assert [(row["stream"], row["args"], row["start"]) for row in learnt.predict(frames).to_pylist()] == [
        ("a", "ann", 2), ("b", "bob", 5)]


def test_what_cannot_be_learnt_from_is_told(spark: Any) -> None:
    wins = spark.createDataFrame([(1, "ann")], "time bigint, who string")
    with pytest.raises(InputError, match="none of the DataFrames has a column time, start or frame"):
        ev.learn(activity.MODES, {"dist": wins.drop("time")})
    with pytest.raises(InputError, match=r"the table meet has no column stream .*, but walking does"):
        ev.learn(activity.MODES, {"walking": wins.selectExpr("'a' AS stream", "*"), "meet": wins})
    with pytest.raises(InputError, match="give DataFrames only"):
        ev.learn(activity.MODES, {"walking": wins, "meet": "labels.csv"})
    with pytest.raises(InputError, match="leave out members"):
        ev.learn(activity.MODES, {"walking": wins}, members=3)
    with pytest.raises(InputError, match="no mode names wolking"):
        ev.learn(activity.MODES, {"wolking": wins})
