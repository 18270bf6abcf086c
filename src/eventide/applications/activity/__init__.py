"""Activities of people in a public space."""
