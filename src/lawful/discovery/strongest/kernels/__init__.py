"""Loops of the search for the strongest laws."""
