"""Golden proofs as text: `=== title`, rules, `?` the facts, `?` a question a line, `---`, the proofs.

There is a file for the Event Calculus and one for DatalogMTL. `python -m tests.explanation.golden` writes the proofs
anew, to be read before they are believed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.engine.running import facts_of
from tests.oracle.store import Fact

import eventide as ev
from eventide.explanation.asking import Explainer

FILES = {"ec": Path(__file__).parent / "cases" / "proofs.txt", "mtl": Path(__file__).parent / "cases" / "metric.txt"}
_FACT = re.compile(r"(\w+)(?:\(([^)]*)\))?(?:=(\w+))?@(?:\[(\d+),(\d+)\)|(\d+))")


@dataclass(frozen=True)
class Case:
    """One case of a file."""

    language: str
    title: str
    text: str
    expected: str

    def found(self) -> str:
        """The proofs of all questions."""
        lines = self.text.splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith("? "))
        rules, given = "\n".join(lines[:first]), lines[first].removeprefix("? ")
        questions = [line.removeprefix("? ").partition(" at ") for line in lines[first + 1:]]
        if self.language == "mtl":
            program = ev.parse(rules, source="rules.mtl", language="mtl")
            facts = ev.mtl.facts_in("\n".join(given.split()), "facts")
            return "\n\n".join(ev.explain(program, facts, question, at).text() for question, _, at in questions)
        explainer = Explainer(ev.parse(rules, source="rules.ec"),
                              facts_of((fact, None) for fact in facts_in(given)), start=0, end=40)
        return "\n\n".join(explainer.why(question, int(at)).text() for question, _, at in questions)


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


def cases(language: str = "ec") -> list[Case]:
    """All cases of a language."""
    found = []
    for block in FILES[language].read_text(encoding="utf-8").split("=== ")[1:]:
        title, _, rest = block.partition("\n")
        text, _, expected = rest.partition("\n---\n")
        found.append(Case(language, title.strip(), text, expected.strip("\n")))
    return found


if __name__ == "__main__":
    for name, file in FILES.items():
        file.write_text("".join(f"=== {case.title}\n{case.text}\n---\n{case.found()}\n\n" for case in cases(name)),
                        encoding="utf-8")
