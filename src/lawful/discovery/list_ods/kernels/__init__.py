"""Compiled loops over the sample of FindOD."""
