"""Starting up: `warm` reaches every compiled loop, and none of them is compiled twice."""

from __future__ import annotations

import json
import subprocess
import sys

import numba
import pytest

from eventide.kernels import warm

SCRIPT = """
import json, sys, types
from eventide.kernels import warm
warm()
warm()
modules = [module for name, module in sys.modules.items() if name.startswith("eventide.kernels.")]
loops = {}
for module in modules:  # loops that only loops call are compiled with these
    for function in vars(module).values():
        if isinstance(function, types.FunctionType):
            for name in function.__code__.co_names:
                loop = function.__globals__.get(name)
                if hasattr(loop, "nopython_signatures"):
                    loops[f"{loop.__module__}.{loop.__name__}"] = len(loop.nopython_signatures)
print(json.dumps(loops))
"""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_every_loop_is_compiled_exactly_once() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    loops: dict[str, int] = json.loads(done.stdout)
    assert len(loops) > 40
    assert {name: number for name, number in loops.items() if number != 1} == {}


def test_warming_up_needs_no_compiler() -> None:
    warm()
