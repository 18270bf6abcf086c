"""What all tests share: profiles of the property tests, the reference data, one Spark session, Numba's cache."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.executors import Executor, Local, OnSpark

from eventide.java import find_java

ROOT = Path(__file__).resolve().parents[1]
PROFILE = os.environ.get("EVENTIDE_PROFILE", "small")
EXAMPLES_ON_SPARK = ("eventide.spark.batch.run", "eventide.spark.streaming.stream")  # docstrings that take a session

# Numba reads this when it is first imported, in Spark's workers too.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(sys.prefix) / "cache" / "numba"))

# A suite in the background may ignore Ctrl-C; what the tests start, and interrupt, must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Spark's workers find the functions of tests, whichever test starts Spark first.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))

# The first example of a test may compile a kernel, so no example has a deadline.
# The default profile tries the same examples every time, so that a run says something about the change at hand.
settings.register_profile("small", max_examples=50, deadline=None, derandomize=True,
                          suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("large", settings.get_profile("small"), max_examples=2000, derandomize=False)
settings.register_profile("tiny", settings.get_profile("small"), max_examples=8)  # for loops that are not compiled
settings.load_profile(PROFILE)


def pytest_report_header() -> str:
    """What the run stands on."""
    return f"eventide: {find_java(os.environ)}; profile {PROFILE}; shared data {shared_folder() or 'absent'}"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels before two processes start: each would do it, and they would spoil each other's cache."""
    if session.config.getoption("numprocesses", None):
        from eventide import kernels

        kernels.warm()


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist's own, which reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Examples on Spark have its mark. Where two processes share the work, one has all tests of the shared Spark
    session, and files stay whole."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name.endswith(EXAMPLES_ON_SPARK):
            item.add_marker(pytest.mark.spark)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    rank: dict[pytest.Item, int] = {}
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        starts = item.get_closest_marker("spark") is not None
        shares = "spark" in fixtures or (starts and ("executor" in fixtures or isinstance(item, pytest.DoctestItem)))
        item.add_marker(pytest.mark.xdist_group("spark" if shares else item.nodeid.partition("::")[0]))
        rank[item] = 0 if shares else 1 if starts else 2
    items.sort(key=rank.__getitem__)  # what takes long comes first


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
