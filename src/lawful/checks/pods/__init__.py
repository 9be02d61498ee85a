"""Checks of pointwise order dependencies, which are denial constraints."""
