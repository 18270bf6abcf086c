"""Makes the environment that `./eventide` runs in, then starts `./eventide` again.

Runs on the machine's own Python with the standard library only. An environment counts as finished when its stamp
is written, which is the last thing that happens; whatever stops the set-up before leaves no environment at all.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

STAMP = "eventide.stamp"
STEPS = 4
# Where these point, pip would install outside the environment.
ELSEWHERE = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_REQUIREMENT", "PIP_CONSTRAINT")
UNREACHABLE = re.compile(
    r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|NameResolutionError|ProxyError|SSLError|ProtocolError"
    r"|Failed to establish a new connection|name resolution|Connection refused|Network is unreachable|timed out"
    r"|Max retries exceeded|connection broken|(?:401|403|407|50\d) (?:Client|Server) Error"
)
NOTHING_FOUND = r"satisfies the requirement ([\w.-]+)==\S+ .*\(from versions: none\)"


class SetUpError(Exception):
    """The set-up cannot go on; the message says why and what to do."""


def main(arguments: list[str]) -> int:
    """Make the environment, then become `./eventide` with the words that the user gave."""
    root, venv, stamp, *words = arguments
    for unwelcome in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(unwelcome, _interrupt)
    try:
        with exclusive(Path(f"{venv}.lock")) as lock:
            SetUp(Path(root), Path(venv), stamp, lock).run()
    except KeyboardInterrupt:
        say("interrupted; the next start begins anew")
        return 130
    except (SetUpError, OSError) as error:
        say(str(error))
        return 1
    os.environ["EVENTIDE_FRESH"] = "1"
    os.execv("/bin/sh", ["sh", str(Path(root) / "eventide"), *words])


class SetUp:
    """One set-up: a virtual environment, the locked packages, Eventide itself, Java."""

    def __init__(self, root: Path, venv: Path, stamp: str, lock: int) -> None:
        self.root, self.venv, self.stamp, self.lock = root, venv, stamp, lock
        self.python = str(venv / "bin" / "python")

    def run(self) -> None:
        """Do what the stamp says is missing."""
        stamp_file = self.venv / STAMP
        done = stamp_file.read_text(encoding="utf-8").strip() if stamp_file.is_file() else ""
        if done == self.stamp:
            return  # another start made it while this one waited
        began = time.monotonic()
        same_packages = done.splitlines()[:-1] == self.stamp.splitlines()[:-1]
        fresh = not (same_packages and os.access(self.python, os.X_OK))
        if fresh:
            say(f"setting up the environment in {self.venv} (once; one to three minutes)")
            self._clear()
        else:
            say("pyproject.toml has changed: updating the environment")
        try:
            if fresh:
                self.create()
                self.install_packages()
            self.install_eventide()
            self.describe_java()
            draft = stamp_file.with_suffix(".draft")
            draft.write_text(self.stamp + "\n", encoding="utf-8")
            draft.replace(stamp_file)
        except BaseException:
            if fresh:
                self._remove()
            raise
        say(f"ready after {time.monotonic() - began:.0f} s")

    def create(self) -> None:
        """Step 1: an empty virtual environment."""
        step(1, f"virtual environment with Python {'.'.join(map(str, sys.version_info[:3]))} ({sys.executable})")
        self._call([sys.executable, "-I", "-m", "venv", str(self.venv)], "the virtual environment could not be made")

    def install_packages(self) -> None:
        """Step 2: exactly the versions of the lock file."""
        lock_file = self.root / "requirements.lock"
        total = sum(1 for line in lock_file.read_text(encoding="utf-8").splitlines() if "==" in line)
        step(2, f"{total} locked packages")
        command = [self.python, "-I", "-m", "pip", "install", "--progress-bar", "off", "--requirement", str(lock_file)]
        self._call(command, "the packages could not be installed", Progress(total))

    def install_eventide(self) -> None:
        """Step 3: Eventide from this folder, so that a change of its source needs no new set-up."""
        step(3, f"Eventide from {self.root}")
        # The build tool is one of the locked packages, so nothing else is downloaded.
        options = ["--quiet", "--no-deps", "--no-build-isolation"]
        command = [self.python, "-I", "-m", "pip", "install", *options, "--editable", str(self.root)]
        self._call(command, "Eventide itself could not be installed")

    def describe_java(self) -> None:
        """Step 4: Java for Spark."""
        script = str(self.root / "src" / "eventide" / "java.py")
        output = self._call([self.python, "-I", script, "--describe"], "no Java could be prepared")
        step(4, output[-1] if output else "Java")

    def _clear(self) -> None:
        """Remove an old or half-made environment, but never a folder that is something else."""
        if self.venv.is_dir() and any(self.venv.iterdir()) and not (self.venv / "pyvenv.cfg").is_file():
            raise SetUpError(f"{self.venv} exists and is not a virtual environment; move it or set EVENTIDE_VENV")
        self._remove()

    def _remove(self) -> None:
        """Remove the environment, its mark last: what an interrupted removal leaves is still recognised."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            (self.venv / STAMP).unlink(missing_ok=True)
            for entry in self.venv.iterdir() if self.venv.is_dir() else ():
                if entry.name != "pyvenv.cfg":
                    shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
            shutil.rmtree(self.venv, ignore_errors=True)
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _call(self, command: list[str], failure: str, progress: Progress | None = None) -> list[str]:
        """Run a command to its end and return its lines; the lock stays held even if only the child survives."""
        lines: list[str] = []
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", env=_environment_for_pip(), pass_fds=(self.lock,),
        )  # fmt: skip
        assert child.stdout is not None
        try:
            for line in child.stdout:
                lines.append(line.rstrip())
                if progress:
                    progress.see(lines[-1])
            child.wait()
        except BaseException:
            child.terminate()
            child.wait()
            raise
        finally:
            if progress:
                progress.end()
        if child.returncode:
            raise SetUpError(f"{failure}.\n{textwrap.indent(explain(lines), '  ')}")
        return lines


