"""Checks of denial constraints: near-linear searches, counts and violating pairs."""
