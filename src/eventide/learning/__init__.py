"""Event definitions learnt from labelled streams: rules as clauses, and what examples suggest. Knows no commands."""