class Progress:
    """Counts pip's packages: one line that changes on a terminal, a plain line for every tenth otherwise."""

    def __init__(self, total: int) -> None:
        self.total, self.seen, self.live = total, 0, sys.stderr.isatty()

    def see(self, line: str) -> None:
        """Take in one line that pip printed."""
        if line.startswith("Collecting "):
            self.seen += 1
            self._show(f"{min(self.seen, self.total)} of {self.total}: {line.split()[1]}", self.seen % 10 == 0)
        elif line.startswith("Installing collected packages"):
            self._show(f"{self.total} of {self.total}: unpacking", True)

    def end(self) -> None:
        """Leave the terminal's line clean."""
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def _show(self, text: str, milestone: bool) -> None:
        if self.live:
            print(f"\r\033[K       {text}", end="", file=sys.stderr, flush=True)
        elif milestone:
            print(f"       {text}", file=sys.stderr, flush=True)


def explain(lines: list[str]) -> str:
    """Why pip failed, for people.

    >>> print(explain(["WARNING: Retrying, connection broken by 'NewConnectionError('<X>: refused')': /a/"]))
    The package registry cannot be reached: refused
    ...
    >>> print(explain(["ERROR: Could not find a version that satisfies the requirement a==1 (from versions: none)"]))
    The package registry cannot be reached: no version of a is found there
    ...
    """
    causes = [line for line in lines if UNREACHABLE.search(line)]
    # Without retries pip does not tell why it found nothing; but what was locked exists in every registry.
    causes += [f"no version of {name} is found there" for name in re.findall(NOTHING_FOUND, "\n".join(lines))]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith(("ERROR:", "OSError:", "Error:"))]
    if any("No space left on device" in line for line in lines):
        return "The disk is full: the environment needs about 2 GB."
    if causes:
        cause = re.sub(r"^WARNING: Retrying.*connection broken by '|\w+\('<[^>]*>: |'?\)?'?: /\S*$", "", causes[0])
        return (
            f"The package registry cannot be reached: {cause}\n"
            "The registry is needed once, for the set-up. Check the network and, behind a proxy or with a mirror,\n"
            "what `pip config list` shows; then start again."
        )
    return "\n".join(errors[-3:] or lines[-5:] or ["It gave no reason."])


@contextmanager
def exclusive(path: Path) -> Iterator[int]:
    """Hold the lock file; the kernel frees it when its holders end, however they end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another start is setting up the environment; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def say(text: str) -> None:
    """Tell the user, on standard error: standard output belongs to the command that follows."""
    print(f"eventide: {text}", file=sys.stderr, flush=True)


def step(number: int, text: str) -> None:
    """Announce one of the numbered steps."""
    print(f"  [{number}/{STEPS}] {text}", file=sys.stderr, flush=True)


def _environment_for_pip() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    return kept | {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1"}


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
