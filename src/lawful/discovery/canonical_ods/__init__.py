"""Discovery of canonical order dependencies: by evidence, or by DISTOD's lattice."""
