"""Nothing below imports anything above: the imports of every module, read from the source, against one table."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.generated import LAYERS, ROOT

SOURCE = ROOT / "src" / "eventide"
DOORS = {("program.py", "eventide.{}.program"), ("program.py", "eventide.spark.partitioning"),
         ("mtl/program.py", "eventide.spark.mtl"), ("learning/learned.py", "eventide.spark.learning")}
UNITS = sorted({path.relative_to(SOURCE).parts[0] for path in SOURCE.rglob("*.py")})


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """The modules of Eventide that a file imports, wherever in the file: line, and name without `eventide.`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            package = (SOURCE.parent / node.module.replace(".", "/")).is_dir()
            names = [f"{node.module}.{alias.name}" for alias in node.names] if package else [node.module]
        else:
            assert not isinstance(node, ast.ImportFrom), f"{path}:{node.lineno}: imports by full names only"
            continue
        yield from ((node.lineno, name.removeprefix("eventide.")) for name in names if name.startswith("eventide."))


def is_allowed(name: str, unit: str) -> bool:
    """Whether a module of a unit may import a module: one of its own unit, or one that the table names."""
    return any(name == known or name.startswith(f"{known}.") for known in (unit, *LAYERS[unit].imports))


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit != "__init__.py"])
def test_imports(unit: str) -> None:
    name = unit.removesuffix(".py")
    paths = [SOURCE / unit] if unit.endswith(".py") else sorted((SOURCE / unit).rglob("*.py"))
    wrong = [f"{path.relative_to(ROOT)}:{line}: {name} may not import {module}"
             for path in paths for line, module in imports(path) if not is_allowed(module, name)]
    assert not wrong, "\n".join(wrong)


def test_the_table_has_no_cycle() -> None:
    order = list(LAYERS)
    for name, layer in LAYERS.items():
        later = [other for other in layer.imports if order.index(other.partition(".")[0]) > order.index(name)]
        assert not later, f"{name} stands below {', '.join(later)}"


def test_the_table_names_nothing_that_is_not_imported() -> None:
    for name, layer in LAYERS.items():
        paths = [SOURCE / f"{name}.py"] if (SOURCE / f"{name}.py").is_file() else sorted((SOURCE / name).rglob("*.py"))
        used = {module for path in paths for _, module in imports(path)}
        idle = [known for known in layer.imports
                if not any(module == known or module.startswith(f"{known}.") for module in used)]
        assert not idle, f"{name} does not import {', '.join(idle)}"


def test_the_table_and_the_picture_have_every_part() -> None:
    parts = {unit.removesuffix(".py") for unit in UNITS} - {"__init__"}
    assert set(LAYERS) == parts
    picture = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("```")[2].partition("```")[0]
    folders = {unit for unit in UNITS if not unit.endswith(".py")}
    assert {folder for folder in folders if f"{folder}/" not in picture or f"{folder}/" not in text} == set()


def test_doors_upwards_are_those_that_the_page_tells() -> None:
    found = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE)
        if name.name == "__init__.py" or name.parts[0] == "cli":
            continue  # a package finds its own modules by name, and the command line its commands
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "import_module":
                words = ast.unparse(call.args[0]).strip("f'\"").replace("{language}", "{}")
                found.add((name.as_posix(), words))
    assert found == DOORS
