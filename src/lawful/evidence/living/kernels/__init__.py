"""Kernels for evidence of a table that changes."""
