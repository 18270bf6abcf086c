"""Bodies in normal form: background clauses inlined, equalities solved, disjunctions made into alternatives."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_

from eventide.analysis.patterns import fresh, rename, substitute, unify, variables_in
from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.terms import Atom, Compound, ListTerm, Term, Variable, arguments_of, functor_of, is_ground
from eventide.syntax.trees import (
    BackgroundClause,
    Body,
    Call,
    Compare,
    Condition,
    Cut,
    FindAll,
    Function,
    Not,
    Or,
    Rule,
)

MOST_ALTERNATIVES = 512
MOST_DEPTH = 60
Predicate = tuple[str, int]


@dataclass
class Knowledge:
    """Background clauses by predicate: ground facts are tables, the rest is inlined."""

    clauses: dict[Predicate, list[BackgroundClause]] = field(default_factory=dict)
    facts: dict[Predicate, list[tuple[Term, ...]]] = field(default_factory=dict)
    functions: Mapping[str, int] = field(default_factory=dict)
    """Registered functions by name: how many of their arguments are inputs."""
    spans: dict[Predicate, Span | None] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @staticmethod
    def of(clauses: Sequence[BackgroundClause]) -> Knowledge:
        """Sort clauses into facts and definitions."""
        knowledge = Knowledge()
        for clause in clauses:
            predicate = functor_of(clause.head)
            knowledge.spans.setdefault(predicate, clause.span)
            if not clause.body and is_ground(clause.head):
                knowledge.facts.setdefault(predicate, []).append(arguments_of(clause.head))
            else:
                knowledge.clauses.setdefault(predicate, []).append(clause)
        return knowledge


Alternatives = list[tuple[tuple[Term, ...], Body]]


class Inlined:
    """What was made of rules before: it stays while these and all definitions are the same objects.

    An editor checks a text again and again, and most of its rules stay as they were.
    """

    def __init__(self) -> None:
        self._definitions: list[BackgroundClause] = []
        self._tables: list[Predicate] = []
        self._known: dict[int, tuple[Rule, Alternatives]] = {}
        self._asked: dict[int, tuple[Rule, Alternatives]] = {}

    def begin(self, knowledge: Knowledge) -> None:
        """A program is to be read: forget what its last reading did not ask for, and all if its definitions differ."""
        definitions = [clause for clauses in knowledge.clauses.values() for clause in clauses]
        tables = [predicate for predicate in knowledge.clauses if predicate in knowledge.facts]
        same = len(definitions) == len(self._definitions) and all(map(is_, definitions, self._definitions))
        self._known = self._asked if same and tables == self._tables and not knowledge.functions else {}
        self._definitions, self._tables, self._asked = definitions, tables, {}

    def alternatives(self, rule: Rule, inliner: Inliner, head: tuple[Term, ...], body: Body) -> Alternatives:
        """The alternatives of a rule, computed unless they are known."""
        found = self._known.get(id(rule))
        if found is None:
            before = len(inliner.knowledge.diagnostics)
            found = rule, inliner.alternatives(head, body)
            if len(inliner.knowledge.diagnostics) > before:
                return found[1]  # its problems are to be told the next time too
        self._asked[id(rule)] = found
        return found[1]


class Unsatisfiable(Exception):
    """A body that can never hold, such as one with `fail` or `a = b`."""


class Inliner:
    """Brings the bodies of one program into normal form."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge

    def alternatives(self, head: tuple[Term, ...], body: Body) -> Alternatives:
        """The head's terms and a body without disjunctions and equalities, once for every alternative."""
        return [_renumbered(each) for each in self._alternatives(head, body)]

    def _alternatives(self, head: tuple[Term, ...], body: Body) -> Alternatives:
        result: Alternatives = []
        for option in self._expand(self._inline(body, ())):
            try:
                result.append(self._solve(head, option, frozenset()))
            except Unsatisfiable:
                continue
            if len(result) > MOST_ALTERNATIVES:
                self._problem("too-many-alternatives", body,
                              f"this rule has more than {MOST_ALTERNATIVES} alternatives once its definitions are "
                              "written out", "split it, or give the definition as a table of facts")
                break
        return result

    def _problem(self, code: str, body: Body, message: str, hint: str) -> None:
        span = body[0].span if body else None
        self.knowledge.diagnostics.append(Diagnostic("error", code, message, span, hint))

    # -- inlining -------------------------------------------------------------------------------------------

    def _inline(self, body: Body, stack: tuple[Predicate, ...]) -> Body:
        return tuple(item for condition in body for item in self._inline_one(condition, stack))

    def _inline_one(self, condition: Condition, stack: tuple[Predicate, ...]) -> Body:
        match condition:
            case Not(goals):
                return (replace(condition, goals=self._inline(goals, stack)),)
            case Or(options):
                return (replace(condition, alternatives=tuple(self._inline(option, stack) for option in options)),)
            case FindAll(_, goals):
                return (replace(condition, goals=self._inline(goals, stack)),)
            case Call(predicate):
                return self._call(condition, functor_of(predicate), stack)
            case Cut():
                return ()
            case _:
                return (condition,)

    def _call(self, call: Call, predicate: Predicate, stack: tuple[Predicate, ...]) -> Body:
        arguments = arguments_of(call.predicate)
        if predicate in (("member", 2), ("memberchk", 2)) and isinstance(arguments[1], ListTerm):
            equalities = tuple((Compare("=", arguments[0], item, call.span),) for item in arguments[1].items)
            return (Or(equalities, call.span),)
        if predicate[0] in self.knowledge.functions:
            return self._function(call, predicate, arguments)
        clauses = self.knowledge.clauses.get(predicate)
        if clauses is None:
            return (call,)
        if predicate in stack or len(stack) >= MOST_DEPTH:
            self._problem("recursive-definition", (call,),
                          f"{predicate[0]}/{predicate[1]} is defined through itself",
                          "background knowledge must not be recursive: write it as a table of facts")
            return (Call(Atom("fail"), call.span),)
        options: list[Body] = []
        if predicate in self.knowledge.facts:
            options.append((call,))
        barred: list[Body] = []  # what a cut has already committed to
        for clause in clauses:
            renamed = fresh(clause)
            # the definition's own variables come first: they are replaced, and those of the rule keep their names
            equal = tuple(Compare("=", own, given, call.span)
                          for own, given in zip(arguments_of(renamed.head), arguments, strict=True))
            cut = next((i for i, c in enumerate(renamed.body) if isinstance(c, Cut)), None)
            inner = self._inline(renamed.body, (*stack, predicate))
            options.append((*equal, *(Not(b) for b in barred), *inner))
            if cut is not None:
                prefix = self._inline(renamed.body[:cut], (*stack, predicate))
                barred.append(fresh_but((*equal, *prefix), variables_in(arguments)))
        return options[0] if len(options) == 1 else (Or(tuple(options), call.span),)

    def _function(self, call: Call, predicate: Predicate, arguments: tuple[Term, ...]) -> Body:
        inputs = self.knowledge.functions[predicate[0]]
        if len(arguments) < inputs:
            self._problem("wrong-arity", (call,), f"the function {predicate[0]} takes {inputs} arguments, "
                          f"here it has {len(arguments)}", "arguments after those are what it computes")
            return (Call(Atom("fail"), call.span),)
        return (Function(predicate[0], arguments[:inputs], arguments[inputs:], call.span),)

    # -- disjunctions ---------------------------------------------------------------------------------------

    def _expand(self, body: Body) -> list[Body]:
        parts: list[list[Body]] = []
        total = 1
        for condition in body:
            if isinstance(condition, Or):
                options = [b for option in condition.alternatives for b in self._expand(option)]
            elif isinstance(condition, Not):
                options = [tuple(Not(option, condition.span) for option in self._expand(condition.goals))]
            else:
                options = [(condition,)]
            total *= max(1, len(options))
            if total > MOST_ALTERNATIVES:
                self._problem("too-many-alternatives", body,
                              f"this rule has more than {MOST_ALTERNATIVES} alternatives once its definitions are "
                              "written out", "split it, or give the definition as a table of facts")
                return []
            parts.append(options)
        return [tuple(itertools.chain.from_iterable(choice)) for choice in itertools.product(*parts)]

    # -- equalities -----------------------------------------------------------------------------------------

    def _solve(self, head: tuple[Term, ...], body: Body, protected: frozenset[str]) -> tuple[tuple[Term, ...], Body]:
        """Solve `=` by substitution; variables in `protected` belong to an outer scope and are only compared."""
        bindings: dict[str, Term] = {}
        rest: list[Condition] = []
        own = _names(head)
        for condition in body:
            if isinstance(condition, Compare) and condition.operator == "=":
                rest.extend(self._equal(condition, bindings, protected, own))
            elif isinstance(condition, Compare) and condition.operator == "\\=":
                rest.append(replace(condition, operator="\\=="))
            elif isinstance(condition, Call) and condition.predicate in (Atom("fail"), Atom("false")):
                raise Unsatisfiable
            else:
                rest.append(condition)
        head, conditions = substitute(head, bindings), substitute(tuple(rest), bindings)
        result: list[Condition] = []
        for i, condition in enumerate(conditions):
            if isinstance(condition, Not):
                scope = protected | _names(head, conditions[:i], conditions[i + 1:])
                try:
                    _, goals = self._solve((), condition.goals, scope)
                except Unsatisfiable:
                    continue
                if not goals:
                    raise Unsatisfiable
                result.append(replace(condition, goals=goals))
            elif isinstance(condition, FindAll):
                scope = protected | _names(head, conditions[:i], conditions[i + 1:])
                template, goals = self._solve((condition.template,), condition.goals, scope)
                result.append(replace(condition, template=template[0], goals=goals))
            else:
                result.append(_simplified(condition))
        return head, tuple(c for c in result if c is not None)

    def _equal(self, condition: Compare, bindings: dict[str, Term], protected: frozenset[str],
               own: frozenset[str]) -> list[Condition]:
        """What is left of an equality. Of two variables, one of the head's `own` keeps its name."""
        left, right = substitute(condition.left, bindings), substitute(condition.right, bindings)
        if isinstance(left, Variable) and isinstance(right, Variable) and left.name in own and right.name not in own:
            left, right = right, left
        for a, b in ((left, right), (right, left)):
            if isinstance(a, Variable) and a.name not in protected:
                if a.name in variables_in(b):
                    if a == b:
                        return []
                    raise Unsatisfiable
                bindings[a.name] = b
                return []
        if isinstance(left, Compound) and isinstance(right, Compound):
            if left.functor != right.functor or len(left.args) != len(right.args):
                raise Unsatisfiable
            pairs = zip(left.args, right.args, strict=True)
            return [c for a, b in pairs
                    for c in self._equal(Compare("=", a, b, condition.span), bindings, protected, own)]
        if is_ground(left) and is_ground(right):
            if not unify(left, right, {}):
                raise Unsatisfiable
            return []
        return [Compare("==", left, right, condition.span)]


