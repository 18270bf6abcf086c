"""`eventide learn`: rules that run, what is told about them, what is refused, and nothing half done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest
from tests.learning.test_reading import DAYS, people

from eventide.cli.main import main
from eventide.learning.learner import Learner


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("rich.modes").write_text(DAYS)
    for name, table in people().items():
        pyarrow.csv.write_csv(table, f"{name}.csv")
    return ["learn", "rich.modes", "--examples", *(f"{name}={name}.csv" for name in people()), "--batch", "10"]


def test_the_rules_run(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, "-o", "rules.ec", "--facts", "facts", "--trace", "--evaluate", "kfold", "--folds", "3"]) == 0
    told = capsys.readouterr().err
    assert "rich: 2 rules with 4 literals from 12 batches" in told and "3 folds of streams: F1 0.9" in told
    assert "batch 1: added initiatedAt(rich(X), T) :- happensAt(win(X), T)." in told
    assert sorted(path.name for path in Path("facts/v1").iterdir()) == ["day.csv", "lose.csv", "win.csv"]
    assert main(["run", "rules.ec", "--events", "facts/v1", "-o", "found.csv"]) == 0
    assert Path("found.csv").read_text().splitlines()[:3] == [
        "fluent,args,value,start,end", "rich,ann,true,5,8", "rich,ann,true,10,13"]
    assert main(["check", "rules.ec"]) == 0
    assert "initiated by vote of" in capsys.readouterr().out
    assert main(["graph", "rules.ec", "-o", "g.json"]) == 0
    (box,) = (box for box in json.loads(Path("g.json").read_text())["boxes"] if box["kind"] == "simple fluent")
    assert box["label"].endswith("vote of 2") and set(box["weights"]) == {"initiated", "terminated"}


def test_as_data(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, "--json", "--trace"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["targets"]["rich"]["prequential"]["f1"] > 0.8 and len(data["curve"]) == 12
    assert [step["kind"] for step in data["trace"]] == ["added", "added"]
    assert [rule["rule"] for rule in data["rules"]] == [
        "initiatedAt(rich(X), T) :- happensAt(win(X), T).", "terminatedAt(rich(X), T) :- happensAt(lose(X), T)."]
    assert data["text"].count("weight(") == 2


@pytest.mark.parametrize("ending", ["csv", "svg", "html"])
def test_the_curve_is_written(files: list[str], ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, "-q", "--curve", f"curve.{ending}", "--seed", "1", "--passes", "2"]) == 0
    text = Path(f"curve.{ending}").read_text()
    if ending == "csv":
        assert len(text.splitlines()) == 25 and text.startswith("target,pass,batch,stream,points,tp,fp,fn,mistakes,")
    else:
        assert "<polyline" in text and ("How they came about" in text) == (ending == "html")
    assert capsys.readouterr().out.count("weight(") == 2


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (["--set", "memry=3"], 1, "did you mean 'memory'"),
    (["--set", "memory"], 2, "'memory' is no NAME=VALUE"),
    (["--set", "memory=many"], 1, "memory is a whole number, not 'many'"),
    (["--set", "memory=1.5"], 1, "memory is a whole number, not 1.5"),
    (["--set", "specialise=7"], 1, "specialise is true or false, not 7"),
    (["--set", "patience=nan"], 1, "patience is a number, not nan"),
    (["--set", "literal_cost=-3"], 1, "literal_cost is at least 0, not -3"),
    (["--set", "longest=3"], 1, "longest is a pair of numbers, not 3"),
    (["--set", "longest=3,x"], 1, "longest has a whole number for terminations"),
    (["--set", "rate=x"], 1, "rate"),
    (["--target", "poor"], 1, "no modeh is about 'poor'"),
    (["--curve", "curve.txt"], 2, "known are .csv"),
    (["-o", "rules.txt"], 2, "known are .ec"),
    (["-o", "none/rules.ec"], 2, "there is no folder none"),
    (["--facts", "win.csv"], 2, "win.csv is a file; facts are written to a folder"),
    (["--facts", "win.csv/inner"], 2, "Invalid value for --facts: win.csv is a file"),
    (["--curve", "win.csv"], 2, "Invalid value for --curve: win.csv is an input of this run"),
    (["--examples", "gone.csv"], 1, "gone.csv"),
    (["--background", "gone.ec"], 1, "gone.ec")])
def test_what_is_refused(files: list[str], arguments: list[str], code: int, message: str,
                         capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, *(["-o", "rules.ec"] if "-o" not in arguments else []), *arguments]) == code
    assert message in capsys.readouterr().err
    assert not Path("rules.ec").exists()


def test_folds_of_one_stream_are_refused_before_anything_is_learnt(
        files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in people():
        first, *rest = Path(f"{name}.csv").read_text().splitlines()
        Path(f"{name}.csv").write_text("\n".join([first, *(line for line in rest if '"v0"' in line), ""]))
    monkeypatch.setattr(Learner, "partial_fit", lambda *_: pytest.fail("it was learnt"))
    assert main([*files, "--evaluate", "kfold", "-o", "rules.ec"]) == 1
    assert "folds are made of whole streams, and there is only one" in capsys.readouterr().err


def test_a_mistake_in_the_modes_is_told_at_its_place(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("rich.modes").write_text(DAYS + "modb(happensAt(win(+person),+time))\n")
    assert main(files) == 1
    assert "rich.modes:6:1: error: 'modb' is not a mode declaration" in capsys.readouterr().err


def test_a_condition_without_facts_is_told(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, "-o", "rules.ec"]) == 0
    assert "warning" not in capsys.readouterr().err
    Path("rich.modes").write_text(DAYS + "modeb(not happensAt(wim(+person),+time))\n")
    assert main([*files, "-o", "rules.ec"]) == 0
    told = capsys.readouterr().err
    assert "rich.modes:6:7: warning: no example has facts of wim" in told
    assert "did you mean 'win'?" in told


def test_labels_without_rows_are_told(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("rich.csv").write_text("stream,time,who\n")
    assert main([*files, "-o", "rules.ec"]) == 1
    assert "the labels of rich have no rows" in capsys.readouterr().err
    assert not Path("rules.ec").exists()


def test_labels_between_the_facts_are_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    modes = "modeh(initiatedAt(rich(+person),+time))\nmodeb(happensAt(win(+person),+time))\n"
    (tmp_path / "rich.modes").write_text(modes)
    (tmp_path / "win.csv").write_text("time,who\n0,ann\n5,ann\n")
    (tmp_path / "rich.csv").write_text("start,end,who\n1,4,ann\n")
    examples = [f"--examples={name}={tmp_path}/{name}.csv" for name in ("win", "rich")]
    assert main(["learn", str(tmp_path / "rich.modes"), *examples]) == 1
    assert "rich holds at no observed time-point" in capsys.readouterr().err


def test_labels_at_no_observed_point_are_told(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("stream,time,who\nv0,100,ann\nv0,101,ann\n", "stream,start,end,who\nv0,100,102,ann\n"):
        Path("rich.csv").write_text(text)
        assert main([*files, "-o", "rules.ec"]) == 1
        assert "rich holds at no observed time-point" in capsys.readouterr().err
    assert not Path("rules.ec").exists()


def test_labels_of_things_without_facts_are_told(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("rich.csv").write_text("stream,time,who\nv0,3,ann\nv0,3,zoe\nv0,4,zoe\nv1,3,zoe\n")
    assert main([*files, "-o", "rules.ec"]) == 0
    assert "rich: 3 labels about things that no fact of the stream names count as missed" in capsys.readouterr().err
    assert main([*files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["targets"]["rich"]["unnamed_labels"] == 3


def test_rules_are_counted_as_they_are_written(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """OLED has rules without conditions at first, which do not count."""
    assert main([*files, "-o", "rules.ec", "--method", "oled", "--batch", "5"]) == 0
    told = capsys.readouterr().err
    assert f"wrote {Path('rules.ec').read_text().count('weight(')} rules to rules.ec" in told
    assert "rich: 3 rules with" in told and "wrote 2 rules" in told


def test_dates_need_a_unit(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for name in people():
        head, *rows = (line.split(",") for line in Path(f"{name}.csv").read_text().splitlines())
        dated = [",".join([row[0], f"2025-06-14 08:{int(row[1]):02}:00", *row[2:]]) for row in rows]
        Path(f"{name}.csv").write_text("\n".join([",".join(head), *dated, ""]))
    assert main([*files, "-o", "rules.ec"]) == 1
    assert "declare one of s, ms, us, ns (--time-unit s" in capsys.readouterr().err
    assert main([*files, "-o", "rules.ec", "--time-unit", "s"]) == 0
    assert "wrote 2 rules" in capsys.readouterr().err


def test_each_stream_has_a_folder_of_facts(files: list[str]) -> None:
    """Whatever streams are called: none leads out of the folder, no two share one."""
    names = {"v0": "..", "v1": "a/b", "v2": "a_b"}
    for name in people():
        text = Path(f"{name}.csv").read_text()
        for old, new in names.items():
            text = text.replace(f'"{old}"', f'"{new}"')
        Path(f"{name}.csv").write_text(text)
    assert main([*files, "-o", "rules.ec", "-q", "--facts", "facts/inner", "--set", "longest=2,2"]) == 0
    assert [path.name for path in Path("facts").iterdir()] == ["inner"]
    assert {"_..", "a_b", "a_b_"} <= {path.name for path in Path("facts/inner").iterdir()}
    assert all(len(list(folder.iterdir())) == 3 for folder in Path("facts/inner").iterdir())


@pytest.mark.parametrize("keep", [False, True])
def test_interrupted(files: list[str], keep: bool, monkeypatch: pytest.MonkeyPatch,
                     capsys: pytest.CaptureFixture[str]) -> None:
    fit = Learner.partial_fit

    def stopped(self: Learner, batch: Any) -> Any:
        if self.batches == 3:
            raise KeyboardInterrupt
        return fit(self, batch)

    monkeypatch.setattr(Learner, "partial_fit", stopped)
    assert main([*files, "-o", "rules.ec", *(["--keep"] if keep else [])]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert Path("rules.ec").exists() == keep
    if keep:
        assert main(["check", "rules.ec"]) == 0
