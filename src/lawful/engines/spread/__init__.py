"""Indexes of laws that no node holds: their lines, and what they tell of the parts that a batch touches."""
