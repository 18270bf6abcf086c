"""Pass: predicates that look like others, windows that count nothing, rules that stand twice or never apply."""

from __future__ import annotations

from difflib import get_close_matches

from eventide.analysis.lars.model import LarsModel
from eventide.analysis.slips import small_variable, warn_of_small
from eventide.syntax.lars_trees import Rule
from eventide.syntax.terms import Atom, arguments_of, template_of


def check_names(model: LarsModel) -> None:
    """Warn about likely slips of names, and about windows of tuples over conclusions."""
    derived, given = set(model.derived), {*model.derived, *model.background}
    spellings = {name for name, _ in given}
    inputs: dict[str, int] = {}
    constants = {term for fact in model.tree.facts for term in arguments_of(fact)}
    for rule in model.tree.rules:
        small = small_variable([] if rule.head is None else arguments_of(rule.head.atom),
                               [term for literal in rule.literals for term in arguments_of(literal.atom)])
        if small is not None and small not in constants:
            warn_of_small(model.report, small)
        for literal in rule.literals:
            name = literal.predicate[0]
            if literal.predicate not in given:
                others = sorted(count for other, count in given if other == name)
                first = inputs.setdefault(name, literal.predicate[1])
                if first != literal.predicate[1] and not others:
                    model.report("info", "other-arity", f"{template_of(*literal.predicate)} is an input, and so is "
                                 f"{template_of(name, first)}", literal.span,
                                 "these are two predicates that have nothing to do with each other")
                near = get_close_matches(name, spellings - {name}, 1, 0.85)
                if others:
                    model.report("warning", "other-arity", f"{template_of(*literal.predicate)} is an input, while "
                                 f"{template_of(name, others[0])} is concluded", literal.span,
                                 "give both the same number of arguments, or different names")
                elif near:
                    model.report("warning", "similar-name", f"{name} is an input; did you mean {near[0]}?",
                                 literal.span, f"write {near[0]}, or leave it if {name} comes in the stream")
            elif literal.predicate in derived and literal.window is not None and literal.window.kind != "time":
                model.report("warning", "tuples-of-conclusions", f"a window of tuples over {name}, which rules "
                             "conclude: only input facts are counted", literal.span,
                             "use a window of time, or conclude from the input facts directly")
    _tell_of_repetitions(model)


def _tell_of_repetitions(model: LarsModel) -> None:
    seen: dict[Rule, Rule] = {}
    for rule in model.tree.rules:
        first = seen.setdefault(rule, rule)
        if first is not rule and first.span is not None:
            model.report("warning", "duplicate-rule", f"this rule stands in {first.span} already", rule.span,
                         "remove one of them")
        for comparison in rule.comparisons:
            if comparison.operator not in ("=", "!=") and (
                    isinstance(comparison.left, Atom) or isinstance(comparison.right, Atom)):
                word = comparison.left if isinstance(comparison.left, Atom) else comparison.right
                model.report("error", "word-compared", f"'{word}' is a word; {comparison.operator} is between numbers",
                             comparison.span, "a word that begins with a small letter is no variable")
