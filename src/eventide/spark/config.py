"""The configuration of a stream: what `eventide stream CONFIG.toml` accepts, and every problem with it at once.

`docs/reference/stream.toml` has every key with its meaning. Paths are relative to the folder of the file; `${NAME}` in
a text stands for an environment variable, so that no password need be in the file.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from eventide.engine.budget import bytes_of
from eventide.errors import EventideError, InputError
from eventide.formats.expected import ColumnType, TimeUnit
from eventide.formats.problems import diagnostic, input_error
from eventide.spark.config_problems import Place, Places, problem_of
from eventide.syntax.diagnostics import Diagnostic

Format = Literal["rtec", "csv", "json", "nmea"]
Positive = Annotated[int, Field(gt=0)]
Port = Annotated[int, Field(gt=0, lt=65536)]
Seconds = Annotated[float, Field(gt=0)]
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def _amount(memory: int | str) -> int | str:
    try:
        if bytes_of(memory) > 0:
            return memory
    except InputError as error:
        raise ValueError(str(error)) from None
    raise ValueError("the memory must be more than 0")


class ConfigError(EventideError):
    """A configuration is wrong; the diagnostics name every key, what was expected and what to try."""


class Section(BaseModel):
    """A table of the configuration; keys that are not known are problems."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


# -- sources ----------------------------------------------------------------------------------------------------------

class Source(Section):
    """What all sources have: how their records are written, and how much one batch may take."""

    time_unit: TimeUnit | None = None
    column_types: dict[str, ColumnType] = {}


class LineSource(Source):
    """A source of lines; a headed CSV has its `header` here."""

    format: Format = "json"
    header: str = ""
    max_records: Positive = 1_000_000

    @model_validator(mode="after")
    def _header_of_csv(self) -> LineSource:
        if (self.format == "csv") != bool(self.header):
            raise ValueError("format csv needs a header such as 'time,event,vessel', and no other format has one")
        return self


class FileSource(Source):
    """A growing directory of whole files: CSV, JSON lines, Parquet, Arrow, by their endings.

    A batch takes about `max_bytes` of them, or `max_files` if that is given.
    """

    kind: Literal["files"]
    path: Path
    pattern: str = "*"
    max_files: Positive | None = None
    max_bytes: Positive = 256 << 20


class KafkaSource(LineSource):
    """Topics of Kafka; `options` go to librdkafka as they are."""

    kind: Literal["kafka"]
    servers: str
    topics: Annotated[list[str], Field(min_length=1)]
    start: Literal["earliest", "latest"] = "earliest"
    missing: Literal["fail", "skip"] = "fail"
    timeout: Seconds = 30
    options: dict[str, str | int | float | bool] = {}


class Received(LineSource):
    """A source without offsets: what is received goes to a spool first, and is read from there."""

    host: str
    spool: Path | None = None
    timeout: Seconds = 30

    @property
    def folder(self) -> Path:
        """The spool; a configuration that was loaded always has one."""
        if self.spool is None:
            raise ValueError("a received source needs a spool")
        return self.spool


class MqttSource(Received):
    """Topics of an MQTT broker, with wildcards; `client` names the session that the broker keeps."""

    kind: Literal["mqtt"]
    port: Port = 1883
    topics: Annotated[list[str], Field(min_length=1)]
    client: Annotated[str, Field(min_length=1)] = "eventide"
    qos: Literal[0, 1] = 1
    user: str | None = None
    password: str | None = None
    tls: bool = False


class SocketSource(Received):
    """A server that sends lines to whoever connects."""

    kind: Literal["socket"]
    port: Port
    format: Format = "nmea"


AnySource = Annotated[FileSource | KafkaSource | MqttSource | SocketSource, Field(discriminator="kind")]


# -- sinks ------------------------------------------------------------------------------------------------------------

class ParquetSink(Section):
    """A directory of Parquet files, one folder per batch. Exactly once."""

    kind: Literal["parquet"]
    path: Path


