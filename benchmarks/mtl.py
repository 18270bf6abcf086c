"""How fast DatalogMTL is: materialisation and streams against MeTeoR's recorded figures, memory as data grow denser.

MeTeoR's figures are facts per CPU second of its semi-naive materialisation, without loading, and of its script for
streams as a whole process, recorded on a machine of the same kind. Ours are without reading files: materialisation over
facts that are coded already, streams with the coding. Where its workloads are not at hand, or at another scale,
generated ones of the same kind take their place, and the ratio is between the two. Not measured: several cores; its
other modes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from fractions import Fraction

import eventide as ev
from _claims import Claim, claim, show
from _mtl_data import RIVALS, STREAMING, Workload, workloads
from eventide.mtl.facts import facts_in
from eventide.mtl.streaming import Streaming

TIMES, STREAM_TIMES = 50, 1000
DENSITIES, UNITS = (1, 10, 100, 1000), 13
DENSE = """
Near(X) :- <>-[0,1] Seen(X).
Steady(X) :- []-[0,10] Near(X).
Old(X) :- <>-[5,inf) Seen(X), Steady(X).
"""


def reasoning(workload: Workload) -> float:
    """The CPU seconds of materialisation over facts that were just coded."""
    run = workload.program.materialisation(workload.facts)
    begin = time.process_time()
    run.run()
    return time.process_time() - begin


def against_meteor(given: Sequence[Workload], _: Sequence[int]) -> list[Claim]:
    """Facts per second of materialisation, one core."""
    claims = []
    for workload in given:
        rival = RIVALS[workload.name][0]
        speed = len(workload.facts) / min(reasoning(workload) for _ in range(15))
        claims.append(claim(f"{_title(workload)}, materialisation", round(speed), "facts/s", TIMES * rival,
                            f"MeTeoR {rival:,} facts/s", round(speed / rival, 1), speed >= TIMES * rival))
    return claims


def as_a_stream(given: Sequence[Workload], _: Sequence[int]) -> list[Claim]:
    """Facts per second of a stream, in steps of its own choice, and one time-point after the other."""
    workload = next(each for each in given if each.name == "shortstop")
    claims = []
    for step, target in ((None, STREAM_TIMES * STREAMING), (Fraction(1), None)):
        speed = len(workload.facts) / min(_through(workload, step) for _ in range(3))
        steps = "as many facts as it likes" if step is None else f"{step}"
        claims.append(claim(f"{_title(workload)}, a stream in steps of {steps}", round(speed), "facts/s", target,
                            f"MeTeoR {STREAMING} facts/s", round(speed / STREAMING, 1),
                            None if target is None else speed >= target))
    return claims


def as_data_grow_denser(_: Sequence[Workload], densities: Sequence[int]) -> list[Claim]:
    """The most elements in memory at any moment, with more and more points in a time unit, taken in one by one."""
    program = ev.parse(DENSE, language="mtl")
    held = {}
    for variant in ("hash", "algorithm-1"):
        for density in densities:
            facts = facts_in("\n".join(f"Seen(a)@{Fraction(k, density)}" for k in range(UNITS * density)))
            stream = Streaming(program.compiled, facts, list(program.model.defined), points=True, variant=variant)
            for _ in stream:
                pass
            held[variant, density] = stream.report.peak
    first, last = densities[0], densities[-1]
    grown, other = (held[variant, last] / held[variant, first] for variant in ("hash", "algorithm-1"))
    return [claim(f"#-facts, growth of memory from {first} to {last:,} points per unit", round(grown, 2), "times", 1,
                  f"Algorithm 1, {other:g} times", round(grown / other, 4), grown <= 1),
            claim(f"#-facts, {last:,} points per unit, held", held["hash", last], "elements", None,
                  f"Algorithm 1, {held['algorithm-1', last]:,}", None, None)]


def _through(workload: Workload, step: Fraction | None) -> float:
    """The CPU seconds of a whole stream, from facts in memory on."""
    begin = time.process_time()
    for _ in Streaming(workload.program.compiled, workload.facts, list(workload.program.model.defined), step=step):
        pass
    return time.process_time() - begin


def _title(workload: Workload) -> str:
    return f"{workload.name}{'' if workload.recorded else ', generated'}, {len(workload.facts):,} facts"


GROUPS = {"meteor": against_meteor, "stream": as_a_stream, "memory": as_data_grow_denser}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--scale", type=float, default=1.0, help="generated workloads this many times as large")
    parser.add_argument("--densities", type=int, nargs="+", default=list(DENSITIES), help="points per time unit")
    parser.add_argument("--only", choices=tuple(GROUPS), help="one group of claims")
    options = parser.parse_args(argv)
    given = list(workloads(options.scale))
    return show((measure(given, options.densities) for name, measure in GROUPS.items() if options.only in (None, name)),
                as_json=options.json)


if __name__ == "__main__":
    raise SystemExit(main())
