"""The oracle: a slow and obvious interpreter of Event Calculus programs, and random programs to feed it."""
