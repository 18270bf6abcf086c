"""`eventide lsp`: the language server for editors, on standard input and output."""

from __future__ import annotations

import os
import signal
import sys
from threading import Thread
from typing import NoReturn

from eventide.cli.main import INTERRUPTED, installed_version
from eventide.cli.messages import messages


def lsp() -> None:
    """Answer an editor: problems as you type, definitions, completion.

    Editors start it themselves and speak to it on standard input and output. Background files are found beside the
    program, or where a comment in it names them: `% background: ports.ec, vessel=vessels.csv`.

    Example: `eventide lsp < /dev/null`
    """
    if sys.stdin.isatty():
        messages.say("eventide lsp waits for an editor on standard input; press Ctrl-C to leave")
    from eventide.editor.server import serve

    # A handler in Python runs when the main thread next does something, and it may just have begun to wait.
    came, comes = os.pipe()
    os.set_blocking(comes, False)
    signal.set_wakeup_fd(comes)
    signal.signal(signal.SIGINT, lambda number, frame: None)
    Thread(target=_leave, args=[came], daemon=True).start()
    serve(installed_version())
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - the editor's end of the pipe may be gone


def _leave(came: int) -> NoReturn:
    """Wait for Ctrl-C and end at once: the thread that waits for the next message cannot be asked to stop; there is
    nothing to lose."""
    os.read(came, 1)
    messages.problem("interrupted")
    os._exit(INTERRUPTED)
