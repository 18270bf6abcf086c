"""Pictures and pages of programs and results: plain text formats written by plain code, readable offline."""

from eventide.report.page import write_report

__all__ = ["write_report"]
