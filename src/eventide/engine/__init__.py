"""One machine: temporal relations and the execution of plans on them. Knows relations and the algebra, no rules."""
