"""Trees to checked programs and plans: one pass per file, listed in `passes.py`."""
