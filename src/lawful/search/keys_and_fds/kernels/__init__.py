"""Kernels of the search for keys and FDs."""
