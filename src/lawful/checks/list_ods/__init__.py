"""Checks of list-based order dependencies."""
