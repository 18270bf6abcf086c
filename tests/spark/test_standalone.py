"""A cluster of one master and two workers gives the rows of one machine; all of it in processes of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.test_partitioning import PAIRS

import eventide as ev
from eventide.errors import EventideError
from eventide.spark.standalone import standalone

pytestmark = [pytest.mark.spark, pytest.mark.slow]
SCRIPT = """
import json, sys
import eventide as ev
from eventide.spark.batch import run
from eventide.spark.start import start

url, rules, *events = sys.argv[1:]
spark = start(url, buckets=4, options={"spark.executor.memory": "512m"})
found = run(ev.load(rules), events, spark=spark).toArrow().to_pylist()
executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
print(json.dumps({"rows": [list(row.values()) for row in found], "executors": executors}))
spark.stop()
"""


def test_a_cluster_gives_the_rows_of_one_machine(tmp_path: Path) -> None:
    rules = tmp_path / "rules.ec"
    rules.write_text(PAIRS)
    names = [f"v{number}" for number in range(20)]
    pq.write_table(pa.table({"time": range(20), "who": names}), tmp_path / "slows.parquet")
    pq.write_table(pa.table({"time": [5 + n for n in range(19)], "one": names[:-1], "other": names[1:],
                             "end": [30] * 19, "value": ["true"] * 19}), tmp_path / "near.parquet")
    events = [f"{name}={tmp_path / name}.parquet" for name in ("slows", "near")]
    try:
        with standalone(2, memory="1g") as url:
            done = subprocess.run([sys.executable, "-c", SCRIPT, url, str(rules), *events], capture_output=True,
                                  text=True, check=False, timeout=300)
    except EventideError as error:
        pytest.skip(str(error))
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    wanted = [list(row.values()) for row in ev.load(rules).run(events).to_arrow().to_pylist()]
    assert sorted(found["rows"], key=repr) == sorted(wanted, key=repr) and len(wanted) > 30
    assert found["executors"] == 2
