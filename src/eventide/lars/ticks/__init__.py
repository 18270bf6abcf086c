"""Plans one time-point at a time, by what changes: for streams that bring little at once."""
