"""`eventide bench`: runs the programs in the checkout's `benchmarks` folder, one per group of claims."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from eventide.cli.messages import messages
from eventide.errors import EventideError

# Options that bench does not know are the benchmark's own.
SETTINGS = {"ignore_unknown_options": True, "allow_extra_args": True}


def bench(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Which benchmark; without a name, all of them.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the benchmarks and stop.")] = False,
) -> None:
    """Measure, and print a table per benchmark.

    With `--json` a list with one `{claim, value, unit, target, rival, ratio, holds}` per claim. Options that are not
    listed here go to the benchmark.

    Example: `eventide bench kernels --json`
    """
    known = benchmarks()
    if list_:
        data = [{"name": n, "shows": first_line(path)} for n, path in known.items()]
        messages.result(data, "\n".join(f"{row['name']:12} {row['shows']}" for row in data))
        return
    if name is not None and name not in known:
        raise typer.BadParameter(f"no benchmark called {name!r}; there are: {', '.join(known)}", param_hint="NAME")
    chosen = list(known) if name is None else [name]
    claims: list[Any] = []
    worst = 0
    for current in chosen:
        messages.say(f"benchmark {current}")
        run = load(known[current])
        if messages.json:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = run([*context.args, "--json"])
            claims += json.loads(printed.getvalue())
        else:
            code = run(list(context.args))
        worst = max(worst, code or 0)
    if messages.json:
        print(json.dumps(claims, indent=1))
    if worst:
        raise typer.Exit(worst)


def benchmarks() -> dict[str, Path]:
    """The benchmarks of this checkout by name; files that start with an underscore are their helpers."""
    folder = Path(__file__).resolve().parents[3] / "benchmarks"
    found = {path.stem: path for path in sorted(folder.glob("*.py")) if not path.stem.startswith("_")}
    if not found:
        raise EventideError("no benchmarks here: they come with a checkout of Eventide, not with the installed package")
    return found


def first_line(path: Path) -> str:
    """What the benchmark says of itself in the first line of its docstring."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def load(path: Path) -> Callable[[list[str]], int | None]:
    """The `main` function of a benchmark; its neighbours can be imported from it."""
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up, and neighbours import it by name
    spec.loader.exec_module(module)
    main: Callable[[list[str]], int | None] = module.main
    return main
