"""Runs the fenced blocks of a page in order, in one folder and one Python namespace.

- A block with a file name behind its language (```prolog rules.ec) is written to that file.
- `prolog` is parsed and must have no errors.
- `console` holds commands (`$ eventide …`, `$ cat FILE`, `$ cat FILE | eventide …`) and what they print on both
  streams; times are not compared.
- `python` is executed; a `text` block behind it is what it prints. A block with `>>>` is a doctest.
- `prolog`, `csv`, `text` one behind the other: the rules over the events give these intervals. Options of the run may
  stand behind `text`: ```text start=0 ties=initiation.
- `mtl` is parsed too; `mtl`, `facts`, `text` one behind the other: the rules over the facts give these intervals.
- `lars` is parsed too; `lars`, `stream` (lines such as `3: p(a), s`), `text` one behind the other: the rules over the
  stream give these intervals, and where there is no answer, or several.
- Other languages, and blocks without one, are not run. `...` stands for anything in what is printed.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import eventide as ev
from eventide.cli.main import main
from eventide.mtl.facts import facts_in
from eventide.syntax.event_calculus import parse

FENCE = re.compile(r"^```(\w*) ?(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COLUMN = re.compile(r"\$\d+")
SECONDS = re.compile(r"\b\d+\.\d+ s\b")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what stands behind it, the text, and the line in the page."""

    language: str
    title: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(found[1], found[2].strip(), found[3], page.count("\n", 0, found.start()) + 1)
            for found in FENCE.finditer(page)]


def run_page(page: Path, folder: Path) -> Iterator[str]:
    """Run the blocks of a page inside a folder, which is the current one; yields what is wrong."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    found = blocks(page.read_text(encoding="utf-8"))
    for number, block in enumerate(found):
        before = found[max(0, number - 2):number]
        problem = None
        if "." in block.title and "=" not in block.title:
            (folder / block.title).write_text(block.text, encoding="utf-8")
        if block.language == "prolog":
            errors = parse(block.text, page.name).errors
            problem = "\n".join(error.render(block.text) for error in errors) or None
        elif block.language in ("mtl", "lars"):
            errors = [d for d in ev.parse(block.text, language=block.language).check() if d.severity == "error"]
            problem = "\n".join(error.render(block.text) for error in errors) or None
        elif block.language == "console":
            problem = run_console(block.text)
        elif block.language == "python":
            following = [b.text for b in found[number + 1:number + 2] if b.language == "text"]
            problem = run_python(block.text, "".join(following), namespace)
        elif block.language == "text" and [b.language for b in before] == ["prolog", "csv"]:
            problem = run_rules(before[0].text, before[1].text, block, folder)
        elif block.language == "text" and [b.language for b in before] == ["mtl", "facts"]:
            problem = run_metric_rules(before[0].text, before[1].text, block)
        elif block.language == "text" and [b.language for b in before] == ["lars", "stream"]:
            problem = run_stream_rules(before[0].text, before[1].text, block)
        if problem is not None:
            yield f"{page}:{block.line}: {problem}"


def run_console(text: str) -> str | None:
    """Run commands and compare what they print, both streams together, as on a terminal."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more.removeprefix("> ")
        feeding, _, last = command.rpartition(" | ")
        words = shlex.split(last)
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            if feeding.startswith("cat ") and words[0] == "eventide":
                printed.write(piped(feeding.split()[1:], words[1:]))
            elif words[0] == "eventide":
                main(words[1:])
            elif words[0] == "cat":
                sys.stdout.write("".join(Path(name).read_text(encoding="utf-8") for name in words[1:]))
            else:
                return f"unknown command {words[0]}"
        problem = unlike(expected, printed.buffer.getvalue().decode())  # type: ignore[attr-defined]
        if problem is not None:
            return f"$ {command}\n{problem}"
    return None


