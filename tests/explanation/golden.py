"""Golden proofs as text: `=== title`, rules, `?` the facts, `?` a question a line, `---`, the proofs.

`python -m tests.explanation.golden` writes the proofs anew, to be read before they are believed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.engine.running import facts_of
from tests.oracle.store import Fact

import eventide as ev
from eventide.explanation.asking import Explainer

FILE = Path(__file__).parent / "cases" / "proofs.txt"
_FACT = re.compile(r"(\w+)(?:\(([^)]*)\))?(?:=(\w+))?@(?:\[(\d+),(\d+)\)|(\d+))")


@dataclass(frozen=True)
class Case:
    """One case of the file."""

    title: str
    text: str
    expected: str

    def found(self) -> str:
        """The proofs of all questions."""
        lines = self.text.splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith("? "))
        program = ev.parse("\n".join(lines[:first]), source="rules.ec")
        explainer = Explainer(program, facts_of((fact, None) for fact in facts_in(lines[first])), start=0, end=40)
        proofs = []
        for line in lines[first + 1:]:
            question, _, at = line.removeprefix("? ").rpartition(" at ")
            proofs.append(explainer.why(question, int(at)).text())
        return "\n\n".join(proofs)


def facts_in(line: str) -> list[Fact]:
    """The facts of a line: `win(ann)@3`, `near(a,b)=true@[3,9)`."""
    found: list[Fact] = []
    for name, args, value, start, end, time in _FACT.findall(line):
        values = tuple(arg.strip() for arg in args.split(",") if arg)
        if value:
            found.append(("interval", name, values, value, int(start), int(end)))
        else:
            found.append(("event", name, values, int(time)))
    return found


def cases() -> list[Case]:
    """All cases."""
    found = []
    for block in FILE.read_text(encoding="utf-8").split("=== ")[1:]:
        title, _, rest = block.partition("\n")
        text, _, expected = rest.partition("\n---\n")
        found.append(Case(title.strip(), text, expected.strip("\n")))
    return found


if __name__ == "__main__":
    FILE.write_text("".join(f"=== {case.title}\n{case.text}\n---\n{case.found()}\n\n" for case in cases()),
                    encoding="utf-8")
