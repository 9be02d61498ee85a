"""Evidence for denial constraints: the signs of pairs over a predicate space."""
