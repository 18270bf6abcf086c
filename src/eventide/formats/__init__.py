"""Files to columns and back; knows no rules."""

from eventide.formats.events import read_events
from eventide.formats.facts import BadRow, Coded, Column, Facts, FactTable, column_of, column_values

__all__ = ["BadRow", "Coded", "Column", "FactTable", "Facts", "column_of", "column_values", "read_events"]
