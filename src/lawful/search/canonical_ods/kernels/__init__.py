"""Compiled loops of the lattice and of goals."""