def piped(names: list[str], words: list[str]) -> str:
    """What the command prints when it reads files from standard input, which takes a process of its own."""
    given = "".join(Path(name).read_text(encoding="utf-8") for name in names)
    return subprocess.run([sys.executable, "-m", "eventide", *words], input=given, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", check=False).stdout


def run_python(text: str, expected: str, namespace: dict[str, Any]) -> str | None:
    """Execute a block; doctests check themselves."""
    printed = io.StringIO()
    if ">>> " in text:
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        test = doctest.DocTestParser().get_doctest(text, namespace, "page", None, 0)
        runner.run(test, out=printed.write, clear_globs=False)
        namespace.update(test.globs)
        return printed.getvalue() or None
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "<page>", "exec"), namespace)
    return unlike(expected, printed.getvalue())


def run_rules(rules: str, events: str, expected: Block, folder: Path) -> str | None:
    """The intervals of rules over events, one fluent a line."""
    file = folder / "snippet.csv"
    file.write_text(events, encoding="utf-8")
    options: dict[str, Any] = dict(option.split("=") for option in expected.title.split())
    options = {name: int(value) if value.lstrip("-").isdigit() else value for name, value in options.items()}
    program = ev.parse(rules)
    events_ = {name for name in program.fluents
               if any(o.kind == "event" and o.template.partition("(")[0] == name for o in program.model.outputs)}
    lines = []
    for fluent, periods in program.run(file, **options).timeline().items():
        if fluent.partition("(")[0] in events_:
            lines.append(f"{fluent} at {', '.join(str(start) for start, _ in periods)}")
        else:
            shown = " ".join(f"[{start}, {'inf' if end is None else end})" for start, end in periods)
            lines.append(f"{fluent} {shown}")
    return unlike(expected.text, "".join(f"{line}\n" for line in lines))


def run_metric_rules(rules: str, facts: str, expected: Block) -> str | None:
    """The intervals of metric rules over facts, one atom a line."""
    options: dict[str, Any] = dict(option.split("=") for option in expected.title.split())
    found = ev.parse(rules, language="mtl").run(facts_in(facts), **options).timeline()
    return unlike(expected.text, "".join(f"{atom} {' '.join(spans)}\n" for atom, spans in found.items()))


def run_stream_rules(rules: str, stream: str, expected: Block) -> str | None:
    """The intervals of LARS rules over time-points, one atom a line; then where there is no answer, or several."""
    points = [(int(time), re.split(r",\s*(?![^()]*\))", facts.strip())) for time, _, facts in
              (line.partition(":") for line in stream.splitlines())]
    options: dict[str, Any] = dict(option.split("=") for option in expected.title.split())
    options = {name: value == "True" if value in ("True", "False") else int(value) if value.isdigit() else value
               for name, value in options.items()}
    result = ev.parse(rules, language="lars").run(points, **options)
    lines = []
    for atom, periods in result.timeline().items():
        lines.append(" ".join([atom, *(f"[{start}, {'inf' if end is None else end})" for start, end in periods)]))
    lines += [f"no answer [{gap.start}, {gap.end})" for gap in result.no_answer]
    lines += [f"{count} answers [{start}, {end})" for start, end, count in result.several if count]
    return unlike(expected.text, "".join(f"{line}\n" for line in lines))


def _settled(text: str) -> str:
    """A text without what differs from run to run: times, and the numbers of unnamed columns in a plan."""
    numbers: dict[str, str] = {}
    for column in COLUMN.findall(text):
        numbers.setdefault(column, f"${len(numbers) + 1}")
    renumbered = COLUMN.sub(lambda found: numbers[found[0]], text)
    return SECONDS.sub("0.00 s", renumbered).rstrip() + "\n"


def unlike(expected: str, printed: str) -> str | None:
    """What differs, if anything does."""
    wanted, got = (_settled(text) for text in (expected, printed))
    flags = doctest.ELLIPSIS | doctest.REPORT_UDIFF
    if doctest.OutputChecker().check_output(wanted, got, flags):
        return None
    example = doctest.Example("", wanted)
    return doctest.OutputChecker().output_difference(example, got, flags)
