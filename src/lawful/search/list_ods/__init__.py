"""Thinking about list-based order dependencies: the tree of candidates, and minimal lists."""
