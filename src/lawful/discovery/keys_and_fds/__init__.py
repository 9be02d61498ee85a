"""Discovery of keys and functional dependencies, exact and within an error."""
