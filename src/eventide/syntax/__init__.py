"""Text to trees: terms, the languages' parsers and diagnostics. Knows nothing of evaluation."""
