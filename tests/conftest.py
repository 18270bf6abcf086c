"""What all tests share: the options of a run, the reference data, one Spark session, Numba's cache."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import effort
from tests.executors import Executor, Local, OnSpark
from xdist.scheduler import LoadFileScheduling

from eventide.java import find_java

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES_ON_SPARK = ("eventide.spark.batch.run", "eventide.spark.streaming.stream")  # docstrings that take a session

# Numba reads this when it is first imported, in Spark's workers too.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(sys.prefix) / "cache" / "numba"))

# Spark lives for seconds here: Java's second compiler and its parallel collector would cost more than they save.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# A suite in the background may ignore Ctrl-C; what the tests start, and interrupt, must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Spark's workers find the functions of tests, whichever test starts Spark first.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the user may ask for beside what pytest knows."""
    group = parser.getgroup("eventide")
    group.addoption("--all", action="store_true", help="slow tests too, and more random examples")
    group.addoption("--rest", action="store_true", help="what --all adds to the quick tests")
    group.addoption("--shuffle", type=int, metavar="SEED", help="the tests in an order that the number decides")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist's, which reads how many processes are wanted
def pytest_cmdline_main(config: pytest.Config) -> None:
    """The profile; and two processes for the suite as a whole, with whole files for each."""
    effort.choose(config)
    given = config.option
    if hasattr(given, "numprocesses") and not hasattr(config, "workerinput"):
        if given.numprocesses is None and not given.usepdb and not effort.names_tests(config):
            given.numprocesses = 2
        if given.numprocesses and given.dist == "no":
            given.dist, given.loadscopereorder = "loadfile", False


class FromBothEnds(LoadFileScheduling):  # type: ignore[misc]
    """Whole files for each process: the first one takes them from the front, where those of Spark are, the others from
    the end. So one session of Spark serves nearly all tests, and no process waits for another."""

    def _assign_work_unit(self, node: Any) -> None:
        if node is not self.nodes[0]:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FromBothEnds | None:
    """How the tests are shared out, unless the user asks for another way."""
    return FromBothEnds(config, log) if config.option.dist == "loadfile" else None


def pytest_report_header() -> str:
    """What the run stands on."""
    return f"eventide: {find_java(os.environ)}; profile {effort.profile()}; shared data {shared_folder() or 'absent'}"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels before two processes start: each would do it, and they would spoil each other's cache."""
    if session.config.getoption("numprocesses", None):
        from eventide import kernels

        with subprocess.Popen([sys.executable, "-c", "from eventide import kernels; kernels._warm_probabilities()"]):
            kernels._warm_learning()
        kernels.warm()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this run has no place for, and begin with what takes long: the tests on Spark."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name.endswith(EXAMPLES_ON_SPARK):
            item.add_marker(pytest.mark.spark)
    without = {item for item in items if effort.left_out(config, item)}
    if without:
        config.hook.pytest_deselected(items=list(without))
        items[:] = [item for item in items if item not in without]
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: item.get_closest_marker("spark") is None)
    if config.option.shuffle is not None:
        effort.shuffle(items, config.option.shuffle)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Iterator[Any]:
    """What a test reports may hold halves of characters, which cannot be sent from one process to another."""
    return encodable((yield))


def encodable(data: Any) -> Any:
    """The same data; halves of characters in its texts are written out."""
    if isinstance(data, dict):
        return {encodable(key): encodable(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [encodable(value) for value in data]
    return data.encode("utf-8", "backslashreplace").decode() if isinstance(data, str) else data


def shared_folder() -> Path | None:
    """The folder of reference data and answers: `$EVENTIDE_SHARED`, or `shared` beside the checkout."""
    folder = Path(os.environ.get("EVENTIDE_SHARED") or ROOT.parent / "shared")
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """`shared_data("golden/rtec/micro.json")` is that file; the test is skipped where it is absent."""

    def locate(path: str) -> Path:
        folder = shared_folder()
        if folder is None:
            pytest.skip("no shared data: no folder `shared` beside the checkout, and EVENTIDE_SHARED names none")
        if not (folder / path).exists():
            pytest.skip(f"the shared data hold no {path}")
        return folder / path

    return locate


@pytest.fixture(scope="session", autouse=True)
def no_lines_of_progress() -> None:
    """Commands in this process say how far they are by the clock: on a slow machine that would be said in the midst."""
    from eventide.cli import progress

    progress.SECONDS_BETWEEN_LINES = float("inf")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The one Spark session of the whole run."""
    from eventide.spark.start import start

    session = start("local[2]", name="eventide-tests", buckets=2)
    yield session
    session.stop()


@pytest.fixture(scope="module", params=["local", pytest.param("spark", marks=pytest.mark.spark)])
def executor(request: pytest.FixtureRequest) -> Executor:
    """Where the conformance tests run: each of them once on one machine, once on Spark."""
    return Local() if request.param == "local" else OnSpark(request.getfixturevalue("spark"))
