"""lawful finds, checks and keeps the laws that a table obeys."""

__version__ = "0.1.0"
