"""How soon an editor is answered: `eventide lsp` on the maritime rules, edit by edit, over the protocol.

A server process is started as an editor starts it, and the rules are opened with their background beside them. Then
facts are added to them, which leaves them whole (*whole* edits: all checks are made), lines are put before them all
(*moved*: every rule has another place), and a rule is typed at their end letter by letter (*half-typed*: most of these
texts end in an error of syntax), a tenth of a second after each answer. A figure is the time from sending an edit until
its problems are there, by the clock on the wall, and the slowest counts; other work on the machine counts with it. So
beside it stands the CPU time of the server for an edit, on average. Not measured: the editor itself, starting up.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.csv
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

import eventide
from _claims import Claim, at_most, show
from eventide.applications.maritime.generator import background

RULES = Path(eventide.__file__).parent / "applications" / "maritime" / "rules.ec"
LIMIT = 100.0
PAUSE = 0.1
"""Seconds from an answer to the next edit: faster than people type."""
EDITS = ("whole", "moved", "half-typed")
TYPED = """
initiatedAt(resting(V)=true, T) :-
    happensAt(stop_start(V), T),
    holdsAt(withinArea(V, nearPorts)=true, T).
"""


def edits(rules: str, count: int) -> Iterator[tuple[str, str]]:
    """Kinds and texts one after the other, as many of each kind."""
    for number in range(count):
        yield "whole", rules + f"\nmark({number}).\n"
    for number in range(count):
        yield "moved", "\n" * (number + 1) + rules
    for end in range(count):
        yield "half-typed", rules + TYPED[: 1 + end % len(TYPED)]


class Measured:
    """What a run of edits took, in milliseconds."""

    def __init__(self) -> None:
        self.answers: dict[str, list[float]] = {kind: [] for kind in (*EDITS, "hover", "completion")}
        self.cpu: dict[str, float] = dict.fromkeys(EDITS, 0.0)
        self.problems = 0


async def measured(folder: Path, rules: str, count: int) -> Measured:
    """The times of a server that answers these edits."""
    found = Measured()
    client = LanguageClient("bench", "1")
    came: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: lsp.PublishDiagnosticsParams) -> None:
        came.put_nowait(params)

    await client.start_io(sys.executable, "-m", "eventide", "lsp")
    await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=folder.as_uri()))
    client.initialized(lsp.InitializedParams())
    uri = (folder / "rules.ec").as_uri()
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "eventide-ec", 0, rules)))
    found.problems = len((await came.get()).diagnostics)
    place = lsp.Position(rules[: rules.index("rendezVous")].count("\n"), 0)
    for version, (kind, text) in enumerate(edits(rules, count), 1):
        before, begin = cpu_seconds(client), time.perf_counter()
        client.text_document_did_change(lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(version, uri), [lsp.TextDocumentContentChangeWholeDocument(text)]))
        while (await came.get()).version != version:
            pass
        found.answers[kind].append(1e3 * (time.perf_counter() - begin))
        await asyncio.sleep(PAUSE)
        found.cpu[kind] += 1e3 * (cpu_seconds(client) - before) / count
    for _ in range(max(3, count // 10)):
        begin = time.perf_counter()
        await client.text_document_hover_async(lsp.HoverParams(lsp.TextDocumentIdentifier(uri), place))
        found.answers["hover"].append(1e3 * (time.perf_counter() - begin))
        begin = time.perf_counter()
        await client.text_document_completion_async(lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), place))
        found.answers["completion"].append(1e3 * (time.perf_counter() - begin))
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return found


def cpu_seconds(client: LanguageClient) -> float:
    """The CPU time that the server has taken so far; 0 where the system does not tell."""
    assert client._server is not None
    path = Path(f"/proc/{client._server.pid}/stat")
    if not path.exists():
        return 0.0
    fields = path.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def claims(count: int) -> list[Claim]:
    """What is claimed of the editor."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for table, columns in background(300).items():
            pa.csv.write_csv(pa.table(columns), folder / f"{table}.csv")
        found = asyncio.run(measured(folder, RULES.read_text(encoding="utf-8"), count))
    assert found.problems == 0, f"the maritime rules have {found.problems} problems"
    slowest = {name: max(taken) for name, taken in found.answers.items()}
    lines = []
    for kind, cpu in found.cpu.items():
        title = f"maritime rules, {kind} edits"
        lines += [at_most(f"{title}: the slowest of {count}", slowest[kind], "ms", LIMIT),
                  at_most(f"{title}: the median", median(found.answers[kind]), "ms", LIMIT)]
        if cpu:  # where the system tells it
            lines.append(at_most(f"{title}: CPU time of the server", cpu, "ms", LIMIT))
    return [*lines, *(at_most(f"maritime rules, {name}: the slowest", slowest[name], "ms", LIMIT)
                      for name in ("hover", "completion"))]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--edits", type=int, default=100, help="how many edits of each kind")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    return show([claims(options.edits)], as_json=options.json)


if __name__ == "__main__":
    raise SystemExit(main())
