"""Checks of keys and functional dependencies, by stripped partitions."""
