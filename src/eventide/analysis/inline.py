"""Bodies in normal form: definitions written out, equalities solved, disjunctions made into alternatives."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import is_

from eventide.analysis.knowledge import Knowledge, Predicate, list_name, listed, own_facts
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

Alternatives = list[tuple[tuple[Term, ...], Body]]


class Inlined:
    """What was made of rules before: it stays while these and all definitions are the same objects.

    An editor checks a text again and again, and most of its rules stay as they were.
    """

    def __init__(self) -> None:
        self._definitions: list[BackgroundClause] = []
        self._about: tuple[object, ...] = ()
        self._known: dict[int, tuple[Rule, Alternatives]] = {}
        self._asked: dict[int, tuple[Rule, Alternatives]] = {}

    def begin(self, knowledge: Knowledge) -> None:
        """A program is to be read: forget what its last reading did not ask for, and all if its definitions differ."""
        definitions = [clause for clauses in knowledge.clauses.values() for clause in clauses]
        with_facts = [predicate for predicate in knowledge.clauses if predicate in knowledge.facts]
        about = with_facts, knowledge.relations, knowledge.tabled, knowledge.tests, knowledge.refused
        same = len(definitions) == len(self._definitions) and all(map(is_, definitions, self._definitions))
        self._known = self._asked if same and about == self._about and not knowledge.functions else {}
        self._definitions, self._about, self._asked = definitions, about, {}

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

    def relation(self, predicate: Predicate) -> Iterator[tuple[Span | None, tuple[Term, ...], Body]]:
        """The clauses of a relation: the place of each, its head and its body, facts among them as a table."""
        head = self._head_of(predicate)
        clauses = self.knowledge.clauses[predicate]
        call = Call(Compound(predicate[0], head) if head else Atom(predicate[0]), clauses[0].span)
        options = self._options(call, predicate)
        spans = [clause.span for clause in clauses]
        for span, option in zip([*[spans[0]] * (len(options) - len(spans)), *spans], options, strict=True):
            for each in map(_renumbered, self._solved(head, self._expand(option))):
                yield span, *each

    def _head_of(self, predicate: Predicate) -> tuple[Variable, ...]:
        """Variables for the head of a relation, with the names that its clauses give them as far as these differ."""
        names: list[str] = []
        for place in range(predicate[1]):
            heads = (arguments_of(clause.head)[place] for clause in self.knowledge.clauses[predicate])
            given = (each.name for each in heads if isinstance(each, Variable) and not each.name.startswith("_"))
            names.append(next((name for name in given if name not in names), f"Arg{place + 1}"))
        return tuple(map(Variable, names))

    def _alternatives(self, head: tuple[Term, ...], body: Body) -> Alternatives:
        return list(self._solved(head, self._expand(self._inline(body))))

    def _solved(self, head: tuple[Term, ...], options: Iterable[Body]) -> Iterator[tuple[tuple[Term, ...], Body]]:
        for option in options:
            try:
                yield self._solve(head, option, frozenset())
            except Unsatisfiable:
                continue

    def _problem(self, code: str, body: Body, message: str, hint: str) -> None:
        span = body[0].span if body else None
        problem = Diagnostic("error", code, message, span, hint)
        if problem not in self.knowledge.diagnostics:
            self.knowledge.diagnostics.append(problem)

    # -- inlining -------------------------------------------------------------------------------------------

    def _inline(self, body: Body) -> Body:
        return tuple(item for condition in body for item in self._inline_one(condition))

    def _inline_one(self, condition: Condition) -> Body:
        match condition:
            case Not(goals):
                return (replace(condition, goals=self._inline(goals)),)
            case Or(options):
                return (replace(condition, alternatives=tuple(self._inline(option) for option in options)),)
            case FindAll(_, goals):
                return (replace(condition, goals=self._inline(goals)),)
            case Call(predicate):
                return self._call(condition, functor_of(predicate))
            case Cut():
                return ()
            case _:
                return (condition,)

    def _call(self, call: Call, predicate: Predicate) -> Body:
        arguments = arguments_of(call.predicate)
        if predicate in (("member", 2), ("memberchk", 2)) and isinstance(arguments[1], ListTerm):
            items = listed(call)
            if items is not None and items in self.knowledge.tabled:
                return (Call(Compound(list_name(items), (arguments[0],)), call.span),)
            equalities = tuple((Compare("=", arguments[0], item, call.span),) for item in arguments[1].items)
            return (Or(equalities, call.span),)
        if predicate[0] in self.knowledge.functions:
            return self._function(call, predicate, arguments)
        if predicate not in self.knowledge.clauses or predicate in self.knowledge.relations:
            return (call,)
        if predicate in self.knowledge.refused:
            code, message, hint = self.knowledge.refused[predicate]
            self._problem(code, (call,), message, hint)
            return (Call(Atom("fail"), call.span),)
        options = self._options(call, predicate)
        if predicate in self.knowledge.tests:
            return (Not(tuple(Not(option, call.span) for option in options), call.span),)
        return options[0] if len(options) == 1 else (Or(tuple(options), call.span),)

    def _options(self, call: Call, predicate: Predicate) -> list[Body]:
        """The clauses of a predicate, each as what it says of the arguments of a call."""
        arguments = arguments_of(call.predicate)
        options: list[Body] = []
        if predicate in self.knowledge.relations and self.knowledge.facts.keys() & {predicate, own_facts(predicate)}:
            options.append((Call(Compound(own_facts(predicate)[0], arguments), call.span),))
        elif predicate in self.knowledge.facts:
            options.append((call,))
        barred: list[Body] = []  # what a cut has already committed to
        for clause in self.knowledge.clauses[predicate]:
            renamed = fresh(clause)
            # the definition's own variables come first: they are replaced, and those of the rule keep their names
            equal = tuple(Compare("=", own, given, call.span)
                          for own, given in zip(arguments_of(renamed.head), arguments, strict=True))
            cut = next((i for i, c in enumerate(renamed.body) if isinstance(c, Cut)), None)
            inner = self._inline(renamed.body)
            options.append((*equal, *(Not(b) for b in barred), *inner))
            if cut is not None:
                prefix = self._inline(renamed.body[:cut])
                barred.append(fresh_but((*equal, *prefix), variables_in(arguments)))
        return options

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
                              "written out", "split it: let a definition or another rule have some of them")
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
                scope = protected | _names(head, tuple(each for each in conditions if not _of_one(each, condition)))
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


def _of_one(one: Condition, other: Condition) -> bool:
    """Whether two conditions are the same, or alternatives of one negation, whose variables are each one's own."""
    return one is other or (isinstance(one, Not) and isinstance(other, Not) and one.span is not None
                            and one.span == other.span)


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