def _renumbered(alternative: tuple[tuple[Term, ...], Body]) -> tuple[tuple[Term, ...], Body]:
    """The variables of inlined definitions numbered from 1 in every clause, so that equal bodies look equal."""
    counts: Counter[str] = Counter()
    numbered: dict[str, Variable] = {}
    for name in dict.fromkeys(variables_in(alternative)):
        title, mark, _ = name.partition("#")
        if mark:
            counts[title] += 1
            numbered[name] = Variable(f"{title}#{counts[title]}")
    head, body = alternative
    return rename(head, numbered), rename(body, numbered)


def _names(*trees: object) -> frozenset[str]:
    return frozenset(name for tree in trees for name in variables_in(tree))


def _simplified(condition: Condition) -> Condition:
    if isinstance(condition, Compare) and condition.operator in ("==", "\\=="):
        left, right = condition.left, condition.right
        if is_ground(left) and is_ground(right) and (left == right) != (condition.operator == "=="):
            raise Unsatisfiable
    return condition


def fresh_but(body: Body, kept: Sequence[str]) -> Body:
    """The body with all variables renamed but the kept ones."""
    renamed = fresh(tuple(Variable(v) for v in dict.fromkeys(variables_in(body))))
    old = dict.fromkeys(variables_in(body))
    return substitute(body, {o: r for o, r in zip(old, renamed, strict=True) if o not in set(kept)})
