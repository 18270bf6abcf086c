"""What goes wrong in Spark's tasks and around them (files, brokers, disks), as one clear message. Knows no service."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from eventide import errors
from eventide.errors import EventideError, InputError
from eventide.formats.problems import input_error
from eventide.syntax.diagnostics import Diagnostic, Span

_CARRIED = "eventide carries "
_WHOLE = re.compile(rf"^\s*{_CARRIED}(\{{.*\}})\s*$", re.MULTILINE)
_OURS = re.compile(r"^.*?\beventide\.[\w.]+(?:Error|Refused): (.+?)\s*$", re.MULTILINE)
_UNREADABLE = re.compile(r"\[FAILED_READ_FILE\.?(\w*)\].*? file (?:file:/*(?=/))?(\S+?)\.?\s", re.DOTALL)
_CAUSE = re.compile(r"^Caused by: (?:[\w.$]+: )?(.+)$", re.MULTILINE)
_NO_PATH = re.compile(r"\[PATH_NOT_FOUND\] Path does not exist: (?:file:/*(?=/))?(\S+?)\.?(?:\s|$)")
_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_LOST = re.compile(r"Python worker exited unexpectedly|ExecutorLostFailure|OutOfMemoryError")

T = TypeVar("T")


class ServiceError(EventideError):
    """A broker, a database or a folder that a stream needs does not answer, or refuses; the message says what to do."""


# -- in a task ---------------------------------------------------------------------------------------------------------


def carrying(rows: Iterator[T]) -> Iterator[T]:
    """The rows of a task; an error of Eventide on the way tells all that is in it, so that the driver can raise it."""
    try:
        yield from rows
    except EventideError as error:
        error.add_note(_CARRIED + json.dumps({
            "type": type(error).__name__, "message": str(error), "notes": getattr(error, "__notes__", []),
            "diagnostics": [_plain(problem) for problem in error.diagnostics]}))
        raise


def _plain(problem: Diagnostic) -> list[Any]:
    span = problem.span
    place = None if span is None else [span.source, span.line, span.column, span.end_line, span.end_column]
    return [problem.severity, problem.code, problem.message, place, problem.hint]


# -- at the driver -----------------------------------------------------------------------------------------------------


def clear_error(error: BaseException) -> EventideError | None:
    """The error of Eventide inside what Spark raises, without the traces around it; None where there is none.

    >>> trace = "org.apache.spark.SparkException: ...\\n  eventide.spark.failures.ServiceError: no broker\\n\\tat java"
    >>> clear_error(RuntimeError(trace))
    ServiceError('no broker')
    """
    for seen in _chain(error):
        if isinstance(seen, EventideError):
            return seen
        text = str(seen)
        whole = _WHOLE.search(text)
        if whole:
            return _unpacked(json.loads(whole[1]))
        found = _OURS.search(text)
        if found:
            return ServiceError(found[1])
    return None


def spark_error(error: BaseException) -> EventideError | None:
    """What Spark itself could not do, where more can be said about it than Spark does; None for all else.

    >>> print(spark_error(RuntimeError("[PATH_NOT_FOUND] Path does not exist: file:/data/a.parquet. SQLSTATE: 42K03")))
    /data/a.parquet:1:1: error: cannot read the file: No such file or directory [cannot-read]
        hint: check the spelling of the name; every machine of the cluster must find it there
    """
    text = "\n".join(map(str, _chain(error)))
    if found := _NO_PATH.search(text):
        return input_error("cannot-read", "cannot read the file: No such file or directory", found[1],
                           hint="check the spelling of the name; every machine of the cluster must find it there")
    if found := _UNREADABLE.search(text):
        if found[1] == "FILE_NOT_EXIST":
            return input_error("cannot-read", "the file has gone while it was read", found[2],
                               hint="give files that stay as they are during the run")
        causes = [cause for cause in _CAUSE.findall(text) if "FAILED_READ_FILE" not in cause]
        return input_error("broken-file", f"no Parquet file: {causes[-1] if causes else 'it cannot be read'}", found[2],
                           hint="is the file complete, and does its ending say what it is?")
    if found := _FULL.search(text):
        return ServiceError(f"{found[0]}: Spark had no room for what it exchanges. Make room, or name another folder "
                            "with the environment variable SPARK_LOCAL_DIRS")
    if found := _LOST.search(text):
        return ServiceError(f"a worker of Spark was lost: {found[0]}. Was there enough memory? Fewer cores, such as "
                            "local[1], need less of it")
    return None


@contextmanager
def clear_failures(names: Mapping[str, str] | None = None) -> Iterator[None]:
    """What goes wrong inside is raised as an error of Eventide, where it can be told in one message.

    `names` are what the user calls the inputs, by what tasks call them.
    """
    try:
        yield
    except Exception as error:
        clear = clear_error(error) or spark_error(error)
        if clear is None:
            raise
        raise _renamed(clear, names or {}) from None


def renamed(problem: Diagnostic, names: Mapping[str, str]) -> Diagnostic:
    """A diagnostic about a file, or a file in a folder, that goes by another name."""
    span = problem.span
    for name, other in names.items() if span is not None else ():
        assert span is not None
        if span.source == name or span.source.startswith(f"{name}/"):
            return replace(problem, span=replace(span, source=other + span.source.removeprefix(name)))
    return problem


def _renamed(error: EventideError, names: Mapping[str, str]) -> EventideError:
    problems = [renamed(problem, names) for problem in error.diagnostics]
    if problems == list(error.diagnostics):
        return error
    notes = getattr(error, "__notes__", [])
    found = type(error)("\n".join([*(problem.render() for problem in problems), *notes]), problems)
    for note in notes:
        found.add_note(note)
    return found


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _unpacked(told: dict[str, Any]) -> EventideError:
    problems = [Diagnostic(severity, code, message, None if place is None else Span(*place), hint)
                for severity, code, message, place, hint in told["diagnostics"]]
    kind = getattr(errors, told["type"], None)
    plain = kind if kind in (errors.ProgramError, InputError, errors.RangeError) else EventideError
    error = ServiceError(told["message"]) if told["type"] == "ServiceError" else plain(told["message"], problems)
    for note in told["notes"]:
        error.add_note(note)
    return error
