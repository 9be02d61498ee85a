"""Compiled loops of the search for left sides."""
