"""What the passes over a DatalogMTL program share: its rules, what its predicates are, and the problems found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from eventide.algebra.nodes import Output
from eventide.syntax.diagnostics import Diagnostic, Severity, Span
from eventide.syntax.mtl_trees import Rule, ranges_in
from eventide.syntax.terms import Term


@dataclass
class MtlModel:
    """A program on its way through the passes.

    A predicate is known by its template, `Mon(_,_)`. Facts may be given of every predicate, also of those that rules
    derive; `inputs` says under which name a plan reads them.
    """

    rules: tuple[Rule, ...]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    predicates: dict[str, Span | None] = field(default_factory=dict)
    """Every predicate, with the first place where it stands."""
    defined: dict[str, list[int]] = field(default_factory=dict)
    """The numbers of the rules of each derived predicate."""
    inputs: dict[str, str] = field(default_factory=dict)
    reads: dict[str, set[str]] = field(default_factory=dict)
    """Which predicates each derived one reads."""
    components: list[list[str]] = field(default_factory=list)
    """The derived predicates, those that depend on one another together, what is read before what reads it."""
    levels: dict[str, int] = field(default_factory=dict)
    cycles: list[tuple[str, ...]] = field(default_factory=list)
    types: dict[tuple[str, int], str] = field(default_factory=dict)
    """The domain of every argument of every predicate."""
    variable_types: dict[tuple[int, str], str] = field(default_factory=dict)
    constants: dict[str, list[Term]] = field(default_factory=dict)
    open_types: set[str] = field(default_factory=set)
    """Domains that computed values enlarge."""

    def report(self, severity: Severity, code: str, message: str, span: Span | None, hint: str | None = None) -> None:
        """Note a problem."""
        diagnostic = Diagnostic(severity, code, message, span, hint)
        if diagnostic not in self.diagnostics:
            self.diagnostics.append(diagnostic)

    @property
    def failed(self) -> bool:
        """Whether an error was found."""
        return any(d.severity == "error" for d in self.diagnostics)

    @property
    def denominator(self) -> int:
        """The least denominator that all numbers of operators have in common."""
        bounds = [bound for rule in self.rules for _, r in ranges_in(rule) for bound in (r.low, r.high)]
        return math.lcm(*(bound.denominator for bound in bounds if bound is not None))

    @property
    def outputs(self) -> list[Output]:
        """What is reported unless something else is asked for: the derived predicates, in order of their rules."""
        return [Output(template, template, "fluent") for template in self.defined]


def given(template: str) -> str:
    """The name under which a plan reads the facts about a derived predicate."""
    return f"given {template}"
