"""Starting up: `warm` reaches every compiled loop, and none of them is compiled twice."""

from __future__ import annotations

import json
import subprocess
import sys

import numba
import pytest

from eventide.kernels import warm

SCRIPT = """
import json, sys
from eventide.kernels import warm
warm()
warm()
loops = {}
for name, module in list(sys.modules.items()):
    if name.startswith("eventide.kernels."):
        for loop in vars(module).values():
            if hasattr(loop, "nopython_signatures"):
                loops[f"{loop.__module__}.{loop.__name__}"] = len(loop.nopython_signatures)
print(json.dumps(loops))
"""
CALLED_BY_LOOPS = {
    "eventide.kernels.deadlines._walk_many",
    "eventide.kernels.deadlines._walk_two",
    "eventide.kernels.intervals._above",
    "eventide.kernels.stab._first_not_below",
}


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_every_loop_is_compiled_exactly_once() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    loops: dict[str, int] = json.loads(done.stdout)
    assert len(loops) > 40
    assert {name: number for name, number in loops.items() if number != 1 and name not in CALLED_BY_LOOPS} == {}


def test_warming_up_needs_no_compiler() -> None:
    warm()
