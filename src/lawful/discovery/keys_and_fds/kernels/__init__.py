"""Compiled loops of the search for keys."""
