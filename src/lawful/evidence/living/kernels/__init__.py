"""Kernels of multisets that follow a changing table."""
