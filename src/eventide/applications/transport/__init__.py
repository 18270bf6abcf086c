"""City transport: punctuality, driving style, comfort."""
