"""A real browser for the tests: Chromium without a window, from Debian's packages, spoken to over a pair of pipes.

A browser that is not installed is fetched into a folder of the environment with `apt-get download`, which needs no
rights; where that fails too, the tests are skipped with the reason. The DevTools protocol over pipes needs no library.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FETCHED = Path(sys.prefix) / "cache" / "browser"
NAMES = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome")
PACKAGE = "chromium-headless-shell"
BINARY = FETCHED / "usr" / "lib" / "chromium" / PACKAGE
PATIENCE = 120.0
# The browser reads from descriptor 3 and writes to descriptor 4, whatever the numbers of the pipes are.
START = """
import fcntl, os, sys
high = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 16) for number in sys.argv[1:3]]
os.dup2(high[0], 3)
os.dup2(high[1], 4)
os.closerange(5, max(high) + 1)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_browser() -> Path:
    """The browser: installed, fetched before, or fetched now. Skips the test where there is none."""
    installed = next((found for found in map(shutil.which, NAMES) if found), None)
    if installed:
        return Path(installed)
    if not BINARY.is_file():
        _fetch()
    return BINARY


def _fetch() -> None:
    """Unpack the browser and the libraries that are not installed into a folder of our own."""
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        pytest.skip("no browser is installed, and there is no apt-get to fetch one with")
    plan = subprocess.run(["apt-get", "install", "--simulate", "--no-install-recommends", PACKAGE],
                          capture_output=True, text=True, check=False)
    wanted = [line.split()[1] for line in plan.stdout.splitlines() if line.startswith("Inst ")]
    problem = unpack(wanted, FETCHED) if wanted else (plan.stderr.strip().splitlines() or ["it is unknown"])[-1]
    if problem:
        pytest.skip(f"no browser is installed, and apt-get could not fetch {PACKAGE}: {problem}")


def unpack(packages: list[str], target: Path) -> str:
    """Fetch packages and unpack them into a folder, whole or not at all; what went wrong, if anything did."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["apt-get", "download", *packages], cwd=folder, capture_output=True, text=True,
                              timeout=300, check=False)
        files = sorted(Path(folder).glob("*.deb"))
        if done.returncode or not files:
            return (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        unpacked = Path(folder) / "unpacked"
        for file in files:
            subprocess.run(["dpkg", "-x", file, unpacked], check=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(unpacked, target)
    return ""


class ProtocolError(Exception):
    """The browser refused a command, or a script on the page failed."""


class Page:
    """One page. `events` are what the browser told since it was opened, in order."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the DevTools protocol."""
        return self._browser.send(method, params, self._session)

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            raise ProtocolError(details.get("exception", {}).get("description") or details["text"])
        return found["result"].get("value")

    def wait_for(self, script: str, patience: float = PATIENCE) -> None:
        """Wait until an expression is true."""
        until = time.monotonic() + patience
        while not self.run(f"Boolean({script})"):
            if time.monotonic() > until:
                pytest.fail(f"waited {patience:.0f} s in vain for {script}")
            time.sleep(0.02)

    def key(self, key: str, shift: bool = False) -> None:
        """Press a key."""
        codes = {"Enter": ("\r", 13), "Tab": ("\t", 9), " ": (" ", 32)}
        text, code = codes.get(key, (key if len(key) == 1 else "", 0))
        common = {"key": key, "modifiers": 8 if shift else 0, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Move, press, release or wheel the mouse."""
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        """Click the left button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def centre(self, selector: str) -> tuple[float, float]:
        """Where an element is on the screen, after it was scrolled there."""
        x, y = self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "nearest"}}); const b = e.getBoundingClientRect();
            return [b.x + b.width / 2, b.y + b.height / 2]; }})()""")
        return float(x), float(y)

    def resize(self, width: int, height: int, scale: float = 1.0) -> None:
        """Set the size of the window."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=False)

    def prefer(self, scheme: str) -> None:
        """Prefer `light` or `dark`."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path) -> None:
        """Write what is seen as PNG."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def print(self) -> bytes:
        """The page as PDF, as a printer would get it."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=False)["data"])

    def problems(self) -> list[str]:
        """Everything that went wrong so far: errors of scripts, console messages, blocked or failed requests."""
        self.run("0")  # what was told before is read
        found = []
        for event in self.events:
            params = event["params"]
            match event["method"]:
                case "Runtime.exceptionThrown":
                    found.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
                case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                    found.append(" ".join(str(arg.get("value", arg)) for arg in params["args"]))
                case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                    found.append(params["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """The addresses that were asked for, other than those inside the page itself."""
        self.run("0")
        urls = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("data:", "blob:"))]


class Browser:
    """A running browser, spoken to with JSON messages that end with a zero byte."""

    def __init__(self, process: subprocess.Popen[bytes], into: int, out: int) -> None:
        self._process, self._into, self._out = process, into, out
        self._number, self._rest = 0, b""
        self._pages: dict[str, Page] = {}

    def page(self) -> Page:
        """A new page, 1440 by 900."""
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.resize(1440, 900)
        return page

    def send(self, method: str, params: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        """Send a command and wait for its answer; what pages tell meanwhile is kept for them."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._into, data):]
        while True:
            found = self._next(method)
            if found.get("id") == number:
                if "error" in found:
                    raise ProtocolError(f"{method}: {found['error']['message']}")
                answer: dict[str, Any] = found["result"]
                return answer
            if "method" in found and found.get("sessionId") in self._pages:
                self._pages[found["sessionId"]].events.append(found)

    def _next(self, method: str) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._out], [], [], max(0.0, until - time.monotonic()))
            piece = os.read(self._out, 1 << 20) if ready else b""
            if not piece:
                ended = self._process.poll() is not None
                pytest.fail(f"the browser {'ended' if ended else 'does not answer'} at {method}")
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def browser(fonts: Path | None = None) -> Iterator[Browser]:
    """A browser that is closed at the end; `fonts` is a folder that holds a folder of more fonts."""
    binary = find_browser()
    folders = ":".join(sorted({str(path.parent) for path in FETCHED.glob("usr/lib/*-linux-gnu/**/*.so*")}))
    environment = dict(os.environ) | ({"LD_LIBRARY_PATH": folders} if folders else {})
    environment |= {"XDG_DATA_HOME": str(fonts)} if fonts else {}
    profile = tempfile.mkdtemp(prefix="eventide-browser-")
    commands, into = os.pipe()
    out, answers = os.pipe()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
               "--hide-scrollbars", "--force-color-profile=srgb", "--no-first-run", f"--user-data-dir={profile}"]
    start = [sys.executable, "-I", "-S", "-c", START, str(commands), str(answers), binary, *options]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(start, pass_fds=(commands, answers), env=environment, stdout=log, stderr=log)
        os.close(commands)
        os.close(answers)
        try:
            yield Browser(process, into, out)
        finally:
            os.close(into)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()
            process.wait()
            os.close(out)
            shutil.rmtree(profile, ignore_errors=True)
