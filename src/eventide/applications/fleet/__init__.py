"""Commercial vehicles: speeding, dangerous and uneconomic driving, refuelling."""
