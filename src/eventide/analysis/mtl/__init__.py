"""DatalogMTL: checks of rules, and the plan they mean. One pass per file; `passes` lists them."""
