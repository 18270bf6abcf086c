"""The configuration of a stream: the documented example is accepted, every mistake is named, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventide.spark.config import ConfigError, KafkaSource, MqttSource, PostgresSink, load_config, parse_config

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "stream.toml"
LEAST = """
[source]
kind = "files"
path = "in"
[rules]
program = "rules.ec"
[window]
window = 10
[sink]
kind = "parquet"
path = "out"
[checkpoint]
path = "state"
"""


def problems(text: str) -> list[tuple[int, str, str, str | None]]:
    """Line, code, message and hint of every problem."""
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "stream.toml", Path("."))
    return [(p.span.line if p.span else 0, p.code, p.message, p.hint) for p in caught.value.diagnostics]


def test_the_example_has_every_key() -> None:
    config = load_config(EXAMPLE)
    assert isinstance(config.source, KafkaSource)
    assert config.source.header == "time,event,vessel,speed"
    assert config.source.column_types == {"vessel": "text"}
    assert [sink.kind for sink in config.sink] == ["parquet", "jsonl", "console", "kafka", "mqtt", "postgres"]
    assert isinstance(config.sink[-1], PostgresSink) and config.sink[-1].key == ["fluent", "args", "value", "start"]
    assert config.late is not None and config.quarantine is not None and config.metrics is not None
    assert (config.window.window, config.window.step, config.window.delay) == (7200, 3600, 600)
    given = {f"{table}.{key}" for table in ("rules", "window", "checkpoint", "metrics", "log", "spark")
             for key in getattr(config, table).model_fields_set}
    known = {f"{table}.{key}" for table in ("rules", "window", "checkpoint", "metrics", "log", "spark")
             for key in type(getattr(config, table)).model_fields}
    assert given == known
    assert set(type(config).model_fields) == config.model_fields_set


def test_paths_are_relative_to_the_file() -> None:
    config = load_config(EXAMPLE)
    assert config.rules.program == EXAMPLE.parent / "rules.ec"
    assert config.rules.background == [f"vesselType={EXAMPLE.parent / 'types.csv'}"]
    assert config.checkpoint.path == EXAMPLE.parent / "state"


def test_one_sink_needs_no_list_and_the_rest_has_defaults() -> None:
    config = parse_config(LEAST, "stream.toml", Path("/data"))
    assert [sink.kind for sink in config.sink] == ["parquet"]
    assert config.window.step is None and config.late is None and config.log.level == "info"


def test_a_received_source_has_its_spool_in_the_checkpoint() -> None:
    text = LEAST.replace('kind = "files"\npath = "in"', 'kind = "mqtt"\nhost = "h"\ntopics = ["t"]')
    config = parse_config(text, "stream.toml", Path("/data"))
    assert isinstance(config.source, MqttSource)
    assert config.source.folder == Path("/data/state/spool")


def test_environment_variables_are_put_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENTIDE_TEST_OUT", "there")
    config = parse_config(LEAST.replace('"out"', '"${EVENTIDE_TEST_OUT}/x"'), "stream.toml", Path("/data"))
    assert getattr(config.sink[0], "path", None) == Path("/data/there/x")


def test_a_variable_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENTIDE_NO_SUCH", raising=False)
    found = problems(LEAST.replace('"out"', '"${EVENTIDE_NO_SUCH}"'))
    assert [(line, code) for line, code, _, _ in found] == [(11, "unset-variable")]


def test_an_unknown_key_has_a_suggestion() -> None:
    found = problems(LEAST.replace("window = 10", "window = 10\nsteps = 5"))
    assert found == [(9, "unknown-key", "window.steps is not known", "did you mean step?")]


def test_an_unknown_key_of_a_kind_has_a_suggestion() -> None:
    found = problems(LEAST.replace('path = "in"', 'path = "in"\nmaxfiles = 5'))
    assert found == [(5, "unknown-key", "source.maxfiles is not known", "did you mean max_files?")]


def test_an_unknown_table_has_a_suggestion() -> None:
    found = problems(LEAST + "[quarantaine]\nkind = 'console'\n")
    assert found == [(14, "unknown-key", "quarantaine is not known", "did you mean quarantine?")]


def test_unknown_and_missing_kinds() -> None:
    kinds = "expected one of files, kafka, mqtt, socket"
    found = problems(LEAST.replace('kind = "files"', 'kind = "kafak"'))
    assert found == [(3, "unknown-kind", f"source.kind is 'kafak'; {kinds}", "did you mean kafka?")]
    found = problems(LEAST.replace('kind = "files"\n', ""))
    assert found == [(2, "missing-key", "source.kind is missing", kinds)]


def test_a_problem_in_one_of_several_sinks_is_found_there() -> None:
    text = LEAST.replace("[sink]", "[[sink]]") + '[[sink]]\nkind = "postgres"\ntable = "t"\n'
    assert problems(text) == [(14, "missing-key", "sink[2].dsn is missing", "add dsn to [sink[2]]")]


def test_all_problems_come_at_once() -> None:
    text = ('[source]\nkind = "files"\npath = 3\n[window]\nwindow = "x"\nstep = -1\n'
            '[sink]\nkind = "parquet"\npath = "o"\n')
    found = problems(text)
    assert [(code, message.split(" ")[0]) for _, code, message, _ in found] == [
        ("missing-key", "rules"), ("missing-key", "checkpoint"), ("bad-value", "source.path"),
        ("bad-value", "window.window"), ("bad-value", "window.step"),
    ]
    assert [line for line, _, _, _ in found] == [1, 1, 3, 5, 6]


def test_times_that_do_not_fit_each_other() -> None:
    assert "longer than the window" in problems(LEAST.replace("= 10", "= 10\nstep = 20"))[0][2]
    assert "not shorter than the window" in problems(LEAST.replace("= 10", "= 10\ndelay = 10"))[0][2]


def test_a_wrong_choice_has_a_suggestion() -> None:
    found = problems(LEAST + '[log]\nlevel = "warnings"\n')
    assert found[0][1:] == ("bad-value", "log.level is 'warnings'; expected 'debug', 'info', 'warning' or 'error'",
                            "did you mean warning?")


def test_text_that_is_no_toml() -> None:
    found = problems("[source\nkind = 1\n")
    assert [(line, code) for line, code, _, _ in found] == [(1, "bad-toml")]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_config(tmp_path / "absent.toml")
