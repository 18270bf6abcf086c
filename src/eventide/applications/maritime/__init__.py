"""Vessels: gaps, stops, trawling, rescue, tugging, rendez-vous."""
