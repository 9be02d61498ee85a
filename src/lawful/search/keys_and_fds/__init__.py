"""Thinking about keys and functional dependencies: from agree sets to hypergraphs."""
