"""An editor for tests: starts `eventide lsp` as a process of its own and speaks the protocol with it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from typing import Any

Message = dict[str, Any]
PATIENCE = 120.0


class Editor:
    """One editor with one server; `ask` waits for the answer, `problems` for the next problems of a text."""

    def __init__(self, folder: Path, **capabilities: Any) -> None:
        self.folder = folder
        self.process = subprocess.Popen([sys.executable, "-m", "eventide", "lsp"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
        self._came: Queue[Message | None] = Queue()
        self._kept: list[Message] = []
        self._number = 0
        self._versions: dict[str, int] = {}
        threading.Thread(target=self._listen, daemon=True).start()
        self.about = self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(),
                                             "capabilities": capabilities})
        self.tell("initialized", {})

    def _listen(self) -> None:
        out = self.process.stdout
        assert out is not None
        while True:
            length = 0
            while (line := out.readline()).strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            if not line and not length:
                self._came.put(None)
                return
            self._came.put(json.loads(out.read(length)))

    def send(self, data: bytes) -> None:
        """Bytes as they are, right or wrong."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def _say(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def tell(self, method: str, params: Any) -> None:
        """A notification."""
        self._say({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        """The answer to a request."""
        self._number += 1
        number = self._number
        self._say({"id": number, "method": method, "params": params})
        answer = self._wait(lambda message: message.get("id") == number and "method" not in message)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def refused(self, method: str, params: Any) -> Any:
        """The error that a request is answered with."""
        self._number += 1
        number = self._number
        self._say({"id": number, "method": method, "params": params})
        return self._wait(lambda message: message.get("id") == number and "method" not in message)["error"]

    def told(self, method: str, uri: str) -> Any:
        """What the server tells about a text."""
        return self._wait(lambda message: message.get("method") == method and message["params"]["uri"] == uri)["params"]

    def asked(self, method: str) -> Any:
        """What the server asks of the editor, which agrees."""
        found = self._wait(lambda message: message.get("method") == method)
        self._say({"id": found["id"], "result": None})
        return found["params"]

    def _wait(self, wanted: Callable[[Message], bool]) -> Message:
        for at, message in enumerate(self._kept):
            if wanted(message):
                return self._kept.pop(at)
        while True:
            try:
                message = self._came.get(timeout=PATIENCE)
            except Empty:
                raise AssertionError("the server does not answer") from None
            assert message is not None, "the server has left"
            if wanted(message):
                return message
            self._kept.append(message)

    # -- texts --------------------------------------------------------------------------------------------------------

    def uri(self, name: str) -> str:
        """The address of a file of the folder."""
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> list[Message]:
        """Open a text; its problems."""
        self._versions[name] = 1
        self.tell("textDocument/didOpen", {"textDocument": {
            "uri": self.uri(name), "languageId": "eventide-ec", "version": 1, "text": text}})
        return self.problems(name)

    def type(self, name: str, text: str) -> None:
        """Change a text, and do not wait."""
        self._versions[name] += 1
        self.tell("textDocument/didChange", {
            "textDocument": {"uri": self.uri(name), "version": self._versions[name]},
            "contentChanges": [{"text": text}]})

    def change(self, name: str, text: str) -> list[Message]:
        """Change a text; its problems then."""
        self.type(name, text)
        return self.problems(name)

    def problems(self, name: str) -> list[Message]:
        """The problems of the version that was sent last."""
        found = self._wait(lambda message: message.get("method") == "textDocument/publishDiagnostics"
                           and message["params"]["uri"] == self.uri(name)
                           and message["params"].get("version") == self._versions[name])
        problems: list[Message] = found["params"]["diagnostics"]
        return problems

    def at(self, name: str, line: int, character: int) -> Message:
        """A place in a text, as requests want it."""
        return {"textDocument": {"uri": self.uri(name)}, "position": {"line": line, "character": character}}

    def leave(self) -> int:
        """Shut the server down as the protocol wants it; its exit code."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(PATIENCE)
