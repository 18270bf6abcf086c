"""Real servers for the tests: Mosquitto and PostgreSQL from Debian's packages, and librdkafka's mock cluster of Kafka.

A server that is not installed is fetched into a folder of the environment with `apt-get download`, which needs no
rights; where that fails too, the tests are skipped with the reason.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FETCHED = Path(sys.prefix) / "cache" / "servers"
PLACES = ("/usr/sbin", "/usr/local/sbin", "/usr/lib/postgresql/*/bin")
PATIENCE = 180.0  # for what takes a moment, where a disk may stand still for a minute


def find_server(binary: str, package: str) -> Path:
    """The binary of a server: installed, fetched before, or fetched now. Skips the test where there is none."""
    found = _installed(binary) or _fetched(binary)
    if found is None:
        _fetch(package)
        found = _fetched(binary)
    if found is None:
        pytest.skip(f"the package {package} has no {binary}")
    return found


def _installed(binary: str) -> Path | None:
    command = shutil.which(binary)
    if command:
        return Path(os.path.realpath(command))
    return next((path for place in PLACES for path in sorted(Path("/").glob(f"{place[1:]}/{binary}"))), None)


def _fetched(binary: str) -> Path | None:
    found = (path for path in FETCHED.glob(f"**/bin/{binary}") if path.is_file())
    return next(found, None) or next((path for path in FETCHED.glob(f"**/sbin/{binary}") if path.is_file()), None)


def _fetch(package: str) -> None:
    """Unpack a package and the libraries it names into a folder of our own."""
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        pytest.skip(f"{package} is not installed, and there is no apt-get to fetch it with")
    FETCHED.mkdir(parents=True, exist_ok=True)
    wanted = _with_libraries(package)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["apt-get", "download", *wanted], cwd=folder, capture_output=True, text=True, timeout=100,
                              check=False)
        files = sorted(Path(folder).glob("*.deb"))
        if done.returncode or not files:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            pytest.skip(f"{package} is not installed, and apt-get could not fetch it: {reason}")
        for file in files:
            subprocess.run(["dpkg", "-x", file, FETCHED], check=True)


def _with_libraries(package: str) -> list[str]:
    """A package and the packages it needs, except for those of every system."""
    done = subprocess.run(["apt-cache", "depends", "--important", package], capture_output=True, text=True, check=False)
    needed = re.findall(r"^\s*\|?Depends: ([\w.+-]+)", done.stdout, re.MULTILINE)
    if package == "postgresql":
        return [each for name in needed for each in _with_libraries(name)]
    return [package, *(name for name in needed if name.startswith("lib") and name not in ("libc6", "libgcc-s1"))]


def _environment() -> dict[str, str]:
    libraries = ":".join(str(path) for path in FETCHED.glob("usr/lib/*-linux-gnu"))
    return {**os.environ, "LD_LIBRARY_PATH": libraries} if libraries else dict(os.environ)


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_until(what: Callable[[], bool], why: str, found: Callable[[], object] | None = None) -> None:
    """Wait for something to become true; the test fails if it does not, and shows what was found instead."""
    until = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > until:
            pytest.fail(f"waited {PATIENCE:.0f} s in vain: {why}" + (f"; found: {found()}" if found else ""))
        time.sleep(0.05)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@contextmanager
def _running(command: Sequence[str | Path], port: int, user: str | None = None) -> Iterator[subprocess.Popen[bytes]]:
    with tempfile.TemporaryFile() as output:
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=_environment(), user=user,
                                  cwd="/")
        try:
            wait_until(lambda: _answers(port) or server.poll() is not None, f"{command[0]} does not listen")
            if server.poll() is not None:
                output.seek(0)
                pytest.fail(f"{command[0]} ended: {output.read().decode(errors='replace')[-2000:]}")
            yield server
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


@contextmanager
def mosquitto(folder: Path, port: int | None = None) -> Iterator[int]:
    """An MQTT broker that keeps sessions in a folder; gives its port."""
    binary = find_server("mosquitto", "mosquitto")
    port = port or free_port()
    user = pwd.getpwuid(os.geteuid()).pw_name
    settings = folder / "mosquitto.conf"
    settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence true\nuser {user}\n"
                        f"persistence_location {folder}/\nmax_queued_messages 0\n")
    with _running([binary, "-c", settings], port):
        yield port


@contextmanager
def postgres() -> Iterator[str]:
    """A database of its own; gives the text to connect with."""
    binary = find_server("postgres", "postgresql")
    # PostgreSQL refuses to run as root.
    user = next(name for name in ("postgres", "nobody") if _has_user(name)) if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="eventide-postgres-"))
    try:
        folder.chmod(0o755)
        if user:
            shutil.chown(folder, user)
        data = folder / "data"
        made = subprocess.run([binary.parent / "initdb", "-D", data, "-U", "eventide", "-A", "trust", "-E", "UTF8",
                               "--no-sync"], capture_output=True, text=True, env=_environment(), user=user, cwd="/",
                              check=False)
        if made.returncode:
            pytest.skip(f"no database can be made here: {made.stderr.strip()[-300:]}")
        port = free_port()
        command = [binary, "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", folder, "-c", "fsync=off"]
        address = f"host=127.0.0.1 port={port} user=eventide dbname=postgres"
        with _running(command, port, user):
            wait_until(lambda: _takes_connections(address), "the database does not come up")
            yield address
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _takes_connections(address: str) -> bool:
    import psycopg

    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


def _has_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


class Kafka:
    """librdkafka's mock cluster, which lives as long as this object; every topic has four partitions."""

    def __init__(self) -> None:
        from confluent_kafka import Producer

        self.producer: Any = Producer({"test.mock.num.brokers": 1, "log_level": 2})
        brokers = self.producer.list_topics(timeout=10).brokers.values()
        self.servers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)

    def make(self, topic: str) -> None:
        """Make a topic."""
        self.producer.list_topics(topic, timeout=10)

    def send(self, topic: str, messages: Sequence[bytes], partition: int = 0) -> None:
        """Send messages to one partition, in order."""
        for message in messages:
            self.producer.produce(topic, value=message, partition=partition)
            self.producer.poll(0)
        self.producer.flush()
