"""Pass: a program's definitions, in the order in which they can be evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from eventide.algebra import nodes as n
from eventide.algebra.evidence import without_needless_domains
from eventide.algebra.sharing import Sharing
from eventide.analysis.compiler import EVERY, Compiler
from eventide.analysis.graphs import components, is_cycle
from eventide.analysis.model import Clause, Model, may_match, part_name
from eventide.analysis.sources import initiations_name
from eventide.syntax.terms import Term, Variable

UNITED = "all of "
"""Before the name of a fluent: its statically determined parts, united."""


def compile_plan(model: Model) -> None:
    """Fill `plan`, `outputs`, `levels` and `cycles`."""
    compiler, fluents, events = compiler_of(model)
    _add_background(compiler)
    definitions: dict[str, n.Node] = {}
    for template in fluents:
        if template in compiler.sources.simple:
            definitions[compiler.whole(template)] = compiler.simple(template)
            if compiler.is_apart(template):
                definitions[template] = compiler.shown_of(template)
            model.outputs.append(n.Output(template, template, "fluent", None, compiler.listed(template)))
        _add_parts(compiler, template, definitions)
    for template, clauses in events.items():
        node = compiler.event(template, clauses)
        if node is not None:
            definitions[template] = node
            model.outputs.append(n.Output(template, template, "event"))
    _add_initiations(compiler, definitions)
    if all(d.severity != "error" or d.code == "missing-background" for d in model.diagnostics):
        _stratify(model, compiler, definitions)  # without its background a program cannot run, but can be looked at


def _add_background(compiler: Compiler) -> None:
    """The relations of background knowledge, in the order in which they can be evaluated."""
    model, clauses = compiler.model, dict[str, list[Clause]]()
    for clause in model.of_kind("background"):
        clauses.setdefault(clause.template, []).append(clause)
    for template, found in clauses.items():
        compiler.fields_of(template, "t", found)
    definitions = {template: node for template, found in clauses.items()
                   if (node := compiler.relation(template, found)) is not None}
    reads = {name: {each.name for each in n.nodes_in(node) if isinstance(each, n.Table)} & definitions.keys()
             for name, node in definitions.items()}
    model.background = n.Plan(tuple(
        n.Stratum(level, tuple(n.Definition(name, definitions[name]) for name in members), is_cycle(members, reads))
        for level, members in enumerate(components(reads), 1)))


def _add_parts(compiler: Compiler, template: str, definitions: dict[str, n.Node]) -> None:
    """The statically determined parts of a fluent. Parts that may hold of the same entity are reported together: the
    intervals of a fluent are those of its rules united."""
    model, found = compiler.model, dict[str, Sequence[Term]]()
    for name, leaves in compiler.sources.parts.get(template, {}).items():
        rules = [c for c in model.about(template, "static", "runs") if part_name(template, c.leaves) == name]
        node = compiler.part(name, rules)
        if node is not None:
            definitions[name], found[name] = node, leaves
    if any(may_match(one, other) for one, other in combinations(found.values(), 2)):
        united = UNITED + template
        columns = tuple(Variable(field.name) for field in compiler.fields[template])
        definitions[united] = n.Union(tuple(compiler.sources.part(template, name, columns) for name in found))
        model.outputs.append(n.Output(united, template, "fluent"))
        return
    for name, heads in found.items():
        value = None if isinstance(heads[-1], Variable) else heads[-1]
        model.outputs.append(n.Output(name, template, "fluent", value))


def compiler_of(model: Model) -> tuple[Compiler, dict[str, list[Clause]], dict[str, list[Clause]]]:
    """A compiler that knows the columns of all definitions; the clauses of fluents and of events by template."""
    compiler = Compiler(model)
    fluents: dict[str, list[Clause]] = {}
    for clause in model.of_kind("initiated", "terminated", "initial", "delay", "static", "runs", "postponable",
                                "grounding"):
        fluents.setdefault(clause.template, []).append(clause)
    for template, clauses in fluents.items():
        compiler.fields_of(template, "f", clauses)
    events: dict[str, list[Clause]] = {}
    for clause in model.of_kind("event"):
        events.setdefault(clause.template, []).append(clause)
    for template, clauses in events.items():
        saved = compiler.fields.pop(template, None)
        compiler.fields[f"event {template}"] = compiler.fields_of(template, "e", clauses)
        del compiler.fields[template]
        if saved is not None:
            compiler.fields[template] = saved
    return compiler, fluents, events


def simplify_plan(model: Model) -> None:
    """Equal parts of the plan become one, and joins with domains that can drop nothing are left out."""
    sharing = Sharing()
    model.plan = sharing.plan(without_needless_domains(sharing.plan(model.plan)))


def _add_initiations(compiler: Compiler, definitions: dict[str, n.Node]) -> None:
    done: set[tuple[str, str]] = set()
    while todo := compiler.sources.needs_points - done:
        for kind, template in sorted(todo):
            done.add((kind, template))
            if template in compiler.fields:
                node = compiler.initiations(kind, template)
                if node is not None:
                    definitions[initiations_name(template, kind)] = node


def _stratify(model: Model, compiler: Compiler, definitions: dict[str, n.Node]) -> None:
    reads = {name: set(n.references_of(node)) & definitions.keys() for name, node in definitions.items()}
    for name in [m[0] for m in components(reads) if len(m) == 1]:
        if name in reads[name] and name in compiler.sources.simple:
            automaton = _automaton(model, compiler, name)
            if automaton is not None and name not in set(n.references_of(automaton)):
                definitions[name] = automaton
                reads[name].discard(name)
                model.cycles.append((name,))
    strata: list[n.Stratum] = []
    position = {name: number for number, name in enumerate(definitions)}
    for members in components(reads):
        below = [model.levels[read] for member in members for read in reads[member] if read not in members]
        level = 1 + max(below, default=0)
        model.levels.update(dict.fromkeys(members, level))
        cyclic = is_cycle(members, reads)
        if cyclic:
            _check_cycle(model, compiler, set(members))
            model.cycles.append(tuple(sorted({member.removeprefix(EVERY) for member in members})))
        ordered = sorted(position.keys() & set(members), key=position.__getitem__)
        strata.append(n.Stratum(level, tuple(n.Definition(m, definitions[m]) for m in ordered), cyclic))
    model.plan = n.Plan(tuple(sorted(strata, key=lambda s: s.level)))


def _automaton(model: Model, compiler: Compiler, name: str) -> n.Node | None:
    """The fluent with conditions on its own value as states; None where one of them binds a variable besides."""
    known, origins = list(model.diagnostics), model.origins[name]
    found = compiler.simple(name, states=True)
    if len(model.diagnostics) == len(known):
        return found
    model.diagnostics[:], model.origins[name] = known, origins
    return None


def _check_cycle(model: Model, compiler: Compiler, members: set[str]) -> None:
    statics = {name for parts in compiler.sources.parts.values() for name in parts} & members
    for clause in model.of_kind("static", "runs"):  # one error for a cycle, at the first of its rules
        name = part_name(clause.template, clause.leaves)
        if name in statics:
            model.report("error", "cycle-through-static",
                         f"{name} is statically determined and depends on itself through {', '.join(sorted(members))}",
                         clause.span, "only simple fluents (initiatedAt, terminatedAt) may be part of a cycle")
            return
