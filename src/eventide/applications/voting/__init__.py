"""A voting protocol with permissions, obligations and sanctions."""
