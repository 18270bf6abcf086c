"""Trees back to rule text: `parse(to_text(rule))` gives the rule again."""

from __future__ import annotations

import re

from eventide.syntax.terms import Atom, ListTerm, Number, Term, Variable
from eventide.syntax.tokens import INFIX, PREFIX
from eventide.syntax.trees import (
    Allen,
    BackgroundClause,
    Body,
    Boundary,
    Call,
    Changed,
    ChangeRule,
    Compare,
    Condition,
    Cut,
    Declaration,
    DelayRule,
    EventRule,
    FindAll,
    FluentValue,
    Function,
    Grounding,
    Guard,
    Happens,
    Holds,
    HoldsFor,
    InitialRule,
    IntervalOperation,
    Is,
    Length,
    Not,
    Or,
    Postponable,
    Rule,
    StaticRule,
)

_PLAIN_NAME = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_MODES = {"complement": "relative_complement", "inverse_complement": "relative_complement_inverse"}
_OPERATIONS = {"union": "union_all", "intersect": "intersect_all", "complement": "complement_all",
               "relative_complement": "relative_complement_all", "longer": "intDurGreater", "shorter": "intDurLess"}


def to_text(rule: Rule) -> str:
    """The rule as text, one condition a line.

    >>> from eventide.syntax.event_calculus import parse
    >>> print(to_text(parse("initiatedAt(busy(X)=true,T):-happensAt(start(near(X)=Y),T),not(Y==home).").rules[0]))
    initiatedAt(busy(X)=true, T) :-
        happensAt(start(near(X)=Y), T),
        \\+ Y == home.
    """
    head, body = _head(rule), () if isinstance(rule, Declaration) else rule.body
    if isinstance(rule, ChangeRule | EventRule | InitialRule) and rule.probability is not None:
        head = f"{rule.probability!r}::{head}"
    elif isinstance(rule, ChangeRule) and rule.weight is not None:
        head = f"weight({rule.weight!r})::{head}"
    if not body:
        return f"{head}."
    return f"{head} :-\n    " + ",\n    ".join(map(condition_text, body)) + "."


def term_text(term: Term | FluentValue, limit: int = 999) -> str:
    """A term as Prolog text; operators of a priority above `limit` are put in parentheses."""
    if isinstance(term, FluentValue):
        return f"{term_text(term.fluent, 699)}={_tight(term.value)}"
    if isinstance(term, Variable):
        return str(term)
    if isinstance(term, Number):
        return repr(term.value) if limit >= 699 or not repr(term.value).startswith("-") else f"({term.value!r})"
    if isinstance(term, Atom):
        return _name_text(term.name, is_atom=True)
    if isinstance(term, ListTerm):
        tail = f" | {term_text(term.tail)}" if term.tail is not None else ""
        return f"[{', '.join(map(term_text, term.items))}{tail}]"
    if len(term.args) == 2 and term.functor in INFIX:
        priority, left, right = INFIX[term.functor]
        space = "" if term.functor == "," else " "
        text = f"{term_text(term.args[0], left)}{space}{term.functor} {term_text(term.args[1], right)}"
        return f"({text})" if priority > limit else text
    return f"{_name_text(term.functor)}({', '.join(map(term_text, term.args))})"


def _tight(value: Term) -> str:
    """A value after `=`: symbols next to it need a space or parentheses to stay apart."""
    text = term_text(value, 699)
    return text if text[0].isalnum() or text[0] in "_'([" else f" {text}"


def _name_text(name: str, is_atom: bool = False) -> str:
    """A name, quoted where needed; an atom that is an operator is quoted so that it is read as a name."""
    is_operator = name in INFIX or name in PREFIX
    if name == "!" or (not is_atom if is_operator and name not in ",;" else _PLAIN_NAME.match(name)):
        return name
    return "'" + "".join(map(_escaped, name)) + "'"


def _escaped(character: str) -> str:
    if character in "'\\":
        return character * 2
    return character if character.isprintable() else f"\\x{ord(character):x}\\"


def condition_text(condition: Condition) -> str:
    """A condition as text, so that it can stand between commas."""
    match condition:
        case Happens(event, time):
            return f"happensAt({term_text(event)}, {term_text(time)})"
        case Function(name, inputs, outputs):
            return f"{_name_text(name)}({', '.join(map(term_text, (*inputs, *outputs)))})"
        case Boundary(kind, pair, time):
            return f"happensAt({kind}({term_text(pair)}), {term_text(time)})"
        case Holds(pair, time):
            return f"holdsAt({term_text(pair)}, {term_text(time)})"
        case Changed(kind, pair, time):
            return f"{kind}At({term_text(pair)}, {term_text(time)})"
        case HoldsFor(pair, interval):
            return f"holdsFor({term_text(pair)}, {term_text(interval)})"
        case IntervalOperation():
            return _operation_text(condition)
        case Allen(relation, source, target, mode, output):
            parts = (relation, term_text(source), term_text(target), _MODES.get(mode, mode), term_text(output))
            return f"allen({', '.join(parts)})"
        case Guard(interval, nonempty):
            return f"{interval} \\= []" if nonempty else f"{interval} = []"
        case Compare(operator, left, right):
            return f"{term_text(left, 699)} {operator} {term_text(right, 699)}"
        case Is(target, expression):
            return f"{term_text(target, 699)} is {term_text(expression, 699)}"
        case Call(predicate):
            return term_text(predicate)
        case FindAll(template, goals, output):
            return f"findall({term_text(template)}, {_group(goals)}, {output})"
        case Length(items, amount):
            return f"length({term_text(items)}, {term_text(amount)})"
        case Not(goals):
            return f"\\+ {_group(goals)}"
        case Or(alternatives):
            return f"({' ; '.join(map(_conjunction, alternatives))})"
        case Cut():
            return "!"


def _conjunction(body: Body) -> str:
    return ", ".join(map(condition_text, body)) or "true"


def _group(body: Body) -> str:
    return _conjunction(body) if len(body) < 2 else f"({_conjunction(body)})"


def _operation_text(operation: IntervalOperation) -> str:
    output = term_text(operation.output)
    if operation.base is None:
        parts = [f"[{', '.join(map(term_text, operation.inputs))}]"]
    elif operation.operation == "same":
        return f"{output} = {term_text(operation.base)}"
    elif operation.amount is not None:
        parts = [term_text(operation.base), term_text(operation.amount)]
    else:
        parts = [term_text(operation.base), f"[{', '.join(map(term_text, operation.inputs))}]"]
    return f"{_OPERATIONS[operation.operation]}({', '.join([*parts, output])})"


def _head(rule: Rule) -> str:
    match rule:
        case ChangeRule(kind, pair, time):
            return f"{kind}At({term_text(pair)}, {term_text(time)})"
        case StaticRule(pair, interval):
            return f"holdsFor({term_text(pair)}, {term_text(interval)})"
        case EventRule(event, time):
            return f"happensAt({term_text(event)}, {term_text(time)})"
        case InitialRule(pair):
            return f"initially({term_text(pair)})"
        case DelayRule(source, target, delay):
            return f"fi({term_text(source)}, {term_text(target)}, {term_text(delay)})"
        case Postponable(pair):
            return f"p({term_text(pair)})"
        case Grounding(subject):
            return f"grounding({term_text(subject)})"
        case Declaration(name, subject, rest):
            return f"{name}({', '.join(map(term_text, (subject, *rest)))})"
        case BackgroundClause(head):
            return term_text(head)
