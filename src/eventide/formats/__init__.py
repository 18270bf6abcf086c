"""Files to columns and back; knows no rules."""

from eventide.formats.arrow_start import start_arrow  # before anything imports pyarrow
from eventide.formats.background import Relation, read_background
from eventide.formats.events import facts_from, read_events
from eventide.formats.facts import BadRow, Coded, Column, Facts, FactTable, column_of, column_values
from eventide.formats.results import write_intervals

__all__ = [
    "BadRow",
    "Coded",
    "Column",
    "FactTable",
    "Facts",
    "Relation",
    "column_of",
    "column_values",
    "facts_from",
    "read_background",
    "read_events",
    "write_intervals",
]
