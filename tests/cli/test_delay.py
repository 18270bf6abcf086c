"""`eventide delay`: every form in and out, what it refuses, the example of its help, interruption."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import eventide as ev
from eventide.cli.main import main

HEADED = 'time,event,who,line\n10,call,ann,7\n20,hang_up,ann,\n30,call,"bob, jr",8\n40,hang_up,"bob, jr",\n'
LATE = ('time,arrival,event,who,line\n10,10,call,ann,7\n30,35,call,"bob, jr",8\n40,40,hang_up,"bob, jr",\n'
        "20,50,hang_up,ann,\n")
NOISY = "--delayed 0.5 --duplicated 0.25 --revised 0.25 --retracted 0.25 --unit 5"
RULES = """
initiatedAt(busy(X)=true, T) :- happensAt(call(X, _), T).
terminatedAt(busy(X)=true, T) :- happensAt(hang_up(X), T).
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with events, which is the current one."""
    (tmp_path / "events.csv").write_text(HEADED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def delay(line: str) -> int:
    """`eventide delay` with arguments in one text."""
    return main(["delay", *line.split()])


@pytest.mark.usefixtures("folder")
class TestTables:
    def test_delays(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert delay("events.csv --delayed 0.5 --unit 5 -o out.csv") == 0
        assert (folder / "out.csv").read_text() == LATE
        assert capsys.readouterr().err == "read 4 rows, wrote 4 in out.csv; the last arrives at 50\n"

    def test_five_percent_by_default(self, folder: Path) -> None:
        (folder / "many.csv").write_text("time,event\n" + "".join(f"{i},go\n" for i in range(1000)))
        assert delay("many.csv -o out.csv") == 0
        rows = [line.split(",") for line in (folder / "out.csv").read_text().splitlines()[1:]]
        assert sum(row[0] != row[1] for row in rows) == 50

    def test_every_form_gives_the_same_rows(self, folder: Path) -> None:
        table = pa.table({"time": [10, 20, 30, 40], "event": ["call", "hang_up"] * 2,
                          "who": ["ann", "ann", "bob, jr", "bob, jr"], "line": [7, None, 8, None]})
        pq.write_table(table, "events.parquet")
        feather.write_feather(table, "events.arrow")
        (folder / "events.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
        (folder / "events.csv.gz").write_bytes(gzip.compress(HEADED.encode()))
        assert delay(f"events.csv {NOISY} -o plain.jsonl") == 0
        rows = [json.loads(line) for line in (folder / "plain.jsonl").read_text().splitlines()]
        assert [row["op"] for row in rows].count("-") == 2
        for name in ("events.parquet", "events.arrow", "events.jsonl", "events.csv.gz"):
            for ending in (".csv", ".jsonl", ".parquet"):
                assert delay(f"{name} {NOISY} -o out{ending}") == 0
            assert pq.read_table(folder / "out.parquet").to_pylist() == rows
            assert (folder / "out.jsonl").read_bytes() == (folder / "plain.jsonl").read_bytes()
            assert delay("out.csv --delayed 0 -o again.jsonl") == 0
            assert (folder / "again.jsonl").read_bytes() == (folder / "plain.jsonl").read_bytes()

    def test_seeds(self, folder: Path) -> None:
        for number, seed in enumerate((5, 5, 6)):
            assert delay(f"events.csv {NOISY} --seed {seed} -o {number}.csv") == 0
        first, second, third = ((folder / f"{number}.csv").read_text() for number in range(3))
        assert first == second != third

    def test_the_program_reads_the_result(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "rules.ec").write_text(RULES)
        assert delay("events.csv --delayed 0.8 --duplicated 0.5 --unit 5 -o out.csv") == 0
        assert main(["-q", "run", "rules.ec", "--events", "out.csv", "--window", "500", "--step", "10"]) == 0
        late = capsys.readouterr().out
        assert main(["-q", "run", "rules.ec", "--events", "events.csv"]) == 0
        assert late == capsys.readouterr().out

    def test_several_files_are_one_stream(self, folder: Path) -> None:
        lines = HEADED.splitlines(keepends=True)
        (folder / "a.csv").write_text("".join(lines[:3]))
        (folder / "b.csv").write_text(lines[0] + "".join(lines[3:]))
        assert delay("a.csv b.csv --delayed 0.5 --unit 5 -o out.csv") == 0
        assert (folder / "out.csv").read_text() == LATE
        (folder / "b.csv").write_text("time,op,arrival,event,who,line\n30,+,31,call,bob,8\n")
        assert delay("a.csv b.csv --delayed 0 -o out.csv") == 0
        assert (folder / "out.csv").read_text().splitlines()[1:] == [
            "10,10,+,call,ann,7", "20,20,+,hang_up,ann,", "30,31,+,call,bob,8"]

    def test_the_table_of_one_event(self, folder: Path) -> None:
        (folder / "call.csv").write_text("time,who\n1,ann\n2,bob\n")
        assert delay("call.csv --delayed 1 -o out.csv") == 0
        result = ev.parse("initiatedAt(f(X)=true, T) :- happensAt(call(X), T).").run("call=out.csv")
        assert result.timeline() == {"f(ann)=true": [(2, None)], "f(bob)=true": [(3, None)]}

    def test_other_types_of_columns(self, folder: Path) -> None:
        (folder / "events.jsonl").write_text('{"time": 1, "event": "go", "on": true, "x": 1}\n'
                                             '{"time": 2, "event": "go", "on": false, "x": 2.5}\n')
        assert delay("events.jsonl --delayed 0 -o out.csv") == 0
        assert (folder / "out.csv").read_text() == "time,arrival,event,on,x\n1,1,go,true,1.0\n2,2,go,false,2.5\n"

    def test_dates(self, folder: Path) -> None:
        (folder / "events.csv").write_text("time,event\n1970-01-01T00:01:00,go\n")
        assert delay("events.csv --delayed 0 --time-unit s -o out.csv") == 0
        assert (folder / "out.csv").read_text() == "time,arrival,event\n60,60,go\n"

    @pytest.mark.parametrize("name, text", [("e.csv", ""), ("e.jsonl", ""), ("e.csv", "time,event\n")])
    def test_nothing_to_disturb(self, name: str, text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / name).write_text(text)
        assert delay(f"{name} -o out{Path(name).suffix}") == 0
        assert capsys.readouterr().err.startswith("read 0 rows, wrote 0")

    def test_quiet_and_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert delay("events.csv -q -o out.csv") == 0
        assert capsys.readouterr().err == ""
        assert delay("events.csv --json --delayed 0 -o out.csv") == 0
        said = json.loads(capsys.readouterr().err)
        assert (said["read"], said["written"], said["last"], said["file"]) == (4, 4, 40, "out.csv")


@pytest.mark.usefixtures("folder")
class TestRtec:
    def test_only_the_arrival_changes(self, folder: Path) -> None:
        (folder / "rtec.csv").write_bytes(b"call|10|10|ann|1.50\r\n\nshift|20|20|30|true|ann\ncall|30|30|b, c|007\n"
                                          b"shift|40|40|50|true|b, c")
        assert delay("rtec.csv --delayed 0.5 --unit 5 -o out.csv") == 0
        assert (folder / "out.csv").read_bytes() == (
            b"call|10|10|ann|1.50\r\ncall|35|30|b, c|007\nshift|40|40|50|true|b, c\nshift|50|20|30|true|ann\n")

    def test_several_files_and_repetitions(self, folder: Path) -> None:
        (folder / "a.csv").write_text("go|1|1\n")
        (folder / "b.csv").write_text("go|2|1|x\n")
        assert delay("a.csv b.csv --delayed 0 --duplicated 1 -o out.csv") == 0
        found = (folder / "out.csv").read_text().splitlines()
        assert found[:2] == ["go|1|1", "go|2|1|x"]
        assert sorted(line.split("|")[2:] for line in found[2:]) == [["1"], ["1", "x"]]

    @pytest.mark.parametrize("options, message", [
        ("--retracted 0.5 -o out.csv", "rows in RTEC's form cannot be retracted or revised"),
        ("--revised 0.5 -o out.csv", "hint: write the events as a table with a header"),
        ("-o out.parquet", "rows in RTEC's form are written as .csv"),
        ("events.csv -o out.csv", "some files are in RTEC's form"),
    ])
    def test_refused(self, options: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "rtec.csv").write_text("go|1|1\n")
        assert delay(f"rtec.csv {options}") == 1
        assert message in capsys.readouterr().err
        assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "rtec.csv"]

    def test_bad_rows(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "rtec.csv").write_text("go|1|1\ngo|soon|1\ngo|1\n")
        assert delay("rtec.csv -o out.csv") == 1
        said = capsys.readouterr().err
        assert "rtec.csv:2:1: error: this is no row in RTEC's form" in said and "rtec.csv:3:1" in said
        (folder / "rtec.csv").write_text("go|99999999999999999999|1\n")
        assert delay("rtec.csv -o out.csv") == 1
        assert "does not fit 64 bits" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
class TestRefused:
    @pytest.mark.parametrize("line, code, message", [
        ("events.csv --delayed 1.5 -o out.csv", 2, "less than or equal to 1"),
        ("events.csv --unit 0 -o out.csv", 2, "greater than or equal to 1"),
        ("events.csv", 2, "Missing option"),
        ("-o out.csv", 2, "Missing argument"),
        ("events.csv -o out.txt", 2, "the ending does not say"),
        ("events.csv -o events.csv", 2, "is an input of this run"),
        ("events.csv -o no/out.csv", 1, "the folder no does not exist"),
        ("absent.csv -o out.csv", 1, "cannot read the file"),
        ("call=events.csv -o out.csv", 1, "needs no name here"),
        ("events.csv other.csv -o out.csv", 1, "the columns differ from those of events.csv"),
        ("events.csv texts.csv -o out.csv", 1, "the columns of the files have different types"),
        ("broken.csv -o out.csv", 1, "broken.csv:3:1: error: time is 'noon', which is not a whole number"),
        ("mixed.jsonl -o out.csv", 1, "the values of column x have no common type"),
        ("events.csv --unit 4611686018427387904 --delayed 1 -o out.csv", 1, "leave 64 bits"),
    ])
    def test_one_message_and_nothing_written(
        self, line: str, code: int, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "other.csv").write_text("time,event,who\n1,call,ann\n")
        (folder / "texts.csv").write_text("time,event,who,line\n1,call,ann,first\n")
        (folder / "broken.csv").write_text("time,event\n1,call\nnoon,call\n")
        (folder / "mixed.jsonl").write_text('{"time": 1, "x": 1}\n{"time": 2, "x": "one"}\n')
        before = sorted(path.name for path in folder.iterdir())
        assert delay(line) == code
        said = capsys.readouterr().err
        assert message in said and "Traceback" not in said
        assert sorted(path.name for path in folder.iterdir()) == before
        assert (folder / "events.csv").read_text() == HEADED


def test_the_example_of_the_help_works_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["delay", "--help"]) == 0
    example = capsys.readouterr().out.partition("Example:")[2].partition("╭")[0]
    script = f'eventide() {{ "{sys.executable}" -m eventide "$@"; }}\n' + "\n".join(
        line.strip() for line in example.splitlines())
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "late.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("name", ["events.csv", "rtec.csv"])
def test_an_interrupted_command_leaves_nothing(name: str, folder: Path) -> None:
    (folder / "rtec.csv").write_text("go|1|1\n")
    program = (
        "import os, sys, time; from eventide.cli.main import main\n"
        "def slow(part, path): print('writing', flush=True); time.sleep(60)\n"
        "os.replace = slow\n"
        f"sys.exit(main(['delay', {name!r}, '-o', 'out.csv']))"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "writing\n"
    child.send_signal(signal.SIGINT)
    assert child.communicate()[1] == "error: interrupted\n"
    assert child.returncode == 130
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "rtec.csv"]


LABELS = ("time,event,value,id,x,y\n1,walking,true,ann,,\n1,coord,true,ann,3,4\n1,active,true,bob,,\n"
          "1,coord,true,bob,5,4\n2,walking,true,ann,,\n2,inactive,true,bob,,\n")


class TestNoise:
    def test_smooth_and_strong(self, folder: Path) -> None:
        (folder / "labels.csv").write_text(LABELS)
        assert delay("labels.csv --noise smooth -o smooth.parquet") == 0
        assert delay("labels.csv --noise strong --spurious 0.5 -o strong.parquet") == 0
        smooth, strong = (pq.read_table(folder / f"{name}.parquet").to_pylist() for name in ("smooth", "strong"))
        assert [row["arrival"] for row in smooth] == [1, 1, 1, 1, 2, 2]  # nothing is late
        assert [row["probability"] is None for row in smooth] == [row["event"] == "coord" for row in smooth]
        assert all(0 <= row["probability"] <= 1 for row in strong)
        assert len(strong) == len(smooth) + 2
        assert all(row["event"] == "coord" or row in strong for row in smooth)

    def test_seeds(self, folder: Path) -> None:
        (folder / "labels.csv").write_text(LABELS)
        for number, seed in enumerate((5, 5, 6)):
            assert delay(f"labels.csv --noise strong --noise-mean 3 --seed {seed} -o {number}.csv") == 0
        first, again, other = ((folder / f"{number}.csv").read_bytes() for number in range(3))
        assert first == again != other

    def test_delays_can_follow(self, folder: Path) -> None:
        (folder / "labels.csv").write_text(LABELS)
        assert delay("labels.csv --noise smooth --delayed 1 -o out.parquet") == 0
        assert all(row["arrival"] > row["time"] for row in pq.read_table(folder / "out.parquet").to_pylist())

    def test_what_has_no_noise(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert delay("events.csv --noise smooth -o out.csv") == 1
        assert "no event that gets noise; those are walking, running" in capsys.readouterr().err
        (folder / "rtec.csv").write_text("walking|1|1|true|ann\n")
        assert delay("rtec.csv --noise smooth -o out.csv") == 1
        assert "no column probability" in capsys.readouterr().err
        assert delay("events.csv --noise loud -o out.csv") == 2
        assert not (folder / "out.csv").exists()
