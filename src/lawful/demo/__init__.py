"""A table that lawful makes itself, with known laws and planted errors."""
