"""Canonical order dependencies of a table that changes."""
