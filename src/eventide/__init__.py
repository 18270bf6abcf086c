"""Eventide: from streams of timestamped events to the maximal intervals of situations."""

from eventide.errors import EventideError

__all__ = ["EventideError"]
