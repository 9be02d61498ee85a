"""Compiled loops of the checks of denial constraints."""
