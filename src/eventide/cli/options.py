"""Options that several commands share: what they mean, and what is refused before any work is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import typer

from eventide.errors import EventideError


def time_or_length(text: str) -> int | Fraction:
    """A number of the command line: whole, or for dense time a fraction or decimal, kept exact."""
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise typer.BadParameter(f"{text!r} is no number; write 12, or for DatalogMTL 7/2 or 3.5") from None
    return int(number) if number.denominator == 1 else number


@contextmanager
def values_of(*options: str) -> Iterator[None]:
    """What is refused inside is a wrong value of these options: wrong usage. Problems in files stay what they are."""
    try:
        yield
    except EventideError as error:
        if error.diagnostics:
            raise
        raise typer.BadParameter(str(error), param_hint=list(options)) from None


def refuse_options(language: str, given: dict[str, tuple[object, str]]) -> None:
    """Refuse options that have no meaning in a language, with the reason."""
    for option, (value, why) in given.items():
        if value is not None:
            raise typer.BadParameter(f"it does not go with {language}: {why}", param_hint=option)


def limit_threads(number: int) -> None:
    """Let the libraries below use at most so many threads."""
    import pyarrow as pa

    pa.set_cpu_count(number)
    pa.set_io_thread_count(max(1, number))


def chosen_names(known: list[str], fluents: str | None) -> list[str] | None:
    """The names of `--fluents`, if the program derives them all."""
    if fluents is None:
        return None
    from eventide.formats.problems import suggestion

    names = [name.strip() for name in fluents.split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        wrong = unknown[0] if unknown else fluents
        hint = suggestion(wrong, known) or f"it derives {', '.join(known) or 'nothing'}"
        raise typer.BadParameter(f"the program derives no {wrong!r}; {hint}", param_hint="--fluents")
    return names


def check_ending(out: Path | None) -> None:
    """Refuse a result that cannot be written before any work is done."""
    if out is None:
        return
    from eventide.formats.results import WRITERS, writer_for

    if out.suffix not in WRITERS:
        known = ", ".join(WRITERS)
        raise typer.BadParameter(f"{out}: the ending does not say how to write the result; known are {known}",
                                 param_hint="-o")
    writer_for(out)


def check_inputs_stay(out: Path | None, inputs: list[str], option: str = "-o") -> None:
    """Refuse a result, of an option, that would replace what it is made from."""
    if out is None or not out.exists():
        return
    from eventide.formats.events import split_name

    for path in (Path(split_name(name)[1]) for name in inputs):
        if path.exists() and path.samefile(out):
            raise typer.BadParameter(f"{out} is an input of this run; the result would replace it", param_hint=option)


def get_ready(out: Path | None, inputs: list[str], threads: int | None) -> None:
    """Refuse results that cannot be written or would replace an input, and limit the threads."""
    check_ending(out)
    check_inputs_stay(out, inputs)
    if threads is not None:
        limit_threads(threads)