class JsonSink(Section):
    """A directory of JSON lines, one folder per batch. Exactly once."""

    kind: Literal["jsonl"]
    path: Path


class ConsoleSink(Section):
    """Standard output, for people: the first `rows` of each batch. At least once."""

    kind: Literal["console"]
    rows: Positive = 20


class KafkaSink(Section):
    """A topic of Kafka: JSON values, keys from columns. At least once, with batch and row number in the headers."""

    kind: Literal["kafka"]
    servers: str
    topic: str
    key: list[str] = []
    timeout: Seconds = 30
    options: dict[str, str | int | float | bool] = {}


class MqttSink(Section):
    """A topic of an MQTT broker: JSON messages with batch and row number. At least once."""

    kind: Literal["mqtt"]
    host: str
    port: Port = 1883
    topic: str
    qos: Literal[0, 1, 2] = 1
    user: str | None = None
    password: str | None = None
    tls: bool = False
    timeout: Seconds = 30

    @field_validator("topic")
    @classmethod
    def _no_wildcard(cls, topic: str) -> str:
        if "+" in topic or "#" in topic:
            raise ValueError("a topic to publish to has no wildcards (+ or #)")
        return topic


class PostgresSink(Section):
    """A table of PostgreSQL, made if there is none. Exactly once.

    With a `key` the table holds the present state: a `+` row replaces the row with its key, a `-` row takes it away.
    Without one every row is added.
    """

    kind: Literal["postgres"]
    dsn: str
    table: Annotated[str, Field(pattern=r"^\w+(\.\w+)?$")]
    key: list[str] = []
    partitions: Positive = 1
    timeout: Seconds = 30


AnySink = Annotated[ParquetSink | JsonSink | ConsoleSink | KafkaSink | MqttSink | PostgresSink,
                    Field(discriminator="kind")]


# -- the rest ---------------------------------------------------------------------------------------------------------

class Rules(Section):
    """The program, its background (`FILE` or `NAME=FILE`), and the fluents to put out (all, if none are named).

    With `probabilistic` facts count with their probabilities, and rows have one.
    """

    program: Path
    background: list[str] = []
    fluents: list[str] = []
    probabilistic: bool = False
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    history: Literal["marginal", "exact"] | None = None
    memory: Annotated[int, Field(ge=0)] | None = None
    durations: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _needs_probabilities(self) -> Rules:
        asked = [name for name in ("threshold", "history", "memory", "durations") if getattr(self, name) is not None]
        if asked and not self.probabilistic:
            raise ValueError(f"{' and '.join(asked)} need{'s' if len(asked) == 1 else ''} probabilistic = true")
        return self


class Window(Section):
    """Windows of `window` ticks every `step`; a query waits until the stream is `delay` ticks further."""

    window: Positive
    step: Positive | None = None
    delay: Annotated[int, Field(ge=0)] = 0
    tick: Positive = 1
    start: int | None = None
    horizon: Positive | None = None
    emit: Literal["changes", "final"] = "changes"

    @model_validator(mode="after")
    def _step_fits(self) -> Window:
        if self.step is not None and self.step > self.window:
            raise ValueError(f"the step {self.step} is longer than the window {self.window}: facts between two "
                             "windows would be lost")
        if self.delay >= self.window:
            raise ValueError(f"the delay {self.delay} is not shorter than the window {self.window}: facts that come "
                             "with it would be outside of every window")
        return self


class Checkpoint(Section):
    """Where the stream keeps how far it is."""

    path: Path


class Metrics(Section):
    """Figures for Prometheus, served on `http://host:port/metrics`."""

    port: Port
    host: str = "127.0.0.1"


class Log(Section):
    """Messages on standard error, or in a file; as lines for people or as JSON."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    file: Path | None = None
    format: Literal["text", "json"] = "text"


class Spark(Section):
    """How Spark is started: where, with how many buckets of entities, and anything else by Spark's own names."""

    master: str = "local[*]"
    buckets: Positive | None = None
    trigger: Seconds | None = None
    """Seconds between batches; without it the next batch begins when one ends."""
    options: dict[str, str] = {}


