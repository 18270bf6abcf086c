"""DatalogMTL: programs over dense time, their facts and their results.

>>> import eventide as ev
>>> program = ev.parse("Late(X) :- <>-[2,3] Sent(X), not <>-[0,3] Arrived(X).", language="mtl")
>>> program.run(ev.mtl.facts_in("Sent(a)@1")).timeline()
{'Late(a)': ['[3,4]']}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eventide.mtl.facts import facts_in, read_facts
    from eventide.mtl.program import MtlProgram
    from eventide.mtl.results import MtlResult

__all__ = ["MtlProgram", "MtlResult", "facts_in", "read_facts"]
_MODULES = {"MtlProgram": "program", "MtlResult": "results", "facts_in": "facts", "read_facts": "facts"}


def __getattr__(name: str) -> Any:
    if name in __all__:  # loaded when first used, as are the public names of the package
        return getattr(import_module(f"eventide.mtl.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'eventide.mtl' has no attribute {name!r}")
