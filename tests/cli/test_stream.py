"""`eventide stream`: what it checks before it runs, what it says, how it is stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.spark.configured import Configured
from tests.spark.servers import free_port

pytestmark = pytest.mark.spark


def test_check_prints_the_plan_and_leaves_no_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = Configured(tmp_path, delay=5)
    assert stream.run("--check") == 0
    found = capsys.readouterr().out
    assert f"source      files {tmp_path}/in" in found
    assert "window      40 every 10, 5 of delay, from 0" in found
    assert f"sink        parquet {tmp_path}/out, changes" in found
    assert "stage 1\n  rich(_) by X" in found
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "rules.ec", "stream.toml"]
    assert stream.run("--check", "--json") == 0
    assert f"checkpoint  {tmp_path}/state" in json.loads(capsys.readouterr().out)["plan"]


def test_check_finds_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = Configured(tmp_path)
    good = stream.config.read_text()
    wrongs = {
        good.replace("step = 10", "setp = 10"): "window.setp is not known",
        good.replace('"rules.ec"', '"absent.ec"'): "absent.ec",
        good.replace('program = "rules.ec"', 'program = "rules.ec"\nfluents = ["fly"]'): "derives no fly",
        good.replace('path = "out"', 'path = "rules.ec"'): "Not a directory",
        good.replace('path = "state"', 'path = "rules.ec"'): "is no folder",
    }
    for text, message in wrongs.items():
        stream.config.write_text(text)
        assert stream.run("--check") == 1
        said = capsys.readouterr().err
        assert message in said and said.count("error:") == 1, said
    stream.config.write_text(good)
    (tmp_path / "rules.ec").write_text("initiatedAt(rich(X)=true, T) :- happensAt(win(Y), T).")
    assert stream.run("--check") == 1
    assert "rules.ec:1:" in capsys.readouterr().err


def test_one_bucket_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = Configured(tmp_path, "initiatedAt(alarm=true, T) :- happensAt(fire(X), T).")
    assert stream.run("--check") == 0
    assert "one bucket" in capsys.readouterr().err


@pytest.mark.usefixtures("spark")
def test_a_running_stream_serves_metrics_and_is_stopped_by_a_signal(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    stream = Configured(tmp_path, more=f'[metrics]\nport = {port}\n[log]\nfile = "log"\nformat = "json"\n')
    stream.feed("win|3|3|ann\nwin|15|15|bob\nlose|27|27|ann\n")
    seen: list[str] = []

    def watch() -> None:
        while not any("eventide_batches_total 1" in text for text in seen):
            if ended.wait(0.2):
                return
            with contextlib.suppress(OSError):  # it is not up yet
                seen.append(urlopen(f"http://127.0.0.1:{port}/metrics").read().decode())
        os.kill(os.getpid(), signal.SIGTERM)

    ended = threading.Event()
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        assert stream.run("--quiet") == 0
    finally:
        ended.set()
        watcher.join()
    assert "eventide_events_total 3" in seen[-1] and "eventide_query_time 20" in seen[-1]
    assert stream.out() == stream.local()
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["message"].split(":")[0] for line in log] == [
        "the stream runs", "batch 0", "stopping after the batch at hand; again to stop at once",
        "stopped after 1 batch"]
    assert log[1]["events"] == 3 and log[1]["query_time"] == 20
    assert capsys.readouterr().err == ""
    assert stream.run("--quiet", "--once") == 0  # the lock is free, and nothing is left to do
