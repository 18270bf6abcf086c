"""The maritime description, extended by patterns with Allen relations."""
