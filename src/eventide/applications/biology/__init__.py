"""Two feedback loops of generalised kinetic logic: immune response and phage infection."""
