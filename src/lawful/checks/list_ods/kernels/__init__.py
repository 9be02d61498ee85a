"""Compiled loops over sorted partitions."""
