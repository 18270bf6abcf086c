"""How fast the Event Calculus is: the applications against RTEC's recorded figures, growth, memory, whole runs.

RTEC's figures are facts per CPU second of reasoning alone, one window, recorded under SWI-Prolog 9.0.4 on a machine of
the same kind; loading is not in them, nor in ours unless said. Not measured: several cores, several windows.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

import eventide as ev
from _claims import Claim, claim, show
from eventide.applications import APPLICATIONS
from eventide.applications.streams import write_background, write_csv
from eventide.engine.recognition import Recognition, Settings

MILLION = 1_000_000
# application, RTEC's facts per second (recorded on caviar, ctm, voting, netbill, maritime), how many times that we want
RIVALS = {"activity": (256_382, 50), "transport": (186_189, 50), "voting": (145_040, 50), "netbill": (8_657, 500),
          "maritime": (70_685, 100)}
GROWING = ("activity", "transport", "voting", "netbill", "maritime", "maritime_allen", "fleet")


def loaded(name: str, rows: int, folder: Path) -> tuple[Recognition, int]:
    """An application with about `rows` generated facts, ready to reason."""
    application = APPLICATIONS[name]
    entities = application.entities_for(rows)
    stream = application.generate(entities, seed=1)
    tables = {table: pa.table(dict(columns)) for table, columns in application.background(entities).items()}
    program = ev.load(application.rules, background=[tables] if tables else [])
    file = folder / f"{name}.csv"
    write_csv(stream, file)
    facts = program.read(file)
    file.unlink()
    settings = Settings(start=application.start, tick=application.tick)
    return program.recognition(facts, settings), len(facts)


def reasoning(recognition: Recognition, repetitions: int = 15) -> float:
    """The least CPU seconds of reasoning over facts in memory, warm."""
    streams = recognition.accepted()
    times = []
    for _ in range(repetitions):
        begin = time.process_time()
        recognition.execute(streams, recognition.end)
        times.append(time.process_time() - begin)
    return min(times)


def against_rtec(folder: Path, size: int) -> list[Claim]:
    """Facts per second of reasoning, one core, one window."""
    claims = []
    for name, (rival, times) in RIVALS.items():
        recognition, facts = loaded(name, size, folder)
        speed = facts / reasoning(recognition)
        claims.append(claim(f"{name}, {facts:,} facts, reasoning", round(speed), "facts/s", rival * times,
                            f"RTEC {rival:,} facts/s", round(speed / rival, 1), speed >= rival * times))
    return claims


def growth(folder: Path, size: int) -> list[Claim]:
    """Cost per fact at five times the size, against the cost at the size itself: it must not grow."""
    claims = []
    for name in GROWING:
        costs = []
        for rows in (size, 5 * size):
            recognition, facts = loaded(name, rows, folder)
            costs.append(reasoning(recognition) / facts * 1e9)
        ratio = costs[1] / costs[0]
        claims.append(claim(f"{name}, cost per fact with {5 * size:,} facts", round(costs[1], 1), "ns", None,
                            f"{costs[0]:.1f} ns with {size:,}", round(ratio, 2), ratio <= 1.25))
    return claims


def cpu_seconds(run: Sequence[str]) -> float:
    """The CPU time of a process, from its start to its end."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(run, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


def whole_runs(folder: Path, size: int) -> list[Claim]:
    """The command line from RTEC-form CSV to a Parquet result, and the fixed cost of a small run."""
    claims = []
    for rows in (size, 5 * size):
        taken = from_file_to_file(folder, rows)
        claims.append(claim(f"maritime, {rows:,} events, CSV to Parquet", round(rows / taken), "events per CPU second",
                            MILLION, "our limit", round(rows / taken / MILLION, 2), rows / taken >= MILLION))
    taken = min(cpu_seconds(command(folder, 5 * size)) for _ in range(2))
    claims.append(claim(f"the same with {5 * size:,} events, whole process with its start", round(5 * size / taken),
                        "events per CPU second", None, "our limit", None, None))
    peak = peak_memory(command(folder, 5 * size))
    claims.append(claim(f"maritime, {5 * size:,} events, memory", round(peak / 1e9, 2), "GB", 3, "our limit",
                        round(peak / 3e9, 2), peak <= 3e9))
    taken = min(cpu_seconds(command(folder, 10_000)) for _ in range(4))
    claims.append(claim("maritime, 10,000 events, whole process", round(taken, 2), "CPU seconds", 1.5, "our limit",
                        round(taken / 1.5, 2), taken < 1.5))
    recognition, _ = loaded("maritime", 10_000, folder)
    taken = reasoning(recognition)
    claims.append(claim("maritime, 10,000 events, reasoning", round(taken * 1e3, 2), "ms", 10, "our limit",
                        round(taken / 0.01, 2), taken < 0.01))
    return claims


def from_file_to_file(folder: Path, rows: int) -> float:
    """CPU seconds from RTEC-form CSV to a Parquet result with a loaded program, the least of three."""
    words = command(folder, rows)
    tables = [words[i + 1] for i, word in enumerate(words) if word == "--background"]
    program = ev.load(APPLICATIONS["maritime"].rules, background=tables)
    times = []
    for _ in range(3):
        begin = time.process_time()
        program.run(words[words.index("--events") + 1], start=0).write(folder / "out.parquet")
        times.append(time.process_time() - begin)
    return min(times)


def command(folder: Path, rows: int) -> list[str]:
    """`eventide run` over a generated maritime stream; the files are made when first asked for."""
    application = APPLICATIONS["maritime"]
    entities = application.entities_for(rows)
    file = folder / f"stream{rows}.csv"
    background = folder / f"background{rows}"
    if not file.exists():
        write_csv(application.generate(entities, seed=1), file)
        background.mkdir()
        write_background(application.background(entities), background)
    tables = [f"{path.stem}={path}" for path in sorted(background.iterdir())]
    return [sys.executable, "-m", "eventide", "-q", "run", str(application.rules), "--events", str(file),
            *(word for table in tables for word in ("--background", table)), "--start", str(application.start),
            "-o", str(folder / "out.parquet")]


def peak_memory(run: Sequence[str]) -> int:
    """The largest memory of a process, in bytes."""
    program = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)")
    found = subprocess.run([sys.executable, "-c", program, *run], check=True, capture_output=True, text=True)
    return int(found.stdout.split()[-1])


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--size", type=int, default=MILLION, help="facts per application (1 million)")
    parser.add_argument("--only", choices=("rtec", "growth", "runs"), help="one group of claims")
    options = parser.parse_args(argv)
    groups = {"rtec": against_rtec, "growth": growth, "runs": whole_runs}
    with tempfile.TemporaryDirectory() as folder:
        return show((measure(Path(folder), options.size) for name, measure in groups.items()
                     if options.only in (None, name)), as_json=options.json)


if __name__ == "__main__":
    raise SystemExit(main())
