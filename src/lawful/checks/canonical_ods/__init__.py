"""Checks of canonical order dependencies, by stripped partitions."""
