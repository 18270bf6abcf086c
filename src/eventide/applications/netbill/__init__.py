"""An e-commerce protocol with contracts, obligations and suspensions."""
