"""The temporal relational algebra: immutable nodes, their types, and how they print. Nothing here computes."""
