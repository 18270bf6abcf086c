"""Rules as an editor sees them: problems, definitions, what may be written next. Half-typed text is the usual case."""
