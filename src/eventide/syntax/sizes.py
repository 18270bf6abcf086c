"""How long rules may be: a plan is as deep as a rule is long, and all that is done with plans goes down into them."""

from __future__ import annotations

from collections.abc import Iterable

from eventide.syntax.diagnostics import Diagnostic, Span

MOST_CONDITIONS = 200


def too_long(parts: Iterable[tuple[int, Span | None]], otherwise: Span | None) -> Diagnostic | None:
    """The problem of a rule with too many conditions, at the first that is too many; each part counts as so many.

    >>> too_long([(1, None)] * 200, None) is None, too_long([(1, None)] * 201, None).code
    (True, 'too-many-conditions')
    """
    total = 0
    for size, span in parts:
        total += size
        if total > MOST_CONDITIONS:
            return Diagnostic("error", "too-many-conditions", f"this rule has more than {MOST_CONDITIONS} conditions",
                              span or otherwise, "split it: let another rule conclude what some of them say, and ask "
                              "for that")
    return None
