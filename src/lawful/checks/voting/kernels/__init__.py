"""Compiled loops of this folder."""
