"""Which background predicates are relations that are evaluated once, and which are written out where they are called.

Small definitions are written out, as views are in databases: then the conditions of a rule bind what is asked of them,
and nothing is computed that nobody asks for. Definitions that are recursive, or that would make rules large, are
relations; so are lists of `member`. A relation needs clauses whose conditions bind all of its arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from eventide.analysis.graphs import components
from eventide.analysis.inline import MOST_ALTERNATIVES, Inliner
from eventide.analysis.knowledge import Knowledge, Predicate, Wrong, calls_in, listed
from eventide.analysis.model import BUILT_IN_TESTS
from eventide.analysis.patterns import variables_in
from eventide.syntax.terms import Compound, ListTerm, Term, Variable, arguments_of, functor_of
from eventide.syntax.trees import Body, Call, Compare, Condition, FindAll, Function, Is, Length, Not, Or

MOST_WRITTEN_OUT = 16
"""So many alternatives a definition, a list or a rule may have for its parts to be written out."""
MOST_CONDITIONS = 256
"""So many conditions a definition may have for it to be written out, with those of all that it calls."""
MOST_DEPTH = 30
"""Through so many definitions one may be called for it to be written out."""
_ENDLESS = 1 << 40


@dataclass(frozen=True, slots=True)
class Size:
    """How large something is once it is written out: its alternatives, all their conditions, how deep calls go."""

    alternatives: int = 1
    conditions: int = 1
    depth: int = 0

    @property
    def small(self) -> bool:
        """Whether it is written out."""
        return self.alternatives <= MOST_WRITTEN_OUT and self.conditions <= MOST_CONDITIONS and \
            self.depth <= MOST_DEPTH

    @property
    def possible(self) -> bool:
        """Whether it can be written out, if nothing else can be done."""
        return self.alternatives <= MOST_ALTERNATIVES and self.conditions <= 16 * MOST_CONDITIONS and \
            self.depth <= 2 * MOST_DEPTH


def choose_relations(knowledge: Knowledge, bodies: Iterable[Body]) -> None:
    """Fill `relations`, `tabled`, `tests` and `refused` for a program whose rules have these bodies."""
    chooser = _Chooser(knowledge)
    for members in chooser.order():
        chooser.decide(members)
    for body in bodies:
        chooser.settle(body)
    knowledge.set_facts_apart()


class _Chooser:
    """Decides from the predicates that call nothing upwards, in time linear in the text."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.inliner = Inliner(knowledge)
        self._sizes: dict[Predicate, Size] = {}
        self._possible: dict[Predicate, bool] = {}
        self._products: set[Predicate] = set()
        self._filled: dict[Predicate, Predicate] = {}  # of what reads a domain of the input: which one
        self._reads = {each: {inner for clause in clauses for call in calls_in(clause.body)
                              if self._defined(inner := functor_of(call.predicate)) or inner in knowledge.dynamic}
                       for each, clauses in knowledge.clauses.items()}

    def _defined(self, predicate: Predicate) -> bool:
        return predicate in self.knowledge.clauses and predicate[0] not in self.knowledge.functions

    def order(self) -> list[list[Predicate]]:
        """The predicates with definitions in groups that call each other, those that are called first."""
        named = {f"{name}/{arity}": (name, arity) for name, arity in self._reads}
        graph = {text: [f"{name}/{arity}" for name, arity in self._reads[each]] for text, each in named.items()}
        return [[named[text] for text in members] for members in components(graph)]

    def decide(self, members: Sequence[Predicate]) -> None:
        """Decide about predicates that call each other, or about one."""
        for each in members:
            filled = next((self._filled.get(inner, inner) for inner in sorted(self._reads[each])
                           if inner in self.knowledge.dynamic or inner in self._filled), None)
            if filled is not None:
                self._filled.update(dict.fromkeys(members, filled))
        if len(members) > 1 or members[0] in self._reads[members[0]]:
            self._decide_cycle(members)
            return
        (predicate,) = members
        refused = next((self.knowledge.refused[inner] for inner in sorted(self._reads[predicate])
                        if inner in self.knowledge.refused), None)
        if refused is not None:
            self.knowledge.refused[predicate] = refused
            return
        for clause in self.knowledge.clauses[predicate]:
            self.settle(clause.body)
        self._sizes[predicate] = self._size_of(predicate)
        if not self._sizes[predicate].small and not self._become(predicate):
            self._write_out(predicate)

    def _write_out(self, predicate: Predicate) -> None:
        """Leave a large predicate that is no relation to be written out, if that can be done at all."""
        name, size = f"{predicate[0]}/{predicate[1]}", self._sizes[predicate]
        parts = [self.of(clause.body) for clause in self.knowledge.clauses[predicate]]
        hint = "let the conditions of each definition bind all arguments of its head: it is evaluated once then" \
            if predicate not in self._filled else "it reads a domain that the input fills: give that as a table, or " \
            "let a fluent conclude what the definitions say"
        wrong: Wrong
        if size.depth > 2 * MOST_DEPTH:
            wrong = "too-deep", f"{name} is called through more than {2 * MOST_DEPTH} definitions", hint
        elif size.conditions > 16 * MOST_CONDITIONS or not all(part.possible for part in parts):
            wrong = "too-many-alternatives", f"{name} has more than {MOST_ALTERNATIVES} alternatives once what it " \
                "calls is written out", hint
        else:
            if size.alternatives > MOST_ALTERNATIVES:
                self.knowledge.tests.add(predicate)
                self._sizes[predicate] = Size(1, size.conditions, size.depth)
            return
        self.knowledge.refused[predicate] = wrong
        self._sizes[predicate] = Size()

    def _decide_cycle(self, members: Sequence[Predicate]) -> None:
        """Predicates that are defined through themselves are relations, or are refused where they are called."""
        for each in members:
            self.knowledge.relations.add(each)
            self._sizes[each] = Size()
        for each in members:
            for clause in self.knowledge.clauses[each]:
                self.settle(clause.body)
        wrong = next((found for each in members if (found := self._wrong_cycle(each, members)) is not None), None)
        for each in members:
            self._possible[each] = wrong is None
            if wrong is not None:
                self.knowledge.relations.discard(each)
                self.knowledge.refused[each] = wrong

    def _wrong_cycle(self, predicate: Predicate, members: Sequence[Predicate]) -> Wrong | None:
        """Why a predicate that is defined through itself has no meaning as a relation."""
        name = f"{predicate[0]}/{predicate[1]}"
        if predicate in self._filled:
            domain = "{}/{}".format(*self._filled[predicate])
            return "recursive-definition", f"{name} is defined through itself, and through the domain {domain}, " \
                "which the input fills", "recursive definitions may read facts and tables: give the domain as one"
        found = self._clauses(predicate)
        if found is None:
            return "recursive-definition", f"{name} is defined through itself", "give it as a table of facts"
        for head, body in found:
            if any(functor_of(call.predicate) in members for condition in body
                   if isinstance(condition, Not | FindAll) for call in calls_in(condition.goals)):
                return "recursive-definition", f"{name} is defined through the absence or the number of its own " \
                    "facts", "a negation or a findall may ask for predicates only that are known before"
            free = _free(head, body)
            if free is not None:
                return "recursive-definition", f"{name} is defined through itself, but {free}", \
                    "bind every argument of its head by facts, a table, or a computation"
        return None

    def _clauses(self, predicate: Predicate) -> list[tuple[tuple[Term, ...], Body]] | None:
        """The clauses of a relation; None where something in them is wrong."""
        known = len(self.knowledge.diagnostics)
        found = [(head, body) for _, head, body in self.inliner.relation(predicate)]
        wrong = len(self.knowledge.diagnostics) > known
        del self.knowledge.diagnostics[known:]  # told where the predicate is called
        return None if wrong else found

    def _is_safe(self, predicate: Predicate) -> bool:
        """Whether the conditions of all clauses bind the arguments of their heads."""
        known = len(self.knowledge.diagnostics)
        safe = True
        for _, head, body in self.inliner.relation(predicate):
            safe = _free(head, body) is None
            if not safe:
                break
            if _is_product(body):
                self._products.add(predicate)
        wrong = len(self.knowledge.diagnostics) > known
        del self.knowledge.diagnostics[known:]
        return safe and not wrong

    def _become(self, predicate: Predicate, *, must: bool = False) -> bool:
        """Make a predicate a relation if it can be one; one with a clause that pairs each with each if it must be."""
        if predicate not in self._possible:
            self._possible[predicate] = predicate not in self._filled and self._is_safe(predicate)
        if predicate in self._products and self._sizes[predicate].possible and not must:
            return False
        if self._possible[predicate]:
            self.knowledge.relations.add(predicate)
            self._sizes[predicate] = Size()
        return self._possible[predicate]

    # -- sizes --------------------------------------------------------------------------------------------------------

    def of(self, body: Body) -> Size:
        """The size of a body."""
        sizes = [self._size(condition) for condition in body]
        alternatives = conditions = 1
        for size in sizes:
            alternatives = min(alternatives * size.alternatives, _ENDLESS)
            conditions = min(conditions + size.conditions, _ENDLESS)
        return Size(alternatives, conditions, max((size.depth for size in sizes), default=0))

    def _size(self, condition: Condition) -> Size:
        match condition:
            case Or(alternatives):
                return _either([self.of(each) for each in alternatives])
            case Not(goals):
                inner = self.of(goals)
                return Size(1, min(inner.alternatives * inner.conditions, _ENDLESS), inner.depth)
            case FindAll(_, goals):
                return replace(self.of(goals), alternatives=1)
            case Call():
                return self._call_size(condition)
        return Size()

    def _call_size(self, call: Call) -> Size:
        items = listed(call)
        if items is not None:
            number = 1 if items in self.knowledge.tabled else max(1, len(items))
            return Size(number, number)
        predicate = functor_of(call.predicate)
        return self._sizes.get(predicate, Size()) if self._defined(predicate) else Size()

    def _size_of(self, predicate: Predicate) -> Size:
        found = _either([self.of(clause.body) for clause in self.knowledge.clauses[predicate]])
        return Size(found.alternatives + (predicate in self.knowledge.facts), found.conditions, found.depth + 1)

    # -- rules that would become large --------------------------------------------------------------------------------

    def settle(self, body: Body) -> None:
        """Make relations of what a body calls as far as it would be too large with it written out.

        What a findall counts has one alternative: several would count what they share several times.
        """
        size = self.of(body)
        if not size.small:
            most = 1 if size.alternatives > MOST_WRITTEN_OUT else MOST_ALTERNATIVES
            self._shrink(body, most, set(), must=not size.possible)
        for condition in body:
            if isinstance(condition, FindAll):
                if self.of(condition.goals).alternatives > 1:
                    self._shrink(condition.goals, 1, set(), must=True)
                self.settle(condition.goals)
            elif isinstance(condition, Not):
                self.settle(condition.goals)
            elif isinstance(condition, Or):
                for each in condition.alternatives:
                    self.settle(each)

    def _shrink(self, body: Body, most: int, seen: set[Predicate], *, must: bool) -> None:
        """Make relations of what has more alternatives than so many, or many conditions."""
        for call in calls_in(body):
            items = listed(call)
            if items is not None and len(items) > most:
                self.knowledge.tabled.add(items)
            size, predicate = self._call_size(call), functor_of(call.predicate)
            if items is not None or predicate in seen or not self._defined(predicate) or \
                    (size.alternatives <= most and size.conditions <= MOST_CONDITIONS // 8):
                continue
            seen.add(predicate)
            if not self._become(predicate, must=must):
                for clause in self.knowledge.clauses[predicate]:
                    self._shrink(clause.body, most, seen, must=must)
                self._sizes[predicate] = self._size_of(predicate)


def _either(sizes: Sequence[Size]) -> Size:
    """The size of alternatives together."""
    return Size(min(sum(each.alternatives for each in sizes), _ENDLESS),
                min(sum(each.conditions for each in sizes), _ENDLESS), max((each.depth for each in sizes), default=0))


def _free(head: tuple[Term, ...], body: Body, known: Iterable[str] = ()) -> str | None:
    """What keeps a clause from being evaluated by itself; None if its conditions bind all that they need."""
    if any(isinstance(term, Compound | ListTerm) for term in head):
        return "an argument of its head is no plain value"
    bound = set(known)
    pending = list(body)
    while pending:
        ready = next((each for each in pending if _ready(each, bound, head, pending)), None)
        if ready is None:
            names = [name for name in variables_in(tuple(pending)) if name not in bound]
            return f"{names[0].partition('#')[0]} is bound by no condition" if names else "its conditions are no tests"
        pending.remove(ready)
        bound |= set(_binds(ready))
    free = [term.name for term in head if isinstance(term, Variable) and term.name not in bound]
    return f"{free[0].partition('#')[0]} of its head is bound by no condition" if free else None


def _is_product(body: Body) -> bool:
    """Whether some calls of a body share no variable with others, so that all their rows meet."""
    groups: list[set[str]] = []
    for condition in body:
        names = set(variables_in(condition)) if isinstance(condition, Call) else set()
        if names:
            met = [group for group in groups if group & names]
            groups = [group for group in groups if not group & names] + [names.union(*met)]
    return len(groups) > 1


def _ready(condition: Condition, bound: set[str], head: tuple[Term, ...], pending: Sequence[Condition]) -> bool:
    """Whether a condition can be evaluated with these variables bound."""
    match condition:
        case Call(predicate):
            return not any(isinstance(each, Compound | ListTerm) for each in arguments_of(predicate)) and (
                not _is_test(condition) or set(variables_in(predicate)) <= bound)
        case Is(_, expression):
            return set(variables_in(expression)) <= bound
        case Function(_, inputs):
            return set(variables_in(inputs)) <= bound
        case Compare():
            return set(variables_in(condition)) <= bound
        case Length(items):
            return isinstance(items, ListTerm) or not any(
                isinstance(each, FindAll) and each.output == items for each in pending)
        case Not(goals):
            shared = set(variables_in(goals)) & _others(condition, head, pending)
            return shared <= bound and _free((), goals, shared) is None
        case FindAll(_, goals, output):
            shared = set(variables_in(goals)) & (_others(condition, head, pending) - {output.name})
            return shared <= bound and _free((), goals, shared) is None
    return False


def _others(condition: Condition, head: tuple[Term, ...], pending: Sequence[Condition]) -> set[str]:
    """The variables of a clause outside of a condition; what a negation has for itself is no other's."""
    return set(variables_in((head, tuple(each for each in pending if each is not condition
                                         and not isinstance(each, Not)))))


def _is_test(call: Call) -> bool:
    return functor_of(call.predicate) in BUILT_IN_TESTS


def _binds(condition: Condition) -> list[str]:
    match condition:
        case Not() | Compare():
            return []
        case FindAll(_, _, output):
            return [output.name]
    return variables_in(condition)
