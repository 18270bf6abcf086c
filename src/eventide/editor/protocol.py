"""The protocol of editors as its specification wants it where the library stays silent: every request has an answer."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol


class AnsweringProtocol(LanguageServerProtocol):
    """Answers requests that cannot be read, and those after `shutdown`, with an error instead of nothing."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message as a value; one that is no proper request is answered here."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "jsonrpc" in data and "method" in data and isinstance(data.get("id"), int | str):
                self._send_response(data["id"], error=error.to_response_error())
            raise

    def handle_message(self, message: Any) -> None:
        """Pass a message on; after `shutdown` only `exit` is obeyed."""
        number = getattr(message, "id", None)
        if self._shutdown and number is not None and getattr(message, "method", lsp.EXIT) != lsp.EXIT:
            self._send_response(number, error=JsonRpcInvalidRequest().to_response_error())
            return
        super().handle_message(message)