class Limits(Section):
    """What the evaluation of a bucket may use in a batch: memory of its process (bytes, or `"4GB"`), rows that one
    operator makes, seconds. Beyond it the stream ends with the rule that asked for more."""

    memory: Annotated[int | str, AfterValidator(_amount)] | None = None
    rows: Positive | None = None
    seconds: Seconds | None = None


class StreamConfig(Section):
    """All of it."""

    source: AnySource
    rules: Rules
    window: Window
    sink: Annotated[list[AnySink], Field(min_length=1)]
    checkpoint: Checkpoint
    late: AnySink | None = None
    quarantine: AnySink | None = None
    metrics: Metrics | None = None
    log: Log = Log()
    limits: Limits = Limits()
    spark: Spark = Spark()

    @field_validator("sink", mode="before")
    @classmethod
    def _one_or_several(cls, given: Any) -> Any:
        return [given] if isinstance(given, Mapping) else given


def load_config(path: str | os.PathLike[str]) -> StreamConfig:
    """The configuration in a file; ConfigError with every problem in it."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise _error([input_error("cannot-read", f"cannot read the configuration: {reason}", str(path)).diagnostics[0]]
                     ) from error
    return parse_config(text, str(path), file.parent)


def parse_config(text: str, source: str, folder: Path) -> StreamConfig:
    """The configuration in a text; relative paths are those from `folder`."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, 1)
        message = f"no TOML: {str(error).split(' (at ')[0]}"
        raise _error([diagnostic("bad-toml", message, source, line, column)], text) from error
    places = Places(source, text)
    problems: list[Diagnostic] = []
    filled = _expanded(given, (), places, problems)
    try:
        config = StreamConfig.model_validate(filled)
    except ValidationError as error:
        problems += [problem_of(detail, StreamConfig, places) for detail in error.errors()]
        problems.sort(key=lambda problem: problem.span.line if problem.span else 0)
        raise _error(problems, text) from error
    if problems:
        raise _error(problems, text)
    return _resolved(config, folder)


def _error(problems: list[Diagnostic], text: str | None = None) -> ConfigError:
    return ConfigError("\n".join(problem.render(text) for problem in problems), problems)


def _expanded(given: Any, place: Place, places: Places, problems: list[Diagnostic]) -> Any:
    """The values with environment variables put in; one that is not set is a problem."""
    if isinstance(given, dict):
        return {key: _expanded(value, (*place, key), places, problems) for key, value in given.items()}
    if isinstance(given, list):
        return [_expanded(value, (*place, at), places, problems) for at, value in enumerate(given)]
    if not isinstance(given, str):
        return given
    for name in _VARIABLE.findall(given):
        if name not in os.environ:
            message, hint = f"the environment variable {name} is not set", f"before the start: export {name}=…"
            problems.append(places.problem(place, "unset-variable", message, hint))
    return _VARIABLE.sub(lambda found: os.environ.get(found[1], ""), given)


def _resolved(config: StreamConfig, folder: Path) -> StreamConfig:
    """The configuration with paths that do not depend on the current folder."""
    def absolute(section: Any) -> Any:
        if isinstance(section, Section):
            return section.model_copy(update={
                name: absolute(getattr(section, name)) for name in type(section).model_fields})
        if isinstance(section, Path):
            return Path(os.path.abspath(folder / section.expanduser()))
        return [absolute(each) for each in section] if isinstance(section, list) else section

    found: StreamConfig = absolute(config)
    rules = found.rules.model_copy(update={"background": [_in_folder(each, folder) for each in found.rules.background]})
    source = found.source
    if isinstance(source, Received) and source.spool is None:
        source = source.model_copy(update={"spool": found.checkpoint.path / "spool"})
    return found.model_copy(update={"rules": rules, "source": source})


def _in_folder(background: str, folder: Path) -> str:
    name, mark, file = background.rpartition("=")
    return f"{name}{mark}{os.path.abspath(folder / Path(file).expanduser())}"
