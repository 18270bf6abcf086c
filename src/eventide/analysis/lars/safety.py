"""Pass: every variable of a rule is bound by a positive atom, or by `=` from such variables."""

from __future__ import annotations

from eventide.analysis.lars.model import LarsModel
from eventide.syntax.lars_trees import Comparison, Literal, Rule
from eventide.syntax.terms import Compound, Term, Variable, variables_of


def check_safety(model: LarsModel) -> None:
    """Report variables of heads, negated atoms and comparisons that nothing binds."""
    for rule in model.tree.rules:
        bound = bound_variables(rule)
        told: set[str] = set()
        if rule.head is not None:
            computed = {str(each) for each in (rule.head.time, *_args(rule.head.atom)) if not str(each).isidentifier()}
            named = {v.name: v for e in rule.comparisons if str(e.left) in computed for v in variables_of(e.right)}
            for variable in (*rule.head.variables(), *named.values()):
                _tell(model, variable, bound, told, "of the head", "let an atom of the body have it: "
                      "'h at T :- a at T [5].'" if variable == rule.head.time else
                      "let an atom of the body have it that is not negated: 'h(X) :- a(X) [5].'")
        for element in rule.body:
            if isinstance(element, Literal) and element.negated:
                for variable in element.variables():
                    if variable.anonymous:
                        model.report("error", "unsafe-variable", "'_' in a negated atom", variable.span,
                                     "conclude an atom without this argument by a rule of its own, and negate that")
                    else:
                        _tell(model, variable, bound, told, f"of 'not {element.predicate[0]}'",
                              "let an atom without 'not' have it too")
            elif isinstance(element, Comparison):
                for variable in element.variables():
                    _tell(model, variable, bound, told, "of a comparison",
                          "let an atom of the body have it, or '=' with known values on the other side")


def bound_variables(rule: Rule) -> set[str]:
    """The names of the variables that the positive atoms and the equations of a rule bind."""
    bound = {variable.name for literal in rule.literals if not literal.negated for variable in literal.variables()}
    equations = [element for element in rule.comparisons if element.operator == "="]
    changed = True
    while changed:
        changed = False
        for equation in equations:
            for target, source in ((equation.left, equation.right), (equation.right, equation.left)):
                if isinstance(target, Variable) and target.name not in bound \
                        and all(v.name in bound for v in variables_of(source)):
                    bound.add(target.name)
                    changed = True
    return bound


def _args(atom: Term) -> tuple[Term, ...]:
    return atom.args if isinstance(atom, Compound) else ()


def _tell(model: LarsModel, variable: Variable, bound: set[str], told: set[str], where: str, hint: str) -> None:
    if variable.name in bound or variable.name in told or not variable.name.isidentifier():
        return
    told.add(variable.name)
    model.report("error", "unsafe-variable", f"nothing binds the variable {variable} {where}", variable.span, hint)
