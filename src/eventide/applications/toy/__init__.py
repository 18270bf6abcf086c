"""People, their moves, and when they are happy."""
