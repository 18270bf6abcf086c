"""Pictures and pages of programs and results: plain text formats written by plain code, readable offline."""
