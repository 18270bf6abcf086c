"""Tests of rules: `.ectest` files say which intervals follow from which facts; coverage says what they never tried."""
