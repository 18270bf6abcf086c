"""How conditions of rules are said in proofs: as their author wrote them, with what is known of their variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from eventide.analysis.knowledge import FACTS, LIST
from eventide.analysis.patterns import rename, variables_in
from eventide.syntax.printer import condition_text, term_text
from eventide.syntax.terms import Compound, Term, Variable
from eventide.syntax.trees import Call, Condition


def worded(condition: Condition) -> str:
    """A condition as text. Variables of definitions that were written out have their names, `_` stays `_`.

    >>> from eventide.syntax.terms import Compound
    >>> from eventide.syntax.trees import Call
    >>> worded(Call(Compound("vessel", (Variable("V"), Variable("Type#2"), Variable("_1#1")))))
    'vessel(V, Type, _)'
    """
    names = dict.fromkeys(variables_in(condition))
    titles = Counter(map(_title, names))
    shown = {name: Variable(_title(name), anonymous=name.startswith("_")) for name in names
             if name.startswith("_") or titles[_title(name)] == 1}
    said = condition_text(rename(condition, shown))
    if isinstance(condition, Call) and isinstance(condition.predicate, Compound):
        name = condition.predicate.functor
        if name.startswith(LIST):
            (item,) = rename(condition, shown).predicate.args  # type: ignore[union-attr]
            return f"member({term_text(item)}, {name[len(LIST):].rpartition(' ')[0]})"
        if name.endswith(FACTS):
            return condition_text(replace(condition, predicate=replace(
                rename(condition, shown).predicate, functor=name.removesuffix(FACTS))))  # type: ignore[arg-type]
    return said


def bindings_text(binding: Mapping[str, Term]) -> dict[str, str]:
    """The values of variables as text, those of the rule itself before those of definitions that were written out.

    >>> from eventide.syntax.terms import Atom
    >>> bindings_text({"X#1": Atom("b"), "X": Atom("a"), "_1": Atom("c")})
    {'X': 'a'}
    """
    found: dict[str, str] = {}
    for name in sorted(binding, key=lambda name: "#" in name):
        if not name.startswith("_"):
            found.setdefault(_title(name), term_text(binding[name]))
    return found


def _title(name: str) -> str:
    return name.partition("#")[0]
