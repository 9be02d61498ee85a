"""Loops that compare texts."""
