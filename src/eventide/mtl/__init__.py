"""DatalogMTL: programs over dense time, their facts and their results."""
