"""Denial constraints of a table that changes."""
