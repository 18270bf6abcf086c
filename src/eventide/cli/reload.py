"""Rules that are changed while a stream is followed: when to look at them again, and taking them over."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from eventide.cli.messages import messages
from eventide.errors import EventideError
from eventide.formats.files import rule_text
from eventide.formats.problems import input_error

Loaded = TypeVar("Loaded")
SETTLED = 0.2
"""For how many seconds files must have stayed as they are: one that was just changed may be half written."""


class Reload(Generic[Loaded]):
    """Files of rules and background that may change; `SIGHUP` says that they have, too."""

    def __init__(self, load: Callable[[], Loaded], rules: str, background: Sequence[str] = ()) -> None:
        self._load = load
        self._files = [Path(rules), *(Path(file.rpartition("=")[2]) for file in background)]
        self._seen = self._stamps()
        self._asked = False

    def _stamps(self) -> list[tuple[int, int] | None]:
        """When the files were changed, and how long they are; None for one that is not there just now."""
        found: list[tuple[int, int] | None] = []
        for file in self._files:
            try:
                status = file.stat()
                found.append((status.st_mtime_ns, status.st_size))
            except OSError:
                found.append(None)
        return found

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let `SIGHUP` mean that the rules are to be read again."""
        def note(number: int, frame: object) -> None:
            self._asked = True

        if not hasattr(signal, "SIGHUP"):
            yield
            return
        before = signal.signal(signal.SIGHUP, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGHUP, before)

    def is_due(self) -> bool:
        """Whether the files have changed since this was asked last, or a signal came."""
        now = self._stamps()
        due = self._asked or (now != self._seen and None not in now and _settled(now))
        if due:
            self._asked, self._seen = False, now
        return due

    def loaded(self) -> Loaded | None:
        """What the changed files give; None if they have not changed, or are wrong."""
        if not self.is_due():
            return None
        try:
            if self._files[0].is_file() and not rule_text(self._files[0]).strip():
                raise input_error("no-rules", "the file is empty", str(self._files[0]),
                                  hint="write the rules that are to count; to end the run, interrupt it")
            return self._load()
        except EventideError as error:
            self.refuse(error)
            return None

    @staticmethod
    def refuse(error: EventideError) -> None:
        """Say that the old rules stay."""
        messages.say(f"the changed rules are not taken over, the old ones stay: {error}", reload="refused")

    @staticmethod
    def tell(found: str) -> None:
        """Say that the rules have been changed."""
        messages.say(f"the rules were read again; {found}", reload="taken over")


def _settled(stamps: Sequence[tuple[int, int] | None]) -> bool:
    """Whether no file was changed just now."""
    newest = max((stamp[0] for stamp in stamps if stamp is not None), default=0)
    return not 0 <= time.time() - newest / 1e9 < SETTLED
