"""Compiled loops over partitions, orders and violations."""
