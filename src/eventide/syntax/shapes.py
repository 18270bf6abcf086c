"""The shapes that heads and conditions share: `F=V`, times, events, numbers of arguments; each says what is wrong."""

from __future__ import annotations

from typing import cast

from eventide.syntax.diagnostics import Diagnostic, Severity
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable, functor_of
from eventide.syntax.trees import Boundary, FluentValue, Happens
from eventide.syntax.vocabulary import OPERATIONS, arities, closest, has_pair

_BOUNDARIES = ("start", "startI", "end")
OPERATORS = frozenset(("+", "-", "*", "/", "//", ":"))
"""What a name cannot have inside."""


class Shapes:
    """Reads the parts of one clause; problems go to `report`."""

    def __init__(self, report: list[Diagnostic]) -> None:
        self.report = report
        self.head_variables: set[str] = set()  # of the time or the intervals in the head

    def say(self, severity: Severity, code: str, message: str, place: Term, hint: str) -> None:
        """Reports a problem at a term."""
        self.report.append(Diagnostic(severity, code, message, place.span, hint))

    def error(self, code: str, message: str, place: Term, hint: str) -> None:
        """Reports an error at a term."""
        self.say("error", code, message, place, hint)

    def fits(self, term: Term, name: str, args: tuple[Term, ...], forms: tuple[str, ...]) -> bool:
        """Whether the number of arguments is one of the known forms."""
        expected = arities(forms)
        if len(args) in expected:
            return True
        count = " or ".join(map(str, expected))
        value = self._value_apart(name, args, forms)
        if value is not None:
            self.error("missing-value", f"the value of the fluent {term_text(args[0])} is written with '='", term,
                       f"write {value}")
            return False
        if len(args) == 1 and forms[0] in ("happensAt(Event, T)", f"{name}(F=V, T)", f"{name}(F=V, I)"):
            last = forms[0][-2]
            what = "time" if last == "T" else "interval variable"
            inside = args[0].args[-1] if isinstance(args[0], Compound) else None
            meant = args
            if name == "happensAt" and isinstance(inside, Variable) and inside.name in self.head_variables:
                assert isinstance(args[0], Compound)  # the time stands inside the event
                last, rest = inside.name, args[0].args[:-1]
                meant = (Compound(args[0].functor, rest) if rest else Atom(args[0].functor),)
            self.error("wrong-arity", f"'{name}' takes {count} arguments, not {len(args)}: the {what} is missing", term,
                       f"write {name}({', '.join(map(tight_text, meant))}, {last})")
            return False
        if len(args) == 2 and name == "initially" and has_pair(term):
            self.error("wrong-arity", "'initially' has no time: it is about the start of the run", term,
                       f"write initially({tight_text(args[0])})")
            return False
        if name in OPERATIONS and len(args) + 1 == expected[0] and isinstance(args[-1], ListTerm):
            self.error("wrong-arity", f"'{name}' takes {count} arguments, not {len(args)}: the result is missing", term,
                       f"write {name}({', '.join(map(term_text, args))}, I)")
            return False
        right = " or ".join(forms)
        if len(args) == 3 and name in ("initiatedAt", "terminatedAt") and has_pair(Compound("", args[:1])):
            if has_pair(Compound("", args[1:2])):
                right = f"a rule for each fluent: {name}({tight_text(args[0])}, {term_text(args[2])}) :- …"
            elif isinstance(args[2], Number) and 0 <= args[2].value <= 1:
                right = f"the probability before the head: {term_text(args[2])}::{name}({tight_text(args[0])}, " \
                        f"{term_text(args[1])})"
        self.error("wrong-arity", f"'{name}' takes {count} argument{'s' * (count != '1')}, not {len(args)}", term,
                   f"write {right}")
        return False

    def _value_apart(self, name: str, args: tuple[Term, ...], forms: tuple[str, ...]) -> str | None:
        """What `holdsAt(rich(X), true, T)` is to be, where the value stands as an argument of its own."""
        if len(args) == 3 and forms[0].startswith(f"{name}(F=V, ") and isinstance(args[0], Atom | Compound) \
                and not has_pair(Compound("", args[:2])) and isinstance(args[1], Atom | Number | Variable):
            return f"{name}({term_text(args[0], 699)}={term_text(args[1], 699)}, {term_text(args[2])})"
        return None

    def pair(self, term: Term) -> FluentValue | None:
        """`F=V`."""
        if isinstance(term, Compound) and term.functor == "=" and len(term.args) == 2:
            fluent, value = term.args
            if isinstance(fluent, Compound) and fluent.functor in OPERATORS:
                self.bad_name(fluent, "fluent")
                return None
            if isinstance(fluent, Atom | Compound):
                return FluentValue(fluent, value, term.span)
            if isinstance(fluent, Variable):
                self.error("variable-fluent", f"the fluent is the variable {fluent}", fluent,
                           "write the fluent's name: one rule for each fluent")
            else:
                self.error("bad-fluent", f"{term_text(fluent)} is not a fluent", fluent,
                           "a fluent is a name with arguments, such as moving(Vessel)=true")
        elif isinstance(term, Variable):
            self.error("variable-fluent", f"the fluent is the variable {term}", term,
                       "write the fluent and its value, such as moving(Vessel)=true")
        elif isinstance(term, Compound) and term.functor in ("==", "=:=", "\\=", "is", "=<", "<", ">", ">=", ":"):
            self.error("missing-value", f"'{term.functor}' does not give a fluent its value", term,
                       f"write {term_text(term.args[0], 699)}={term_text(term.args[-1], 699)}")
        elif isinstance(term, Compound) and term.functor in ("\\+", "not") and has_pair(term):
            inside = tight_text(term.args[0])
            self.error("missing-value", f"'{term.functor}' stands before a condition, not before its fluent", term,
                       f"write \\+ holdsAt({inside}, T); what ends a fluent is terminatedAt({inside}, T)")
        elif isinstance(term, Atom | Compound):
            self.error("missing-value", f"the fluent {term_text(term)} has no value", term,
                       f"write {term_text(term, 699)}=true, or another value")
        else:
            self.error("bad-fluent", f"{term_text(term)} is not a fluent with a value", term,
                       "a fluent is a name with arguments, such as moving(Vessel)=true")
        return None

    def swapped(self, term: Compound, name: str) -> bool:
        """Whether the time stands before the fluent, which is then said."""
        first, second = term.args[0], term.args[-1]
        if len(term.args) == 2 and isinstance(first, Variable) and has_pair(Compound("", (second,))):
            self.error("variable-fluent", "the time stands before the fluent", term,
                       f"write {name}({tight_text(second)}, {first})")
            return True
        return False

    def bad_name(self, term: Compound, what: str) -> None:
        """A name with an operator inside, such as `high-speed(X)`."""
        parts = [functor_of(arg)[0] for arg in term.args if isinstance(arg, Atom | Compound)]
        such = "moving(Vessel)=true" if what == "fluent" else "stop_start(Vessel)"
        hint = f"write {'_'.join(parts)}" if len(parts) == 2 and all(part.isidentifier() for part in parts) else \
            f"write a name with arguments, such as {such}"
        self.error("bad-name", f"'{term.functor}' cannot be part of the name of {'an' if what == 'event' else 'a'} "
                   f"{what}", term, hint)

    def time(self, term: Term) -> Term | None:
        """A time-point: a variable or an integer."""
        if isinstance(term, Variable) or (isinstance(term, Number) and isinstance(term.value, int)):
            return term
        if isinstance(term, Compound) and term.functor in ("=", "=="):
            hint = "the fluent with its value comes first, the time last"
        elif isinstance(term, ListTerm):
            hint = "write one variable, such as T: intervals belong to holdsFor(F=V, I)"
        elif isinstance(term, Atom) and term.name[:1].isalpha():
            hint = f"a variable begins with a capital letter: did you mean {term.name[0].upper()}{term.name[1:]}?"
        else:
            hint = "write a variable; for effects after a delay use fi(F=V, F=W, Delay)"
        self.error("bad-time", f"{term_text(term)} is not a time-point", term, hint)
        return None

    def happening(self, event: Term, time: Term, place: Term) -> Happens | Boundary | None:
        """`happensAt(event, time)`, where the event may be the start or the end of a fluent's interval."""
        if isinstance(event, Variable) and isinstance(time, Atom | Compound) and not isinstance(time, ListTerm):
            self.error("variable-event", "the time stands before the event", place,
                       f"write happensAt({term_text(time)}, {event})")
            return None
        at = self.time(time)
        if isinstance(event, Variable):
            self.error("variable-event", f"the event is the variable {event}", event,
                       "write the event's name: one rule for each event")
        elif not isinstance(event, Atom | Compound):
            self.error("bad-event", f"{term_text(event)} is not an event", event,
                       "an event is a name with arguments, such as stop_start(Vessel)")
        elif isinstance(event, Compound) and event.functor in OPERATORS:
            self.bad_name(event, "event")
        elif isinstance(event, Compound) and event.functor in ("=", "=="):
            self.error("event-with-value", "an event has no value", event,
                       "use holdsAt(F=V, T), or happensAt(start(F=V), T) for the moment it begins")
        elif isinstance(event, Compound) and event.functor in _BOUNDARIES and len(event.args) == 1 \
                and isinstance(event.args[0], Compound):
            pair = self.pair(event.args[0])
            if pair is not None and at is not None:
                return Boundary(event.functor, pair, at, place.span)  # type: ignore[arg-type]
        elif has_pair(event):
            name = cast(Compound, event).functor
            near = closest(name, _BOUNDARIES, 0.6)
            self.error("unknown-boundary", f"'{name}' of a fluent is not an event", event,
                       f"did you mean '{near}'?" if near else "use start(F=V), startI(F=V) or end(F=V)")
        elif at is not None:
            return Happens(event, at, place.span)
        return None


def tight_text(term: Term | FluentValue) -> str:
    """An argument as people write it, `F=V` without spaces."""
    if isinstance(term, Compound) and term.functor == "=" and len(term.args) == 2:
        return f"{term_text(term.args[0], 699)}={term_text(term.args[1], 699)}"
    return term_text(term)
