"""The program `eventide`: gathers the commands, runs one, and turns whatever went wrong into an exit code.

A command is a module of this folder with a function of the same name; its docstring is its help. Commands import
what they need inside the function, so that `--help` starts at once.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Annotated, Any, get_type_hints

import typer
import typer.core

from eventide.cli.messages import messages
from eventide.errors import EventideError

COMMANDS = ("run", "check", "explain", "test_rules", "graph", "report", "signals", "delay", "intervals", "learn",
            "contexts", "demo", "stream", "bench", "docs", "lsp")

DONE, WRONG_INPUT, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and problems.")]
Json = Annotated[bool, typer.Option("--json", help="Results and messages as JSON.")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    >>> main(["--version"])
    eventide 0.1.0
    0
    """
    messages.quiet = messages.json = False
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        if sys.stdout is not None:  # closed by the caller: >&-
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:  # about no named file: standard output takes no more, and what it still holds is lost
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        messages.problem(f"cannot write: {error.strerror or error}")
        return WRONG_INPUT
    except KeyboardInterrupt:
        messages.problem("interrupted")
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    """Run one command; the one place where errors become messages."""
    command = typer.main.get_command(build_app())
    try:
        with command.make_context("eventide", list(arguments)) as context:  # the parser empties its list
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except typer.TyperException as error:
        _report_usage(error, arguments)
        return WRONG_USAGE
    except EventideError as error:
        messages.error(error)
        return WRONG_INPUT
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            raise
        messages.problem(f"{error.filename}: {error.strerror}")
        return WRONG_INPUT
    except Exception as error:
        messages.problem(f"internal error: {type(error).__name__}: {error}", "a defect of Eventide; please report it")
        traceback.print_exc()
        return WRONG_INPUT
    return DONE


class Command(typer.core.TyperCommand):
    """A command whose options for several files take them one after the other: `--events a.csv b.csv`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the name of such an option before each of its values, as the parser wants it."""
        several = {name for param in self.params if getattr(param, "multiple", False) for name in param.opts}
        return super().parse_args(ctx, list(_repeated(args, several)))


def _repeated(args: list[str], several: set[str]) -> Iterator[str]:
    """The arguments with the name of an option of `several` before each value that follows it.

    >>> list(_repeated(["rules.ec", "--events", "a", "b", "-o", "c"], {"--events"}))
    ['rules.ec', '--events', 'a', '--events', 'b', '-o', 'c']
    """
    option, fresh = None, False
    for arg in args:
        if arg.startswith("-") and len(arg) > 1:
            name, given, _ = arg.partition("=")
            option, fresh = (name, not given) if name in several else (None, False)
        elif option is not None and not fresh:
            yield option
        else:
            fresh = False
        yield arg


def build_app() -> typer.Typer:
    """The application with all its commands."""
    app = typer.Typer(
        name="eventide",
        callback=eventide,
        invoke_without_command=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="In a checkout, `./eventide test` runs the tests.",
    )
    for name in COMMANDS:
        module = import_module(f"eventide.cli.{name}")
        function = getattr(module, name)
        settings = getattr(module, "SETTINGS", None)
        app.command(name.replace("_", "-"), cls=Command, context_settings=settings)(with_message_options(function))
    return app


def eventide(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """From streams of timestamped events to the maximal intervals of situations."""
    _set_messages(quiet, json)
    if version:
        messages.result({"version": installed_version()}, f"eventide {installed_version()}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def with_message_options(function: Callable[..., None]) -> Callable[..., None]:
    """The command `function`, which now also takes `-q` and `--json` behind its name."""

    @functools.wraps(function)
    def command(*args: Any, quiet: bool = False, json: bool = False, **options: Any) -> None:
        _set_messages(quiet, json)
        function(*args, **options)

    hints = get_type_hints(function, include_extras=True)
    parameters = [p.replace(annotation=hints[p.name]) for p in inspect.signature(function).parameters.values()]
    added = {"quiet": Quiet, "json": Json}
    for name, hint in added.items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=hint))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = hints | added
    return command


def installed_version() -> str:
    """The version of the installed package."""
    from importlib.metadata import version

    return version("eventide")


def _set_messages(quiet: bool, json: bool) -> None:
    messages.quiet |= quiet
    messages.json |= json


def _report_usage(error: typer.TyperException, arguments: list[str]) -> None:
    # A wrong option stops the parser before it has seen --json.
    messages.json |= "--json" in arguments
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "eventide"
    told = error.format_message().replace(": Value error, ", ": ")  # the parser's word for it says nothing
    messages.problem(told, f"{path} --help shows what it takes")
