"""`eventide bench`: runs the programs in the checkout's `benchmarks` folder, one per group of claims."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
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
    page: Annotated[Path | None, typer.Option(
        metavar="FILE.md", help="Write what was measured as a page with tables and pictures, and as data beside it; "
        "benchmarks that were not run keep what the page has of them.")] = None,
) -> None:
    """Measure, and print a table per benchmark.

    With `--json` a list with one `{claim, value, unit, target, rival, ratio, holds}` per claim. Options that are not
    listed here go to the benchmark; `eventide bench NAME -- --help` lists them.

    Example: `eventide bench kernels --json`
    """
    if page is not None and page.suffix != ".md":
        raise typer.BadParameter(f"{page}: the page is Markdown, so its name ends with .md", param_hint="--page")
    known = benchmarks()
    if list_:
        data = [{"name": n, "shows": docstring(path).partition("\n")[0]} for n, path in known.items()]
        messages.result(data, "\n".join(f"{row['name']:12} {row['shows']}" for row in data))
        return
    if name is not None and name not in known:
        raise typer.BadParameter(f"no benchmark called {name!r}; there are: {', '.join(known)}", param_hint="NAME")
    chosen = list(known) if name is None else [name]
    if page is not None:
        _write_page(page, {current: known[current] for current in chosen}, context.args)
        return
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


def _write_page(page: Path, chosen: dict[str, Path], options: list[str]) -> None:
    """Measure each benchmark in a process of its own, and write the page after each: what was measured stays."""
    failed = []
    for name, path in chosen.items():
        messages.say(f"benchmark {name}")
        shared = helper(path.parent, "_page")
        with tempfile.TemporaryDirectory() as pictures:
            given = options or shared.claimed(name, pictures)
            done = subprocess.run([sys.executable, "-m", "eventide", "-q", "bench", name, *given, "--json"],
                                  stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                failed.append(name)
                messages.problem(f"the benchmark {name} failed; {page} keeps what it had of it")
                continue
            shared.record(page, name, json.loads(done.stdout), docstring(path), options, Path(pictures))
    if len(failed) < len(chosen):
        messages.say(f"wrote {page}", file=str(page))
    if failed:
        raise EventideError(f"{', '.join(failed)}: see above; measure again with eventide bench NAME --page {page}")


def benchmarks() -> dict[str, Path]:
    """The benchmarks of this checkout by name; files that start with an underscore are their helpers."""
    folder = Path(__file__).resolve().parents[3] / "benchmarks"
    found = {path.stem: path for path in sorted(folder.glob("*.py")) if not path.stem.startswith("_")}
    if not found:
        raise EventideError("no benchmarks here: they come with a checkout of Eventide, not with the installed package")
    return found


def docstring(path: Path) -> str:
    """What the benchmark says of itself."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def helper(folder: Path, name: str) -> ModuleType:
    """A module that benchmarks share."""
    _make_importable(folder)
    return importlib.import_module(name)


def load(path: Path) -> Callable[[list[str]], int | None]:
    """The `main` function of a benchmark; its neighbours can be imported from it."""
    _make_importable(path.parent)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up, and neighbours import it by name
    spec.loader.exec_module(module)
    main: Callable[[list[str]], int | None] = module.main
    return main


def _make_importable(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
