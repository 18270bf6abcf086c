"""The options that limit what a run may use; the rest of the command is evaluated under them."""

from __future__ import annotations

import typer


def limit(command: typer.Context, engine: str, memory: str | None, rows: int | None, seconds: float | None) -> None:
    """Let nothing that the command still does use more than this."""
    if memory is None and rows is None and seconds is None:
        return
    if engine == "spark":
        raise typer.BadParameter("on Spark each process has the limits that Spark gives it: spark.executor.memory",
                                 param_hint="--max-memory, --max-rows, --max-seconds")
    from eventide.engine.budget import budget

    command.with_resource(budget(memory, rows, seconds))
