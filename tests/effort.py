"""How much a run of the tests tries: which tests, and how many random examples. Everything that asks, asks here.

| profile | chosen by | tests | examples of a property test |
|---|---|---|---|
| `quick` | naming no tests | all but the slow ones | few |
| `small` | naming tests, `--all`, `--rest` | all | some dozens |
| `large` | `EVENTIDE_PROFILE=large` | all | thousands, other ones every time |
| `tiny` | `EVENTIDE_PROFILE=tiny` | all | very few, for loops that are not compiled |

`--rest` is what `--all` adds to the quick run: the slow tests, and the property tests with more examples.
"""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import HealthCheck, settings

PROFILE = "EVENTIDE_PROFILE"
FEWEST = 3

# The first example of a test may compile a kernel, so no example has a deadline.
# A run says something about the change at hand: only the large profile tries other examples every time.
settings.register_profile("small", max_examples=50, deadline=None, derandomize=True,
                          suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("small"), max_examples=10)
settings.register_profile("tiny", settings.get_profile("small"), max_examples=8)
settings.register_profile("large", settings.get_profile("small"), max_examples=2000, derandomize=False)


def profile() -> str:
    """The profile of this run."""
    return os.environ.get(PROFILE, "small")


def examples(share: float) -> settings:
    """Settings of a property test that costs more than others, or less: a share of the examples of the profile, but
    never the first few only, which are the simplest."""
    return settings(max_examples=max(FEWEST, round(share * settings().max_examples)))


def names_tests(config: pytest.Config) -> bool:
    """Whether the user names tests, rather than asks for the suite."""
    given = config.option
    return config.args_source is not pytest.Config.ArgsSource.TESTPATHS or bool(
        given.keyword or given.markexpr or getattr(given, "lf", False))


def choose(config: pytest.Config) -> None:
    """Settle the profile, for this process and those that it starts."""
    more = names_tests(config) or config.option.all or config.option.rest
    os.environ.setdefault(PROFILE, "small" if more else "quick")
    settings.load_profile(profile())


def left_out(config: pytest.Config, item: pytest.Item) -> bool:
    """Whether this run has no place for a test."""
    slow = item.get_closest_marker("slow") is not None or (
        item.get_closest_marker("slow_on_spark") is not None and item.get_closest_marker("spark") is not None)
    if config.option.rest:
        return not slow and not getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return slow and profile() == "quick"


def shuffle(items: list[pytest.Item], seed: int) -> None:
    """Another order of the files, and of the tests in each; files stay whole, since their tests share what is dear."""
    order = random.Random(seed)
    files: dict[object, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    mixed = list(files.values())
    order.shuffle(mixed)
    for tests in mixed:
        order.shuffle(tests)
    items[:] = [item for tests in mixed for item in tests]
