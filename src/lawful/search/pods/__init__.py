"""Thinking about pointwise order dependencies: the minimal left sides that no pair of rows refutes."""
