"""Thinking about canonical order dependencies: DISTOD's lattice, and goals over shared edges."""
