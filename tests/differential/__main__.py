"""`python -m tests.differential`: many random cases through all paths, or one that was written to a folder."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from time import monotonic

from eventide.engine.relation import Space

from .cases import Case, write_case
from .checking import Difference, Findings, check, check_together
from .languages import LANGUAGES, read_case
from .on_spark import stop
from .paths import PATHS
from .shrinking import shrunk

FOUND = Path(__file__).parent / "cases"
CHUNK, TOGETHER = 25, 200
"""How many cases are tried at a time; and how many where Spark runs them together."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Try cases; the status is 1 if there is a difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="the number of the first case")
    parser.add_argument("--language", choices=list(LANGUAGES), default="ec")
    parser.add_argument("--paths", nargs="+", choices=list(PATHS), help="all but the slow ones, if none is named")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--case", type=Path, help="a folder of a case, instead of random ones")
    parser.add_argument("--show", type=int, help="print the case of a number")
    parser.add_argument("--keep", type=Path, default=None, help="write what fails here, made small")
    parser.add_argument("--most", type=int, default=5, help="how many differences of one sort are made small")
    parser.add_argument("--packed", type=int, metavar="BITS", help="number tuples whose codes and time are wider")
    options = parser.parse_args(arguments)
    if options.packed is not None:
        Space.packed = options.packed  # the processes inherit it, except those of Spark
    names = options.paths or [name for name, path in PATHS.items() if not path.slow]
    if options.case is not None:
        return one_case(read_case(options.case), names)
    if options.show is not None:
        return one_case(LANGUAGES[options.language].case(options.show), names)
    return many(options, names)


def one_case(case: Case, names: Sequence[str]) -> int:
    """Try one case and show it."""
    found = Findings()
    differences = check(case, names, found) + [d for name in names if PATHS[name].slow
                                               for d in differences_of(case, name)]
    stop()
    print(case.text)
    for operation in case.operations:
        print("+" if operation.sign > 0 else "-", operation.arrival, operation.fact)
    print(case.options, "\n")
    for path, reason in found.refusals:
        print(f"refused by {path}: {reason}")
    for difference in differences:
        print(f"{difference.path}: {difference.message}")
    print(f"{sum(found.answers.values())} answers, {len(differences)} differences")
    return 1 if differences else 0


def tried(language: str, names: Sequence[str], seeds: Sequence[int]) -> Findings:
    """The cases of some numbers."""
    warnings.simplefilter("ignore")
    found = Findings()
    cases = [LANGUAGES[language].case(seed) for seed in seeds]
    alone = [name for name in names if not PATHS[name].slow]
    for case in cases if alone else ():
        found.differences += [(case, difference) for difference in check(case, alone, found)]
    if len(alone) < len(names):
        found.differences += check_together(cases, names, found)
    return found


def many(options: argparse.Namespace, names: Sequence[str]) -> int:
    """Try the cases of many numbers, and tell how far it is."""
    seeds = range(options.seed, options.seed + options.cases)
    size = CHUNK if not any(PATHS[name].slow for name in names) else TOGETHER
    chunks = [seeds[at:at + size] for at in range(0, len(seeds), size)]
    found, began, told, small = Findings(), monotonic(), monotonic(), dict[tuple[str, str], int]()
    work = partial(tried, options.language, names)
    pool = ProcessPoolExecutor(options.processes) if options.processes > 1 else None
    for part in (map if pool is None else pool.map)(work, chunks):
        found.add(part)
        seen: set[int] = set()
        for case, difference in part.differences:
            print(f"case {case.seed}: {difference.path}: {difference.message[:300]}", flush=True)
            if options.keep is not None and case.seed not in seen:
                make_small(case, difference, options, small)
            seen.add(case.seed)
        if monotonic() - told > 20:
            told = monotonic()
            failed = len({case.seed for case, _ in found.differences})
            print(f"{found.cases} cases, {found.cases / (told - began):.1f} a second, {failed} with differences",
                  flush=True)
    stop()
    summary(found, monotonic() - began)
    return 1 if found.differences else 0


def make_small(case: Case, difference: Difference, options: argparse.Namespace,
               small: dict[tuple[str, str], int]) -> None:
    """Write a small case with this difference, and print it; but only the first of each sort."""
    small[difference.sort] = small.get(difference.sort, 0) + 1
    if small[difference.sort] > (options.most if difference.kind == "answer" else 1):
        return
    same = difference.sort

    def fails(smaller: Case) -> bool:
        return any(d.sort == same for d in differences_of(smaller, difference.path))

    case = shrunk(case, fails)
    again = next((d for d in differences_of(case, difference.path) if d.sort == same), difference)
    folder = options.keep / f"{case.language}-{case.seed}-{difference.path}"
    write_case(case, folder, LANGUAGES[case.language].ending, path=difference.path, difference=again.message)
    place = os.path.relpath(folder)
    print(f"{case.text}{''.join(f'{o.sign:+d} at {o.arrival}: {o.fact}{os.linesep}' for o in case.operations)}"
          f"{case.options}\n  {again.message}\n  python -m tests.differential --case {place} --paths "
          f"{difference.path}\n", flush=True)


def differences_of(case: Case, path: str) -> list[Difference]:
    """The differences of one path."""
    if PATHS[path].slow:
        return [difference for _, difference in check_together([case], [path], Findings())]
    return check(case, [path], Findings())


def summary(found: Findings, seconds: float) -> None:
    """What came of all cases."""
    print(f"{found.cases} cases in {seconds:.0f} s ({found.cases / max(seconds, 1e-9):.1f} a second), "
          f"{found.rows} rows compared")
    print("answers: " + ", ".join(f"{name} {count}" for name, count in found.answers.items()))
    for (path, reason), count in sorted(found.refusals.items()):
        print(f"refused by {path}, {count} times: {reason}")
    sorts = Counter(difference.sort for _, difference in found.differences)
    for (path, kind), count in sorted(sorts.items()):
        print(f"differences of {path} in {kind}: {count}")
    print(f"{len({case.seed for case, _ in found.differences})} cases with differences")


if __name__ == "__main__":
    sys.exit(main())
