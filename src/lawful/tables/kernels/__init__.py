"""Compiled loops over the bytes of text files."""
