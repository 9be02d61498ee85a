"""Compiled loops over results."""
