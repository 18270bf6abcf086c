"""What goes wrong outside of a stream (brokers, databases, disks), as one clear message. Knows no service by itself."""

from __future__ import annotations

import re

from eventide.errors import EventideError

_OURS = re.compile(r"^.*?\beventide\.[\w.]+(?:Error|Refused): (.+?)\s*$", re.MULTILINE)


class ServiceError(EventideError):
    """A broker, a database or a folder that a stream needs does not answer, or refuses; the message says what to do."""


def clear_error(error: BaseException) -> EventideError | None:
    """The error of Eventide inside what Spark raises, without the traces around it; None where there is none.

    >>> trace = "org.apache.spark.SparkException: ...\\n  eventide.spark.failures.ServiceError: no broker\\n\\tat java"
    >>> clear_error(RuntimeError(trace))
    ServiceError('no broker')
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, EventideError):
            return seen
        found = _OURS.search(str(seen))
        if found:
            return ServiceError(found[1])
        seen = seen.__cause__ or seen.__context__
    return None
