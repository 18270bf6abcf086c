"""What rules cost: measured plans, told by rule and by operator, as tables and as a flame view."""
