"""Public names have type hints, and a docstring with an example that the tests run."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType

import pytest
from tests.docs.generated import ROOT

import eventide as ev
from eventide import maintenance, report, signals
from eventide.engine.session import Session
from eventide.lars.contexts import Contexts
from eventide.lars.program import LarsProgram

PAGE = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
CLASSES = {"Program": ev.Program, "Session": Session, "MtlProgram": ev.mtl.MtlProgram, "LarsProgram": LarsProgram,
           "Contexts": Contexts, "Result": ev.Result}


def public(module: ModuleType = ev, prefix: str = "ev") -> Iterator[tuple[str, object]]:
    """The names that users import, those of the modules among them too."""
    for name in module.__all__:
        found = getattr(module, name)
        yield f"{prefix}.{name}", found
        if inspect.ismodule(found):
            yield from public(found, f"{prefix}.{name}")


def listed() -> Iterator[tuple[str, str]]:
    """The methods in the tables of the page: class and name."""
    for kind, rows in re.findall(r"^\| `(\w+)` \| \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE):
        for row in rows.splitlines():
            for name in re.findall(r"`(\w+)(?:\([^`]*)?`", row.split(" | ")[0]):
                yield kind, name


PUBLIC = {**dict(public()), **dict(public(signals, "eventide.signals")), **dict(public(report, "eventide.report")),
          **dict(public(maintenance, "eventide.maintenance"))}
METHODS = [each for each in listed() if each[1] in dir(CLASSES[each[0]])]


@pytest.mark.parametrize("name", PUBLIC)
def test_names_have_an_example(name: str) -> None:
    assert ">>> " in (PUBLIC[name].__doc__ or "")


@pytest.mark.parametrize("name", [name for name, found in PUBLIC.items() if inspect.isfunction(found)])
def test_functions_have_type_hints(name: str) -> None:
    signature = inspect.signature(PUBLIC[name])  # type: ignore[arg-type]
    assert signature.return_annotation is not inspect.Signature.empty
    assert [p.name for p in signature.parameters.values() if p.annotation is inspect.Parameter.empty] == []


@pytest.mark.parametrize(("kind", "method"), METHODS)
def test_methods_of_the_page_are_shown(kind: str, method: str) -> None:
    found = inspect.getattr_static(CLASSES[kind], method)
    own = (found.fget if isinstance(found, property) else found).__doc__ or ""
    shown = [line for line in (CLASSES[kind].__doc__ or "").splitlines() if ">>> " in line or "... " in line]
    assert own
    assert ">>> " in own or any(re.search(rf"\.{method}\b", line) for line in shown)


def test_the_page_has_tables_of_the_classes() -> None:
    assert {kind for kind, _ in METHODS} == set(CLASSES)
