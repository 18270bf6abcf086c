"""What a checkpoint remembers of its rules and batches: the flow that buckets were left with, and how far Spark is."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import replace
from pathlib import Path

from eventide.spark.failures import ServiceError
from eventide.spark.flow import Flow
from eventide.spark.identity import SPARK, broken_checkpoint, times_changed, write_whole
from eventide.spark.operator import Shipped

RULES = "rules"


def keep_flow(folder: Path, flow: Flow) -> None:
    """Remember the flow for those who come with other rules, or in the midst of a change."""
    write_whole(folder / RULES / f"{flow.epoch}.flow", Shipped(flow).data)


def known_flow(folder: Path, flow: Flow) -> Flow:
    """The flow as this checkpoint has it: with the one before, if a bucket may be found as that one left it."""
    epoch = times_changed(folder)[0]
    if epoch:
        kept = last_flow(folder)
        flow = replace(flow, epoch=epoch, partitioning=kept.partitioning, previous=kept.previous)
    keep_flow(folder, flow)
    return flow


def last_flow(folder: Path) -> Flow:
    """The flow that the checkpoint belongs to, whatever the rules are now."""
    return without_past(folder, _kept(folder, times_changed(folder)[0]))


def without_past(folder: Path, flow: Flow) -> Flow:
    """The flow alone, if there was a batch since the rules were changed: every bucket has a part in every batch."""
    return replace(flow, previous=None) if last_batch(folder) > times_changed(folder)[1] else flow


def _kept(folder: Path, epoch: int) -> Flow:
    path = folder / RULES / f"{epoch}.flow"
    try:
        found = pickle.loads(path.read_bytes())
    except FileNotFoundError:
        raise broken_checkpoint(folder, f"it has no {RULES}/{path.name}, the rules that it belongs to") from None
    except Exception as error:  # whatever unpickling says: the file is not what this version wrote
        raise ServiceError(f"the rules in {path} cannot be read ({type(error).__name__}); begin with a new "
                           "checkpoint") from error
    if not isinstance(found, Flow):
        raise broken_checkpoint(folder, f"{RULES}/{path.name} is damaged")
    return found


def last_batch(folder: Path) -> int:
    """The number of the last batch that is done; -1 before the first."""
    return _last(folder / SPARK / "commits")


def is_pending(folder: Path) -> bool:
    """Whether a batch was begun and is not done: its rows may be with some of the sinks."""
    return _last(folder / SPARK / "offsets") > last_batch(folder)


def begin_again(folder: Path) -> None:
    """Before the first batch is done: drop the state that it left when it was killed: Spark refuses to begin on it."""
    if last_batch(folder) < 0 and _last(folder / SPARK / "offsets") <= 0:
        shutil.rmtree(folder / SPARK / "state", ignore_errors=True)


def _last(logs: Path) -> int:
    return max((int(path.name) for path in logs.glob("[0-9]*") if path.name.isdigit()), default=-1)
