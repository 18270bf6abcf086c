"""`eventide docs`: the documentation of the checkout as a site that opens offline."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eventide.cli.account import count_of
from eventide.cli.messages import messages


def docs(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the site goes.")] = Path("site"),
    serve: Annotated[bool, typer.Option("--serve", help="Serve it on this machine until Ctrl-C.")] = False,
    port: Annotated[int, typer.Option(metavar="N", help="The port to serve on; 0 takes a free one.", min=0,
                                      max=65535)] = 8000,
) -> None:
    """Build the documentation: tutorial, how-to pages, reference, explanations, benchmarks.

    The site needs no server and no network: open `index.html`. Links that lead nowhere are errors, with their place.

    Example: `eventide docs -o site`
    """
    from eventide.site import build

    built = build(Path(__file__).resolve().parents[3], out)
    messages.say(f"built {count_of(built.pages, 'page')} in {out}; open {out / 'index.html'} in a browser",
                 pages=built.pages, files=built.files, folder=str(out))
    if serve:
        _serve(out, port)


def _serve(folder: Path, port: int) -> None:
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=str(folder)))
    except OSError as error:
        raise typer.BadParameter(f"cannot serve on port {port}: {error.strerror}; --port 0 takes a free one",
                                 param_hint="--port") from None
    with server:
        address = f"http://127.0.0.1:{server.server_port}/"
        messages.say(f"serving {address}; Ctrl-C ends it", address=address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            messages.say("ended")
