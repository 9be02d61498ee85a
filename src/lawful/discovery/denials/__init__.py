"""Discovery of denial constraints: Hydra, and two shorter ways."""
