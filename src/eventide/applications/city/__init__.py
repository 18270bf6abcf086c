"""A city during events: parking, congestion, air quality, security."""
