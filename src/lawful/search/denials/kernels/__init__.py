"""Compiled loops of inversion and reduction."""
