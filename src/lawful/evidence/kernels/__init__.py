"""Compiled loops that compare pairs of rows and keep what is new."""
