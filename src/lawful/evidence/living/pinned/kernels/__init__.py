"""Kernels of the indexes of pinned laws."""
